from ..spans cimport spans
from .graph cimport Node
from .hooks cimport before_node, deliver_observed
from .tensor cimport AccumulateGrad

cdef class BackwardPass:
    cdef object __weakref__
    cdef public bint create, keep, accumulate
    cdef public dict uses, pending, captures
    cdef public set owned
    cdef public list meanwhile, replaced
    cdef public object runner, callbacks, recording, order, targets, _members
    cpdef run(self, order)
    cpdef send(self, Node node, grads, unshared)
    cpdef add(self, Node target, Py_ssize_t number, value)
    cpdef count_use(self, Node leaf)
    cpdef deliver(self, leaf)
    cpdef deliver_now(self, leaf)
    cpdef add_to_grad(self, leaf, g, bint owned)
    cpdef unshared(self, Node node, g, grads, bint mine)

cpdef bint is_held(value, Node node, g)
cpdef bint is_alone(value, Py_ssize_t place, grads)
