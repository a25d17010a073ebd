cimport cython
from .graph cimport Node

cdef class TensorBase:
    cdef object __weakref__
    cdef public object array, counter
    cdef public tuple edge
    cdef public int tracked

cdef type _made

cpdef start(TensorBase tensor, array)
@cython.locals(tensor=TensorBase)
cpdef TensorBase result(array)
cpdef tuple edge_of(TensorBase tensor)
