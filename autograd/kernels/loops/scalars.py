"""The names of the loops' language, for readers and linters: C types of arguments and variables, and what scalars.h defines.

translate.py declares the functions to Cython from here; nothing imports this module at run time.
"""

# arguments: the numbers of an array in C order
floats = list[float]                             # of 32 bits
doubles = list[float]
ints = list[int]                                 # of 64 bits
halves = list[int]                               # of 16 bits
reals = list[float]                              # a function of these is made twice: for floats and for doubles
# numbers; `float` has 32 bits, `int` 64
real = float
double = float
int32 = int
uint32 = int
uint64 = int
address = int
answer = int                                     # what a loop returns to Python
inf = float("inf")


# --- in double precision where the function that calls them mentions double ---------------------------------------------

def sqrt(x: real) -> real:
    """The square root."""
    raise NotImplementedError


def floor(x: real) -> real:
    """The largest whole number that is not above x."""
    raise NotImplementedError


def fabs(x: real) -> real:
    """The size of x, |x|."""
    raise NotImplementedError


def fma(a: real, b: real, c: real) -> real:
    """a b + c, rounded once where the processor has that."""
    raise NotImplementedError


def ordinal(x: real) -> int:
    """A whole number in the order of the numbers: -0 is 0, and all nan are one, the largest."""
    raise NotImplementedError


def memory() -> ints:
    """Memory of this thread for 64 numbers."""
    raise NotImplementedError


# --- conversions ----------------------------------------------------------------------------------------------------------

def f32(x: double) -> float:
    """x rounded to float32."""
    raise NotImplementedError


def f64(x: double) -> double:
    """x in double precision."""
    raise NotImplementedError


def as_float(bits: int32) -> float:
    """The number of these bits."""
    raise NotImplementedError


def as_int32(x: float) -> int32:
    """The bits of a number."""
    raise NotImplementedError


def as_int64(x: double) -> int:
    """The bits of a number."""
    raise NotImplementedError


def as_double(bits: int) -> double:
    """The number of these bits."""
    raise NotImplementedError


def chosen(condition: int, a: double, b: double) -> double:
    """a if condition else b, without a branch that compilers move code into: loops with several of those stay scalar."""
    raise NotImplementedError


# --- of many numbers: sums in an order that does not depend on the processor ----------------------------------------------

def sum_of(x: reals, n: int) -> real:
    """The sum of n numbers."""
    raise NotImplementedError


def sum_of_products(x: reals, y: reals, n: int) -> real:
    """The sum of x y."""
    raise NotImplementedError


def sum_of_squares(x: reals, mean: real, n: int) -> real:
    """The sum of (x - mean)^2."""
    raise NotImplementedError


def sums_of_gradient(y: reals, x: reals, mean: real, scale: real, n: int, c: reals) -> real:
    """The sum of y; that of y (x - mean) scale goes to c[0]."""
    raise NotImplementedError


def sums_of_weighted(y: reals, w: reals, x: reals, mean: real, scale: real, n: int, c: reals) -> real:
    """The sum of y w; that of y w (x - mean) scale goes to c[0]."""
    raise NotImplementedError


def narrowed(x: floats, c: halves, n: int) -> int:
    """float32 numbers to float16 by the processor; how many it has done."""
    raise NotImplementedError


def widened(x: halves, c: floats, n: int) -> int:
    """float16 numbers to float32 by the processor; how many it has done."""
    raise NotImplementedError


def rounded_to_bfloat16(x: float) -> uint32:
    """x rounded to bfloat16, whose bits are the upper half."""
    raise NotImplementedError


def cut_to_bfloat16(x: floats, c: halves, n: int) -> int:
    """float32 numbers to bfloat16; how many it has done."""
    raise NotImplementedError


def gemm(function: address, m: int, n: int, k: int, a: floats, b: floats, beta: float, c: floats) -> int:
    """c = a b + beta c, by a function that is called like oneDNN's sgemm."""
    raise NotImplementedError


def level() -> int:
    """Which of the LEVELS this processor can run."""
    raise NotImplementedError


def polynomial(x: real, coefficients: tuple[float, ...]) -> real:
    """Horner's scheme, the highest power first: translate.py writes it out."""
    raise NotImplementedError
