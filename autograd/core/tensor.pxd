cimport cython
from ..base cimport arrays
from .graph cimport Node

cdef class TensorBase:
    cdef object __weakref__
    cdef public object array, counter
    cdef public tuple edge
    cdef public int tracked

cdef class AccumulateGrad(Node):
    cdef dict __dict__
    cdef public object variable

cdef type _made

cpdef start(TensorBase tensor, array)
@cython.locals(tensor=TensorBase)
cpdef TensorBase result(array)
cpdef tuple edge_of(TensorBase tensor)
