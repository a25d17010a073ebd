# ticks.py in C: Python's own clock behind perf_counter_ns, and a pointer a thread
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

cdef extern from *:
    """
    #include <Python.h>
    #if defined(_MSC_VER)
    #define AUTOGRAD_THREAD __declspec(thread)
    #else
    #define AUTOGRAD_THREAD __thread
    #endif
    static AUTOGRAD_THREAD PyObject *autograd_ring = NULL;
    static AUTOGRAD_THREAD long long autograd_recording = 0;

    static inline long long autograd_now(void) {
    #if PY_VERSION_HEX >= 0x030D0000
        PyTime_t t = 0;
        PyTime_PerfCounterRaw(&t);
        return (long long)t;
    #else
        return (long long)_PyTime_GetPerfCounter();
    #endif
    }
    """
    void *autograd_ring
    long long autograd_recording
    long long autograd_now() noexcept nogil

cdef inline long long now() noexcept:
    return autograd_now()

cdef inline object held(long long recording):
    if autograd_ring == NULL or autograd_recording != recording:
        return None
    return <object>autograd_ring                     # borrowed: the recording holds it as long as its number counts

cdef inline object hold(object ring, long long recording):
    global autograd_ring, autograd_recording
    autograd_ring, autograd_recording = <void *>ring, recording

cdef inline long long *memory(object numbers) except NULL:
    cdef Py_buffer view                              # whose owner keeps the numbers
    PyObject_GetBuffer(numbers, &view, PyBUF_WRITABLE)
    cdef long long *start = <long long *>view.buf
    PyBuffer_Release(&view)
    return start
