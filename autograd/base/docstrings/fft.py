"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"fft.fft": """sum over m of x[m] exp(-2 pi i k m / n), along `dim`; n cuts off or fills up with zeros.

Args:
    input (Tensor): Of any shape; any dtype.
    n (int): Length of the transformed dimension.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: {name}(): argument 'dim' must be int, not {...}.

Example:
    >>> ag.fft.fft(ag.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])""",
"fft.fft2": """fftn over two dimensions, by default the last two.

Args:
    input (Tensor): Of any shape; any dtype.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension, from the front or (negative) from the end.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.fft2(ag.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])""",
"fft.fftfreq": """The frequencies of fft of n samples d apart: [0, 1, ..., -2, -1] / (n d).

Args:
    n (int): Number of samples.
    d (float): Distance of samples. Default: 1.0.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    pin_memory (bool): Only False. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: device={device}: tensors live in the CPU's memory.
    RuntimeError: fftfreq and rfftfreq require a floating point or complex dtype, not {dtype}.
    NotImplementedError: {name}={...} is not implemented: leave it out.

Example:
    >>> ag.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])""",
"fft.fftn": """fft over several dimensions, by default all, or the last len(s).

Args:
    input (Tensor): Of any shape; any dtype.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension or dimensions; all if None.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.fftn(ag.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])""",
"fft.fftshift": """Frequency 0 moved to the middle, along `dim` or all dimensions.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.fft.fftshift(ag.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])""",
"fft.hfft": """fft of a signal whose second half is the conjugate of its first half, which is given: n real
numbers.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    n (int): Length of the transformed dimension.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.
    RuntimeError: Invalid number of data points ({n}) specified.
    TypeError: {name}(): argument 'dim' must be int, not {...}.
    RuntimeError: Unsupported dtype {x.dtype}: Fourier transforms take float32, float64 and
        complex numbers.
    RuntimeError: Expected a real input tensor to the transform, got {x.dtype}.
    RuntimeError: Invalid normalization mode: "{norm}".

Example:
    >>> ag.fft.hfft(ag.tensor([1.0, 2.0, 3.0]))
    tensor([ 8., -2.,  0., -2.])""",
"fft.hfft2": """hfftn over two dimensions, by default the last two.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension, from the front or (negative) from the end.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.hfft2(ag.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])""",
"fft.hfftn": """hfft over the last of several dimensions, fft over the others.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension or dimensions; all if None.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.
    RuntimeError: Invalid number of data points ({n}) specified.
    RuntimeError: Unsupported dtype {x.dtype}: Fourier transforms take float32, float64 and
        complex numbers.
    RuntimeError: Expected a real input tensor to the transform, got {x.dtype}.
    RuntimeError: Invalid normalization mode: "{norm}".

Example:
    >>> ag.fft.hfftn(ag.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])""",
"fft.ifft": """The inverse of fft.

Args:
    input (Tensor): Of any shape; any dtype.
    n (int): Length of the transformed dimension.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    IndexError: `dim` is no dimension of the input.
    TypeError: {name}(): argument 'dim' must be int, not {...}.

Example:
    >>> ag.fft.ifft(ag.fft.fft(ag.tensor([1.0, 2.0])))
    tensor([1.+0.j, 2.+0.j])""",
"fft.ifft2": """ifftn over two dimensions, by default the last two.

Args:
    input (Tensor): Of any shape; any dtype.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension, from the front or (negative) from the end.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.ifft2(ag.ones(2, 2))
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])""",
"fft.ifftn": """The inverse of fftn.

Args:
    input (Tensor): Of any shape; any dtype.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension or dimensions; all if None.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.ifftn(ag.ones(2, 2))
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])""",
"fft.ifftshift": """The inverse of fftshift.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.fft.ifftshift(ag.fft.fftshift(ag.arange(4)))
    tensor([0, 1, 2, 3])""",
"fft.ihfft": """The inverse of hfft.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    n (int): Length of the transformed dimension.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    RuntimeError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.
    TypeError: {name}(): argument 'dim' must be int, not {...}.
    RuntimeError: Invalid normalization mode: "{norm}".

Example:
    >>> ag.fft.ihfft(ag.tensor([1.0, 2.0, 3.0, 2.0]))
    tensor([ 2.0000-0.j, -0.5000-0.j,  0.0000-0.j])""",
"fft.ihfft2": """ihfftn over two dimensions, by default the last two.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension, from the front or (negative) from the end.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    RuntimeError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.ihfft2(ag.ones(2, 2))
    tensor([[1.-0.j, 0.-0.j],
            [0.-0.j, 0.-0.j]])""",
"fft.ihfftn": """The inverse of hfftn.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension or dimensions; all if None.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    RuntimeError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.
    RuntimeError: Invalid normalization mode: "{norm}".

Example:
    >>> ag.fft.ihfftn(ag.ones(2, 2))
    tensor([[1.-0.j, 0.-0.j],
            [0.-0.j, 0.-0.j]])""",
"fft.irfft": """The inverse of rfft, for n real numbers; n is by default even.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    n (int): Length of the transformed dimension.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: at least one axis must be transformed.
    RuntimeError: Invalid number of data points ({n}) specified.
    TypeError: {name}(): argument 'dim' must be int, not {...}.

Example:
    >>> ag.fft.irfft(ag.fft.rfft(ag.tensor([1.0, 2.0, 3.0, 4.0])))
    tensor([1., 2., 3., 4.])""",
"fft.irfft2": """irfftn over two dimensions, by default the last two.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension, from the front or (negative) from the end.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.irfft2(ag.ones(2, 2))
    tensor([[1., 0.],
            [0., 0.]])""",
"fft.irfftn": """The inverse of rfftn.

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension or dimensions; all if None.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.
    RuntimeError: Invalid number of data points ({n}) specified.

Example:
    >>> ag.fft.irfftn(ag.ones(2, 2))
    tensor([[1., 0.],
            [0., 0.]])""",
"fft.rfft": """The first n // 2 + 1 coefficients of fft of real input; the others are their conjugates.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    n (int): Length of the transformed dimension.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    RuntimeError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.
    TypeError: {name}(): argument 'dim' must be int, not {...}.

Example:
    >>> ag.fft.rfft(ag.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j])""",
"fft.rfft2": """rfftn over two dimensions, by default the last two.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension, from the front or (negative) from the end.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    RuntimeError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.fft.rfft2(ag.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])""",
"fft.rfftfreq": """The frequencies of rfft of n samples d apart: [0, 1, ..., n // 2] / (n d).

Args:
    n (int): Number of samples.
    d (float): Distance of samples. Default: 1.0.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    pin_memory (bool): Only False. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: device={device}: tensors live in the CPU's memory.
    RuntimeError: fftfreq and rfftfreq require a floating point or complex dtype, not {dtype}.
    NotImplementedError: {name}={...} is not implemented: leave it out.

Example:
    >>> ag.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])""",
"fft.rfftn": """rfft over the last of several dimensions, fft over the others.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    s (ints): Lengths of the transformed dimensions.
    dim (ints): Dimension or dimensions; all if None.
    norm (str): "forward", "backward" or "ortho": where 1 / n goes; "backward" if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex.

Raises:
    RuntimeError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: at least one axis must be transformed.

Example:
    >>> ag.fft.rfftn(ag.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])""",
}
