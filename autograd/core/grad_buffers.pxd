from .graph cimport Node

cdef class LeafCounter:
    cdef object __weakref__
    cdef public object backward_pass, listener
    cdef public Py_ssize_t left
    cdef public list counted
    cpdef count(self, backward_pass, leaf)
