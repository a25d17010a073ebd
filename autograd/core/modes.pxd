# state() of modes.py: the last thread's answer is kept, and found again by the thread's number, which is never used twice
cdef extern from *:
    """
    static unsigned long long autograd_thread;
    static PyObject *autograd_state = NULL;
    """
    ctypedef struct PyThreadState
    PyThreadState *PyThreadState_Get()
    unsigned long long PyThreadState_GetID(PyThreadState *)
    unsigned long long autograd_thread
    void *autograd_state

cdef inline dict state():
    global autograd_thread, autograd_state
    cdef unsigned long long now = PyThreadState_GetID(PyThreadState_Get())
    if autograd_state == NULL or autograd_thread != now:
        from autograd.core.modes import modes
        held = modes.__dict__                        # the thread holds it as long as it lives: borrowed here
        autograd_thread, autograd_state = now, <void *>held
    return <dict>autograd_state
