from .graph cimport Node

cdef class Walk:
    cdef object __weakref__
    cdef public bint create, keep, accumulate
    cdef public dict uses, pending, watch
    cdef public set owned
    cdef public list meanwhile
    cdef public object runner, callbacks, recording, order, targets, _members

cdef class LaneWalk(Walk):
    cdef public object nodes, parent, walks
