"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"digamma": """The derivative of lgamma.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.digamma(ag.tensor([1.0, 2.0, 10.0]))
    tensor([-0.5772,  0.4228,  2.2518])""",
"erf": """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.erf(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.8427,  0.0000,  0.8427])""",
"erfc": """1 - erf(x), accurate where that is near 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.erfc(ag.tensor([-1.0, 0.0, 5.0]))
    tensor([1.8427e+00, 1.0000e+00, 1.5375e-12])""",
"erfinv": """The inverse of erf.

Args:
    input (Tensor): Elements in [-1, 1]; nan beyond; bool, integers or floating point; integers
        become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.erfinv(ag.tensor([-0.5, 0.0, 1.0]))
    tensor([-0.4769,  0.0000,     inf])""",
"i0": """The modified Bessel function of the first kind, of order 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.i0(ag.tensor([0.0, 1.0, 2.0]))
    tensor([1.0000, 1.2661, 2.2796])""",
"igamma": """The regularised lower incomplete gamma function P(input, other).

Args:
    input (Tensor): The parameter, of 0 or more; floating point.
    other (Tensor or number): The upper limit of the integral, of 0 or more.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.igamma(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0]))
    tensor([0.6321, 0.2642])""",
"igammac": """The regularised upper incomplete gamma function, 1 - igamma(input, other).

Args:
    input (Tensor): The parameter, of 0 or more; floating point.
    other (Tensor or number): The lower limit of the integral, of 0 or more.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.igammac(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0]))
    tensor([0.3679, 0.7358])""",
"lgamma": """The logarithm of the absolute value of the gamma function.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.lgamma(ag.tensor([1.0, 2.0, 10.0]))
    tensor([ 0.0000,  0.0000, 12.8018])""",
"logit": """log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps].

Args:
    input (Tensor): Elements in [0, 1]; nan beyond; bool, integers or floating point; integers
        become floating point.
    eps (float): Distance that input is kept from 0 and 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.logit(ag.tensor([0.1, 0.5, 0.9]))
    tensor([-2.1972,  0.0000,  2.1972])""",
"mvlgamma": """log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) +
constant.

Args:
    input (Tensor): Elements above (p - 1) / 2; bool, integers or floating point; integers
        become floating point.
    p (int): The dimension, 1 or more.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: mvlgamma: p has to be greater than or equal to 1, not {p}.

Example:
    >>> ag.mvlgamma(ag.tensor([3.0, 4.0]), 2)
    tensor([1.5502, 3.5651])""",
"polygamma": """The n-th derivative of digamma at input.

Args:
    n (int): The order, 0 or more; bool, integers or floating point; integers become floating
        point.
    input (Tensor): Of any shape.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: polygamma(n, x) does not support negative n, such as {n}.

Example:
    >>> ag.polygamma(1, ag.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])""",
"xlogy": """input log(other), 0 where input is 0.

Args:
    input (Tensor or number): Of any shape; bool, integers or floating point; integers become
        floating point.
    other (Tensor or number): Elements above 0, or any where input is 0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.xlogy(ag.tensor([0.0, 2.0]), ag.tensor([0.0, 3.0]))
    tensor([0.0000, 2.1972])""",
"Tensor.digamma_": """In place: the derivative of lgamma.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0, 10.0])
    >>> x.digamma_()
    tensor([-0.5772,  0.4228,  2.2518])""",
"Tensor.erf_": """In place: the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.erf_()
    tensor([-0.8427,  0.0000,  0.8427])""",
"Tensor.erfc_": """In place: 1 - erf(x), accurate where that is near 0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 5.0])
    >>> x.erfc_()
    tensor([1.8427e+00, 1.0000e+00, 1.5375e-12])""",
"Tensor.erfinv_": """In place: the inverse of erf.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-0.5, 0.0, 1.0])
    >>> x.erfinv_()
    tensor([-0.4769,  0.0000,     inf])""",
"Tensor.i0_": """In place: the modified Bessel function of the first kind, of order 0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.0, 2.0])
    >>> x.i0_()
    tensor([1.0000, 1.2661, 2.2796])""",
"Tensor.igamma_": """In place: the regularised lower incomplete gamma function P(input, other).

Args:
    other (Tensor or number): The upper limit of the integral, of 0 or more.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.igamma_(ag.tensor([1.0, 1.0]))
    tensor([0.6321, 0.2642])""",
"Tensor.igammac_": """In place: the regularised upper incomplete gamma function, 1 - igamma(input, other).

Args:
    other (Tensor or number): The lower limit of the integral, of 0 or more.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.igammac_(ag.tensor([1.0, 1.0]))
    tensor([0.3679, 0.7358])""",
"Tensor.lgamma_": """In place: the logarithm of the absolute value of the gamma function.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0, 10.0])
    >>> x.lgamma_()
    tensor([ 0.0000,  0.0000, 12.8018])""",
"Tensor.logit_": """In place: log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps].

Args:
    eps (float): Distance that input is kept from 0 and 1.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.1, 0.5, 0.9])
    >>> x.logit_()
    tensor([-2.1972,  0.0000,  2.1972])""",
"Tensor.mvlgamma_": """In place: log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p -
1) / 2) + constant.

Args:
    p (int): The dimension, 1 or more.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: mvlgamma: p has to be greater than or equal to 1, not {p}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([3.0, 4.0])
    >>> x.mvlgamma_(2)
    tensor([1.5502, 3.5651])""",
"Tensor.polygamma": """The n-th derivative of digamma at this tensor.

Args:
    n (int): The order, 0 or more.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0]).polygamma(1)
    tensor([1.6449, 0.6449])""",
"Tensor.polygamma_": """In place: the n-th derivative of digamma at this tensor.

Args:
    n (int): The order, 0 or more.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.polygamma_(1)
    tensor([1.6449, 0.6449])""",
"Tensor.xlogy_": """In place: input log(other), 0 where input is 0.

Args:
    other (Tensor or number): Elements above 0, or any where input is 0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 2.0])
    >>> x.xlogy_(ag.tensor([0.0, 3.0]))
    tensor([0.0000, 2.1972])""",
"special.airy_ai": """The Airy function Ai.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.airy_ai(ag.tensor([0.0, 1.0]))
    tensor([0.3550, 0.1353])""",
"special.bessel_j0": """The Bessel function of the first kind, of order 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.bessel_j0(ag.tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])""",
"special.bessel_j1": """The Bessel function of the first kind, of order 1.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.bessel_j1(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.4401])""",
"special.bessel_y0": """The Bessel function of the second kind, of order 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.bessel_y0(ag.tensor([1.0, 2.0]))
    tensor([0.0883, 0.5104])""",
"special.bessel_y1": """The Bessel function of the second kind, of order 1.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.bessel_y1(ag.tensor([1.0, 2.0]))
    tensor([-0.7812, -0.1070])""",
"special.chebyshev_polynomial_t": """The Chebyshev polynomial of the first kind, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.chebyshev_polynomial_t(ag.tensor([0.5, 1.0]), 2)
    tensor([-0.5000,  1.0000])""",
"special.chebyshev_polynomial_u": """The Chebyshev polynomial of the second kind, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.chebyshev_polynomial_u(ag.tensor([0.5, 1.0]), 2)
    tensor([0., 3.])""",
"special.chebyshev_polynomial_v": """The Chebyshev polynomial of the third kind, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.chebyshev_polynomial_v(ag.tensor([0.5, 1.0]), 2)
    tensor([-1.,  1.])""",
"special.chebyshev_polynomial_w": """The Chebyshev polynomial of the fourth kind, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.chebyshev_polynomial_w(ag.tensor([0.5, 1.0]), 2)
    tensor([1., 5.])""",
"special.entr": """-x log(x) where x > 0, 0 at 0, -inf below.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.entr(ag.tensor([0.0, 0.5, 1.0]))
    tensor([-0.0000, 0.3466, -0.0000])""",
"special.erfcx": """exp(x^2) erfc(x).

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.erfcx(ag.tensor([0.0, 10.0]))
    tensor([1.0000, 0.0561])""",
"special.exp2": """2 to the power of input.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.exp2(ag.tensor([0.0, 1.0, 10.0]))
    tensor([1.0000e+00, 2.0000e+00, 1.0240e+03])""",
"special.expit": """1 / (1 + exp(-input)).

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sigmoid(ag.tensor([-2.0, 0.0, 2.0]))
    tensor([0.1192, 0.5000, 0.8808])""",
"special.expm1": """exp(input) - 1, accurate near 0.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.expm1(ag.tensor([0.0, 1e-6, 1.0]))
    tensor([0.0000e+00, 1.0000e-06, 1.7183e+00])""",
"special.hermite_polynomial_h": """The physicists' Hermite polynomial of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.hermite_polynomial_h(ag.tensor([0.5, 1.0]), 2)
    tensor([-1.,  2.])""",
"special.hermite_polynomial_he": """The probabilists' Hermite polynomial of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.hermite_polynomial_he(ag.tensor([0.5, 1.0]), 2)
    tensor([-0.7500,  0.0000])""",
"special.i0e": """exp(-|x|) i0(x).

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.i0e(ag.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])""",
"special.i1": """The modified Bessel function of the first kind, of order 1.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.i1(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])""",
"special.i1e": """exp(-|x|) i1(x).

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.i1e(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])""",
"special.laguerre_polynomial_l": """The Laguerre polynomial of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.laguerre_polynomial_l(ag.tensor([0.5, 1.0]), 2)
    tensor([ 0.1250, -0.5000])""",
"special.legendre_polynomial_p": """The Legendre polynomial of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.legendre_polynomial_p(ag.tensor([0.5, 1.0]), 2)
    tensor([-0.1250,  1.0000])""",
"special.log1p": """log(1 + input), accurate near 0.

Args:
    input (Tensor): Elements above -1; -inf at -1, nan below; any dtype; integers become
        floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.log1p(ag.tensor([0.0, 1e-6, 1.0]))
    tensor([0.0000e+00, 1.0000e-06, 6.9315e-01])""",
"special.log_ndtr": """log(ndtr(x)), accurate for large negative x.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.log_ndtr(ag.tensor([-20.0, 0.0]))
    tensor([-203.9172,   -0.6931])""",
"special.log_softmax": """log(softmax(input, dim)), computed without losing small ones.

Args:
    input (Tensor): Of any shape; floating point.
    dim (int): Dimension, from the front or (negative) from the end.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.log_softmax(ag.tensor([[1.0, 2.0]]), dim=1)
    tensor([[-1.3133, -0.3133]])""",
"special.logsumexp": """log of the sum of exp(input) over `dim`, without overflow.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    dim (int or ints): Dimension, from the front or (negative) from the end.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.logsumexp(ag.tensor([[1.0, 2.0]]), dim=1)
    tensor([2.3133])""",
"special.modified_bessel_i0": """The modified Bessel function of the first kind, of order 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.modified_bessel_i0(ag.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])""",
"special.modified_bessel_i1": """The modified Bessel function of the first kind, of order 1.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.modified_bessel_i1(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])""",
"special.modified_bessel_k0": """The modified Bessel function of the second kind, of order 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.modified_bessel_k0(ag.tensor([1.0, 2.0]))
    tensor([0.4210, 0.1139])""",
"special.modified_bessel_k1": """The modified Bessel function of the second kind, of order 1.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.modified_bessel_k1(ag.tensor([1.0, 2.0]))
    tensor([0.6019, 0.1399])""",
"special.ndtr": """The distribution function of the standard normal distribution.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.ndtr(ag.tensor([-1.0, 0.0, 1.96]))
    tensor([0.1587, 0.5000, 0.9750])""",
"special.ndtri": """The inverse of ndtr.

Args:
    input (Tensor): Probabilities, in [0, 1]; bool, integers or floating point; integers become
        floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.ndtri(ag.tensor([0.025, 0.5]))
    tensor([-1.9600,  0.0000])""",
"special.round": """The nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals.

Args:
    input (Tensor): Of any shape; integers or floating point.
    decimals (int): Digits after the decimal point; negative: before it. Default: 0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.round(ag.tensor([0.5, 1.5, 2.6]))
    tensor([0., 2., 3.])
    >>> ag.round(ag.tensor([3.14159]), decimals=2)
    tensor([3.1400])""",
"special.scaled_modified_bessel_k0": """exp(x) modified_bessel_k0(x).

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.scaled_modified_bessel_k0(ag.tensor([1.0, 100.0]))
    tensor([1.1445, 0.1252])""",
"special.scaled_modified_bessel_k1": """exp(x) modified_bessel_k1(x).

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.scaled_modified_bessel_k1(ag.tensor([1.0, 100.0]))
    tensor([1.6362, 0.1258])""",
"special.shifted_chebyshev_polynomial_t": """The Chebyshev polynomial of the first kind at 2 input - 1, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.shifted_chebyshev_polynomial_t(ag.tensor([0.5, 1.0]), 2)
    tensor([-1.,  1.])""",
"special.shifted_chebyshev_polynomial_u": """The Chebyshev polynomial of the second kind at 2 input - 1, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.shifted_chebyshev_polynomial_u(ag.tensor([0.5, 1.0]), 2)
    tensor([-1.,  3.])""",
"special.shifted_chebyshev_polynomial_v": """The Chebyshev polynomial of the third kind at 2 input - 1, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.shifted_chebyshev_polynomial_v(ag.tensor([0.5, 1.0]), 2)
    tensor([-1.,  1.])""",
"special.shifted_chebyshev_polynomial_w": """The Chebyshev polynomial of the fourth kind at 2 input - 1, of degree n.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    n (Tensor or number): The degree.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.shifted_chebyshev_polynomial_w(ag.tensor([0.5, 1.0]), 2)
    tensor([-1.,  5.])""",
"special.sinc": """sin(pi input) / (pi input), 1 at 0.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sinc(ag.tensor([0.0, 0.5, 1.0]))
    tensor([ 1.0000e+00,  6.3662e-01, -2.7828e-08])""",
"special.softmax": """exp(input) over its sum along `dim`: positive, adding up to 1.

Args:
    input (Tensor): Of any shape; floating point.
    dim (int): Dimension, from the front or (negative) from the end.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.softmax(ag.tensor([[1.0, 2.0], [3.0, 3.0]]), dim=1)
    tensor([[0.2689, 0.7311],
            [0.5000, 0.5000]])""",
"special.spherical_bessel_j0": """sin(x) / x, 1 at 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.spherical_bessel_j0(ag.tensor([0.0, 1.0]))
    tensor([1.0000, 0.8415])""",
"special.xlog1py": """input log1p(other), 0 where input is 0.

Args:
    input (Tensor or number): Of any shape; bool, integers or floating point; integers become
        floating point.
    other (Tensor or number): Elements above -1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.xlog1py(ag.tensor([0.0, 2.0]), ag.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])""",
"special.zeta": """The Hurwitz zeta function, the sum of (n + q)^-x over n >= 0.

Args:
    input (Tensor or number): The exponents x, above 1; bool, integers or floating point;
        integers become floating point.
    other (Tensor or number): The offsets q.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.special.zeta(ag.tensor([2.0]), ag.tensor([1.0]))
    tensor([1.6449])""",
}
for _pair in """Tensor.digamma:digamma Tensor.erf:erf Tensor.erfc:erfc Tensor.erfinv:erfinv Tensor.i0:i0
    Tensor.igamma:igamma Tensor.igammac:igammac Tensor.lgamma:lgamma Tensor.logit:logit Tensor.mvlgamma:mvlgamma
    Tensor.xlogy:xlogy special.digamma:digamma special.erf:erf special.erfc:erfc special.erfinv:erfinv
    special.gammainc:igamma special.gammaincc:igammac special.gammaln:lgamma special.i0:i0 special.logit:logit
    special.multigammaln:mvlgamma special.polygamma:polygamma special.psi:digamma special.xlogy:xlogy""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
