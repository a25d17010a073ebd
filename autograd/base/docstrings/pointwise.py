"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"add": """input + alpha * other.

Args:
    input (Tensor or number): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    alpha (number): Factor of other; an integer where the result is one. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Boolean alpha only supported for Boolean results, not for {dtype}.
    RuntimeError: For non-complex input tensors, argument alpha must not be a complex number
        ({alpha}).
    RuntimeError: For integral input tensors, argument alpha must not be a floating point number
        ({alpha}).

Example:
    >>> ag.add(ag.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    >>> ag.add(ag.tensor([1.0, 2.0]), ag.tensor([[1.0], [2.0]]), alpha=10)
    tensor([[11., 12.],
            [21., 22.]])""",
"addcdiv": """input + value * tensor1 / tensor2, for floating tensors.

Args:
    input (Tensor): Of any shape; floating point or complex.
    tensor1 (Tensor): Numerators, of a shape that broadcasts with input's.
    tensor2 (Tensor): Denominators, of a shape that broadcasts with input's.
    value (number): Factor of the quotient. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Integer division with addcdiv is no longer supported.

Example:
    >>> ag.addcdiv(ag.tensor([1.0, 1.0]), ag.tensor([1.0, 2.0]), ag.tensor([2.0, 4.0]), value=10)
    tensor([6., 6.])""",
"addcmul": """input + value * tensor1 * tensor2.

Args:
    input (Tensor): Of any shape; any dtype.
    tensor1 (Tensor): First factors, of a shape that broadcasts with input's.
    tensor2 (Tensor): Second factors, of a shape that broadcasts with input's.
    value (float): Factor of the product; an integer where the tensors are integers. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.addcmul(ag.tensor([1.0, 1.0]), ag.tensor([1.0, 2.0]), ag.tensor([2.0, 4.0]), value=10)
    tensor([21., 81.])""",
"div": """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    other (Tensor or number): The divisor.
    rounding_mode (str): None, "trunc" or "floor".
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found
        '{rounding_mode}'.

Example:
    >>> ag.div(ag.tensor([7.0, -7.0]), 2)
    tensor([ 3.5000, -3.5000])
    >>> ag.div(ag.tensor([7.0, -7.0]), 2, rounding_mode="floor")
    tensor([ 3., -4.])""",
"floor_divide": """input / other, rounded down.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): The divisor.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.floor_divide(ag.tensor([7, -7]), 2)
    tensor([ 3, -4])""",
"fmod": """The remainder of input / other, with the sign of input.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): The divisor.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fmod(ag.tensor([7.0, -7.0]), 3)
    tensor([ 1., -1.])""",
"gcd": """The greatest common divisor.

Args:
    input (Tensor): Of any shape; integers.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or floating point or complex.
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.gcd(ag.tensor([12, 18]), ag.tensor([8, 27]))
    tensor([4, 9])""",
"lcm": """The least common multiple.

Args:
    input (Tensor): Of any shape; integers.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or floating point or complex.
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.lcm(ag.tensor([4, 6]), ag.tensor([6, 9]))
    tensor([12, 18])""",
"lerp": """input + weight * (end - input); weight is a number or a tensor.

Args:
    input (Tensor): Of any shape; floating point or complex.
    end (Tensor): What weight 1 gives; of input's dtype.
    weight (Tensor or number): 0 gives input, 1 end.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: lerp() takes Tensors for input and end, not {...} and {...}.
    RuntimeError: expected dtype {input.dtype} for `{name}` but got dtype {value.dtype}.
    TypeError: {name}: one operand must be a Tensor.

Example:
    >>> ag.lerp(ag.tensor([0.0, 10.0]), ag.tensor([1.0, 20.0]), 0.5)
    tensor([ 0.5000, 15.0000])""",
"mul": """input * other.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.mul(ag.tensor([1.0, 2.0]), 10)
    tensor([10., 20.])
    >>> ag.mul(ag.tensor([[1.0], [2.0]]), ag.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])""",
"remainder": """The remainder of input / other, with the sign of other.

Args:
    input (Tensor or number): Of any shape; bool, integers or floating point.
    other (Tensor or number): The divisor.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.remainder(ag.tensor([7.0, -7.0]), 3)
    tensor([1., 2.])""",
"rsub": """other - alpha * input.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    alpha (number): Factor of input; an integer where the result is one. Default: 1.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    TypeError: rsub(): argument 'input' must be a Tensor, not {...}.

Example:
    >>> ag.rsub(ag.tensor([1.0, 2.0]), 10)
    tensor([9., 8.])""",
"sub": """input - alpha * other.

Args:
    input (Tensor or number): Of any shape; integers, floating point or complex.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    alpha (number): Factor of other; an integer where the result is one. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Boolean alpha only supported for Boolean results, not for {dtype}.
    RuntimeError: For non-complex input tensors, argument alpha must not be a complex number
        ({alpha}).
    RuntimeError: For integral input tensors, argument alpha must not be a floating point number
        ({alpha}).

Example:
    >>> ag.sub(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0]), alpha=2)
    tensor([-1.,  0.])""",
"true_divide": """input / other.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    other (Tensor or number): The divisor.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.true_divide(ag.tensor([1.0, 2.0]), ag.tensor([4.0, 0.0]))
    tensor([0.2500,    inf])""",
"allclose": """Whether all elements are close, see isclose.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor): Number, or tensor of a shape that broadcasts with input's.
    rtol (float): Relative tolerance. Default: 1e-05.
    atol (float): Absolute tolerance. Default: 1e-08.
    equal_nan (bool): Whether nan equals nan. Default: False.

Returns:
    A Python bool.

Raises:
    ValueError: the shapes do not fit each other.

Example:
    >>> ag.allclose(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 2.0000001]))
    True""",
"eq": """input == other.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.eq(ag.tensor([1, 2, 3]), ag.tensor([1, 0, 3]))
    tensor([ True, False,  True])""",
"equal": """Whether the two have the same shape and elements.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor): Number, or tensor of a shape that broadcasts with input's.

Returns:
    A Python bool; False where the shapes differ.

Example:
    >>> ag.equal(ag.tensor([1, 2]), ag.tensor([1, 2]))
    True""",
"ge": """input >= other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.ge(ag.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])""",
"greater": """input > other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.greater(ag.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])""",
"isclose": """Whether |input - other| <= atol + rtol * |other|, or the two are equal; nan equals nan if
`equal_nan`.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor): Number, or tensor of a shape that broadcasts with input's.
    rtol (float): Relative tolerance. Default: 1e-05.
    atol (float): Absolute tolerance. Default: 1e-08.
    equal_nan (bool): Whether nan equals nan. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: the shapes do not fit each other.
    TypeError: isclose() takes two Tensors, not {...} and {...}.
    RuntimeError: isclose: {input.dtype} did not match {other.dtype}.
    RuntimeError: isclose: rtol and atol must be at least 0, not {rtol} and {atol}.

Example:
    >>> ag.isclose(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 2.1]))
    tensor([ True, False])""",
"isfinite": """Whether each element is neither infinite nor nan.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.isfinite(ag.tensor([1.0, float("inf"), float("nan")]))
    tensor([ True, False, False])""",
"isinf": """Whether each element is infinite.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.isinf(ag.tensor([1.0, float("inf"), float("nan")]))
    tensor([False,  True, False])""",
"isnan": """Whether each element is nan.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.isnan(ag.tensor([1.0, float("inf"), float("nan")]))
    tensor([False, False,  True])""",
"isneginf": """Whether each element is -inf.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.isneginf(ag.tensor([1.0, float("-inf"), float("inf")]))
    tensor([False,  True, False])""",
"isposinf": """Whether each element is +inf.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.isposinf(ag.tensor([1.0, float("-inf"), float("inf")]))
    tensor([False, False,  True])""",
"isreal": """Whether the imaginary part of each element is 0.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Example:
    >>> ag.isreal(ag.tensor([1, 2j]))
    tensor([ True, False])""",
"le": """input <= other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.le(ag.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])""",
"less": """input < other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.less(ag.tensor([1, 2, 3]), 2)
    tensor([ True, False, False])""",
"ne": """input != other.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.ne(ag.tensor([1, 2, 3]), ag.tensor([1, 0, 3]))
    tensor([False,  True, False])""",
"angle": """The argument of complex numbers, in (-pi, pi]; for real ones 0, or pi where negative.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.angle(ag.tensor([1.0, -1.0]))
    tensor([0.0000, 3.1416])
    >>> ag.angle(ag.tensor([1j, -1j]))
    tensor([ 1.5708, -1.5708])""",
"complex": """real + i imag.

Args:
    real (Tensor): The real parts, floating point.
    imag (Tensor): The imaginary parts, of the same dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Expected object of scalar type {real.dtype} but got scalar type {imag.dtype}
        for second argument.
    NotImplementedError: complex(): NumPy has no complex numbers of two float16.
    RuntimeError: Expected object of scalar type {...} but got scalar type {out.dtype} for
        argument 'out'.
    TypeError: complex(): argument '{name}' must be Tensor, not {...}.
    RuntimeError: Expected both inputs to be Half, Float or Double tensors but got {real.dtype}
        and {imag.dtype}.

Example:
    >>> ag.complex(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([1.+3.j, 2.+4.j])""",
"conj": """a - ib for a + ib; a real tensor as it is. Computed at once: there is no lazy conjugate bit here.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.conj(ag.tensor([1 + 2j]))
    tensor([1.-2.j])""",
"conj_physical": """conj(input), as new memory.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.conj_physical(ag.tensor([1 + 2j]))
    tensor([1.-2.j])""",
"imag": """The imaginary part, a view. RuntimeError for a real tensor.

Args:
    input (Tensor): complex.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers or floating point.
    RuntimeError: imag is not implemented for tensors with non-complex dtypes, here
        {input.dtype}.

Example:
    >>> ag.imag(ag.tensor([1 + 2j]))
    tensor([2.])""",
"polar": """abs * (cos(angle) + i sin(angle)).

Args:
    abs (Tensor): The moduli, floating point.
    angle (Tensor): The arguments in radians, of the same dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: polar expects two floating point tensors of one dtype, not {abs.dtype} and
        {angle.dtype}.
    TypeError: polar(): argument '{name}' must be Tensor, not {...}.

Example:
    >>> ag.polar(ag.tensor([1.0, 2.0]), ag.tensor([0.0, 1.570796]))
    tensor([1.0000e+00+0.j, 6.2783e-07+2.j])""",
"real": """The real part, a view; a real tensor as it is.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.real(ag.tensor([1 + 2j]))
    tensor([1.])""",
"view_as_complex": """Pairs of real numbers along the last dimension as complex ones; a view.

Args:
    input (Tensor): (..., 2), floating point.

Returns:
    Tensor (...), complex.

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    RuntimeError: view_as_complex is only supported for floating point tensors, but got
        {input.dtype}.
    RuntimeError: Input tensor must have one or more dimensions.
    RuntimeError: Tensor must have a last dimension of size 2, not {...}.
    RuntimeError: Tensor must have a last dimension with stride 1.
    RuntimeError: Tensor must have a stride divisible by 2 for all but last dimension.

Example:
    >>> ag.view_as_complex(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1.+2.j, 3.+4.j])""",
"view_as_real": """Complex numbers as pairs of real ones, along a new last dimension; a view.

Args:
    input (Tensor): Complex (...).

Returns:
    Tensor (..., 2).

Raises:
    RuntimeError: the dtype is bool or integers or floating point.
    RuntimeError: view_as_real is only supported for complex tensors, not for {input.dtype}.

Example:
    >>> ag.view_as_real(ag.tensor([1 + 2j]))
    tensor([[1., 2.]])""",
"exp2": """2 to the power of input.

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
"exp": """e to the power of input.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.exp(ag.tensor([0.0, 1.0, 2.0]))
    tensor([1.0000, 2.7183, 7.3891])""",
"expm1": """exp(input) - 1, accurate near 0.

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
"log10": """The logarithm to the base 10.

Args:
    input (Tensor): Elements above 0; -inf at 0, nan below; any dtype; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.log10(ag.tensor([2.0, 1.0, 1000.0]))
    tensor([0.3010, 0.0000, 3.0000])""",
"log1p": """log(1 + input), accurate near 0.

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
"log2": """The logarithm to the base 2.

Args:
    input (Tensor): Elements above 0; -inf at 0, nan below; any dtype; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.log2(ag.tensor([0.5, 1.0, 10.0]))
    tensor([-1.0000,  0.0000,  3.3219])""",
"log": """The natural logarithm.

Args:
    input (Tensor): Elements above 0; -inf at 0, nan below; any dtype; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.log(ag.tensor([1.0, 2.718282, 10.0]))
    tensor([0.0000, 1.0000, 2.3026])""",
"logaddexp": """log(exp(input) + exp(other)), without overflow.

Args:
    input (Tensor): Of any shape; floating point or complex.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or integers.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.logaddexp(ag.tensor([0.0, 1000.0]), ag.tensor([0.0, 1000.0]))
    tensor([6.9315e-01, 1.0007e+03])""",
"logaddexp2": """log2(2^input + 2^other), without overflow.

Args:
    input (Tensor): Of any shape; floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.logaddexp2(ag.tensor([0.0, 1000.0]), ag.tensor([0.0, 1000.0]))
    tensor([1.0000e+00, 1.0010e+03])""",
"sigmoid": """1 / (1 + exp(-input)).

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
"bitwise_and": """input & other, of integers or bools.

Args:
    input (Tensor or number): Of any shape; bool or integers.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is floating point or complex.

Example:
    >>> ag.bitwise_and(ag.tensor([12, 10]), 6)
    tensor([4, 2])""",
"bitwise_left_shift": """input << other.

Args:
    input (Tensor or number): Of any shape; bool or integers.
    other (Tensor or number): By how many bits.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is floating point or complex.

Example:
    >>> ag.bitwise_left_shift(ag.tensor([1, 3]), 2)
    tensor([ 4, 12])""",
"bitwise_not": """~input, of integers or bools.

Args:
    input (Tensor): Of any shape; bool or integers.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    NotImplementedError: the dtype is floating point or complex.

Example:
    >>> ag.bitwise_not(ag.tensor([0, 1, -2]))
    tensor([-1, -2,  1])""",
"bitwise_or": """input | other, of integers or bools.

Args:
    input (Tensor or number): Of any shape; bool or integers.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is floating point or complex.

Example:
    >>> ag.bitwise_or(ag.tensor([12, 10]), 6)
    tensor([14, 14])""",
"bitwise_right_shift": """input >> other.

Args:
    input (Tensor or number): Of any shape; bool or integers.
    other (Tensor or number): By how many bits.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is floating point or complex.

Example:
    >>> ag.bitwise_right_shift(ag.tensor([16, 7]), 2)
    tensor([4, 1])""",
"bitwise_xor": """input ^ other, of integers or bools.

Args:
    input (Tensor or number): Of any shape; bool or integers.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is floating point or complex.

Example:
    >>> ag.bitwise_xor(ag.tensor([12, 10]), 6)
    tensor([10, 12])""",
"logical_and": """Whether both are true (not 0).

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.logical_and(ag.tensor([0, 1, 2]), ag.tensor([1, 0, 3]))
    tensor([False, False,  True])""",
"logical_not": """Whether false (0).

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Example:
    >>> ag.logical_not(ag.tensor([0, 1, 2]))
    tensor([ True, False, False])""",
"logical_or": """Whether one is true (not 0).

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.logical_or(ag.tensor([0, 1, 0]), ag.tensor([1, 0, 0]))
    tensor([ True,  True, False])""",
"logical_xor": """Whether exactly one is true (not 0).

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.logical_xor(ag.tensor([0, 1, 2]), ag.tensor([1, 0, 3]))
    tensor([ True,  True, False])""",
"float_power": """input ** exponent in double precision, whatever their dtypes.

Args:
    input (Tensor or number): Of any shape; any dtype; integers become floating point.
    exponent (Tensor or number): The exponent: a number, or a tensor of a shape that broadcasts
        with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, float64 or complex128.

Example:
    >>> ag.float_power(ag.tensor([1, 2, 3]), 2)
    tensor([1., 4., 9.], dtype=float64)""",
"frexp": """(mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1.

Args:
    input (Tensor): Of any shape; floating point.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (mantissa, exponent), a named tuple; exponent is int32.

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    RuntimeError: torch.frexp() only supports floating-point dtypes, not {input.dtype}.

Example:
    >>> ag.frexp(ag.tensor([1.0, 6.0]))
    MantissaExponent(mantissa=tensor([0.5000, 0.7500]), exponent=tensor([1, 3], dtype=int32))""",
"hypot": """sqrt(input^2 + other^2), without overflow.

Args:
    input (Tensor): Of any shape; floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.hypot(ag.tensor([3.0, 5.0]), ag.tensor([4.0, 12.0]))
    tensor([ 5., 13.])""",
"ldexp": """input * 2**other; other may be fractional.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: ldexp() takes two Tensors, not {...} and {...}.

Example:
    >>> ag.ldexp(ag.tensor([1.0, 3.0]), ag.tensor([2, 4]))
    tensor([ 4., 48.])""",
"pow": """input ** exponent, one of them a Tensor.

Args:
    input (Tensor or number): The base; any dtype.
    exponent (Tensor or number): The exponent: a number, or a tensor of a shape that broadcasts
        with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.pow(ag.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    >>> ag.pow(2, ag.tensor([0.0, 0.5, 10.0]))
    tensor([1.0000e+00, 1.4142e+00, 1.0240e+03])""",
"reciprocal": """1 / input.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.reciprocal(ag.tensor([2.0, 4.0]))
    tensor([0.5000, 0.2500])""",
"rsqrt": """1 / sqrt(input).

Args:
    input (Tensor): Elements above 0; inf at 0, nan below; any dtype; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.rsqrt(ag.tensor([1.0, 4.0, 16.0]))
    tensor([1.0000, 0.5000, 0.2500])""",
"sqrt": """The square root.

Args:
    input (Tensor): Elements of 0 or more; nan below; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sqrt(ag.tensor([0.0, 2.0, 9.0]))
    tensor([0.0000, 1.4142, 3.0000])""",
"square": """input * input.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.square(ag.tensor([-3.0, 0.5]))
    tensor([9.0000, 0.2500])""",
"ceil": """The smallest integer that is not below input.

Args:
    input (Tensor): Of any shape; integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.ceil(ag.tensor([-1.5, 0.2, 2.0]))
    tensor([-1.,  1.,  2.])""",
"fix": """Rounded towards 0.

Args:
    input (Tensor): Of any shape; integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.trunc(ag.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])""",
"floor": """The largest integer that is not above input.

Args:
    input (Tensor): Of any shape; integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.floor(ag.tensor([-1.5, 0.2, 2.0]))
    tensor([-2.,  0.,  2.])""",
"frac": """input - trunc(input).

Args:
    input (Tensor): Of any shape; floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.frac(ag.tensor([-1.5, 0.25, 2.0]))
    tensor([-0.5000,  0.2500,  0.0000])""",
"round": """The nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals.

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
"abs": """The absolute value; of a complex number its modulus.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.abs(ag.tensor([-1.5, 0.0, 2.0]))
    tensor([1.5000, 0.0000, 2.0000])""",
"copysign": """The magnitude of input with the sign of other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    other (Tensor or number): Gives the signs, also of -0.0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.copysign(ag.tensor([1.0, -2.0]), ag.tensor([-0.0, 5.0]))
    tensor([-1.,  2.])""",
"heaviside": """0 where input is negative, 1 where it is positive, `values` where it is 0.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    values (Tensor): The result where input is 0; of input's dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: heaviside is not yet implemented for tensors with different dtypes:
        {input.dtype}, {values.dtype}.
    TypeError: heaviside() takes two Tensors, not {...}.

Example:
    >>> ag.heaviside(ag.tensor([-1.0, 0.0, 2.0]), ag.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])""",
"neg": """-input.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.neg(ag.tensor([1.0, -2.0]))
    tensor([-1.,  2.])""",
"nextafter": """The next floating point number after input in the direction of other.

Args:
    input (Tensor): Of any shape; floating point.
    other (Tensor or number): The direction.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nextafter(ag.tensor([1.0]), ag.tensor([2.0])).item()
    1.0000001192092896""",
"positive": """input itself; RuntimeError for booleans, which have no sign.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: The `+` operator, on a bool tensor is not supported.

Example:
    >>> ag.positive(ag.tensor([-1.0, 2.0]))
    tensor([-1.,  2.])""",
"sgn": """The sign of a real number, z / |z| of a complex one; 0 at 0.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sgn(ag.tensor([-3.0, 0.0, 5.0]))
    tensor([-1.,  0.,  1.])
    >>> ag.sgn(ag.tensor([3 + 4j]))
    tensor([0.6000+0.8000j])""",
"sign": """-1, 0 or 1.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sign(ag.tensor([-3.0, 0.0, 5.0]))
    tensor([-1.,  0.,  1.])""",
"signbit": """Whether the sign bit is set, of -0.0 too.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape, bool.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.signbit(ag.tensor([-3.0, -0.0, 5.0]))
    tensor([ True,  True, False])""",
"acos": """The arc cosine, in radians.

Args:
    input (Tensor): Elements in [-1, 1]; nan beyond; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.acos(ag.tensor([1.0, 0.0, -1.0]))
    tensor([0.0000, 1.5708, 3.1416])""",
"acosh": """The inverse hyperbolic cosine.

Args:
    input (Tensor): Elements of 1 or more; nan below; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.acosh(ag.tensor([1.0, 2.0]))
    tensor([0.0000, 1.3170])""",
"arcsin": """The arc sine, in radians.

Args:
    input (Tensor): Elements in [-1, 1]; nan beyond; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.asin(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.5708,  0.0000,  1.5708])""",
"arcsinh": """The inverse hyperbolic sine.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.asinh(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.8814,  0.0000,  0.8814])""",
"arctan2": """The angle of the point (other, input), in radians, from -pi to pi.

Args:
    input (Tensor): The points' y; bool, integers or floating point; integers become floating
        point.
    other (Tensor or number): The points' x.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.atan2(ag.tensor([1.0, 1.0, -1.0]), ag.tensor([1.0, -1.0, -1.0]))
    tensor([ 0.7854,  2.3562, -2.3562])""",
"arctan": """The arc tangent, in radians.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.atan(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7854,  0.0000,  0.7854])""",
"arctanh": """The inverse hyperbolic tangent.

Args:
    input (Tensor): Elements in [-1, 1]; nan beyond; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.atanh(ag.tensor([-0.5, 0.0, 0.5]))
    tensor([-0.5493,  0.0000,  0.5493])""",
"cos": """The cosine of an angle in radians.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.cos(ag.tensor([0.0, 1.0, 3.1416]))
    tensor([ 1.0000,  0.5403, -1.0000])""",
"cosh": """The hyperbolic cosine.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.cosh(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([1.5431, 1.0000, 1.5431])""",
"deg2rad": """Degrees to radians.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.deg2rad(ag.tensor([0.0, 90.0, 180.0]))
    tensor([0.0000, 1.5708, 3.1416])""",
"rad2deg": """Radians to degrees.

Args:
    input (Tensor): Of any shape; bool, integers or floating point; integers become floating
        point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.rad2deg(ag.tensor([0.0, 1.570796]))
    tensor([ 0.0000, 90.0000])""",
"sin": """The sine of an angle in radians.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sin(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])""",
"sinc": """sin(pi input) / (pi input), 1 at 0.

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
"sinh": """The hyperbolic sine.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sinh(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.1752,  0.0000,  1.1752])""",
"tan": """The tangent of an angle in radians.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.tan(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])""",
"tanh": """The hyperbolic tangent.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.tanh(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])""",
"clamp": """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out.

The gradient passes where min <= input <= max.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    min (Tensor or number): The lower limit.
    max (Tensor or number): The upper limit.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: clamp(): argument 'input' must be a Tensor, not {...}.
    RuntimeError: clamp: At least one of 'min' or 'max' must not be None.
    TypeError: clamp: min and max must both be numbers or both be tensors, not one of each.

Example:
    >>> ag.clamp(ag.tensor([-2.0, 0.5, 3.0]), -1, 1)
    tensor([-1.0000,  0.5000,  1.0000])
    >>> ag.clamp(ag.tensor([-2.0, 0.5, 3.0]), min=0)
    tensor([0.0000, 0.5000, 3.0000])""",
"clamp_max": """input, but at most max.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    max (Tensor or number): The upper limit.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.clamp_max(ag.tensor([-2.0, 0.5, 3.0]), 1)
    tensor([-2.0000,  0.5000,  1.0000])""",
"clamp_min": """input, but at least min.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    min (Tensor or number): The lower limit.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.clamp_min(ag.tensor([-2.0, 0.5, 3.0]), 0)
    tensor([0.0000, 0.5000, 3.0000])""",
"fmax": """The larger of two; where one is nan, the other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fmax(ag.tensor([1.0, float("nan")]), ag.tensor([2.0, 3.0]))
    tensor([2., 3.])""",
"fmin": """The smaller of two; where one is nan, the other.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fmin(ag.tensor([1.0, float("nan")]), ag.tensor([2.0, 3.0]))
    tensor([1., 3.])""",
"maximum": """The larger of two; nan where one is nan.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.maximum(ag.tensor([1.0, 5.0]), ag.tensor([3.0, 2.0]))
    tensor([3., 5.])""",
"minimum": """The smaller of two; nan where one is nan.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of the shape that the operands broadcast to, bool.

Raises:
    RuntimeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.minimum(ag.tensor([1.0, 5.0]), ag.tensor([3.0, 2.0]))
    tensor([1., 2.])""",
"nan_to_num": """input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite
numbers).

Args:
    input (Tensor): Of any shape; any dtype.
    nan (float): What replaces nan; 0 if None.
    posinf (float): What replaces inf; the dtype's largest number if None.
    neginf (float): What replaces -inf; the dtype's lowest number if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nan_to_num(ag.tensor([1.0, float("nan"), float("inf")]), posinf=9.)
    tensor([1., 0., 9.])""",
"relu": """input where positive, 0 elsewhere.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.relu(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])""",
"where": """input where condition holds, other elsewhere; the three broadcast, input and other may be numbers.

With the condition alone: the indices where it holds, a tensor for each dimension.

Args:
    condition: bool.
    input (Tensor): Values where condition holds; without input and other the result is
        nonzero(condition, as_tuple=True).
    other (Tensor or number): Values elsewhere.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is integers or floating point or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: where expected condition to be a boolean tensor, but got a tensor with dtype
        {condition.dtype}.

Example:
    >>> x = ag.tensor([-1.0, 2.0, -3.0])
    >>> ag.where(x > 0, x, 0.)
    tensor([0., 2., 0.])""",
"Tensor.add_": """In place: input + alpha * other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    alpha (number): Factor of other; an integer where the result is one. Default: 1.

Returns:
    This tensor.

Raises:
    RuntimeError: Boolean alpha only supported for Boolean results, not for {dtype}.
    RuntimeError: For non-complex input tensors, argument alpha must not be a complex number
        ({alpha}).
    RuntimeError: For integral input tensors, argument alpha must not be a floating point number
        ({alpha}).
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.add_(10)
    tensor([11., 12.])
    >>> x.add_(ag.tensor([1.0, 2.0]), alpha=100)
    tensor([111., 212.])""",
"Tensor.addcdiv_": """In place: input + value * tensor1 / tensor2, for floating tensors.

Args:
    tensor1 (Tensor): Numerators, of a shape that broadcasts with input's.
    tensor2 (Tensor): Denominators, of a shape that broadcasts with input's.
    value (number): Factor of the quotient. Default: 1.

Returns:
    This tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: Integer division with addcdiv is no longer supported.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 1.0])
    >>> x.addcdiv_(ag.tensor([1.0, 2.0]), ag.tensor([2.0, 4.0]), value=10)
    tensor([6., 6.])""",
"Tensor.addcmul_": """In place: input + value * tensor1 * tensor2.

Args:
    tensor1 (Tensor): First factors, of a shape that broadcasts with input's.
    tensor2 (Tensor): Second factors, of a shape that broadcasts with input's.
    value (float): Factor of the product; an integer where the tensors are integers. Default: 1.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 1.0])
    >>> x.addcmul_(ag.tensor([1.0, 2.0]), ag.tensor([2.0, 4.0]), value=10)
    tensor([21., 81.])""",
"Tensor.div_": """In place: input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down.

Args:
    other (Tensor or number): The divisor.
    rounding_mode (str): None, "trunc" or "floor".

Returns:
    This tensor.

Raises:
    RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found
        '{rounding_mode}'.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([7.0, -7.0])
    >>> x.div_(2, rounding_mode='floor')
    tensor([ 3., -4.])""",
"Tensor.divide_": """In place: input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down.

Args:
    other (Tensor or number): The divisor.
    rounding_mode (str): None, "trunc" or "floor".

Returns:
    This tensor.

Raises:
    RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found
        '{rounding_mode}'.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([7.0, -7.0])
    >>> x.divide_(2, rounding_mode='floor')
    tensor([ 3., -4.])""",
"Tensor.floor_divide_": """In place: input / other, rounded down.

Args:
    other (Tensor or number): The divisor.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([7, -7])
    >>> x.floor_divide_(2)
    tensor([ 3, -4])""",
"Tensor.fmod_": """In place: the remainder of input / other, with the sign of input.

Args:
    other (Tensor or number): The divisor.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([7.0, -7.0])
    >>> x.fmod_(3)
    tensor([ 1., -1.])""",
"Tensor.gcd_": """In place: the greatest common divisor.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or floating point or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([12, 18])
    >>> x.gcd_(ag.tensor([8, 27]))
    tensor([4, 9])""",
"Tensor.lcm_": """In place: the least common multiple.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or floating point or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([4, 6])
    >>> x.lcm_(ag.tensor([6, 9]))
    tensor([12, 18])""",
"Tensor.lerp_": """In place: input + weight * (end - input); weight is a number or a tensor.

Args:
    end (Tensor): What weight 1 gives; of input's dtype.
    weight (Tensor or number): 0 gives input, 1 end.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.
    RuntimeError: the shapes do not fit each other.
    TypeError: lerp() takes Tensors for input and end, not {...} and {...}.
    RuntimeError: expected dtype {input.dtype} for `{name}` but got dtype {value.dtype}.
    TypeError: {name}: one operand must be a Tensor.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 10.0])
    >>> x.lerp_(ag.tensor([1.0, 20.0]), 0.5)
    tensor([ 0.5000, 15.0000])""",
"Tensor.mul_": """In place: input * other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.mul_(10)
    tensor([10., 20.])""",
"Tensor.multiply_": """In place: input * other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.multiply_(10)
    tensor([10., 20.])""",
"Tensor.remainder_": """In place: the remainder of input / other, with the sign of other.

Args:
    other (Tensor or number): The divisor.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([7.0, -7.0])
    >>> x.remainder_(3)
    tensor([1., 2.])""",
"Tensor.sub_": """In place: input - alpha * other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    alpha (number): Factor of other; an integer where the result is one. Default: 1.

Returns:
    This tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: Boolean alpha only supported for Boolean results, not for {dtype}.
    RuntimeError: For non-complex input tensors, argument alpha must not be a complex number
        ({alpha}).
    RuntimeError: For integral input tensors, argument alpha must not be a floating point number
        ({alpha}).
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.sub_(ag.tensor([1.0, 1.0]), alpha=2)
    tensor([-1.,  0.])""",
"Tensor.subtract_": """In place: input - alpha * other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.
    alpha (number): Factor of other; an integer where the result is one. Default: 1.

Returns:
    This tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: Boolean alpha only supported for Boolean results, not for {dtype}.
    RuntimeError: For non-complex input tensors, argument alpha must not be a complex number
        ({alpha}).
    RuntimeError: For integral input tensors, argument alpha must not be a floating point number
        ({alpha}).
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.subtract_(ag.tensor([1.0, 1.0]), alpha=2)
    tensor([-1.,  0.])""",
"Tensor.true_divide_": """In place: input / other.

Args:
    other (Tensor or number): The divisor.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.true_divide_(ag.tensor([4.0, 0.0]))
    tensor([0.2500,    inf])""",
"Tensor.apply_": """Replace each element by callable(element). Returns self.

Args:
    callable (Callable[[Any], Any]): a function of a number that gives a number.

Returns:
    Tensor.

Raises:
    RuntimeError: Can't call {name}() on Variable that requires grad.
    TypeError: {name}() takes a callable, not {...}.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.apply_(lambda v: v + 1)
    tensor([2., 3.])""",
"Tensor.map2_": """Replace each element by callable(element, element of x, element of y). Returns self.

Args:
    x (Tensor): The second arguments, of a shape that broadcasts to this one.
    y (Tensor): The third arguments, of a shape that broadcasts to this one.
    callable (Callable[[Any, Any, Any], Any]): a function of three numbers that gives a number.

Returns:
    Tensor.

Raises:
    RuntimeError: Can't call {name}() on Variable that requires grad.
    TypeError: {name}() takes a callable, not {...}.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.map2_(ag.tensor([3.0, 4.0]), ag.tensor([5.0, 6.0]), lambda a, b, c: a + b * c)
    tensor([16., 26.])""",
"Tensor.map_": """Replace each element by callable(element, element of tensor). Returns self.

Args:
    tensor (Tensor): The second arguments, of a shape that broadcasts to this one.
    callable (Callable[[Any, Any], Any]): a function of two numbers that gives a number.

Returns:
    Tensor.

Raises:
    RuntimeError: Can't call {name}() on Variable that requires grad.
    TypeError: {name}() takes a callable, not {...}.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.map_(ag.tensor([10.0, 20.0]), lambda a, b: a + b)
    tensor([11., 22.])""",
"Tensor.eq_": """In place: input == other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.eq_(ag.tensor([1, 0, 3]))
    tensor([1, 0, 1])""",
"Tensor.ge_": """In place: input >= other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.ge_(2)
    tensor([0, 1, 1])""",
"Tensor.greater_": """In place: input > other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.greater_(2)
    tensor([0, 0, 1])""",
"Tensor.greater_equal_": """In place: input >= other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.greater_equal_(2)
    tensor([0, 1, 1])""",
"Tensor.gt_": """In place: input > other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.gt_(2)
    tensor([0, 0, 1])""",
"Tensor.le_": """In place: input <= other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.le_(2)
    tensor([1, 1, 0])""",
"Tensor.less_": """In place: input < other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.less_(2)
    tensor([1, 0, 0])""",
"Tensor.less_equal_": """In place: input <= other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.less_equal_(2)
    tensor([1, 1, 0])""",
"Tensor.lt_": """In place: input < other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.lt_(2)
    tensor([1, 0, 0])""",
"Tensor.ne_": """In place: input != other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.ne_(ag.tensor([1, 0, 3]))
    tensor([0, 1, 0])""",
"Tensor.not_equal_": """In place: input != other.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.not_equal_(ag.tensor([1, 0, 3]))
    tensor([0, 1, 0])""",
"Tensor.conj_physical_": """In place: conj(input), as new memory.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1 + 2j])
    >>> x.conj_physical_()
    tensor([1.-2.j])""",
"Tensor.exp2_": """In place: 2 to the power of input.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.0, 10.0])
    >>> x.exp2_()
    tensor([1.0000e+00, 2.0000e+00, 1.0240e+03])""",
"Tensor.exp_": """In place: e to the power of input.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.0, 2.0])
    >>> x.exp_()
    tensor([1.0000, 2.7183, 7.3891])""",
"Tensor.expm1_": """In place: exp(input) - 1, accurate near 0.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1e-06, 1.0])
    >>> x.expm1_()
    tensor([0.0000e+00, 1.0000e-06, 1.7183e+00])""",
"Tensor.log10_": """In place: the logarithm to the base 10.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([2.0, 1.0, 1000.0])
    >>> x.log10_()
    tensor([0.3010, 0.0000, 3.0000])""",
"Tensor.log1p_": """In place: log(1 + input), accurate near 0.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1e-06, 1.0])
    >>> x.log1p_()
    tensor([0.0000e+00, 1.0000e-06, 6.9315e-01])""",
"Tensor.log2_": """In place: the logarithm to the base 2.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.5, 1.0, 10.0])
    >>> x.log2_()
    tensor([-1.0000,  0.0000,  3.3219])""",
"Tensor.log_": """In place: the natural logarithm.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.718282, 10.0])
    >>> x.log_()
    tensor([0.0000, 1.0000, 2.3026])""",
"Tensor.sigmoid_": """In place: 1 / (1 + exp(-input)).

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-2.0, 0.0, 2.0])
    >>> x.sigmoid_()
    tensor([0.1192, 0.5000, 0.8808])""",
"Tensor.bitwise_and_": """In place: input & other, of integers or bools.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is floating point or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([12, 10])
    >>> x.bitwise_and_(6)
    tensor([4, 2])""",
"Tensor.bitwise_left_shift_": """In place: input << other.

Args:
    other (Tensor or number): By how many bits.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is floating point or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 3])
    >>> x.bitwise_left_shift_(2)
    tensor([ 4, 12])""",
"Tensor.bitwise_not_": """In place: ~input, of integers or bools.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is floating point or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0, 1, -2])
    >>> x.bitwise_not_()
    tensor([-1, -2,  1])""",
"Tensor.bitwise_or_": """In place: input | other, of integers or bools.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is floating point or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([12, 10])
    >>> x.bitwise_or_(6)
    tensor([14, 14])""",
"Tensor.bitwise_right_shift_": """In place: input >> other.

Args:
    other (Tensor or number): By how many bits.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is floating point or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([16, 7])
    >>> x.bitwise_right_shift_(2)
    tensor([4, 1])""",
"Tensor.bitwise_xor_": """In place: input ^ other, of integers or bools.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is floating point or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([12, 10])
    >>> x.bitwise_xor_(6)
    tensor([10, 12])""",
"Tensor.logical_and_": """In place: whether both are true (not 0).

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0, 1, 2])
    >>> x.logical_and_(ag.tensor([1, 0, 3]))
    tensor([0, 0, 1])""",
"Tensor.logical_not_": """In place: whether false (0).

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0, 1, 2])
    >>> x.logical_not_()
    tensor([1, 0, 0])""",
"Tensor.logical_or_": """In place: whether one is true (not 0).

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0, 1, 0])
    >>> x.logical_or_(ag.tensor([1, 0, 0]))
    tensor([1, 1, 0])""",
"Tensor.logical_xor_": """In place: whether exactly one is true (not 0).

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0, 1, 2])
    >>> x.logical_xor_(ag.tensor([1, 0, 3]))
    tensor([1, 1, 0])""",
"Tensor.float_power_": """In place: input ** exponent in double precision, whatever their dtypes.

Args:
    exponent (Tensor or number): The exponent: a number, or a tensor of a shape that broadcasts
        with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2], dtype=ag.float64)
    >>> x.float_power_(2)
    tensor([1., 4.], dtype=float64)""",
"Tensor.hypot_": """In place: sqrt(input^2 + other^2), without overflow.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([3.0, 5.0])
    >>> x.hypot_(ag.tensor([4.0, 12.0]))
    tensor([ 5., 13.])""",
"Tensor.ldexp_": """In place: input * 2**other; other may be fractional.

Args:
    other (Tensor or number): Number, or tensor of a shape that broadcasts with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    TypeError: ldexp() takes two Tensors, not {...} and {...}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 3.0])
    >>> x.ldexp_(ag.tensor([2, 4]))
    tensor([ 4., 48.])""",
"Tensor.pow_": """In place: input ** exponent, one of them a Tensor.

Args:
    exponent (Tensor or number): The exponent: a number, or a tensor of a shape that broadcasts
        with input's.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0, 3.0])
    >>> x.pow_(2)
    tensor([1., 4., 9.])""",
"Tensor.reciprocal_": """In place: 1 / input.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([2.0, 4.0])
    >>> x.reciprocal_()
    tensor([0.5000, 0.2500])""",
"Tensor.rsqrt_": """In place: 1 / sqrt(input).

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 4.0, 16.0])
    >>> x.rsqrt_()
    tensor([1.0000, 0.5000, 0.2500])""",
"Tensor.sqrt_": """In place: the square root.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 2.0, 9.0])
    >>> x.sqrt_()
    tensor([0.0000, 1.4142, 3.0000])""",
"Tensor.square_": """In place: input * input.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-3.0, 0.5])
    >>> x.square_()
    tensor([9.0000, 0.2500])""",
"Tensor.ceil_": """In place: the smallest integer that is not below input.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 0.2, 2.0])
    >>> x.ceil_()
    tensor([-1.,  1.,  2.])""",
"Tensor.fix_": """In place: rounded towards 0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 1.5])
    >>> x.fix_()
    tensor([-1.,  1.])""",
"Tensor.floor_": """In place: the largest integer that is not above input.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 0.2, 2.0])
    >>> x.floor_()
    tensor([-2.,  0.,  2.])""",
"Tensor.frac_": """In place: input - trunc(input).

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 0.25, 2.0])
    >>> x.frac_()
    tensor([-0.5000,  0.2500,  0.0000])""",
"Tensor.round_": """In place: the nearest integer, the even one of two; with `decimals`, the nearest multiple of
10**-decimals.

Args:
    decimals (int): Digits after the decimal point; negative: before it. Default: 0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([3.14159])
    >>> x.round_(decimals=2)
    tensor([3.1400])""",
"Tensor.trunc_": """In place: rounded towards 0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 1.5])
    >>> x.trunc_()
    tensor([-1.,  1.])""",
"Tensor.abs_": """In place: the absolute value; of a complex number its modulus.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 0.0, 2.0])
    >>> x.abs_()
    tensor([1.5000, 0.0000, 2.0000])""",
"Tensor.absolute_": """In place: the absolute value; of a complex number its modulus.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.5, 0.0, 2.0])
    >>> x.absolute_()
    tensor([1.5000, 0.0000, 2.0000])""",
"Tensor.copysign_": """In place: the magnitude of input with the sign of other.

Args:
    other (Tensor or number): Gives the signs, also of -0.0.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, -2.0])
    >>> x.copysign_(ag.tensor([-0.0, 5.0]))
    tensor([-1.,  2.])""",
"Tensor.heaviside_": """In place: 0 where input is negative, 1 where it is positive, `values` where it is 0.

Args:
    values (Tensor): The result where input is 0; of input's dtype.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: heaviside is not yet implemented for tensors with different dtypes:
        {input.dtype}, {values.dtype}.
    TypeError: heaviside() takes two Tensors, not {...}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 2.0])
    >>> x.heaviside_(ag.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])""",
"Tensor.neg_": """In place: -input.

Returns:
    This tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, -2.0])
    >>> x.neg_()
    tensor([-1.,  2.])""",
"Tensor.negative_": """In place: -input.

Returns:
    This tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, -2.0])
    >>> x.negative_()
    tensor([-1.,  2.])""",
"Tensor.nextafter_": """In place: the next floating point number after input in the direction of other.

Args:
    other (Tensor or number): The direction.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0])
    >>> x.nextafter_(ag.tensor([2.0]))
    tensor([1.0000])""",
"Tensor.sgn_": """In place: the sign of a real number, z / |z| of a complex one; 0 at 0.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([3 + 4j])
    >>> x.sgn_()
    tensor([0.6000+0.8000j])""",
"Tensor.sign_": """In place: -1, 0 or 1.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-3.0, 0.0, 5.0])
    >>> x.sign_()
    tensor([-1.,  0.,  1.])""",
"Tensor.acos_": """In place: the arc cosine, in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 0.0, -1.0])
    >>> x.acos_()
    tensor([0.0000, 1.5708, 3.1416])""",
"Tensor.acosh_": """In place: the inverse hyperbolic cosine.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.acosh_()
    tensor([0.0000, 1.3170])""",
"Tensor.arccos_": """In place: the arc cosine, in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 0.0, -1.0])
    >>> x.arccos_()
    tensor([0.0000, 1.5708, 3.1416])""",
"Tensor.arccosh_": """In place: the inverse hyperbolic cosine.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.arccosh_()
    tensor([0.0000, 1.3170])""",
"Tensor.arcsin_": """In place: the arc sine, in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.arcsin_()
    tensor([-1.5708,  0.0000,  1.5708])""",
"Tensor.arcsinh_": """In place: the inverse hyperbolic sine.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.arcsinh_()
    tensor([-0.8814,  0.0000,  0.8814])""",
"Tensor.arctan2_": """In place: the angle of the point (other, input), in radians, from -pi to pi.

Args:
    other (Tensor or number): The points' x.

Returns:
    This tensor.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 1.0, -1.0])
    >>> x.arctan2_(ag.tensor([1.0, -1.0, -1.0]))
    tensor([ 0.7854,  2.3562, -2.3562])""",
"Tensor.arctan_": """In place: the arc tangent, in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.arctan_()
    tensor([-0.7854,  0.0000,  0.7854])""",
"Tensor.arctanh_": """In place: the inverse hyperbolic tangent.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-0.5, 0.0, 0.5])
    >>> x.arctanh_()
    tensor([-0.5493,  0.0000,  0.5493])""",
"Tensor.asin_": """In place: the arc sine, in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.asin_()
    tensor([-1.5708,  0.0000,  1.5708])""",
"Tensor.asinh_": """In place: the inverse hyperbolic sine.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.asinh_()
    tensor([-0.8814,  0.0000,  0.8814])""",
"Tensor.atan2_": """In place: the angle of the point (other, input), in radians, from -pi to pi.

Args:
    other (Tensor or number): The points' x.

Returns:
    This tensor.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 1.0, -1.0])
    >>> x.atan2_(ag.tensor([1.0, -1.0, -1.0]))
    tensor([ 0.7854,  2.3562, -2.3562])""",
"Tensor.atan_": """In place: the arc tangent, in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.atan_()
    tensor([-0.7854,  0.0000,  0.7854])""",
"Tensor.atanh_": """In place: the inverse hyperbolic tangent.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-0.5, 0.0, 0.5])
    >>> x.atanh_()
    tensor([-0.5493,  0.0000,  0.5493])""",
"Tensor.cos_": """In place: the cosine of an angle in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.0, 3.1416])
    >>> x.cos_()
    tensor([ 1.0000,  0.5403, -1.0000])""",
"Tensor.cosh_": """In place: the hyperbolic cosine.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.cosh_()
    tensor([1.5431, 1.0000, 1.5431])""",
"Tensor.deg2rad_": """In place: degrees to radians.

Returns:
    This tensor.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 90.0, 180.0])
    >>> x.deg2rad_()
    tensor([0.0000, 1.5708, 3.1416])""",
"Tensor.rad2deg_": """In place: radians to degrees.

Returns:
    This tensor.

Raises:
    TypeError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.570796])
    >>> x.rad2deg_()
    tensor([ 0.0000, 90.0000])""",
"Tensor.sin_": """In place: the sine of an angle in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.0])
    >>> x.sin_()
    tensor([0.0000, 0.8415])""",
"Tensor.sinc_": """In place: sin(pi input) / (pi input), 1 at 0.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 0.5, 1.0])
    >>> x.sinc_()
    tensor([ 1.0000e+00,  6.3662e-01, -2.7828e-08])""",
"Tensor.sinh_": """In place: the hyperbolic sine.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.sinh_()
    tensor([-1.1752,  0.0000,  1.1752])""",
"Tensor.tan_": """In place: the tangent of an angle in radians.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([0.0, 1.0])
    >>> x.tan_()
    tensor([0.0000, 1.5574])""",
"Tensor.tanh_": """In place: the hyperbolic tangent.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-1.0, 0.0, 1.0])
    >>> x.tanh_()
    tensor([-0.7616,  0.0000,  0.7616])""",
"Tensor.clamp_": """In place: input limited to [min, max]: numbers, or tensors that broadcast; one may be left out.

Args:
    min (Tensor or number): The lower limit.
    max (Tensor or number): The upper limit.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    TypeError: clamp(): argument 'input' must be a Tensor, not {...}.
    RuntimeError: clamp: At least one of 'min' or 'max' must not be None.
    TypeError: clamp: min and max must both be numbers or both be tensors, not one of each.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-2.0, 0.5, 3.0])
    >>> x.clamp_(min=0)
    tensor([0.0000, 0.5000, 3.0000])""",
"Tensor.clamp_max_": """In place: input, but at most max.

Args:
    max (Tensor or number): The upper limit.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-2.0, 0.5, 3.0])
    >>> x.clamp_max_(1)
    tensor([-2.0000,  0.5000,  1.0000])""",
"Tensor.clamp_min_": """In place: input, but at least min.

Args:
    min (Tensor or number): The lower limit.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-2.0, 0.5, 3.0])
    >>> x.clamp_min_(0)
    tensor([0.0000, 0.5000, 3.0000])""",
"Tensor.clip_": """In place: input limited to [min, max]: numbers, or tensors that broadcast; one may be left out.

Args:
    min (Tensor or number): The lower limit.
    max (Tensor or number): The upper limit.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    TypeError: clamp(): argument 'input' must be a Tensor, not {...}.
    RuntimeError: clamp: At least one of 'min' or 'max' must not be None.
    TypeError: clamp: min and max must both be numbers or both be tensors, not one of each.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([-2.0, 0.5, 3.0])
    >>> x.clip_(min=0)
    tensor([0.0000, 0.5000, 3.0000])""",
"Tensor.nan_to_num_": """In place: input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest
finite numbers).

Args:
    nan (float): What replaces nan; 0 if None.
    posinf (float): What replaces inf; the dtype's largest number if None.
    neginf (float): What replaces -inf; the dtype's lowest number if None.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, float('nan'), float('inf')])
    >>> x.nan_to_num_(posinf=9.0)
    tensor([1., 0., 9.])""",
"Tensor.relu_": """In place: input where positive, 0 elsewhere.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> ag.tensor([-1.0, 2.0]).relu_()
    tensor([0., 2.])""",
"Tensor.where": """This tensor where condition holds, other elsewhere.

Args:
    condition (Tensor): bool.
    other (Tensor or number): Values where condition does not hold.

Returns:
    Tensor.

Example:
    >>> x = ag.tensor([-1.0, 2.0, -3.0])
    >>> x.where(x > 0, 0.)
    tensor([0., 2., 0.])""",
}
for _pair in """divide:div multiply:mul subtract:sub greater_equal:ge gt:greater less_equal:le lt:less not_equal:ne
    trunc:fix absolute:abs negative:neg arccos:acos arccosh:acosh asin:arcsin asinh:arcsinh atan2:arctan2 atan:arctan
    atanh:arctanh clip:clamp Tensor.add:add Tensor.addcdiv:addcdiv Tensor.addcmul:addcmul Tensor.div:div
    Tensor.divide:div Tensor.floor_divide:floor_divide Tensor.fmod:fmod Tensor.gcd:gcd Tensor.lcm:lcm Tensor.lerp:lerp
    Tensor.mul:mul Tensor.multiply:mul Tensor.remainder:remainder Tensor.sub:sub Tensor.subtract:sub
    Tensor.true_divide:true_divide Tensor.allclose:allclose Tensor.eq:eq Tensor.equal:equal Tensor.ge:ge
    Tensor.greater:greater Tensor.greater_equal:ge Tensor.gt:greater Tensor.isclose:isclose Tensor.isfinite:isfinite
    Tensor.isinf:isinf Tensor.isnan:isnan Tensor.isneginf:isneginf Tensor.isposinf:isposinf Tensor.isreal:isreal
    Tensor.le:le Tensor.less:less Tensor.less_equal:le Tensor.lt:less Tensor.ne:ne Tensor.not_equal:ne
    Tensor.angle:angle Tensor.conj:conj Tensor.conj_physical:conj_physical Tensor.exp2:exp2 Tensor.exp:exp
    Tensor.expm1:expm1 Tensor.log10:log10 Tensor.log1p:log1p Tensor.log2:log2 Tensor.log:log
    Tensor.logaddexp:logaddexp Tensor.logaddexp2:logaddexp2 Tensor.sigmoid:sigmoid Tensor.bitwise_and:bitwise_and
    Tensor.bitwise_left_shift:bitwise_left_shift Tensor.bitwise_not:bitwise_not Tensor.bitwise_or:bitwise_or
    Tensor.bitwise_right_shift:bitwise_right_shift Tensor.bitwise_xor:bitwise_xor Tensor.logical_and:logical_and
    Tensor.logical_not:logical_not Tensor.logical_or:logical_or Tensor.logical_xor:logical_xor
    Tensor.float_power:float_power Tensor.frexp:frexp Tensor.hypot:hypot Tensor.ldexp:ldexp Tensor.pow:pow
    Tensor.reciprocal:reciprocal Tensor.rsqrt:rsqrt Tensor.sqrt:sqrt Tensor.square:square Tensor.ceil:ceil
    Tensor.fix:fix Tensor.floor:floor Tensor.frac:frac Tensor.round:round Tensor.trunc:fix Tensor.abs:abs
    Tensor.absolute:abs Tensor.copysign:copysign Tensor.heaviside:heaviside Tensor.neg:neg Tensor.negative:neg
    Tensor.nextafter:nextafter Tensor.positive:positive Tensor.sgn:sgn Tensor.sign:sign Tensor.signbit:signbit
    Tensor.acos:acos Tensor.acosh:acosh Tensor.arccos:acos Tensor.arccosh:acosh Tensor.arcsin:arcsin
    Tensor.arcsinh:arcsinh Tensor.arctan2:arctan2 Tensor.arctan:arctan Tensor.arctanh:arctanh Tensor.asin:arcsin
    Tensor.asinh:arcsinh Tensor.atan2:arctan2 Tensor.atan:arctan Tensor.atanh:arctanh Tensor.cos:cos Tensor.cosh:cosh
    Tensor.deg2rad:deg2rad Tensor.rad2deg:rad2deg Tensor.sin:sin Tensor.sinc:sinc Tensor.sinh:sinh Tensor.tan:tan
    Tensor.tanh:tanh Tensor.clamp:clamp Tensor.clamp_max:clamp_max Tensor.clamp_min:clamp_min Tensor.clip:clamp
    Tensor.fmax:fmax Tensor.fmin:fmin Tensor.maximum:maximum Tensor.minimum:minimum Tensor.nan_to_num:nan_to_num
    Tensor.relu:relu""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
