cimport cython
from ..base cimport arrays
from . cimport modes as thread_modes
from ..spans cimport spans
from .graph cimport Node
from .recording cimport begin_node, pack, record, unpack
from .tensor cimport TensorBase, edge_of, result

cdef class FunctionNode(Node):
    cdef public object to_save
    cdef public bint plain

cpdef attach_one(FunctionNode node, tuple args, TensorBase out, dict state)
cpdef save_values(FunctionNode node, tuple values, TensorBase out)
