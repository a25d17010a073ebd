cimport cython
from .graph cimport Node
from .tensor cimport TensorBase, edge_of, result

cdef class Output:
    cdef public object array, number

cpdef pack(Node node, tuple values, tuple outputs)
@cython.locals(tensor=TensorBase)
cpdef unpack(Node node, bint create)
