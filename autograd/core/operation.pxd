cimport cython
from ..base cimport arrays as of_arrays
from .graph cimport Node
from .tensor cimport TensorBase, edge_of, result

cdef class OperationNode(Node):
    cdef public object given
