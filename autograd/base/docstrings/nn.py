"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"celu": """input where positive, alpha (exp(input / alpha) - 1) elsewhere.

Args:
    input (Tensor): Of any shape; floating point.
    alpha (float): Where the negative part tends to, negated. Default: 1.0.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: ZeroDivisionError: alpha cannot be 0 for CELU.

Example:
    >>> ag.celu(ag.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])""",
"celu_": """celu, in place.

Args:
    input (Tensor): Of any shape; floating point.
    alpha (float): Where the negative part tends to, negated. Default: 1.0.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.celu_(ag.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])""",
"hardshrink": """input where beyond [-lambd, lambd], 0 within.

Args:
    input (Tensor): Of any shape; floating point.
    lambd (float): Half the width of what becomes 0. Default: 0.5.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.hardshrink(ag.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])""",
"prelu": """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1).

Args:
    input (Tensor): Of any shape; dimension 1 holds channels; any dtype.
    weight (Tensor): (1,) or (channels,).

Returns:
    Tensor.

Raises:
    TypeError: prelu(): argument 'weight' must be a Tensor, not {...}.
    RuntimeError: prelu: Type promoting not supported.
    RuntimeError: prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim =
        {weight.ndim}.
    RuntimeError: Not allow zero-dim input tensor.
    RuntimeError: Mismatch of parameter numbers and input channel size.

Example:
    >>> ag.prelu(ag.tensor([-4.0, 2.0]), ag.tensor([0.25]))
    tensor([-1.,  2.])""",
"relu_": """relu, in place.

Args:
    input (Tensor): Of any shape; integers or floating point.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.relu_(ag.tensor([-1.0, 2.0]))
    tensor([0., 2.])""",
"rrelu": """leaky_relu; while training each element below 0 has a random slope from [lower, upper], else the
middle one.

Args:
    input (Tensor): Of any shape; floating point.
    lower (float): The smallest slope. Default: 0.125.
    upper (float): The largest slope. Default: 0.3333333333333333.
    training (bool): Whether the layer is being trained. Default: False.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: Lower bound should be less than or equal to the upper bound: {lower} >
        {upper}.
    RuntimeError: rrelu: the bounds of the slope must be finite, not {lower} and {upper}.

Example:
    >>> ag.rrelu(ag.tensor([-3.0, 2.0]))
    tensor([-0.6875,  2.0000])""",
"rrelu_": """rrelu, in place.

Args:
    input (Tensor): Of any shape; floating point.
    lower (float): The smallest slope. Default: 0.125.
    upper (float): The largest slope. Default: 0.3333333333333333.
    training (bool): Whether the layer is being trained. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.rrelu_(ag.tensor([-3.0, 2.0]))
    tensor([-0.6875,  2.0000])""",
"selu": """1.0507 elu(input, 1.6733): keeps mean 0 and variance 1.

Args:
    input (Tensor): Of any shape; floating point.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.selu(ag.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])""",
"selu_": """selu, in place.

Args:
    input (Tensor): Of any shape; floating point.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.selu_(ag.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])""",
"threshold": """input where above threshold, value elsewhere.

Args:
    input (Tensor): Of any shape; integers or floating point.
    threshold (float): The limit.
    value (float): What elements at or below the limit become.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.threshold(ag.tensor([-1.0, 0.5, 2.0]), 1., 0.)
    tensor([0., 0., 2.])""",
"threshold_": """threshold, in place.

Args:
    input (Tensor): Of any shape; integers or floating point.
    threshold (float): The limit.
    value (float): What elements at or below the limit become.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.threshold_(ag.tensor([-1.0, 0.5, 2.0]), 1., 0.)
    tensor([0., 0., 2.])""",
"adaptive_max_pool1d": """(values, indices) of the maxima over output_size windows: torch.adaptive_max_pool1d, unlike
nn.functional's.

Args:
    input (Tensor): (n, c, l) or (c, l); floating point.
    output_size (int or Sequence[int or None]): Number of windows.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.adaptive_max_pool1d(ag.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    (tensor([[2., 4.]]), tensor([[1, 3]]))""",
"alpha_dropout": """Dropout that keeps mean 0 and variance 1, for networks of selu.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.alpha_dropout(ag.tensor([1.0, 2.0]), 0.5, False)
    tensor([1., 2.])""",
"alpha_dropout_": """alpha_dropout, in place.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.alpha_dropout_(ag.tensor([1.0, 2.0]), 0.5, False)
    tensor([1., 2.])""",
"batch_norm": """Each channel standardized; see nn.functional.batch_norm.

Args:
    input (Tensor): (n, c, ...); floating point.
    weight (Tensor): Factor for each element or class.
    bias (Tensor): (channels,).
    running_mean (Tensor): (channels,), updated in place while training.
    running_var (Tensor): (channels,), updated in place while training.
    training (bool): Whether the layer is being trained.
    momentum (float): Part of a batch's statistics in the running ones.
    eps (float): Added to the variance, for stability.
    cudnn_enabled (bool): Has no effect. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.batch_norm(ag.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5)
    tensor([[-1.0000],
            [ 1.0000]])""",
"dropout": """Each element is 0 with probability p, else divided by 1 - p; input itself if not training.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.dropout(ag.tensor([1.0, 2.0]), 0.5, False)
    tensor([1., 2.])""",
"dropout_": """dropout, in place.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.dropout_(ag.tensor([1.0, 2.0]), 0.5, False)
    tensor([1., 2.])""",
"embedding": """The rows of weight that indices name; see nn.functional.embedding. No padding for a negative
padding_idx.

Args:
    weight (Tensor): (rows, d); any dtype.
    indices (Tensor): Integers of any shape.
    padding_idx (int): Row that gets no gradient. Default: -1.
    scale_grad_by_freq (bool): Whether a row's gradient is divided by how often it is named.
        Default: False.
    sparse (bool): Gradients are dense in any case; True warns once. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.embedding(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1, 0]))
    tensor([[3., 4.],
            [1., 2.]])""",
"feature_alpha_dropout": """alpha_dropout of whole channels.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.feature_alpha_dropout(ag.ones(1, 2, 2), 0.5, False).shape
    Size([1, 2, 2])""",
"feature_alpha_dropout_": """feature_alpha_dropout, in place.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.feature_alpha_dropout_(ag.ones(1, 2, 2), 0.5, False).shape
    Size([1, 2, 2])""",
"feature_dropout": """dropout of whole channels, dimension 1.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.feature_dropout(ag.ones(1, 2, 2), 0.5, False).shape
    Size([1, 2, 2])""",
"feature_dropout_": """feature_dropout, in place.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1].
    train (bool): Whether anything is dropped.

Returns:
    Tensor.

Example:
    >>> ag.feature_dropout_(ag.ones(1, 2, 2), 0.5, False).shape
    Size([1, 2, 2])""",
"group_norm": """Groups of channels standardized; see nn.functional.group_norm.

Args:
    input (Tensor): (n, c, ...); floating point.
    num_groups (int): Number of groups, a divisor of the channels.
    weight (Tensor): Factor for each element or class.
    bias (Tensor): (channels,).
    eps (float): Added to the variance, for stability. Default: 1e-05.
    cudnn_enabled (bool): Has no effect. Default: True.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.group_norm(ag.tensor([[1.0, 3.0]]), 1)
    tensor([[-1.0000,  1.0000]])""",
"instance_norm": """Each channel of each sample standardized; see nn.functional.instance_norm.

Args:
    input (Tensor): (n, c, ...); floating point.
    weight (Tensor): Factor for each element or class.
    bias (Tensor): (channels,).
    running_mean (Tensor): (channels,), updated in place while training.
    running_var (Tensor): (channels,), updated in place while training.
    use_input_stats (bool): Whether the input's own statistics count.
    momentum (float): Part of a batch's statistics in the running ones.
    eps (float): Added to the variance, for stability.
    cudnn_enabled (bool): Has no effect. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.instance_norm(ag.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 1e-5)
    tensor([[[-1.0000,  1.0000]]])""",
"layer_norm": """The last dimensions standardized; see nn.functional.layer_norm.

Args:
    input (Tensor): (..., *normalized_shape); floating point.
    normalized_shape (int or ints): Sizes of the last dimensions.
    weight (Tensor): Factor for each element or class.
    bias (Tensor): (channels,).
    eps (float): Added to the variance, for stability. Default: 1e-05.
    cudnn_enable (bool): Has no effect. Default: True.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.layer_norm(ag.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])""",
"max_pool1d_with_indices": """max_pool1d with the places of the maxima: (values, indices).

Args:
    input (Tensor): (n, c, l) or (c, l); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    ceil_mode (bool): Whether windows may go over the end. Default: False.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.max_pool1d_with_indices(ag.tensor([[1.0, 4.0, 2.0, 3.0]]), 2)
    (tensor([[4., 3.]]), tensor([[1, 3]]))""",
"bilinear": """out[..., k] = input1 weight[k] input2 + bias[k]: input1 (..., i), input2 (..., j), weight (k, i, j).

Args:
    input1 (Tensor): (..., i); integers, floating point or complex.
    input2 (Tensor): (..., j).
    weight (Tensor): (k, i, j).
    bias (Tensor): (k,).

Returns:
    Tensor (..., k).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: bilinear(): weight must be 3-D (out, in1, in2), got {...}.
    RuntimeError: bilinear(): input dimensions do not match: got {...} and {...}.
    RuntimeError: bilinear(): input1 size {...} and input2 size {...} do not match weight size:
        got {...}.
    RuntimeError: bilinear(): bias size does not match weight size: got {...} but expected
        {...}.

Example:
    >>> ag.bilinear(ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0]]), ag.ones(1, 2, 1))
    tensor([[9.]])""",
"conv1d": """Cross-correlation of input (n, c, l) or (c, l) with weight (m, c / groups, k), plus bias (m,).

padding: zeros on each side, or "valid" (none), or "same" (stride 1: the output has the input's size).

Args:
    input (Tensor): (n, c, l) or (c, l); integers, floating point or complex.
    weight (Tensor): (m, c / groups, k).
    bias (Tensor): (m,).
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.
    padding (int or ints or str): Zeros on both sides, one number or one for each dimension;
        "same" or "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    groups (int): Number of groups of channels, each with its own part of weight. Default: 1.

Returns:
    Tensor (n, m, l').

Raises:
    NotImplementedError: the dtype is bool.

Example:
    >>> ag.conv1d(ag.tensor([[1.0, 2.0, 3.0, 4.0]]), ag.tensor([[[1.0, 1.0]]]))
    tensor([[3., 5., 7.]])""",
"conv2d": """Cross-correlation of input (n, c, h, w) or (c, h, w) with weight (m, c / groups, kh, kw), plus bias (m,).

padding: zeros on each side, or "valid" (none), or "same" (stride 1: the output has the input's size).

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); integers, floating point or complex.
    weight (Tensor): (m, c / groups, kh, kw).
    bias (Tensor): (m,).
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.
    padding (int or ints or str): Zeros on both sides, one number or one for each dimension;
        "same" or "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    groups (int): Number of groups of channels, each with its own part of weight. Default: 1.

Returns:
    Tensor (n, m, h', w').

Raises:
    NotImplementedError: the dtype is bool.

Example:
    >>> ag.conv2d(ag.ones(1, 1, 3, 3), ag.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    >>> ag.conv2d(ag.ones(1, 3, 8, 8), ag.ones(4, 3, 3, 3), stride=2, padding=1).shape
    Size([1, 4, 4, 4])""",
"conv3d": """Cross-correlation of input (n, c, d, h, w) or (c, d, h, w) with weight (m, c / groups, kd, kh, kw), plus bias (m,).

padding: zeros on each side, or "valid" (none), or "same" (stride 1: the output has the input's size).

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); integers, floating point or complex.
    weight (Tensor): (m, c / groups, kd, kh, kw).
    bias (Tensor): (m,).
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.
    padding (int or ints or str): Zeros on both sides, one number or one for each dimension;
        "same" or "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    groups (int): Number of groups of channels, each with its own part of weight. Default: 1.

Returns:
    Tensor (n, m, d', h', w').

Raises:
    NotImplementedError: the dtype is bool.

Example:
    >>> ag.conv3d(ag.ones(1, 1, 3, 3, 3), ag.ones(2, 1, 2, 2, 2)).shape
    Size([1, 2, 2, 2, 2])""",
"conv_tbc": """conv1d on input (time, batch, channels) with weight (kernel, channels, outputs).

Args:
    input (Tensor): (time, batch, channels); integers, floating point or complex.
    weight (Tensor): (k, channels, outputs).
    bias (Tensor): (outputs,).
    pad (int): Zeros on both sides. Default: 0.

Returns:
    Tensor (time', batch, outputs).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: conv_tbc: expected input and weight of 3 dimensions, got {...} and {...}.

Example:
    >>> ag.conv_tbc(ag.ones(4, 1, 2), ag.ones(2, 2, 3), ag.zeros(3)).shape
    Size([3, 1, 3])""",
"conv_transpose1d": """The adjoint of conv1d: input (n, m, l) or (m, l), weight (m, c / groups, k) -> (n, c, l'), plus bias (c,).

l' = (l - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1.

Args:
    input (Tensor): (n, m, l) or (m, l); integers, floating point or complex.
    weight (Tensor): (m, c / groups, k).
    bias (Tensor): (c,).
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    output_padding (int or ints): Further size on one side of the output. Default: 0.
    groups (int): Number of groups of channels, each with its own part of weight. Default: 1.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.

Returns:
    Tensor (n, c, l').

Raises:
    NotImplementedError: the dtype is bool.

Example:
    >>> ag.conv_transpose1d(ag.tensor([[1.0, 2.0]]), ag.tensor([[[1.0, 10.0]]]))
    tensor([[ 1., 12., 20.]])""",
"conv_transpose2d": """The adjoint of conv2d: input (n, m, h, w) or (m, h, w), weight (m, c / groups, kh, kw) -> (n, c, h', w').

h' = (h - 1) * stride - 2 * padding + dilation * (kh - 1) + output_padding + 1, and w' likewise.

Args:
    input (Tensor): (n, m, h, w) or (m, h, w); integers, floating point or complex.
    weight (Tensor): (m, c / groups, kh, kw).
    bias (Tensor): (c,).
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    output_padding (int or ints): Further size on one side of the output. Default: 0.
    groups (int): Number of groups of channels, each with its own part of weight. Default: 1.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.

Returns:
    Tensor (n, c, h', w').

Raises:
    NotImplementedError: the dtype is bool.

Example:
    >>> ag.conv_transpose2d(ag.ones(1, 3, 4, 4), ag.ones(3, 2, 2, 2), stride=2).shape
    Size([1, 2, 8, 8])""",
"conv_transpose3d": """The adjoint of conv3d: input (n, m, d, h, w), weight (m, c / groups, kd, kh, kw) -> (n, c, d', h', w').

d' = (d - 1) * stride - 2 * padding + dilation * (kd - 1) + output_padding + 1, and h' and w' likewise.

Args:
    input (Tensor): (n, m, d, h, w) or (m, d, h, w); integers, floating point or complex.
    weight (Tensor): (m, c / groups, kd, kh, kw).
    bias (Tensor): (c,).
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    output_padding (int or ints): Further size on one side of the output. Default: 0.
    groups (int): Number of groups of channels, each with its own part of weight. Default: 1.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.

Returns:
    Tensor (n, c, d', h', w').

Raises:
    NotImplementedError: the dtype is bool.

Example:
    >>> ag.conv_transpose3d(ag.ones(1, 3, 2, 2, 2), ag.ones(3, 2, 2, 2, 2), stride=2).shape
    Size([1, 2, 4, 4, 4])""",
"convolution": """conv1d to conv3d, or their transposed forms, as the number of weight's dimensions says.

Args:
    input (Tensor): (n, c, ...); integers, floating point or complex.
    weight (Tensor): (m, c / groups, ...), for transposed ones (m, c / groups, ...) with m
        channels of input.
    bias (Tensor): (channels,).
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints or str): Zeros on both sides, one number or one for each dimension;
        "same" or "valid".
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension.
    transposed (bool): Whether it is a transposed convolution.
    output_padding (int or ints): Further size on one side of the output.
    groups (int): Number of groups of channels, each with its own part of weight.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: convolution: expected weight of 3 to 5 dimensions, got {...}.

Example:
    >>> ag.convolution(ag.tensor([[[1.0, 2.0, 3.0]]]), ag.tensor([[[1.0, 1.0]]]), None, [1], [0], [1], False, [0], 1)
    tensor([[[3., 5.]]])""",
"affine_grid_generator": """affine_grid without its checks.

Args:
    theta (Tensor): (n, 2, 3) or (n, 3, 4); integers, floating point or complex.
    size (ints): (n, c, h, w) or (n, c, d, h, w).
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: Expected theta to have batch size {n}, as size {...} says, but got {...}.

Example:
    >>> ag.affine_grid_generator(ag.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 1, 2, 2], True).shape
    Size([1, 2, 2, 2])""",
"grid_sampler": """grid_sample with its modes as numbers: bilinear, nearest, bicubic; zeros, border, reflection.

Args:
    input (Tensor): (n, c, h, w) or (n, c, d, h, w); floating point.
    grid (Tensor): (n, h', w', 2) or (n, d', h', w', 3).
    interpolation_mode (int): 0 bilinear, 1 nearest, 2 bicubic.
    padding_mode (int): 0 zeros, 1 border, 2 reflection.
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.grid_sampler(ag.ones(1, 1, 2, 2), ag.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.]]]])""",
"grid_sampler_2d": """grid_sampler of input (n, c, h, w).

Args:
    input (Tensor): (n, c, h, w); floating point.
    grid (Tensor): (n, h', w', 2).
    interpolation_mode (int): 0 bilinear, 1 nearest, 2 bicubic.
    padding_mode (int): 0 zeros, 1 border, 2 reflection.
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.grid_sampler_2d(ag.ones(1, 1, 2, 2), ag.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.]]]])""",
"grid_sampler_3d": """grid_sampler of input (n, c, d, h, w).

Args:
    input (Tensor): (n, c, d, h, w); floating point.
    grid (Tensor): (n, d', h', w', 3).
    interpolation_mode (int): 0 bilinear, 1 nearest.
    padding_mode (int): 0 zeros, 1 border, 2 reflection.
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.grid_sampler_3d(ag.ones(1, 1, 2, 2, 2), ag.zeros(1, 1, 1, 1, 3), 0, 0, True)
    tensor([[[[[1.]]]]])""",
"rms_norm": """The last dimensions over the square root of their mean square; times weight. eps: the dtype's own if None.

Of complex numbers the square is z * z, as PyTorch's: the result is holomorphic in input and not of length 1.

Args:
    input (Tensor): (..., *normalized_shape); floating point or complex.
    normalized_shape (ints): Sizes of the last dimensions.
    weight (Tensor): Factor for each element or class.
    eps (float): Added to the variance, for stability.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.
    TypeError: {name}(): argument 'normalized_shape' must be a tuple of ints, not {...}.
    RuntimeError: Expected normalized_shape to be at least 1-dimensional, i.e., containing at
        least one element, but got normalized_shape = [].
    RuntimeError: Given normalized_shape={...}, expected input with shape [*, {...}], but got
        input of size {...}.
    RuntimeError: Expected {what} to be of same shape as normalized_shape, but got {what} of
        shape {...} and normalized_shape = {...}.

Example:
    >>> ag.rms_norm(ag.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])""",
"channel_shuffle": """input (n, c, ...) with its channels dealt out: the first of every group, then the second of every
group, ...

Args:
    input (Tensor): (n, c, ...); any dtype.
    groups (int): Number of groups of channels, each with its own part of weight.

Returns:
    Tensor.

Raises:
    RuntimeError: channel_shuffle expects input with > 2 dims, but got input with sizes {...}.
    RuntimeError: Number of groups to divide channels in must be positive.
    RuntimeError: Number of channels must be divisible by groups.

Example:
    >>> ag.channel_shuffle(ag.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])""",
"pixel_shuffle": """input (..., c * r^2, h, w) -> (..., c, h * r, w * r): r^2 channels become the pixels of a block.

Args:
    input (Tensor): (..., c r^2, h, w); any dtype.
    upscale_factor (int): r.

Returns:
    Tensor (..., c, h r, w r).

Raises:
    RuntimeError: pixel_shuffle expects input to have at least 3 dimensions, but got input with
        {input.ndim} dimension(s).
    RuntimeError: pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}.
    RuntimeError: pixel_shuffle expects its input's 'channel' dimension to be divisible by the
        square of upscale_factor, but input.size(-3)={...} is not divisible by {...}.

Example:
    >>> ag.pixel_shuffle(ag.arange(4.).reshape(1, 4, 1, 1), 2)
    tensor([[[[0., 1.],
              [2., 3.]]]])""",
"pixel_unshuffle": """input (..., c, h * r, w * r) -> (..., c * r^2, h, w): the inverse of pixel_shuffle.

Args:
    input (Tensor): (..., c, h r, w r); any dtype.
    downscale_factor (int): r.

Returns:
    Tensor (..., c r^2, h, w).

Raises:
    RuntimeError: pixel_unshuffle expects input to have at least 3 dimensions, but got input
        with {input.ndim} dimension(s).
    RuntimeError: pixel_unshuffle expects a positive downscale_factor, but got
        {downscale_factor}.
    RuntimeError: pixel_unshuffle expects height and width to be divisible by downscale_factor,
        but {...} is not divisible by {downscale_factor}.

Example:
    >>> ag.pixel_unshuffle(ag.arange(4.).reshape(1, 1, 2, 2), 2).shape
    Size([1, 4, 1, 1])""",
"adaptive_avg_pool1d": """The means over output_size windows that cover input (n, c, l) or (c, l) evenly.

Args:
    input (Tensor): (n, c, l) or (c, l); floating point.
    output_size (int or ints): Number of windows.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.adaptive_avg_pool1d(ag.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    tensor([[1.5000, 3.5000]])""",
"avg_pool1d": """The mean under each window of input (n, c, l) or (c, l); stride defaults to the window.

count_include_pad: zeros of the padding count as elements. ceil_mode: a last window may hang over the end.

Args:
    input (Tensor): (n, c, l) or (c, l); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    ceil_mode (bool): Whether windows may go over the end. Default: False.
    count_include_pad (bool): Whether padding counts in the mean. Default: True.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.avg_pool1d(ag.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    tensor([[1.5000, 3.5000]])""",
"max_pool1d": """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window.

With return_indices also where it stands. Of equal ones the first is taken.

Args:
    input (Tensor): (n, c, l) or (c, l); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    ceil_mode (bool): Whether windows may go over the end. Default: False.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.max_pool1d(ag.tensor([[1.0, 4.0, 2.0, 3.0]]), 2)
    tensor([[4., 3.]])""",
"max_pool2d": """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window.

With return_indices also where it stands in its plane, counted row by row. Of equal ones the first is taken.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    ceil_mode (bool): Whether windows may go over the end. Default: False.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.max_pool2d(ag.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)
    tensor([[[4.]]])""",
"max_pool3d": """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window.

With return_indices also where it stands in its volume, counted in memory's order. Of equal ones the first is taken.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    ceil_mode (bool): Whether windows may go over the end. Default: False.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.max_pool3d(ag.ones(1, 1, 4, 4, 4), 2).shape
    Size([1, 1, 2, 2, 2])""",
"log_softmax": """log(softmax(input, dim)), computed without losing small ones.

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
"logsumexp": """log of the sum of exp(input) over `dim`, without overflow.

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
"softmax": """exp(input) over its sum along `dim`: positive, adding up to 1.

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
"nn.functional.adaptive_avg_pool2d": """The means over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None:
as input.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); floating point.
    output_size (int or Sequence[int or None]): Sizes of the plane of the output; None: as the
        input's.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_avg_pool2d(ag.ones(1, 3, 8, 8), (2, 2)).shape
    Size([1, 3, 2, 2])""",
"nn.functional.adaptive_avg_pool3d": """The means over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as
input.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); floating point.
    output_size (int or Sequence[int or None]): Sizes of the plane of the output; None: as the
        input's.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_avg_pool3d(ag.ones(1, 3, 4, 8, 8), 2).shape
    Size([1, 3, 2, 2, 2])""",
"nn.functional.adaptive_max_pool1d": """The maxima over output_size windows that cover input (n, c, l) or (c, l) evenly.

Args:
    input (Tensor): (n, c, l) or (c, l); floating point.
    output_size (int or ints): Sizes of the plane of the output; None: as the input's.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_max_pool1d(ag.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    tensor([[2., 4.]])""",
"nn.functional.adaptive_max_pool1d_with_indices": """adaptive_max_pool1d with the places of the maxima: (values, indices).

Args:
    input (Tensor): (n, c, l) or (c, l); floating point.
    output_size (int or ints): Sizes of the plane of the output; None: as the input's.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_max_pool1d_with_indices(ag.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    (tensor([[2., 4.]]), tensor([[1, 3]]))""",
"nn.functional.adaptive_max_pool2d": """The maxima over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly;
None: as input.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); floating point.
    output_size (int or Sequence[int or None]): Sizes of the plane of the output; None: as the
        input's.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_max_pool2d(ag.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1)
    tensor([[[4.]]])""",
"nn.functional.adaptive_max_pool2d_with_indices": """adaptive_max_pool2d with the places of the maxima: (values, indices).

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); floating point.
    output_size (int or Sequence[int or None]): Sizes of the plane of the output; None: as the
        input's.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_max_pool2d_with_indices(ag.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1)
    (tensor([[[4.]]]), tensor([[[3]]]))""",
"nn.functional.adaptive_max_pool3d": """The maxima over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as
input.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); floating point.
    output_size (int or Sequence[int or None]): Sizes of the plane of the output; None: as the
        input's.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.adaptive_max_pool3d(ag.ones(1, 1, 4, 4, 4), 2).shape
    Size([1, 1, 2, 2, 2])""",
"nn.functional.adaptive_max_pool3d_with_indices": """adaptive_max_pool3d with the places of the maxima: (values, indices).

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); floating point.
    output_size (int or Sequence[int or None]): Sizes of the plane of the output; None: as the
        input's.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> values, indices = ag.nn.functional.adaptive_max_pool3d_with_indices(ag.ones(1, 1, 4, 4, 4), 2)
    >>> values.shape, indices.shape
    (Size([1, 1, 2, 2, 2]), Size([1, 1, 2, 2, 2]))""",
"nn.functional.affine_grid": """The grid for grid_sample that theta (n, 2, 3) makes of size (n, c, h, w); or theta (n, 3, 4), size
(n, c, d, h, w).

Args:
    theta (Tensor): (n, 2, 3) or (n, 3, 4); floating point.
    size (ints): (n, c, h, w) or (n, c, d, h, w).
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor (n, h, w, 2) or (n, d, h, w, 3).

Raises:
    ValueError: the dtype is bool or integers or complex.
    ValueError: Expected theta to have floating point type, but got {theta.dtype}.
    NotImplementedError: affine_grid: size must have 4 or 5 numbers (n, c and a plane or
        volume), got {...}.
    ValueError: Expected a batch of {dims}D affine matrices of shape Nx{dims}x{...} for size
        {...}.
    ValueError: Expected non-zero, positive output size.

Example:
    >>> ag.nn.functional.affine_grid(ag.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2), align_corners=True)
    tensor([[[[-1., -1.],
              [ 1., -1.]],
    <BLANKLINE>
             [[-1.,  1.],
              [ 1.,  1.]]]])""",
"nn.functional.alpha_dropout": """Dropout that keeps mean 0 and variance 1, for networks of selu.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1]. Default: 0.5.
    training (bool): Whether the layer is being trained. Default: False.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: dropout probability has to be between 0 and 1, but got {p}.

Example:
    >>> ag.nn.functional.alpha_dropout(ag.tensor([1.0, 2.0]))
    tensor([1., 2.])""",
"nn.functional.avg_pool2d": """The mean under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window.

count_include_pad: zeros of the padding count as elements. ceil_mode: a last window may hang over the end.
divisor_override: sums are divided by this instead of the number of elements.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    ceil_mode (bool): Whether windows may go over the end. Default: False.
    count_include_pad (bool): Whether padding counts in the mean. Default: True.
    divisor_override (int): Divisor in place of the window's size.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nn.functional.avg_pool2d(ag.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)
    tensor([[[2.5000]]])""",
"nn.functional.avg_pool3d": """The mean under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window.

count_include_pad, ceil_mode, divisor_override: as for avg_pool2d.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    ceil_mode (bool): Whether windows may go over the end. Default: False.
    count_include_pad (bool): Whether padding counts in the mean. Default: True.
    divisor_override (int): Divisor in place of the window's size.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nn.functional.avg_pool3d(ag.ones(1, 1, 4, 4, 4), 2).shape
    Size([1, 1, 2, 2, 2])""",
"nn.functional.batch_norm": """Each channel (dimension 1) standardized, times weight, plus bias.

training: by the batch's own mean and variance, and the running ones (if any) move towards these by `momentum`, in
place. Otherwise by the running ones.

Args:
    input (Tensor): (n, c, ...); floating point.
    running_mean (Tensor): (channels,), updated in place while training.
    running_var (Tensor): (channels,), updated in place while training.
    weight (Tensor): Factor for each element or class.
    bias (Tensor): (channels,).
    training (bool): Whether the layer is being trained. Default: False.
    momentum (float): Part of a batch's statistics in the running ones. Default: 0.1.
    eps (float): Added to the variance, for stability. Default: 1e-05.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: batch_norm: expected an input of 2 or more dimensions (n, channels, ...), got
        {...}.
    RuntimeError: Expected running_mean and running_var to be defined when training=False.
    RuntimeError: {name} should contain {channels} elements not {vector.array.size}.
    ValueError: Expected more than 1 value per channel when training, got input size {...}.

Example:
    >>> ag.nn.functional.batch_norm(ag.tensor([[1.0], [3.0]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])""",
"nn.functional.binary_cross_entropy": """-(target log(input) + (1 - target) log(1 - input)), input being probabilities.

Args:
    input (Tensor): Probabilities in [0, 1]; floating point or complex.
    target (Tensor): Of input's shape, in [0, 1].
    weight (Tensor): Of a shape that broadcasts to input's.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    TypeError: the dtype is bool.
    RuntimeError: the dtype is integers.
    ValueError: the shapes do not fit each other.
    ValueError: Using a target size ({...}) that is different to the input size ({...}) is
        deprecated.
    RuntimeError: Found dtype {target.dtype} but expected {input.dtype}: input and target must
        agree.
    RuntimeError: all elements of input should be between 0 and 1.

Example:
    >>> ag.nn.functional.binary_cross_entropy(ag.tensor([0.9, 0.1]), ag.tensor([1.0, 0.0]))
    tensor(0.1054)""",
"nn.functional.binary_cross_entropy_with_logits": """binary_cross_entropy(sigmoid(input), target), without overflow; pos_weight multiplies the part of
target.

Args:
    input (Tensor): Of any shape; floating point.
    target (Tensor): Of input's shape, in [0, 1].
    weight (Tensor): Of a shape that broadcasts to input's.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    pos_weight (Tensor): Of a shape that broadcasts to input's.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is integers or complex.
    ValueError: the shapes do not fit each other.
    ValueError: Target size ({...}) must be the same as input size ({...}).

Example:
    >>> ag.nn.functional.binary_cross_entropy_with_logits(ag.tensor([2.0, -2.0]), ag.tensor([1.0, 0.0]))
    tensor(0.1269)""",
"nn.functional.cosine_embedding_loss": """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1.

Args:
    input1 (Tensor): (n, d) or (d,); bool, integers or floating point; integers become floating
        point.
    input2 (Tensor): (n, d) or (d,).
    target (Tensor): 1 or -1: (n,) or 0-d.
    margin (float): The margin. Default: 0.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    RuntimeError: 0D or 1D target tensor expected, multi-target not supported: got {...}.
    RuntimeError: {target.ndim}D target tensor expects {...}D input tensors, but found inputs
        with sizes {...} and {...}.

Example:
    >>> ag.nn.functional.cosine_embedding_loss(ag.tensor([[1.0, 0.0]]), ag.tensor([[1.0, 1.0]]), ag.tensor([1.0]))
    tensor(0.2929)""",
"nn.functional.cosine_similarity": """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the gradient is that of the quotient without
max.

Args:
    x1 (Tensor): Of a shape that broadcasts with x2's; floating point or complex.
    x2 (Tensor): Of a shape that broadcasts with x1's.
    dim (int): Dimension, from the front or (negative) from the end. Default: 1.
    eps (float): The smallest norm that is divided by. Default: 1e-08.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: expected common dtype to be floating point, yet common dtype is {dtype}.
    RuntimeError: cosine_similarity: shapes {...} and {...} do not broadcast.

Example:
    >>> ag.cosine_similarity(ag.tensor([[1.0, 0.0]]), ag.tensor([[1.0, 1.0]]))
    tensor([0.7071])""",
"nn.functional.cross_entropy": """-log softmax(input)[target]: input (n, c, ...) or (c,), target class numbers (n, ...) or probabilities as input.

With class numbers the mean is over the weights of the targets that count; with probabilities over n.

Args:
    input (Tensor): (n, c, ...) or (c,); floating point.
    target (Tensor): int64 (n, ...) or 0-d; or probabilities of input's shape.
    weight (Tensor): (c,).
    size_average (bool): Deprecated: reduction says it.
    ignore_index (int): Class number that does not count. Default: -100.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    label_smoothing (float): Part of the target that is spread over all classes, in [0, 1].
        Default: 0.0.

Returns:
    Tensor.

Raises:
    ValueError: target's shape does not fit input's.
    IndexError: a class number is below 0 or not below c.
    NotImplementedError: the dtype is bool or integers or complex.
    ValueError: Expected 1 or more dimensions (got 0).
    RuntimeError: size mismatch: expected target of shape [] for input of shape {...}, got
        {...}.
    RuntimeError: expected targets (class numbers) of dtype int64 or uint8, but got {t.dtype}.
    RuntimeError: weight tensor should be defined either for all {classes} classes or no classes
        but got weight tensor of shape: {...}.
    RuntimeError: the derivative for 'weight' is not implemented: class weights are constants.

Example:
    >>> ag.nn.functional.cross_entropy(ag.tensor([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]), ag.tensor([0, 1]))
    tensor(0.1672)""",
"nn.functional.ctc_loss": """-log of the probability of each label sequence, summed over all alignments.

log_probs (t, n, c) or (t, c); targets (n, s) padded, or all sequences end to end in a vector; lengths by sample.
The mean is over samples, each divided by its target's length. zero_infinity: 0, with no gradient, for impossible ones.

Args:
    log_probs (Tensor): (t, n, c) or (t, c); floating point.
    targets (Tensor): Class numbers (n, s), or all sequences in one vector.
    input_lengths (Tensor or ints): (n,).
    target_lengths (Tensor or ints): (n,).
    blank (int): Number of the blank label. Default: 0.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    zero_infinity (bool): Whether infinite losses become 0. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: ctc_loss: targets are class numbers of an integer dtype, not {targets.dtype}.
    RuntimeError: ctc_loss: log_probs must be (t, n, c) or (t, c), got {...}.
    RuntimeError: blank must be in label range: {blank} with {classes} classes.
    RuntimeError: Expected input_lengths to have value at most {steps}, but got value {...}.
    RuntimeError: log_probs tensor must not be empty.

Example:
    >>> ag.nn.functional.ctc_loss(ag.zeros(4, 1, 3).log_softmax(2), ag.tensor([[1, 2]]), ag.tensor([4]), ag.tensor([2]))
    tensor(0.8432)""",
"nn.functional.dropout": """Each element is 0 with probability p, else divided by 1 - p; input itself if not training.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1]. Default: 0.5.
    training (bool): Whether the layer is being trained. Default: True.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: dropout probability has to be between 0 and 1, but got {p}.
    RuntimeError: result type float32 can't be cast to {input.dtype}: dropout is for floating
        point.

Example:
    >>> ag.nn.functional.dropout(ag.tensor([1.0, 2.0]), training=False)
    tensor([1., 2.])""",
"nn.functional.dropout1d": """Whole channels of (n, c, length) or (c, length) are 0 with probability p.

Args:
    input (Tensor): (n, c, l) or (c, l); any dtype.
    p (float): Probability that an element is dropped, in [0, 1]. Default: 0.5.
    training (bool): Whether the layer is being trained. Default: True.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.
    ValueError: dropout probability has to be between 0 and 1, but got {p}.

Example:
    >>> ag.nn.functional.dropout1d(ag.ones(1, 2, 3), training=False).shape
    Size([1, 2, 3])""",
"nn.functional.dropout2d": """Whole channels of (n, c, h, w) are 0 with probability p; three dimensions are taken as (n, c,
length).

Args:
    input (Tensor): (n, c, h, w); any dtype.
    p (float): Probability that an element is dropped, in [0, 1]. Default: 0.5.
    training (bool): Whether the layer is being trained. Default: True.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: dropout probability has to be between 0 and 1, but got {p}.
    RuntimeError: result type float32 can't be cast to {input.dtype}: dropout is for floating
        point.
    RuntimeError: Feature dropout requires at least 2 dimensions in the input.

Example:
    >>> ag.nn.functional.dropout2d(ag.ones(1, 2, 3, 3), training=False).shape
    Size([1, 2, 3, 3])""",
"nn.functional.dropout3d": """Whole channels of (n, c, d, h, w), or (c, d, h, w), are 0 with probability p.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); any dtype.
    p (float): Probability that an element is dropped, in [0, 1]. Default: 0.5.
    training (bool): Whether the layer is being trained. Default: True.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: dropout probability has to be between 0 and 1, but got {p}.

Example:
    >>> ag.nn.functional.dropout3d(ag.ones(1, 2, 3, 3, 3), training=False).shape
    Size([1, 2, 3, 3, 3])""",
"nn.functional.elu": """input where positive, alpha (exp(input) - 1) elsewhere.

Args:
    input (Tensor): Of any shape; floating point.
    alpha (float): Where the negative part tends to, negated. Default: 1.0.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.elu(ag.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])""",
"nn.functional.elu_": """elu, in place.

Args:
    input (Tensor): Of any shape; floating point.
    alpha (float): Where the negative part tends to, negated. Default: 1.0.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.elu_(ag.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])""",
"nn.functional.embedding": """The rows of weight (rows, d) that input (any shape, integers) names: shape (*input.shape, d).

The row padding_idx gets no gradient. max_norm scales used rows down, in place, before the look-up.
scale_grad_by_freq divides gradients by how often each row is used.

Args:
    input (Tensor): Integers of any shape.
    weight (Tensor): (rows, d).
    padding_idx (int): Row that gets no gradient.
    max_norm (float): Rows of a larger norm are scaled to it, in place.
    norm_type (float): Order of that norm. Default: 2.0.
    scale_grad_by_freq (bool): Whether a row's gradient is divided by how often it is named.
        Default: False.
    sparse (bool): Gradients are dense in any case; True warns once. Default: False.

Returns:
    Tensor (*input.shape, d).

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    RuntimeError: 'weight' must be 2-D, got {...}.
    RuntimeError: {name}: expected indices of dtype int64 or int32.

Example:
    >>> ag.nn.functional.embedding(ag.tensor([1, 0]), ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])""",
"nn.functional.embedding_bag": """The sum, mean or maximum of rows of weight, bag by bag: (bags, d).

Bags are the rows of a matrix `input`, or the stretches of a vector that begin at `offsets`. padding_idx is left out of
its bag; the result for an empty bag is 0. include_last_offset: offsets end with the length of input.
per_sample_weights (as input) weigh the rows of a sum.

Args:
    input (Tensor): Integers (bags, n), or (n,) with offsets.
    weight (Tensor): (rows, d).
    offsets (Tensor): (bags,): where each bag begins in input.
    max_norm (float): Rows of a larger norm are scaled to it, in place.
    norm_type (float): Order of that norm. Default: 2.
    scale_grad_by_freq (bool): Whether a row's gradient is divided by how often it is named.
        Default: False.
    mode (str): "sum", "mean" or "max". Default: 'mean'.
    sparse (bool): Gradients are dense in any case; True warns once. Default: False.
    per_sample_weights (Tensor): Factors of the rows, of input's shape; mode "sum" only.
    include_last_offset (bool): Whether offsets end in the length of input. Default: False.
    padding_idx (int): Row that does not count.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    RuntimeError: embedding_bag: expected per_sample_weights to have the same type as weight,
        but got {...} and {weight.dtype}.
    ValueError: mode has to be one of sum, mean or max, not {mode}.
    ValueError: max mode does not support scaling the gradient by the frequency.
    NotImplementedError: embedding_bag: per_sample_weights was not None.
    ValueError: embedding_bag: If per_sample_weights ({...}) is not None, then it must have the
        same shape as the input ({...}).
    ValueError: input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}.

Example:
    >>> ag.nn.functional.embedding_bag(ag.tensor([[0, 1]]), ag.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="sum")
    tensor([[4., 6.]])""",
"nn.functional.feature_alpha_dropout": """alpha_dropout of whole channels.

Args:
    input (Tensor): Of any shape; any dtype.
    p (float): Probability that an element is dropped, in [0, 1]. Default: 0.5.
    training (bool): Whether the layer is being trained. Default: False.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: dropout probability has to be between 0 and 1, but got {p}.
    RuntimeError: Feature dropout requires at least 2 dimensions in the input.

Example:
    >>> ag.nn.functional.feature_alpha_dropout(ag.ones(1, 2, 3)).shape
    Size([1, 2, 3])""",
"nn.functional.fold": """Columns (n, c * kh * kw, windows), or without n, added up to (n, c, *output_size) where unfold takes
them.

Args:
    input (Tensor): (n, c kh kw, windows) or (c kh kw, windows); any dtype.
    output_size (int or ints): (h, w).
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.

Returns:
    Tensor (n, c, h, w).

Raises:
    RuntimeError: fold: Expected output spatial size to be at least one, but got
        output_size={...}.
    RuntimeError: fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch
        size and non-zero dimensions for input, but got: {...}.
    RuntimeError: fold: Expected size of input's dimension 1 to be divisible by the product of
        kernel_size, but got input.size(1)={...} and kernel_size={...}.
    RuntimeError: fold: Given output_size={...}, kernel_size={...}, dilation={...},
        padding={...}, stride={...}, expected size of input's dimension 2 to match the
        calculated number of sliding blocks ....

Example:
    >>> ag.nn.functional.fold(ag.ones(1, 4, 4), (3, 3), (2, 2))
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])""",
"nn.functional.fractional_max_pool2d": """The maxima under windows set out in steps of random lengths: input (n, c, h, w) or (c, h, w) to output_size.

_random_samples (n, c, 2) in [0, 1) place the windows of every plane; left out, they are drawn.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    output_size (int or ints): Sizes of the plane of the output; None: as the input's.
    output_ratio (float or Sequence[float]): The output's size as a part of the input's.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.
    _random_samples (Tensor): (n, c, 2), for tests.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.fractional_max_pool2d(ag.ones(1, 1, 6, 6), 2, output_size=3).shape
    Size([1, 1, 3, 3])""",
"nn.functional.fractional_max_pool2d_with_indices": """fractional_max_pool2d with the places of the maxima: (values, indices).

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    output_size (int or ints): Sizes of the plane of the output; None: as the input's.
    output_ratio (float or Sequence[float]): The output's size as a part of the input's.
    _random_samples (Tensor): (n, c, 2), for tests.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> values, indices = ag.nn.functional.fractional_max_pool2d_with_indices(ag.ones(1, 1, 6, 6), 2, output_size=3)
    >>> values.shape, indices.shape
    (Size([1, 1, 3, 3]), Size([1, 1, 3, 3]))""",
"nn.functional.fractional_max_pool3d": """The maxima under windows set out in steps of random lengths: input (n, c, d, h, w) or (c, d, h, w) to output_size.

_random_samples (n, c, 3) in [0, 1) place the windows of every volume; left out, they are drawn.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    output_size (int or ints): Sizes of the plane of the output; None: as the input's.
    output_ratio (float or Sequence[float]): The output's size as a part of the input's.
    return_indices (bool): Whether the places of the maxima are returned too. Default: False.
    _random_samples (Tensor): (n, c, 3), for tests.

Returns:
    Tensor or tuple[Tensor, Tensor].

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.fractional_max_pool3d(ag.ones(1, 1, 6, 6, 6), 2, output_size=3).shape
    Size([1, 1, 3, 3, 3])""",
"nn.functional.fractional_max_pool3d_with_indices": """fractional_max_pool3d with the places of the maxima: (values, indices).

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    output_size (int or ints): Sizes of the plane of the output; None: as the input's.
    output_ratio (float or Sequence[float]): The output's size as a part of the input's.
    _random_samples (Tensor): (n, c, 3), for tests.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> values, indices = ag.nn.functional.fractional_max_pool3d_with_indices(ag.ones(1, 1, 6, 6, 6), 2, output_size=3)
    >>> values.shape, indices.shape
    (Size([1, 1, 3, 3, 3]), Size([1, 1, 3, 3, 3]))""",
"nn.functional.gaussian_nll_loss": """(log(var) + (input - target)^2 / var) / 2, var at least eps; full adds log(2 pi) / 2.

Args:
    input (Tensor): Expectations; integers, floating point or complex; integers become floating
        point.
    target (Tensor): Of input's shape.
    var (Tensor): Variances of 0 or more: of input's shape, or with size 1 last.
    full (bool): Whether the constant is added. Default: False.
    eps (float): The smallest variance. Default: 1e-06.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    ValueError: {reduction} is not valid.
    ValueError: var has negative entry/entries.
    ValueError: var is of incorrect size: {...} for input {...}.

Example:
    >>> ag.nn.functional.gaussian_nll_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 3.0]), ag.tensor([1.0, 1.0]))
    tensor(0.2500)""",
"nn.functional.gelu": """input * P(standard normal < input); approximate "tanh" takes a formula with tanh for it.

Args:
    input (Tensor): Of any shape; floating point.
    approximate (str): "none" or "tanh". Default: 'none'.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: approximate argument must be either none or tanh, not {approximate}.

Example:
    >>> ag.nn.functional.gelu(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])""",
"nn.functional.glu": """The first half of input along dim, times the sigmoid of the second half.

Args:
    input (Tensor): Of an even size along `dim`; floating point or complex.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: glu does not support 0-dimensional tensors.
    RuntimeError: Halving dimension must be even, but dimension {dim} is size {size}.

Example:
    >>> ag.nn.functional.glu(ag.tensor([[1.0, 2.0, 0.0, 0.0]]))
    tensor([[0.5000, 1.0000]])""",
"nn.functional.grid_sample": """input (n, c, h, w) at the points of grid (n, h', w', 2), whose last dimension holds x and y from -1 to 1.

Or input (n, c, d, h, w) and grid (n, d', h', w', 3) with x, y, z. mode: bilinear, nearest, bicubic (4-D only).
padding_mode: what lies outside: zeros, the border, or the reflection of the inside. align_corners: -1 and 1 are the
centres of the outer pixels, else their outer edges.

Args:
    input (Tensor): (n, c, h, w) or (n, c, d, h, w); floating point.
    grid (Tensor): (n, h', w', 2) or (n, d', h', w', 3), elements from -1 to 1.
    mode (str): "bilinear", "nearest" or "bicubic". Default: 'bilinear'.
    padding_mode (str): "zeros", "border" or "reflection". Default: 'zeros'.
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    ValueError: nn.functional.grid_sample(): expected mode to be one of {...}, but got:
        '{mode}'.
    ValueError: nn.functional.grid_sample(): expected padding_mode to be one of {...}, but got:
        '{padding_mode}'.

Example:
    >>> ag.nn.functional.grid_sample(ag.ones(1, 1, 2, 2), ag.zeros(1, 1, 1, 2), align_corners=True)
    tensor([[[[1.]]]])""",
"nn.functional.group_norm": """The channels (dimension 1) in `num_groups` groups, each standardized with all its positions, sample
by sample.

Args:
    input (Tensor): (n, c, ...); floating point.
    num_groups (int): Number of groups, a divisor of the channels.
    weight (Tensor): (c,).
    bias (Tensor): (c,).
    eps (float): Added to the variance, for stability. Default: 1e-05.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: Expected at least 2 dimensions for input tensor but received {input.ndim}.
    RuntimeError: Expected number of channels in input to be divisible by num_groups, but got
        input of shape {...} and num_groups={num_groups}.
    RuntimeError: Expected {name} to be a vector of size equal to the number of channels in
        input, but got {name} of shape {...} and input of shape {...}.
    ValueError: Expected more than 1 value per channel when training, got input size {...}.

Example:
    >>> ag.nn.functional.group_norm(ag.tensor([[1.0, 3.0]]), 1)
    tensor([[-1.0000,  1.0000]])""",
"nn.functional.gumbel_softmax": """A soft sample of a category: softmax((logits + Gumbel noise) / tau).

hard: the sample itself, as 0 and 1, with the gradient of the soft one.

Args:
    logits (Tensor): (..., categories); bool, integers or floating point; integers become
        floating point.
    tau (float): The temperature. Default: 1.
    hard (bool): Whether the result is one-hot; gradients are those of the soft sample. Default:
        False.
    eps (float): Has no effect. Default: 1e-10.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.nn.functional.gumbel_softmax(ag.tensor([[1.0, 2.0]]), hard=True).sum()
    tensor(1.)""",
"nn.functional.hardsigmoid": """input / 6 + 1 / 2, limited to [0, 1].

Args:
    input (Tensor): Of any shape; floating point.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.hardsigmoid(ag.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])""",
"nn.functional.hardswish": """input * hardsigmoid(input).

Args:
    input (Tensor): Of any shape; floating point.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.hardswish(ag.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000, 0.6667, 4.0000])""",
"nn.functional.hardtanh": """input limited to [min_val, max_val].

Args:
    input (Tensor): Of any shape; integers or floating point.
    min_val (float): The lower limit. Default: -1.0.
    max_val (float): The upper limit. Default: 1.0.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    ValueError: min_val cannot be greater than max_val: {min_val} > {max_val}.

Example:
    >>> ag.nn.functional.hardtanh(ag.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])""",
"nn.functional.hardtanh_": """hardtanh, in place.

Args:
    input (Tensor): Of any shape; integers or floating point.
    min_val (float): The lower limit. Default: -1.0.
    max_val (float): The upper limit. Default: 1.0.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.nn.functional.hardtanh_(ag.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])""",
"nn.functional.hinge_embedding_loss": """input where target is 1, max(0, margin - input) where it is -1.

Args:
    input (Tensor): Of any shape; integers or floating point; integers become floating point.
    target (Tensor): 1 or -1, of input's shape.
    margin (float): The margin. Default: 1.0.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.nn.functional.hinge_embedding_loss(ag.tensor([0.5, 0.5]), ag.tensor([1.0, -1.0]))
    tensor(0.5000)""",
"nn.functional.huber_loss": """d^2 / 2 where d = |input - target| < delta, delta (d - delta / 2) elsewhere.

Args:
    input (Tensor): Of any shape; floating point.
    target (Tensor): Of input's shape.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    delta (float): Where the parabola ends, above 0. Default: 1.0.
    weight (Tensor): Factor for each element or class.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: huber_loss does not support non-positive values for delta, got {delta}.
    ValueError: Inputs and weight must have the same size: {...} and {...}.

Example:
    >>> ag.nn.functional.huber_loss(ag.tensor([0.0, 3.0]), ag.tensor([0.5, 0.0]))
    tensor(1.3125)""",
"nn.functional.instance_norm": """Each channel of each sample standardized by itself; use_input_stats=False: by the running
statistics.

Args:
    input (Tensor): (n, c, ...); floating point.
    running_mean (Tensor): (channels,), updated in place while training.
    running_var (Tensor): (channels,), updated in place while training.
    weight (Tensor): Factor for each element or class.
    bias (Tensor): (channels,).
    use_input_stats (bool): Whether the input's own statistics count. Default: True.
    momentum (float): Part of a batch's statistics in the running ones. Default: 0.1.
    eps (float): Added to the variance, for stability. Default: 1e-05.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    ValueError: instance_norm: expected (n, channels, ...) of 3 or more dimensions, got {...}.
    ValueError: Expected more than 1 spatial element when training, got input size {...}.
    RuntimeError: Expected running_mean and running_var to be defined when use_input_stats is
        false.
    RuntimeError: {name} should contain {channels} elements not {vector.array.size}.

Example:
    >>> ag.nn.functional.instance_norm(ag.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])""",
"nn.functional.interpolate": """input (n, c, *plane) in another size, given as `size` or by `scale_factor`, for planes of 1 to 3 dimensions.

mode: nearest, nearest-exact, area; linear (3-d input), bilinear, bicubic (4-d), trilinear (5-d).
align_corners: pixels are points, and corners meet corners; else they are areas, and edges meet edges.
recompute_scale_factor: positions follow from the rounded sizes, not from scale_factor.
antialias: bilinear and bicubic kernels grow with the step when the image shrinks.

Args:
    input (Tensor): (n, c, l), (n, c, h, w) or (n, c, d, h, w); floating point.
    size (int or ints): Of the plane.
    scale_factor (float or Sequence[float]): In place of size.
    mode (str): "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear" or
        "area". Default: 'nearest'.
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.
    recompute_scale_factor (bool): Whether the factor is computed again from the rounded size.
    antialias (bool): For bilinear and bicubic: whether all of a larger input counts. Default:
        False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    NotImplementedError: interpolate: only 3D, 4D and 5D input is supported, got {input.ndim}D:
        {...}.
    ValueError: Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D
        tensor as input, got mode={mode} and {...}.
    NotImplementedError: Got {input.ndim}D input, but {mode} mode needs {...}D input.
    ValueError: align_corners option can only be set with the interpolating modes:, not with
        mode={mode}.
    NotImplementedError: interpolate: mode {mode} is none of nearest, nearest-exact, area,
        {...}.

Example:
    >>> ag.nn.functional.interpolate(ag.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    >>> ag.nn.functional.interpolate(ag.ones(1, 1, 4, 4), size=(2, 2), mode="bilinear").shape
    Size([1, 1, 2, 2])""",
"nn.functional.kl_div": """target (log(target) - input), input being log probabilities, target too if log_target.

reduction "batchmean" divides the sum by input.shape[0]: the divergence itself.

Args:
    input (Tensor): Log probabilities; integers, floating point or complex; integers become
        floating point.
    target (Tensor): Probabilities, of input's shape.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    log_target (bool): Whether target holds log probabilities. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.

Example:
    >>> ag.nn.functional.kl_div(ag.tensor([[0.5, 0.5]]).log(), ag.tensor([[0.25, 0.75]]), reduction="batchmean")
    tensor(0.1308)""",
"nn.functional.l1_loss": """|input - target|; weight multiplies each element, and the mean is over the weights.

Args:
    input (Tensor): Of any shape; floating point or complex.
    target (Tensor): Of input's shape.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    weight (Tensor): Factor for each element or class.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: the shapes do not fit each other.
    ValueError: Inputs and weight must have the same size: {...} and {...}.

Example:
    >>> ag.nn.functional.l1_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 4.0]))
    tensor(1.)""",
"nn.functional.layer_norm": """The last dimensions, of `normalized_shape`, standardized together; times weight, plus bias.

Args:
    input (Tensor): (..., *normalized_shape); floating point.
    normalized_shape (ints): Sizes of the last dimensions.
    weight (Tensor): Of shape normalized_shape.
    bias (Tensor): Of shape normalized_shape.
    eps (float): Added to the variance, for stability. Default: 1e-05.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    TypeError: {name}(): argument 'normalized_shape' must be a tuple of ints, not {...}.
    RuntimeError: Expected normalized_shape to be at least 1-dimensional, i.e., containing at
        least one element, but got normalized_shape = [].
    RuntimeError: Given normalized_shape={...}, expected input with shape [*, {...}], but got
        input of size {...}.
    RuntimeError: Expected {what} to be of same shape as normalized_shape, but got {what} of
        shape {...} and normalized_shape = {...}.

Example:
    >>> ag.nn.functional.layer_norm(ag.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])""",
"nn.functional.leaky_relu": """input where positive, negative_slope * input elsewhere.

Args:
    input (Tensor): Of any shape; floating point.
    negative_slope (float): The slope below 0. Default: 0.01.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.leaky_relu(ag.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])""",
"nn.functional.leaky_relu_": """leaky_relu, in place.

Args:
    input (Tensor): Of any shape; floating point.
    negative_slope (float): The slope below 0. Default: 0.01.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.leaky_relu_(ag.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])""",
"nn.functional.linear": """input @ weight^T + bias: input (..., k), weight (m, k), bias (m,) -> (..., m).

Args:
    input (Tensor): (..., k); any dtype.
    weight (Tensor): (m, k).
    bias (Tensor): (m,).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., m).

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: linear(): the input must be a Tensor, not {...}.
    RuntimeError: linear: weight must be a matrix (m, k), or a vector, but it is of shape {...}.
    RuntimeError: mat1 and mat2 shapes cannot be multiplied ({...} and {...}).
    RuntimeError: linear: bias has {given} elements, weight {...} rows.

Example:
    >>> ag.nn.functional.linear(ag.tensor([[1.0, 2.0]]), ag.tensor([[1.0, 1.0], [0.0, 1.0]]), ag.tensor([10.0, 20.0]))
    tensor([[13., 22.]])""",
"nn.functional.linear_cross_entropy": """cross_entropy(linear(input, linear_weight, linear_bias), target), for input (n, k) or (k,), linear_weight (c, ..., k).

`options` says how PyTorch cuts the work up to save memory; the result does not depend on it, and it is not needed here.

Args:
    input (Tensor): (n, k) or (k,); floating point.
    linear_weight (Tensor): (c, k).
    target (Tensor): int64 (n,) or 0-d.
    linear_bias (Tensor): (c,).
    weight (Tensor): (c,).
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    ignore_index (int): Class number that does not count.
    label_smoothing (float): Part of the target that is spread over all classes, in [0, 1].
        Default: 0.0.
    options: How the logits are cut in blocks.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: linear_cross_entropy: linear_weight of shape {...} needs a batch of inputs,
        got {...}.

Example:
    >>> ag.nn.functional.linear_cross_entropy(ag.tensor([[1.0, 0.0]]), ag.eye(2), ag.tensor([0]))
    tensor(0.3133)""",
"nn.functional.local_response_norm": """input / (k + alpha * mean of the squares of `size` neighbouring channels) ** beta.

Args:
    input (Tensor): (n, c, ...); any dtype; integers become floating point.
    size (int): Number of neighbouring channels.
    alpha (float): Factor of the mean of squares. Default: 0.0001.
    beta (float): The exponent. Default: 0.75.
    k (float): The constant. Default: 1.0.

Returns:
    Tensor.

Raises:
    ValueError: Expected 3D or higher dimensionality input (got {input.ndim} dimensions).

Example:
    >>> ag.nn.functional.local_response_norm(ag.ones(1, 2, 1), 2).shape
    Size([1, 2, 1])""",
"nn.functional.log_softmax": """log(softmax(input)), computed without losing small ones.

Args:
    input (Tensor): Of any shape; floating point.
    dim (int): Dimension or dimensions; all if None.
    _stacklevel (int): Has no effect. Default: 3.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.nn.functional.log_softmax(ag.tensor([[1.0, 2.0]]), dim=1)
    tensor([[-1.3133, -0.3133]])""",
"nn.functional.logsigmoid": """log(sigmoid(input)), without overflow.

Args:
    input (Tensor): Of any shape; floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nn.functional.logsigmoid(ag.tensor([-2.0, 0.0, 200.0]))
    tensor([-2.1269, -0.6931,  0.0000])""",
"nn.functional.lp_pool1d": """(sum of x^p)^(1/p) under each window of input (n, c, l) or (c, l), with p = norm_type.

Args:
    input (Tensor): (n, c, l) or (c, l); bool, integers or floating point; integers become
        floating point.
    norm_type (float): p.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    ceil_mode (bool): Whether windows may go over the end. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.nn.functional.lp_pool1d(ag.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])""",
"nn.functional.lp_pool2d": """(sum of x^p)^(1/p) under each window of input (n, c, h, w) or (c, h, w), with p = norm_type.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); bool, integers or floating point; integers become
        floating point.
    norm_type (float): p.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    ceil_mode (bool): Whether windows may go over the end. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.nn.functional.lp_pool2d(ag.tensor([[[3.0, 4.0], [0.0, 0.0]]]), 2, 2)
    tensor([[[5.]]])""",
"nn.functional.lp_pool3d": """(sum of x^p)^(1/p) under each window of input (n, c, d, h, w) or (c, d, h, w), with p = norm_type.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); bool, integers or floating point; integers
        become floating point.
    norm_type (float): p.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    ceil_mode (bool): Whether windows may go over the end. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.nn.functional.lp_pool3d(ag.ones(1, 1, 2, 2, 2), 2, 2).shape
    Size([1, 1, 1, 1, 1])""",
"nn.functional.margin_ranking_loss": """max(0, -target (input1 - input2) + margin): target 1 wants input1 the larger, -1 input2.

Args:
    input1 (Tensor): Of any shape; integers or floating point; integers become floating point.
    input2 (Tensor): Of input1's shape.
    target (Tensor): 1 or -1, of input1's shape.
    margin (float): The margin. Default: 0.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    RuntimeError: margin_ranking_loss : All input tensors should have same dimension but got
        sizes: input1: {...}, input2: {...}, target: {...}.

Example:
    >>> ag.nn.functional.margin_ranking_loss(ag.tensor([1.0, 2.0]), ag.tensor([2.0, 1.0]), ag.tensor([1.0, 1.0]))
    tensor(0.5000)""",
"nn.functional.max_pool2d_with_indices": """max_pool2d with the places of the maxima: (values, indices).

Args:
    input (Tensor): Of any shape; integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    ceil_mode (bool): Whether windows may go over the end. Default: False.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.nn.functional.max_pool2d_with_indices(ag.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)
    (tensor([[[4.]]]), tensor([[[3]]]))""",
"nn.functional.max_pool3d_with_indices": """max_pool3d with the places of the maxima: (values, indices).

Args:
    input (Tensor): Of any shape; integers or floating point.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    ceil_mode (bool): Whether windows may go over the end. Default: False.

Returns:
    (values, indices).

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> values, indices = ag.nn.functional.max_pool3d_with_indices(ag.ones(1, 1, 4, 4, 4), 2)
    >>> values.shape, indices.shape
    (Size([1, 1, 2, 2, 2]), Size([1, 1, 2, 2, 2]))""",
"nn.functional.max_unpool1d": """Zeros with input (n, c, l) or (c, l) put where max_pool1d says it found it.

Args:
    input (Tensor): (n, c, l) or (c, l); bool, integers or floating point.
    indices (Tensor): int64 of input's shape, from max_pool1d.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    output_size (int or Sequence[int or None]): Of the result; the smallest possible if None.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> x, i = ag.nn.functional.max_pool1d(ag.tensor([[1.0, 4.0, 2.0, 3.0]]), 2, return_indices=True)
    >>> ag.nn.functional.max_unpool1d(x, i, 2)
    tensor([[0., 4., 0., 3.]])""",
"nn.functional.max_unpool2d": """Zeros with input (n, c, h, w) or (c, h, w) put where max_pool2d says it found it.

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); bool, integers or floating point.
    indices (Tensor): int64 of input's shape, from max_pool2d.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    output_size (ints): Of the result; the smallest possible if None.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> x, i = ag.nn.functional.max_pool2d(ag.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2, return_indices=True)
    >>> ag.nn.functional.max_unpool2d(x, i, 2)
    tensor([[[0., 0.],
             [0., 4.]]])""",
"nn.functional.max_unpool3d": """Zeros with input (n, c, d, h, w) or (c, d, h, w) put where max_pool3d says it found it.

Args:
    input (Tensor): (n, c, d, h, w) or (c, d, h, w); bool, integers or floating point.
    indices (Tensor): int64 of input's shape, from max_pool3d.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    stride (int or ints): Step of the window, one number or one for each dimension.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    output_size (int or Sequence[int or None]): Of the result; the smallest possible if None.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> x, i = ag.nn.functional.max_pool3d(ag.ones(1, 1, 2, 2, 2), 2, return_indices=True)
    >>> ag.nn.functional.max_unpool3d(x, i, 2).shape
    Size([1, 1, 2, 2, 2])""",
"nn.functional.mish": """input * tanh(softplus(input)).

Args:
    input (Tensor): Of any shape; floating point.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.mish(ag.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])""",
"nn.functional.mse_loss": """(input - target)^2; weight multiplies each element, and the mean is over the weights.

Args:
    input (Tensor): Of any shape; floating point.
    target (Tensor): Of input's shape.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    weight (Tensor): Factor for each element or class.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: the shapes do not fit each other.
    ValueError: Inputs and weight must have the same size: {...} and {...}.

Example:
    >>> ag.nn.functional.mse_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 4.0]))
    tensor(2.)
    >>> ag.nn.functional.mse_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 4.0]), reduction="sum")
    tensor(4.)""",
"nn.functional.multi_head_attention_forward": """(output, attention weights or None): query (l, n, e), key and value (s, n, e), or without n.

The weights are (n, l, s), the mean over heads, or (n, heads, l, s) if not average_attn_weights. Masks: True (or
-inf) where a key is left out; key_padding_mask (n, s), attn_mask (l, s) or (n * heads, l, s).

Args:
    query (Tensor): (l, n, e) or (l, e); floating point.
    key (Tensor): (s, n, e) or (s, e).
    value (Tensor): (s, n, e) or (s, e).
    embed_dim_to_check (int): e, which query's last size is compared with.
    num_heads (int): Number of heads, a divisor of e.
    in_proj_weight (Tensor): (3 e, e).
    in_proj_bias (Tensor): (3 e,).
    bias_k (Tensor): (1, 1, e), joined on to the keys.
    bias_v (Tensor): (1, 1, e), joined on to the values.
    add_zero_attn (bool): Whether a key and a value of zeros are joined on.
    dropout_p (float): Probability that a weight is dropped.
    out_proj_weight (Tensor): (e, e).
    out_proj_bias (Tensor): (e,).
    training (bool): Whether the layer is being trained. Default: True.
    key_padding_mask (Tensor): (n, s): True where a key does not count.
    need_weights (bool): Whether the weights are returned. Default: True.
    attn_mask (Tensor): (l, s) or (n heads, l, s): True where a key does not count, or numbers
        to be added.
    use_separate_proj_weight (bool): Whether the next three are given in place of
        in_proj_weight. Default: False.
    q_proj_weight (Tensor): (e, e).
    k_proj_weight (Tensor): (e, size of key).
    v_proj_weight (Tensor): (e, size of value).
    static_k (Tensor): (n heads, s, e / heads), in place of keys.
    static_v (Tensor): (n heads, s, e / heads), in place of values.
    average_attn_weights (bool): Whether the weights are averaged over heads. Default: True.
    is_causal (bool): Whether attn_mask is the causal one. Default: False.

Returns:
    (output (l, n, e), weights (n, l, s) or None).

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: the dtype is integers.
    RuntimeError: Need attn_mask if specifying the is_causal hint.
    AssertionError: bias_k and bias_v must be given both or neither.
    AssertionError: bias cannot be added to static key or value.
    AssertionError: query should be unbatched 2D or batched 3D tensor but received
        {query.ndim}-D query tensor.
    AssertionError: For {query.ndim}-D `query`, expected `key` and `value` to be {query.ndim}-D
        but found {key.ndim}-D and {value.ndim}-D tensors respectively.
    AssertionError: For {query.ndim}-D `query`, expected `key_padding_mask` to be None or
        {...}-D but found {...}-D tensor instead.

Example:
    >>> x, eye = ag.ones(3, 1, 2), ag.eye(2)
    >>> out, weights = ag.nn.functional.multi_head_attention_forward(x, x, x, 2, 1, ag.cat([eye] * 3), None, None, None, False, 0., eye, None)
    >>> out.shape, weights.shape
    (Size([3, 1, 2]), Size([1, 3, 3]))""",
"nn.functional.multi_margin_loss": """sum over classes j other than the target of max(0, margin - input[target] + input[j])^p, over their
number.

Args:
    input (Tensor): (n, c) or (c,); integers or floating point; integers become floating point.
    target (Tensor): int64 (n,) or 0-d.
    p (int): 1 or 2. Default: 1.
    margin (float): The margin. Default: 1.0.
    weight (Tensor): (c,).
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    ValueError: only p == 1 and p == 2 supported.
    ValueError: weight must be one-dimensional, one for each of {classes} classes: got {...}.
    RuntimeError: {name}: Expected non-empty vector or matrix with optional 0-dim batch size,
        but got: {...}.
    RuntimeError: {name}: inconsistent target size, expected {...} but got {...}.
    RuntimeError: {name}: targets are class numbers of an integer dtype, not {t.dtype}.
    RuntimeError: {name}: target out of range: {...} to {...} for {...} classes.

Example:
    >>> ag.nn.functional.multi_margin_loss(ag.tensor([[1.0, 0.0]]), ag.tensor([0]))
    tensor(0.)""",
"nn.functional.multilabel_margin_loss": """sum over labels y and classes j that are no labels of max(0, 1 - input[y] + input[j]), over the number of classes.

target (n, classes) has the labels of each row first, then -1.

Args:
    input (Tensor): (n, c) or (c,); integers or floating point; integers become floating point.
    target (Tensor): int64 of input's shape: labels, then -1.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    RuntimeError: Expected non-empty vector or matrix with optional 0-dim batch size, but got:
        {...}.
    RuntimeError: inconsistent target size: {...} for input of size: {...}.
    RuntimeError: multilabel_margin_loss: labels are class numbers, or -1 after the last: got
        {...} to {...} for {...} classes.

Example:
    >>> ag.nn.functional.multilabel_margin_loss(ag.tensor([[1.0, 0.0, 0.0]]), ag.tensor([[0, -1, 0]]))
    tensor(0.)""",
"nn.functional.multilabel_soft_margin_loss": """binary_cross_entropy_with_logits, the mean over classes (the last dimension).

Args:
    input (Tensor): (n, c); floating point.
    target (Tensor): (n, c), 0 or 1.
    weight (Tensor): (c,).
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is integers or complex.

Example:
    >>> ag.nn.functional.multilabel_soft_margin_loss(ag.tensor([[2.0, -2.0]]), ag.tensor([[1.0, 0.0]]))
    tensor(0.1269)""",
"nn.functional.nll_loss": """-input[i, target[i]], weighted by class; input (n, c, ...) log probabilities, target (n, ...) class numbers.

The mean is over the weights of the targets, ignored ones left out. IndexError for a target outside [0, c).

Args:
    input (Tensor): (n, c, ...) or (c,), log probabilities; integers, floating point or complex.
    target (Tensor): int64 (n, ...) or 0-d.
    weight (Tensor): (c,).
    size_average (bool): Deprecated: reduction says it.
    ignore_index (int): Class number that does not count. Default: -100.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    TypeError: the dtype is bool.
    ValueError: Expected 1 or more dimensions (got 0).
    RuntimeError: size mismatch: expected target of shape [] for input of shape {...}, got
        {...}.
    RuntimeError: expected targets (class numbers) of dtype int64 or uint8, but got {t.dtype}.
    RuntimeError: weight tensor should be defined either for all {classes} classes or no classes
        but got weight tensor of shape: {...}.
    RuntimeError: the derivative for 'weight' is not implemented: class weights are constants.

Example:
    >>> ag.nn.functional.nll_loss(ag.tensor([[2.0, 0.0], [0.0, 3.0]]).log_softmax(1), ag.tensor([0, 1]))
    tensor(0.0878)""",
"nn.functional.normalize": """input / max(norm along dim, eps).

Args:
    input (Tensor): Of any shape; floating point or complex.
    p (float): The order of the norm. Default: 2.0.
    dim (int or ints): Dimension, from the front or (negative) from the end. Default: 1.
    eps (float): The smallest norm that is divided by. Default: 1e-12.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    ValueError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nn.functional.normalize(ag.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])""",
"nn.functional.one_hot": """For each class number a row of num_classes (-1: the largest number + 1) zeros, with a one at that
number.

Args:
    tensor (Tensor): int64 of any shape, 0 or more.
    num_classes (int): Number of classes; -1: one more than the largest. Default: -1.

Returns:
    Tensor, int64 (*tensor.shape, num_classes).

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    RuntimeError: one_hot is only applicable to index tensor of type LongTensor, not
        {array.dtype}.
    RuntimeError: Class values must be non-negative, not {low}.
    RuntimeError: Can not infer total number of classes from empty tensor.
    RuntimeError: num_classes should be positive, not {num_classes}.
    RuntimeError: Class values must be smaller than num_classes: {high} of {num_classes}.

Example:
    >>> ag.nn.functional.one_hot(ag.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])""",
"nn.functional.pad": """input padded: pad holds (before, after) for the last dimension, then for the one before it, and so on.

mode: "constant" (value, 0 by default), "reflect" (mirrored without the edge), "replicate" (the edge), "circular".

Args:
    input (Tensor): Of any shape; any dtype.
    pad (ints): An even number of sizes; negative ones cut off.
    mode (str): "constant", "reflect", "replicate" or "circular". Default: 'constant'.
    value (number): Of mode "constant"; 0 if None.

Returns:
    Tensor.

Raises:
    NotImplementedError: Unrecognised padding mode {mode}.
    RuntimeError: Padding mode "{mode}" doesn't take in value argument.
    NotImplementedError: Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for
        now: pad {...} needs an input of {...} or {...} dimensions, not {input.ndim}.

Example:
    >>> ag.nn.functional.pad(ag.tensor([[1, 2]]), (1, 1))
    tensor([[0, 1, 2, 0]])""",
"nn.functional.pairwise_distance": """The p-norm of x1 - x2 + eps along the last dimension.

Args:
    x1 (Tensor): (..., d); integers, floating point or complex; integers become floating point.
    x2 (Tensor): (..., d).
    p (float): The order of the norm. Default: 2.0.
    eps (float): Added to the differences. Default: 1e-06.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.

Returns:
    Tensor (...).

Raises:
    RuntimeError: the dtype is bool.

Example:
    >>> ag.pairwise_distance(ag.tensor([[0.0, 0.0]]), ag.tensor([[3.0, 4.0]]))
    tensor([5.0000])""",
"nn.functional.pdist": """The p-norm distances of all pairs of rows of a matrix, (0, 1), (0, 2), ..., (1, 2), ...: a vector.

Args:
    input (Tensor): (n, d); floating point.
    p (float): The order of the norm. Default: 2.0.

Returns:
    Tensor (n (n - 1) / 2,).

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    RuntimeError: pdist only supports 2D tensors, got: {input.ndim}D.
    RuntimeError: pdist only supports floating-point dtypes, got {input.dtype}.
    RuntimeError: pdist only supports non-negative p values, got {p}.

Example:
    >>> ag.pdist(ag.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])""",
"nn.functional.poisson_nll_loss": """exp(input) - target input, or input - target log(input + eps) if not log_input.

full adds Stirling's approximation of log(target!), where target > 1.

Args:
    input (Tensor): Expectations, or their logarithms; integers, floating point or complex;
        integers become floating point.
    target (Tensor): Counts, of input's shape.
    log_input (bool): Whether input holds logarithms. Default: True.
    full (bool): Whether Stirling's approximation of log(target!) is added. Default: False.
    size_average (bool): Deprecated: reduction says it.
    eps (float): Keeps log(0) away. Default: 1e-08.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.nn.functional.poisson_nll_loss(ag.tensor([0.0, 1.0]), ag.tensor([1.0, 2.0]))
    tensor(0.8591)""",
"nn.functional.relu": """max(input, 0) of each element; nan stays.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.nn.functional.relu(ag.tensor([-1.0, 2.0]))
    tensor([0., 2.])""",
"nn.functional.relu6": """input limited to [0, 6].

Args:
    input (Tensor): Of any shape; integers or floating point.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.

Example:
    >>> ag.nn.functional.relu6(ag.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])""",
"nn.functional.scaled_dot_product_attention": """softmax(query key^T scale + mask) value: query (..., l, e), key (..., s, e), value (..., s, d) -> (..., l, d).

attn_mask: True where a key counts, or numbers that are added to the scores. is_causal: query i sees keys 0 to i.
scale: 1 / sqrt(e) if None. enable_gqa: groups of queries' heads (dimension -3) share a head of key and value.

Args:
    query (Tensor): (..., l, e); floating point.
    key (Tensor): (..., s, e).
    value (Tensor): (..., s, d).
    attn_mask (Tensor): Of a shape that broadcasts to (..., l, s): bool, False where a key does
        not count; or numbers to be added.
    dropout_p (float): Probability that a weight is dropped. Default: 0.0.
    is_causal (bool): Whether position i sees keys 0 to i only. Default: False.
    scale (float): Factor of the products; 1 / sqrt(e) if None.
    enable_gqa (bool): Whether query has several heads for each of key's. Default: False.

Returns:
    Tensor (..., l, d).

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: Expected query, key, and value to have the same dtype, but got query.dtype:
        {query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead.
    RuntimeError: Expected query, key, and value to all be at least 2 dimensional, but got.
    RuntimeError: scaled_dot_product_attention: query and key must agree in their last
        dimension, key and value in the one before: got.
    RuntimeError: dropout probability has to be between 0 and 1, but got {dropout_p}.
    RuntimeError: scaled_dot_product_attention: Explicit attn_mask should not be set when
        is_causal=True.

Example:
    >>> x = ag.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> ag.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[1.0000, 0.0000],
            [0.3302, 0.6698]])""",
"nn.functional.sigmoid": """1 / (1 + exp(-input)).

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
"nn.functional.silu": """input * sigmoid(input).

Args:
    input (Tensor): Of any shape; floating point or complex.
    inplace (bool): Whether the result is written to input's memory. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.

Example:
    >>> ag.nn.functional.silu(ag.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])""",
"nn.functional.smooth_l1_loss": """d^2 / (2 beta) where d = |input - target| < beta, d - beta / 2 elsewhere.

Args:
    input (Tensor): Of any shape; floating point.
    target (Tensor): Of input's shape.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.
    beta (float): Where the parabola ends, 0 or more. Default: 1.0.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: smooth_l1_loss does not support negative values for beta, got {beta}.

Example:
    >>> ag.nn.functional.smooth_l1_loss(ag.tensor([0.0, 3.0]), ag.tensor([0.5, 0.0]))
    tensor(1.3125)""",
"nn.functional.soft_margin_loss": """log(1 + exp(-target input)), targets 1 and -1.

Args:
    input (Tensor): Of any shape; floating point.
    target (Tensor): 1 or -1, of input's shape.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is integers or complex.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: soft_margin_loss: the target {...} must have the input's shape {...}.

Example:
    >>> ag.nn.functional.soft_margin_loss(ag.tensor([2.0, -2.0]), ag.tensor([1.0, -1.0]))
    tensor(0.1269)""",
"nn.functional.softmax": """exp(input) over its sum along `dim`.

Args:
    input (Tensor): Of any shape; floating point.
    dim (int): Dimension or dimensions; all if None.
    _stacklevel (int): Has no effect. Default: 3.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.nn.functional.softmax(ag.tensor([[1.0, 2.0], [3.0, 3.0]]), dim=1)
    tensor([[0.2689, 0.7311],
            [0.5000, 0.5000]])""",
"nn.functional.softmin": """softmax() of the negated input along `dim`.

Args:
    input (Tensor): Of any shape; floating point.
    dim (int): Dimension or dimensions; all if None.
    _stacklevel (int): Has no effect. Default: 3.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is integers or complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.nn.functional.softmin(ag.tensor([[1.0, 2.0]]), dim=1)
    tensor([[0.7311, 0.2689]])""",
"nn.functional.softplus": """log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold.

Args:
    input (Tensor): Of any shape; floating point.
    beta (float): How sharp the bend is. Default: 1.
    threshold (float): From where the result is linear. Default: 20.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nn.functional.softplus(ag.tensor([-1.0, 0.0, 30.0]))
    tensor([ 0.3133,  0.6931, 30.0000])""",
"nn.functional.softshrink": """input moved by lambd towards 0, and 0 within [-lambd, lambd].

Args:
    input (Tensor): Of any shape; floating point.
    lambd (float): Half the width of what becomes 0, 0 or more. Default: 0.5.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: lambda must be greater or equal to 0, but found to be {lambd}.

Example:
    >>> ag.nn.functional.softshrink(ag.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])""",
"nn.functional.softsign": """input / (1 + |input|).

Args:
    input (Tensor): Of any shape; any dtype; integers become floating point.

Returns:
    Tensor.

Example:
    >>> ag.nn.functional.softsign(ag.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])""",
"nn.functional.tanh": """The hyperbolic tangent.

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
"nn.functional.tanhshrink": """input - tanh(input).

Args:
    input (Tensor): Of any shape; integers, floating point or complex; integers become floating
        point.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.

Example:
    >>> ag.nn.functional.tanhshrink(ag.tensor([-1.0, 3.0]))
    tensor([-0.2384,  2.0049])""",
"nn.functional.triplet_margin_loss": """max(0, |anchor - positive| - |anchor - negative| + margin); swap takes the negative's nearer
distance of two.

Args:
    anchor (Tensor): (n, d) or (d,); integers, floating point or complex; integers become
        floating point.
    positive (Tensor): Of anchor's shape.
    negative (Tensor): Of anchor's shape.
    margin (float): The margin. Default: 1.0.
    p (float): The order of the norm. Default: 2.
    eps (float): Added to the differences. Default: 1e-06.
    swap (bool): Whether the positive's distance from the negative counts, where it is smaller.
        Default: False.
    size_average (bool): Deprecated: reduction says it.
    reduce (bool): Deprecated: reduction says it.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    ValueError: margin must be greater than 0, got {margin}.
    RuntimeError: The anchor, positive, and negative tensors are expected to have the same
        number of dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and
        negative {negative.ndim}D.

Example:
    >>> ag.nn.functional.triplet_margin_loss(ag.tensor([[0.0, 0.0]]), ag.tensor([[0.0, 1.0]]), ag.tensor([[3.0, 4.0]]), margin=6.)
    tensor(2.0000)""",
"nn.functional.triplet_margin_with_distance_loss": """triplet_margin_loss with a distance of your own: distance_function(a, b).

Args:
    anchor (Tensor): (n, ...); integers, floating point or complex; integers become floating
        point.
    positive (Tensor): Of anchor's shape.
    negative (Tensor): Of anchor's shape.
    distance_function (Callable[[Any, Any], Any]): Of two tensors (n, ...) -> (n,);
        pairwise_distance if None.
    margin (float): The margin. Default: 1.0.
    swap (bool): Whether the positive's distance from the negative counts, where it is smaller.
        Default: False.
    reduction (str): "none", "mean" or "sum". Default: 'mean'.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    ValueError: {reduction} is not a valid value for reduction.
    ValueError: margin must be greater than 0, got {margin}.
    RuntimeError: The anchor, positive, and negative tensors are expected to have the same
        number of dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and
        negative {negative.ndim}D.

Example:
    >>> ag.nn.functional.triplet_margin_with_distance_loss(ag.tensor([[0.0, 0.0]]), ag.tensor([[0.0, 1.0]]), ag.tensor([[3.0, 4.0]]), margin=6.)
    tensor(2.0000)""",
"nn.functional.unfold": """The patches of input (n, c, h, w) or (c, h, w) as columns (n, c * kh * kw, windows).

Args:
    input (Tensor): (n, c, h, w) or (c, h, w); any dtype.
    kernel_size (int or ints): Size of the window, one number or one for each dimension.
    dilation (int or ints): Distance of the window's points, one number or one for each
        dimension. Default: 1.
    padding (int or ints): Zeros on both sides, one number or one for each dimension; "same" or
        "valid". Default: 0.
    stride (int or ints): Step of the window, one number or one for each dimension. Default: 1.

Returns:
    Tensor (n, c kh kw, windows).

Raises:
    RuntimeError: unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and
        other non-zero dimensions for input, but got: {...}.

Example:
    >>> ag.nn.functional.unfold(ag.arange(9.).reshape(1, 1, 3, 3), 2)
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])""",
"nn.functional.upsample": """The old name of interpolate.

Args:
    input (Tensor): (n, c, l), (n, c, h, w) or (n, c, d, h, w); floating point.
    size (int or ints): Of the plane.
    scale_factor (float or Sequence[float]): In place of size.
    mode (str): See interpolate. Default: 'nearest'.
    align_corners (bool): Whether the corners' centers, not their edges, are at -1 and 1, or
        stay in place.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.upsample(ag.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])""",
"nn.functional.upsample_bilinear": """The old name of interpolate(mode="bilinear", align_corners=True).

Args:
    input (Tensor): (n, c, h, w); floating point.
    size (int or ints): Of the plane.
    scale_factor (float or Sequence[float]): In place of size.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.upsample_bilinear(ag.ones(1, 1, 2, 2), size=(4, 4)).shape
    Size([1, 1, 4, 4])""",
"nn.functional.upsample_nearest": """The old name of interpolate(mode="nearest").

Args:
    input (Tensor): (n, c, l), (n, c, h, w) or (n, c, d, h, w); floating point.
    size (int or ints): Of the plane.
    scale_factor (float or Sequence[float]): In place of size.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.

Example:
    >>> ag.nn.functional.upsample_nearest(ag.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])""",
}
for _pair in """Tensor.hardshrink:hardshrink Tensor.prelu:prelu Tensor.log_softmax:log_softmax
    Tensor.logsumexp:logsumexp Tensor.softmax:softmax nn.functional.adaptive_avg_pool1d:adaptive_avg_pool1d
    nn.functional.avg_pool1d:avg_pool1d nn.functional.bilinear:bilinear nn.functional.celu:celu
    nn.functional.celu_:celu_ nn.functional.channel_shuffle:channel_shuffle nn.functional.conv1d:conv1d
    nn.functional.conv2d:conv2d nn.functional.conv3d:conv3d nn.functional.conv_tbc:conv_tbc
    nn.functional.conv_transpose1d:conv_transpose1d nn.functional.conv_transpose2d:conv_transpose2d
    nn.functional.conv_transpose3d:conv_transpose3d nn.functional.hardshrink:hardshrink
    nn.functional.max_pool1d:max_pool1d nn.functional.max_pool1d_with_indices:max_pool1d_with_indices
    nn.functional.max_pool2d:max_pool2d nn.functional.max_pool3d:max_pool3d nn.functional.pixel_shuffle:pixel_shuffle
    nn.functional.pixel_unshuffle:pixel_unshuffle nn.functional.prelu:prelu nn.functional.relu_:relu_
    nn.functional.rms_norm:rms_norm nn.functional.rrelu:rrelu nn.functional.rrelu_:rrelu_ nn.functional.selu:selu
    nn.functional.selu_:selu_ nn.functional.threshold:threshold nn.functional.threshold_:threshold_""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
