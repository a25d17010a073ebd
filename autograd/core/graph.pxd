cdef class Node:
    cdef object __weakref__
    cdef public tuple edges
    cdef public object saved, meta, hooks, lane, seq
    cdef public Py_ssize_t outputs
