cimport cython
from ..base cimport arrays as of_arrays
from . cimport modes as thread_modes
from ..spans cimport spans
from .graph cimport Node
from .recording cimport pack, record, unpack
from .tensor cimport TensorBase, edge_of, result

cdef class OperationNode(Node):
    cdef public object given
