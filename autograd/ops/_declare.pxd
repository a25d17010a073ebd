from ..base cimport arrays
from ..core cimport modes as thread_modes
from ..core.graph cimport Node
from ..core.operation cimport OperationNode
from ..core.tensor cimport TensorBase, edge_of, result, start

cdef class UnaryNode(OperationNode):
    pass

cdef class ReusingNode(UnaryNode):
    pass

cdef class BinaryNode(OperationNode):
    pass

cdef class LinearNode(OperationNode):
    pass

cdef class Number(TensorBase):
    pass

cpdef checked(Node node, position, bint create)
