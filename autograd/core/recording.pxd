from ..spans cimport spans
from .graph cimport Node
from .tensor cimport TensorBase, result

cdef class Output:
    cdef public object array, number

cpdef begin_node(Node node, dict state, tuple edges)
cpdef record(Node node, dict state, tuple edges, tuple inputs, tuple outs)
cpdef pack(Node node, tuple values, tuple outputs)
cpdef unpack(Node node, bint create)
cpdef unpack_one(Node node, Py_ssize_t position, bint create)
