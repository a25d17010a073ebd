# alike() of arrays.py without its tuples: NumPy's macros that read an array's fields, and no function of NumPy's API
from numpy cimport PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, ndarray, npy_intp

cdef inline bint alike(ndarray a, ndarray b):
    cdef int i, n = PyArray_NDIM(a)
    cdef npy_intp *p = PyArray_DIMS(a)
    cdef npy_intp *q = PyArray_DIMS(b)
    if PyArray_DESCR(a) != PyArray_DESCR(b) or n != PyArray_NDIM(b):
        return False
    for i in range(n):
        if p[i] != q[i]:
            return False
    return True
