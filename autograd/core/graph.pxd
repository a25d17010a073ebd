cdef class Node:
    cdef object __weakref__
    cdef public tuple edges
    cdef public object saved, meta, hooks, lane, seq
    cdef public Py_ssize_t outputs

cdef class Tally:
    cdef object __weakref__
    cdef public object walk
    cdef public Py_ssize_t left
    cdef public list came
    cpdef count(self, walk, leaf)

cdef class AccumulateGrad(Node):
    cdef dict __dict__
    cdef public object variable
