from ..base cimport arrays
from . cimport modes as thread_modes
from ..spans cimport spans
from .graph cimport Node
from .operation cimport OperationNode
from .recording cimport Output, record, unpack_one
from .tensor cimport TensorBase, edge_of, result, start

cdef class UnaryNode(OperationNode):
    pass

cdef class SettledNode(UnaryNode):
    pass

cdef class ReusingNode(UnaryNode):
    pass

cdef class BinaryNode(OperationNode):
    pass

cdef class LinearNode(OperationNode):
    pass

cdef class Number(TensorBase):
    pass
