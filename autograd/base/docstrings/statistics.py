"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"corrcoef": """The covariance of each pair of rows over the product of their standard deviations.

Args:
    input (Tensor): (variables, observations) or (observations,); integers, floating point or
        complex; integers become floating point.

Returns:
    (variables, variables).

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: corrcoef(): expected input to have two or fewer dimensions but got
        {input.ndim}.

Example:
    >>> ag.corrcoef(ag.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])""",
"cov": """The covariance of each pair of rows: products of distances from the means, averaged over columns.

fweights: how often each column occurred; aweights: how much it counts. Divided by their sum, less `correction`.

Args:
    input (Tensor): (variables, observations) or (observations,); integers, floating point or
        complex; integers become floating point.
    correction (int): The sum of weights less this is divided by. Default: 1.
    fweights (Tensor): How often each observation counts: integers (observations,).
    aweights (Tensor): The weight of each observation: (observations,).

Returns:
    (variables, variables).

Raises:
    RuntimeError: the dtype is bool.
    RuntimeError: cov(): expected input to have two or fewer dimensions but got {input.ndim}.
    RuntimeError: cov(): bool dtype is not supported for input.
    RuntimeError: cov(): weights sum to zero, can't be normalized.
    RuntimeError: cov(): expected {name} to have one or fewer dimensions but got {weights.ndim}.
    RuntimeError: cov(): expected {name} to have {words} dtype but got {weights.dtype}.
    RuntimeError: cov(): expected {name} to have the same numel as there are observations in the
        input but got {weights.array.size} != {columns}.

Example:
    >>> ag.cov(ag.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])""",
"cumulative_trapezoid": """The integrals up to each sample but the first along `dim`, by the trapezoidal rule.

Args:
    y (Tensor): The samples; integers, floating point or complex; integers become floating
        point.
    x (Tensor): Where they are taken, of y's shape or a vector.
    dx (number): Their distance, where there is no x; 1 if None.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: {name}: received a bool input for `y`, but bool is not supported.
    TypeError: {name}() takes x or dx, not both.
    RuntimeError: {name}: received a bool input for `x`, but bool is not supported.

Example:
    >>> ag.cumulative_trapezoid(ag.tensor([1.0, 2.0, 4.0]))
    tensor([1.5000, 4.5000])""",
"diff": """The n-th difference of neighbours along `dim`, with `prepend` and `append` joined on before; bool:
whether unequal.

Args:
    input (Tensor): Of any shape; any dtype.
    n (int): How often. Default: 1.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    prepend (Tensor): Tensor joined on before; input's shape but along `dim`.
    append (Tensor): Tensor joined on behind; input's shape but along `dim`.
    axis (int): NumPy's name of `dim`.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: diff expects input to be at least one-dimensional.
    RuntimeError: order must be non-negative but got {n}.
    RuntimeError: diff expects prepend or append to be the same dimension as input, got
        {extra.ndim} and {input.ndim}.

Example:
    >>> ag.diff(ag.tensor([1, 4, 9, 16]))
    tensor([3, 5, 7])""",
"gradient": """The derivative of samples along each of `dim` (all), by central differences; edges of order 1 or 2.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.
    spacing (Tensors or float): Distance of samples: a number, one for each dimension, or their
        coordinates. Default: 1.
    dim (int or ints): Dimension or dimensions; all if None.
    edge_order (int): 1 or 2. Default: 1.

Returns:
    A tuple with a tensor of input's shape for each dimension.

Raises:
    RuntimeError: the dtype is bool.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: torch.gradient does not support {input.dtype} input.
    RuntimeError: torch.gradient only supports edge_order=1 and edge_order=2.
        edge_order={edge_order}.
    RuntimeError: torch.gradient expected each dimension size to be at least edge_order+1 =
        {...}, got shape {...}.
    RuntimeError: torch.gradient expected spacing to be unspecified, a scalar or a list of
        length equal to {...} = {...}, but got a list of length {...}.
    RuntimeError: torch.gradient expected each coordinate tensor to be a vector as long as its
        dimension, {n}, got shape {...}.

Example:
    >>> ag.gradient(ag.tensor([1.0, 4.0, 9.0, 16.0]))
    (tensor([3., 4., 6., 7.]),)""",
"trapezoid": """The integral of samples y along `dim` by the trapezoidal rule; at places x, or dx (1) apart.

Args:
    y (Tensor): The samples; integers, floating point or complex; integers become floating
        point.
    x (Tensor): Where they are taken, of y's shape or a vector.
    dx (float): Their distance, where there is no x; 1 if None.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: {name}: received a bool input for `y`, but bool is not supported.
    TypeError: {name}() takes x or dx, not both.
    RuntimeError: {name}: received a bool input for `x`, but bool is not supported.

Example:
    >>> ag.trapezoid(ag.tensor([1.0, 2.0, 4.0]))
    tensor(4.5000)""",
"trapz": """trapezoid() by its older name.

Args:
    y (Tensor): The samples; integers, floating point or complex; integers become floating
        point.
    x (Tensor): Where they are taken, of y's shape or a vector.
    dx (number): Their distance, where there is no x; 1 if None.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: the shapes do not fit each other.

Example:
    >>> ag.trapz(ag.tensor([1.0, 2.0, 4.0]), ag.tensor([0.0, 1.0, 3.0]))
    tensor(7.5000)""",
"bincount": """How often 0, 1, 2, ... occur in a vector, or the sums of their weights; at least `minlength` of
them.

Args:
    input (Tensor): Integers of 0 or more (n,).
    weights (Tensor): (n,).
    minlength (int): The smallest length of the result. Default: 0.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or floating point or complex.
    RuntimeError: minlength should be >= 0, got {minlength}.
    RuntimeError: bincount only supports 1-d non-negative integral inputs, got shape {...}.
    RuntimeError: weights should be 1-d and have the same length as input, got {...} and {...}.

Example:
    >>> ag.bincount(ag.tensor([0, 2, 2]))
    tensor([1, 0, 2])""",
"bucketize": """The number of the bin between sorted `boundaries` that each element falls in; right: bins own their
left edge.

Args:
    input (Tensor): Of any shape; integers or floating point.
    boundaries (Tensor): (n,), increasing.
    out_int32 (bool): int32 in place of int64. Default: False.
    right (bool): Bins own their left edge. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: bucketize(): boundaries tensor must be 1 dimension, but got
        dim({boundaries.ndim}).

Example:
    >>> ag.bucketize(ag.tensor([1, 5, 9]), ag.tensor([2, 6]))
    tensor([0, 1, 2])""",
"histc": """How many elements fall in each of `bins` equal bins from min to max, by default those of the
elements.

Args:
    input (Tensor): Of any shape; floating point.
    bins (int): How many. Default: 100.
    min (float): The lower edge. Default: 0.
    max (float): The upper edge; where both are 0, the smallest and largest elements. Default:
        0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: torch.histogram(): bins must be > 0, but got {bins} for dimension 0.
    RuntimeError: torch.histc: range of [{low}, {high}] is not finite.
    RuntimeError: torch.histc: max must be larger than min, got {low} and {high}.

Example:
    >>> ag.histc(ag.tensor([1.0, 2.0, 2.0, 4.0]), bins=4)
    tensor([1., 2., 0., 1.])""",
"histogram": """(hist, bin_edges): the elements counted into `bins` equal bins over `range`, or between the edges `bins`.

weight: what each element counts; density: per unit of length, adding up to 1.

Args:
    input (Tensor): Of any shape; floating point.
    bins (Tensor or number): How many, or their edges (bins + 1,). Default: 100.
    range (Sequence[float]): (lowest, highest) edge.
    weight (Tensor): The weight of each element, of input's shape.
    density (bool): Whether the histogram's integral is 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    (hist, bin_edges), a named tuple.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    TypeError: histogram() takes range only with a number of bins.
    RuntimeError: torch.histogramdd: for a {...}-dimensional histogram range should have {...}
        elements, but got {...}.
    RuntimeError: torch.histogramdd: if weight tensor is provided it should have the same shape
        as the input tensor excluding its innermost dimension, but got {...} for {...}.
    RuntimeError: torch.histogramdd: if weight tensor is provided, input tensor and weight
        tensor should have the same dtype, but got input({dtype}), and weight({weight.dtype}).

Example:
    >>> ag.histogram(ag.tensor([1.0, 2.0, 2.0, 4.0]), bins=3)
    Histogram(hist=tensor([1., 2., 1.]), bin_edges=tensor([1., 2., 3., 4.]))""",
"histogramdd": """(hist, bin_edges) of points (..., d) in d dimensions; bins: one number, or a number or a vector of
edges for each.

Args:
    input (Tensor): (..., d) points; floating point.
    bins (int or ints or Tensors): How many, one number or one for each dimension; or their
        edges.
    range (Sequence[float]): 2 d edges: lowest and highest for each dimension.
    weight (Tensor): The weight of each point: (...).
    density (bool): Whether the histogram's integral is 1. Default: False.

Returns:
    (hist, bin_edges), a named tuple.

Raises:
    NotImplementedError: the dtype is bool or integers or complex.
    RuntimeError: torch.histogramdd: input tensor should have at least 2 dimensions, but got
        {input.ndim}.
    RuntimeError: histogramdd: The size of bins must be equal to the innermost dimension of the
        input: {...} and {d}.
    RuntimeError: torch.histogramdd: for a {...}-dimensional histogram range should have {...}
        elements, but got {...}.
    RuntimeError: torch.histogramdd: if weight tensor is provided it should have the same shape
        as the input tensor excluding its innermost dimension, but got {...} for {...}.
    RuntimeError: torch.histogramdd: if weight tensor is provided, input tensor and weight
        tensor should have the same dtype, but got input({dtype}), and weight({weight.dtype}).

Example:
    >>> hist, edges = ag.histogramdd(ag.tensor([[0.0, 0.0], [1.0, 1.0]]), bins=[2, 2])
    >>> hist
    tensor([[1., 0.],
            [0., 1.]])""",
"searchsorted": """Where in each row of sorted_sequence the elements of input belong: before equal ones, or behind them (right).

sorter: the order in which an unsorted sequence is to be read.

Args:
    sorted_sequence (Tensor): (..., n), increasing along the last dimension; integers or
        floating point.
    input (Tensor): Number, or tensor (..., m).
    out_int32 (bool): int32 in place of int64. Default: False.
    right (bool): Behind equal ones. Default: False.
    side (str): "left" or "right", in place of `right`.
    sorter (Tensor): int64 (..., n): the order in which sorted_sequence increases.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or complex.
    RuntimeError: torch.searchsorted(): side can only be 'left' or 'right' but got {side}.
    RuntimeError: torch.searchsorted(): side and right can't be set to opposites, got side of
        {side} while right was {right}.
    RuntimeError: torch.searchsorted(): input value can be a scalar only when boundaries tensor
        dimension is 1, but we got boundaries tensor dim({edges.ndim}).
    RuntimeError: torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1
        dimensions of boundaries tensor and input value tensor must match, but we got boundaries
        tensor {...} and ....
    RuntimeError: torch.searchsorted(): boundary and sorter must have the same size, but got
        boundary tensor {...} and got sorter tensor {...}.

Example:
    >>> ag.searchsorted(ag.tensor([1, 3, 5]), ag.tensor([3, 4]))
    tensor([1, 2])""",
"isin": """Whether each of `elements` is among `test_elements`; one of them may be a number. assume_unique is a
hint only.

Args:
    elements (Tensor or number): Tensor or number; integers or floating point.
    test_elements (Tensor or number): Tensor or number.
    assume_unique (bool): a hint that does nothing. Default: False.
    invert (bool): Whether each is not among them. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    TypeError: isin() needs at least one Tensor, got {...} and {...}.
    RuntimeError: Unsupported input type encountered for isin(): bool.

Example:
    >>> ag.isin(ag.tensor([1, 2, 3]), ag.tensor([2, 5]))
    tensor([False,  True, False])""",
"unique": """The distinct elements, or slices along `dim`, in order; with where each element went and how often
each came.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    sorted (bool): In order; they are in any case. Default: True.
    return_inverse (bool): Whether the place of each element is returned too. Default: False.
    return_counts (bool): Whether the counts are returned too. Default: False.
    dim (int): Slices along it are compared; elements if None.

Returns:
    The distinct values, or a tuple with inverse and counts behind it.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    IndexError: Dimension specified as 0 but tensor has no dimensions.
    RuntimeError: There are 0 sized dimensions, and they aren't selected, so {name} cannot be
        applied.

Example:
    >>> ag.unique(ag.tensor([3, 1, 3]))
    tensor([1, 3])
    >>> ag.unique(ag.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))""",
"unique_consecutive": """The first of each run of equal elements, or slices along `dim`; with the run of each and the lengths
of the runs.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    return_inverse (bool): Whether the run of each element is returned too. Default: False.
    return_counts (bool): Whether the lengths of the runs are returned too. Default: False.
    dim (int): Slices along it are compared; elements if None.

Returns:
    The values, or a tuple with inverse and counts behind it.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    IndexError: Dimension specified as 0 but tensor has no dimensions.
    RuntimeError: There are 0 sized dimensions, and they aren't selected, so {name} cannot be
        applied.

Example:
    >>> ag.unique_consecutive(ag.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])""",
}
for _pair in """Tensor.corrcoef:corrcoef Tensor.cov:cov Tensor.diff:diff Tensor.bincount:bincount Tensor.histc:histc
    Tensor.histogram:histogram Tensor.unique:unique Tensor.unique_consecutive:unique_consecutive""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
