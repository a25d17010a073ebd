cimport cython
from . cimport allocations, ticks

cdef bint on, fine, active
cdef long long recording, rings, held_bytes, batching, ALLOCATION, NEVER
cdef dict _of_nodes

@cython.final
cdef class Ring:
    cdef object __weakref__
    cdef public object recorder, describe, thread, thread_name, head_memory
    cdef public Ring under
    cdef public list blocks, details
    cdef public dict moved
    cdef long long *block
    cdef long long *head
    cdef public long long most, first, count, open, time, due
    cdef public bint entering
    @cython.locals(count=cython.longlong, place=cython.longlong, block="long long *")
    cpdef long long begin(self, long long number)
    @cython.locals(ended=cython.longlong, count=cython.longlong, place=cython.longlong, block="long long *")
    cpdef end(self, long long token)
    @cython.locals(count=cython.longlong, block="long long *")
    cpdef set(self, long long token, long long field, long long value)
    @cython.locals(place=cython.longlong, block="long long *")
    cpdef add(self, long long number, long long a, long long b, long long sequence)
    @cython.locals(place=cython.longlong, block="long long *")
    cpdef link(self, long long sequence)
    cpdef bint kept(self, long long count)
    @cython.locals(number=cython.longlong)
    cpdef turn(self)
    @cython.locals(number=cython.longlong)
    cdef long long *block_of(self, long long count) except NULL
    @cython.locals(first=cython.longlong, count=cython.longlong, place=cython.longlong, parent=cython.longlong,
                   token=cython.longlong, outer=cython.longlong, inner=cython.longlong, ended=cython.longlong,
                   source="long long *")
    cpdef take(self, Ring above)

cdef class record_function:
    cdef public object name, args, outer
    cdef public long long kind, a, b, token

cpdef Ring this_ring()
@cython.locals(token=cython.longlong)
cpdef long long begin(long long number, long long a=*, long long b=*)
cpdef end(long long token)
cpdef end_message(long long token, long long a, long long b)
cpdef link(long long sequence)
cpdef describe(long long token, long long number, tuple args, settings)
cpdef keep(Ring ring, long long token, detail)
@cython.locals(token=cython.longlong)
cpdef call(function, long long number, tuple args, settings)
cdef void note_memory(long long size, long long address) noexcept
cpdef bint entered()
@cython.locals(token=cython.longlong)
cpdef long long evaluate(node)
@cython.locals(token=cython.longlong, number=cython.longlong)
cpdef long long run(node, g)
cpdef long long node_number(node)
