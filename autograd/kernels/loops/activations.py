"""Loops over single elements: activations besides gelu, their derivatives, and the loss of logits.

With more than a few choices in an element a loop is not made into vectors.
"""

from .functions import exp, expm1_below, log1p_small, power, power_below
from .scalars import as_float, as_int32, fabs, floats, int32, real, reals, sum_of

BLOCK = 2048                                     # differences that smooth_l1_sums() adds up in their precision
SIX = 0x40C00000                                 # the bits of 6.0


def relu(x: reals, out: reals, n: int) -> None:
    """x limited to 0 and above; nan stays."""
    for i in range(n):
        out[i] = 0 if x[i] < 0 else x[i]


def relu_backward(g: reals, x: reals, out: reals, n: int) -> None:
    """g where x = relu() is not 0, else 0, be g what it may."""
    for i in range(n):
        out[i] = 0 if x[i] == 0 else g[i]


def relu_over(g: reals, x: reals, n: int) -> None:
    """relu_backward, written over g: with g as its `out` that would not be made into vectors."""
    for i in range(n):
        g[i] = 0 if x[i] == 0 else g[i]


def sigmoid(x: floats, out: floats, n: int) -> None:
    """1 / (1 + exp(-x))."""
    for i in range(n):
        out[i] = 1 / (1 + exp(-x[i]))


def logit_loss(x: reals, t: reals, out: reals, n: int) -> None:
    """-(t log s + (1 - t) log(1 - s)), s = sigmoid(x), without overflow."""
    for i in range(n):
        share = 1 - t[i] if x[i] > 0 else t[i]
        linear = share * fabs(x[i]) if share != 0 else 0                  # not 0 * inf
        out[i] = linear + log1p_small(power_below(-fabs(x[i])))


def silu(x: floats, out: floats, n: int) -> None:
    """out = x sigmoid(x), of n numbers."""
    for i in range(n):
        out[i] = x[i] * (1 / (1 + power(-x[i])))


def silu_backward(g: floats, x: floats, out: floats, n: int) -> None:
    """g s (1 + x (1 - s)), s = sigmoid(x)."""
    for i in range(n):
        s = 1 / (1 + power(-x[i]))
        out[i] = g[i] * (s * (1 + x[i] * (1 - s)))


def mish(x: reals, out: reals, n: int) -> None:
    """x tanh(log(1 + e^x)). With e = exp(-|x|) that is a quotient of polynomials: no cancellation, no overflow."""
    for i in range(n):
        e = power_below(-fabs(x[i]))
        top = e * (e + 2) if x[i] < 0 else 1 + 2 * e
        rest = 2 if x[i] < 0 else 2 * (e * e)
        out[i] = x[i] * (top / (top + rest))


def mish_backward(g: reals, x: reals, out: reals, n: int) -> None:
    """g (t + x sigmoid(x) (1 - t^2)), t = tanh(log(1 + e^x)); 1 - t^2 = rest (2 top + rest) / (top + rest)^2."""
    for i in range(n):
        e = power_below(-fabs(x[i]))
        top = e * (e + 2) if x[i] < 0 else 1 + 2 * e
        rest = 2 if x[i] < 0 else 2 * (e * e)
        s = (e if x[i] < 0 else 1) / (1 + e)
        whole = 1 / (top + rest)
        out[i] = g[i] * (top * whole + x[i] * s * (rest * whole) * ((top + top + rest) * whole))


def softplus(x: reals, out: reals, n: int, beta: real, threshold: real) -> None:
    """log(1 + exp(beta x)) / beta; x where beta x is above the threshold."""
    for i in range(n):
        y = x[i] * beta
        z = ((0 if y < 0 else y) + log1p_small(power_below(-fabs(y)))) / beta
        out[i] = x[i] if y > threshold else z


def softplus_backward(g: floats, x: floats, out: floats, n: int, beta: float, threshold: float) -> None:
    """g sigmoid(beta x); g where beta x is above the threshold."""
    for i in range(n):
        y = x[i] * beta
        z = g[i] * (1 / (1 + exp(-y)))
        out[i] = g[i] if y > threshold else z


def elu(x: reals, out: reals, n: int, alpha: real, scale: real, rate: real) -> None:
    """scale x above 0, scale alpha (exp(rate x) - 1) below; rate > 0."""
    for i in range(n):
        low = 0 if x[i] > 0 else x[i]
        high = 0 if x[i] < 0 else x[i]
        out[i] = scale * high + scale * alpha * expm1_below(low * rate)


def elu_backward(g: reals, x: reals, out: reals, n: int, alpha: real, scale: real, rate: real) -> None:
    """g times scale above 0, scale alpha rate exp(rate x) below."""
    for i in range(n):
        low = 0 if x[i] > 0 else x[i]
        below = scale * alpha * rate * power_below(low * rate)
        out[i] = g[i] * (scale if x[i] > 0 else below)


def hardswish(x: floats, out: floats, n: int) -> None:
    """x (x + 3, limited to [0, 6]) / 6."""
    for i in range(n):
        bits: int32 = as_int32(x[i] + 3)          # as in power(): nan is that of the product
        bits = 0 if bits < 0 else bits
        bits = SIX if bits > SIX else bits
        out[i] = x[i] * as_float(bits) / 6


def hardswish_backward(g: reals, x: reals, out: reals, n: int) -> None:
    """g times 0 up to -3, x / 3 + 1 / 2, and 1 from 3 on."""
    for i in range(n):
        y = x[i] / 3 + 0.5
        y = g[i] * (y if x[i] < 3 else 1)
        out[i] = 0 if x[i] <= -3 else y


def hardsigmoid(x: reals, out: reals, n: int) -> None:
    """(x + 3, limited to [0, 6]) / 6."""
    for i in range(n):
        y = x[i] + 3
        y = 0 if y < 0 else y
        y = 6 if y > 6 else y
        out[i] = y / 6


def hardsigmoid_backward(g: reals, x: reals, out: reals, n: int) -> None:
    """g / 6 between -3 and 3."""
    for i in range(n):
        y = g[i] / 6
        out[i] = y if (x[i] > -3) & (x[i] < 3) else 0


def smooth_l1(x: reals, out: reals, n: int, beta: real) -> None:
    """x^2 / (2 beta) where |x| < beta, |x| - beta / 2 elsewhere."""
    for i in range(n):
        y = -beta if x[i] < -beta else x[i]
        y = beta if y > beta else y
        out[i] = y * (x[i] - 0.5 * y) / beta


def smooth_l1_backward(g: reals, x: reals, out: reals, n: int, beta: real) -> None:
    """g times x / beta, limited to [-1, 1]."""
    for i in range(n):
        y = -beta if x[i] < -beta else x[i]
        y = beta if y > beta else y
        out[i] = g[i] * (y / beta)


def smooth_l1_sums(x: reals, y: reals, room: reals, out: reals, n: int, beta: real) -> None:
    """beta times the sums of smooth_l1(x - y), each of BLOCK numbers, for which `room` is memory."""
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for i in range(size):
            z = x[start + i] - y[start + i]
            limited = -beta if z < -beta else z
            limited = beta if limited > beta else limited
            room[i] = limited * (z - 0.5 * limited)
        out[start // BLOCK] = sum_of(room, size)


def smooth_l1_slopes(x: reals, y: reals, out: reals, n: int, beta: real, factor: real) -> None:
    """factor (x - y), of which x - y is limited to [-beta, beta]."""
    for i in range(n):
        z = x[i] - y[i]
        z = -beta if z < -beta else z
        z = beta if z > beta else z
        out[i] = z * factor


def leaky_relu(x: reals, out: reals, n: int, slope: real) -> None:
    """x above 0, slope x below."""
    for i in range(n):
        y = x[i] * slope
        out[i] = x[i] if x[i] > 0 else y


def leaky_relu_backward(g: reals, x: reals, out: reals, n: int, slope: real) -> None:
    """g above 0, slope g below."""
    for i in range(n):
        y = g[i] * slope
        out[i] = g[i] if x[i] > 0 else y


def hardtanh(x: reals, out: reals, n: int, low: real, high: real) -> None:
    """x limited to [low, high]."""
    for i in range(n):
        y = low if x[i] < low else x[i]
        out[i] = high if y > high else y


def hardtanh_backward(g: reals, x: reals, out: reals, n: int, low: real, high: real) -> None:
    """g between them."""
    for i in range(n):
        y = g[i]                                 # read in any case: else it would be a masked load
        y = 0 if x[i] <= low else y
        out[i] = 0 if x[i] >= high else y
