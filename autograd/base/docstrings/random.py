"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"bernoulli": """1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input
gives the shape.

Args:
    input (Tensor): Probabilities in [0, 1], floating point.
    p (Tensor or float): One probability for all elements.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    NotImplementedError: bernoulli(): probabilities are floating point, not {array.dtype}.

Example:
    >>> ag.bernoulli(ag.tensor([0.0, 1.0, 1.0]))
    tensor([0., 1., 1.])""",
"multinomial": """num_samples indices from each row of weights; without replacement each index at most once.

With replacement by the inverse of the distribution function, without as an exponential race (Efraimidis and
Spirakis, 2006): the smallest of E_i / weight_i win, for independent exponential E_i.

Args:
    input (Tensor): (n,) or (rows, n), weights of 0 or more, not all 0; floating point.
    num_samples (int): How many indices for each row.
    replacement (bool): Whether an index may be drawn twice. Default: False.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, int64 (num_samples,) or (rows, num_samples).

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: prob_dist must be 1 or 2 dim, not {weights.ndim}.
    RuntimeError: multinomial only supports floating-point dtypes for input, got:
        {weights.dtype}.
    RuntimeError: cannot sample n_sample <= 0 samples.
    RuntimeError: cannot sample n_sample > prob_dist.size(-1) samples without replacement.
    RuntimeError: probability tensor contains either `inf`, `nan` or element < 0.
    RuntimeError: invalid multinomial distribution (sum of probabilities <= 0).

Example:
    >>> ag.multinomial(ag.tensor([0.0, 0.0, 1.0]), 3, replacement=True)
    tensor([2, 2, 2])""",
"normal": """Normal numbers; mean and std are tensors (or one of them a number), or numbers, and then `size` is
needed.

Args:
    mean (Tensor or number): The expectation.
    std (Tensor or number): The standard deviation, 0 or more. Default: 1.0.
    size (ints): Sizes of the dimensions.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    TypeError: normal(): size and dtype follow from mean and std where these are tensors.
    TypeError: normal() takes a Tensor as mean or std, or numbers and a size.

Example:
    >>> ag.normal(0., 1., (2, 3)).shape
    Size([2, 3])""",
"poisson": """Numbers of events whose expectation is input.

Args:
    input (Tensor): Expectations of 0 or more, floating point.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    NotImplementedError: poisson(): rates are floating point, not {rates.dtype}.
    RuntimeError: invalid Poisson rate, expected rate to be non-negative.

Example:
    >>> ag.poisson(ag.tensor([0.0, 0.0]))
    tensor([0., 0.])""",
"rand": """Uniform on [0, 1).

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> x = ag.rand(2, 3)
    >>> x.shape, bool((x >= 0).all() and (x < 1).all())
    (Size([2, 3]), True)""",
"rand_like": """Uniform on [0, 1), of input's shape and dtype.

Args:
    input (Tensor): Of any shape; floating point or complex.
    generator (Generator): Source of random numbers; the default generator if None.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.

Example:
    >>> ag.rand_like(ag.zeros(2, 3)).shape
    Size([2, 3])""",
"randint": """Integers from low to high - 1; randint(high, size) starts at 0.

Args:
    *args (int or Tensor or ints): (high, size) or (low, high, size).
    low (int): The smallest number; 0 if left out. Default: 0.
    high (int): One more than the largest number.
    size (ints): Sizes of the dimensions.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    TypeError: randint() takes (high, size) or (low, high, size), not {args}.

Example:
    >>> ag.randint(5, 6, (3,))
    tensor([5, 5, 5])""",
"randint_like": """Integers from low to high - 1, of input's shape and dtype; randint_like(input, high) starts at 0.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.
    *args (int or Tensor or ints): (high) or (low, high).
    low (int): The smallest number; 0 if left out. Default: 0.
    high (int): One more than the largest number.
    generator (Generator): Source of random numbers; the default generator if None.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.

Example:
    >>> ag.randint_like(ag.zeros(3), 5, 6)
    tensor([5., 5., 5.])""",
"randn": """Normal with mean 0 and variance 1.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> _ = ag.manual_seed(0)
    >>> ag.randn(2, 3).shape
    Size([2, 3])""",
"randn_like": """Normal with mean 0 and variance 1, of input's shape and dtype.

Args:
    input (Tensor): Of any shape; floating point or complex.
    generator (Generator): Source of random numbers; the default generator if None.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.

Example:
    >>> ag.randn_like(ag.zeros(2, 3)).shape
    Size([2, 3])""",
"randperm": """The numbers 0 to n - 1 in random order.

Args:
    n (int): How many numbers.
    generator (Generator): Source of random numbers; the default generator if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: Trying to create tensor with negative dimension {n}: [{n}].
    RuntimeError: value cannot be converted to type {dtype} without overflow: {...}.

Example:
    >>> sorted(ag.randperm(4).tolist())
    [0, 1, 2, 3]""",
"Tensor.bernoulli_": """In place: 1 with the probabilities in input, else 0; with `p` that is the probability everywhere,
and input gives the shape.

Args:
    p (Tensor or float): One probability for all elements.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    NotImplementedError: bernoulli(): probabilities are floating point, not {array.dtype}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.bernoulli_(1.0)
    tensor([1., 1., 1.])""",
"Tensor.cauchy_": """Draws from the Cauchy distribution, written into this tensor's memory; returns self.

Args:
    median (float): The middle of the distribution. Default: 0.0.
    sigma (float): Its width, above 0. Default: 1.0.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Example:
    >>> ag.zeros(3).cauchy_().shape
    Size([3])""",
"Tensor.exponential_": """Draws from the exponential distribution, written into this tensor's memory; returns self.

Args:
    lambd (float): The rate, above 0. Default: 1.0.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Example:
    >>> bool((ag.zeros(3).exponential_() > 0).all())
    True""",
"Tensor.geometric_": """Numbers of trials up to the first success, written into this tensor's memory; returns self.

Args:
    p (float): The probability of success, in (0, 1).
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Example:
    >>> bool((ag.zeros(3).geometric_(0.5) >= 1).all())
    True""",
"Tensor.log_normal_": """Draws whose logarithms are normal, written into this tensor's memory; returns self.

Args:
    mean (float): The expectation of the logarithms. Default: 1.0.
    std (float): The standard deviation of the logarithms, above 0. Default: 2.0.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Example:
    >>> bool((ag.zeros(3).log_normal_() > 0).all())
    True""",
"Tensor.normal_": """Draws from the normal distribution, written into this tensor's memory; returns self.

Args:
    mean (float): The expectation. Default: 0.0.
    std (float): The standard deviation, 0 or more. Default: 1.0.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Example:
    >>> ag.zeros(2).normal_(5., 0.)
    tensor([5., 5.])""",
"Tensor.random_": """Random integers, written into this tensor's memory; returns self.

Args:
    to (int): One more than the largest integer; without it the largest that the dtype holds
        exactly.
    generator (Generator): Source of random numbers; the default generator if None.
    from: The smallest integer, 0 if left out; also as the first of two arguments.

Returns:
    Tensor.

Example:
    >>> ag.zeros(3).random_(7, 8)
    tensor([7., 7., 7.])""",
"Tensor.uniform_": """Draws from the uniform distribution, written into this tensor's memory; returns self.

Args:
    from_ (float): The lower limit, 0 by default; also under the name from. Default: 0.0.
    to (float): The upper limit, 1 by default. Default: 1.0.
    generator (Generator): Source of random numbers; the default generator if None.

Returns:
    Tensor.

Example:
    >>> x = ag.zeros(3).uniform_(2., 3.)
    >>> bool((x >= 2).all() and (x < 3).all())
    True""",
}
for _pair in """Tensor.bernoulli:bernoulli Tensor.multinomial:multinomial""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
