# allocations.py in C: the functions of NumPy's memory handler, which all threads and all arrays share, are replaced while
# somebody watches (numpy.org/neps/nep-0049: a handler is a struct of functions in a capsule). They call the ones before.
cdef extern from *:
    """
    #include <Python.h>
    #include <numpy/arrayobject.h>
    typedef void (*autograd_note)(long long, long long);
    static autograd_note autograd_note_memory = NULL;
    static PyDataMem_Handler *autograd_handler = NULL;
    static PyDataMemAllocator autograd_allocator;            /* the functions before */

    static inline void autograd_tell(long long bytes, void *address) {
        PyObject *type, *value, *trace;
        if (address == NULL || !PyGILState_Check())
            return;
        PyErr_Fetch(&type, &value, &trace);                  /* arrays are released while an exception is on its way */
        autograd_note_memory(bytes, (long long)(size_t)address);
        PyErr_Restore(type, value, trace);
    }
    static inline void *autograd_malloc(void *context, size_t size) {
        void *made = autograd_allocator.malloc(context, size);
        autograd_tell((long long)size, made);
        return made;
    }
    static inline void *autograd_calloc(void *context, size_t count, size_t size) {
        void *made = autograd_allocator.calloc(context, count, size);
        autograd_tell((long long)(count * size), made);
        return made;
    }
    static inline void autograd_free(void *context, void *address, size_t size) {
        autograd_tell(-(long long)size, address);
        autograd_allocator.free(context, address, size);
    }
    static inline int autograd_watch(autograd_note note) {
        PyObject *capsule;
        if (PyArray_API == NULL && _import_array() < 0)
            return -1;
        capsule = PyDataMem_GetHandler();
        if (capsule == NULL)
            return -1;
        autograd_handler = (PyDataMem_Handler *)PyCapsule_GetPointer(capsule, "mem_handler");
        Py_DECREF(capsule);                                  /* NumPy holds its own */
        if (autograd_handler == NULL)
            return -1;
        autograd_note_memory = note;
        autograd_allocator = autograd_handler->allocator;
        autograd_handler->allocator.malloc = autograd_malloc;
        autograd_handler->allocator.calloc = autograd_calloc;
        autograd_handler->allocator.free = autograd_free;
        return 0;
    }
    static inline void autograd_unwatch(void) {
        if (autograd_handler != NULL)
            autograd_handler->allocator = autograd_allocator;
        autograd_handler = NULL;
    }
    """
    ctypedef void (*autograd_note)(long long, long long) noexcept
    int autograd_watch(autograd_note) except -1
    void autograd_unwatch()

cdef inline object watch(autograd_note note):
    autograd_watch(note)

cdef inline object unwatch():
    autograd_unwatch()
