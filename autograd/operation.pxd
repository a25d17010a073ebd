cimport cython
from .graph cimport Node
from .tensor cimport TensorBase, edge_of, result

cdef class OperationNode(Node):
    cdef public object given
