# arrays.py, without tuples and lookups: NumPy's macros that read an array's fields, and no function of NumPy's API
from numpy cimport PyArray_DESCR, PyArray_DIMS, PyArray_NDIM, PyArray_TYPE, ndarray, npy_intp

cdef inline bint is_bfloat16(object x):
    if isinstance(x, ndarray):
        return PyArray_TYPE(x) > 255
    if x is None or isinstance(x, (float, int, bool, tuple)):
        return False
    return hasattr(x, "present") and x.dtype.num > 255         # an AbsentArray

cdef inline bint is_complex(object x):
    return isinstance(x, ndarray) and 13 < PyArray_TYPE(x) < 17

cdef inline bint is_float16(object x):
    return isinstance(x, ndarray) and PyArray_TYPE(x) == 23

cdef inline bint is_half(object x):
    if isinstance(x, ndarray):
        return PyArray_TYPE(x) > 22                            # float16 has the highest number of NumPy's own
    return is_bfloat16(x)

cdef inline bint alike(object x, object y):
    cdef ndarray a, b
    cdef int i, n
    cdef npy_intp *p
    cdef npy_intp *q
    if not isinstance(x, ndarray) or not isinstance(y, ndarray):
        return x.dtype is y.dtype and x.shape == y.shape       # of 0-d arrays NumPy makes scalars
    a, b = x, y
    n = PyArray_NDIM(a)
    p = PyArray_DIMS(a)
    q = PyArray_DIMS(b)
    if PyArray_DESCR(a) != PyArray_DESCR(b) or n != PyArray_NDIM(b):
        return False
    for i in range(n):
        if p[i] != q[i]:
            return False
    return True
