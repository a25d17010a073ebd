"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"istft": """The signal whose stft() is nearest to input: the windows' signals added up, divided by the sum of
squared windows.

Args:
    input (Tensor): Of any shape; complex.
    n_fft (int): Points of a window.
    hop_length (int): Distance of two windows; n_fft // 4 if None.
    win_length (int): Length of `window`; n_fft if None.
    window (Tensor): (win_length,); ones if None.
    center (bool): Whether the signal was padded by n_fft // 2 on both sides. Default: True.
    normalized (bool): Whether the transforms were divided by sqrt(n_fft). Default: False.
    onesided (bool): Whether only the first n_fft // 2 + 1 frequencies are given.
    length (int): Of the signal.
    return_complex (bool): Whether the signal is complex. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers or floating point.
    RuntimeError: Cannot have onesided output if window or input is complex.

Example:
    >>> x = ag.arange(8.)
    >>> w = ag.hann_window(4)
    >>> ag.istft(ag.stft(x, 4, window=w, return_complex=True), 4, window=w).shape
    Size([8])""",
"stft": """The Fourier transforms of windows of n_fft points, one each hop_length, of (..., L): (..., frequencies, windows).

center: the signal is padded so that window t is centred at t * hop_length. onesided: the frequencies above n_fft / 2,
which mirror the others, are left out (what real signals get by default).

Args:
    input (Tensor): (L,) or (batch, L); floating point or complex.
    n_fft (int): Points of a window.
    hop_length (int): Distance of two windows; n_fft // 4 if None.
    win_length (int): Length of `window`; n_fft if None.
    window (Tensor): (win_length,); ones if None.
    center (bool): Whether the signal is padded by n_fft // 2 on both sides. Default: True.
    pad_mode (str): How, see nn.functional.pad. Default: 'reflect'.
    normalized (bool): Whether the transforms are divided by sqrt(n_fft). Default: False.
    onesided (bool): Whether only the first n_fft // 2 + 1 frequencies are returned; True for
        real signals if None.
    return_complex (bool): Must be True for real signals.
    align_to_window (bool): Only with center=False: where windows begin.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    NotImplementedError: stft: align_to_window is not implemented.
    RuntimeError: stft requires the return_complex parameter be given for real inputs, and will
        further require that return_complex=True in a future PyTorch release.
    RuntimeError: Cannot have onesided output if window or input is complex.

Example:
    >>> ag.stft(ag.arange(8.), 4, window=ag.hann_window(4), return_complex=True).shape
    Size([3, 9])""",
"bartlett_window": """A triangle: 1 - |2 i / n - 1|.

Args:
    window_length (int): Number of points.
    periodic (bool): Whether the window is one period, without its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: {name} expects floating point dtypes, got: {dtype}.
    RuntimeError: {name} requires non-negative window_length, got window_length={n}.

Example:
    >>> ag.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])""",
"blackman_window": """0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n).

Args:
    window_length (int): Number of points.
    periodic (bool): Whether the window is one period, without its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.blackman_window(4)
    tensor([-1.3878e-17,  3.4000e-01,  1.0000e+00,  3.4000e-01])""",
"hamming_window": """alpha - beta cos(2 pi i / n).

Args:
    window_length (int): Number of points.
    periodic (bool): Whether the window is one period, without its last point. Default: True.
    alpha (float): The constant. Default: 0.54.
    beta (float): The factor of the cosine. Default: 0.46.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])""",
"hann_window": """1/2 - 1/2 cos(2 pi i / n).

Args:
    window_length (int): Number of points.
    periodic (bool): Whether the window is one period, without its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])""",
"kaiser_window": """I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta), with the modified Bessel function I0.

Args:
    window_length (int): Number of points.
    periodic (bool): Whether the window is one period, without its last point. Default: True.
    beta (float): The shape: larger ones have lower side lobes. Default: 12.0.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: {name} expects floating point dtypes, got: {dtype}.
    RuntimeError: {name} requires non-negative window_length, got window_length={n}.

Example:
    >>> ag.kaiser_window(4)
    tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01])""",
"signal.windows.bartlett": """A triangle: 1 - |2 i / last - 1|.

Args:
    M (int): Number of points.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])""",
"signal.windows.blackman": """0.42 - 0.5 cos(2 pi i / last) + 0.08 cos(4 pi i / last).

Args:
    M (int): Number of points.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.blackman(5)
    tensor([-1.3878e-17,  3.4000e-01,  1.0000e+00,  3.4000e-01, -1.3878e-17])""",
"signal.windows.cosine": """sin(pi (i + 1/2) / (last + 1)).

Args:
    M (int): Number of points.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.cosine(5)
    tensor([0.3090, 0.8090, 1.0000, 0.8090, 0.3090])""",
"signal.windows.exponential": """exp(-|i - center| / tau); the center of a symmetric window is its middle.

Args:
    M (int): Number of points.
    center (float): Where it is 1; only for sym=False.
    tau (float): How fast it falls. Default: 1.0.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: Tau must be positive, got: {tau} instead.
    ValueError: Center must be None for symmetric windows.
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.exponential(5)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])""",
"signal.windows.gaussian": """exp(-((i - middle) / std)^2 / 2).

Args:
    M (int): Number of points.
    std (float): The standard deviation, in points. Default: 1.0.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: Standard deviation must be positive, got: {std} instead.
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.gaussian(5)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])""",
"signal.windows.general_cosine": """sum over k of (-1)^k a[k] cos(2 pi k i / last).

Args:
    M (int): Number of points.
    a (Iterable[float]): The weights of the cosines.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    TypeError: Coefficients must be a list/tuple.
    ValueError: Coefficients cannot be empty.
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])""",
"signal.windows.general_hamming": """alpha - (1 - alpha) cos(2 pi i / last).

Args:
    M (int): Number of points.
    alpha (float): The constant. Default: 0.54.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.general_hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])""",
"signal.windows.hamming": """0.54 - 0.46 cos(2 pi i / last).

Args:
    M (int): Number of points.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])""",
"signal.windows.hann": """1/2 - 1/2 cos(2 pi i / last).

Args:
    M (int): Number of points.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])""",
"signal.windows.kaiser": """I0(beta sqrt(1 - (2 i / last - 1)^2)) / I0(beta), with the modified Bessel function I0.

Args:
    M (int): Number of points.
    beta (float): The shape: larger ones have lower side lobes. Default: 12.0.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: beta must be non-negative, got: {beta} instead.
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.kaiser(5)
    tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01, 5.2773e-05])""",
"signal.windows.nuttall": """Four cosines with weights that keep the side lobes below -98 dB (Nuttall, 1981).

Args:
    M (int): Number of points.
    sym (bool): Whether the window is symmetric, with its last point. Default: True.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: {name} requires non-negative window length, got M={M}.
    ValueError: {name} is implemented for strided tensors only, got: {layout}.
    ValueError: {name} expects float32 or float64 dtypes, got: {dtype}.

Example:
    >>> ag.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])""",
}
for _pair in """Tensor.istft:istft Tensor.stft:stft""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
