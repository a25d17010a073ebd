"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"cummax": """The largest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last).

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (values, indices), a named tuple; indices are int64.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.cummax(ag.tensor([1.0, 3.0, 2.0]), 0)
    ValuesIndices(values=tensor([1., 3., 3.]), indices=tensor([0, 1, 1]))""",
"cummin": """The smallest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last).

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (values, indices), a named tuple; indices are int64.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.cummin(ag.tensor([3.0, 1.0, 2.0]), 0)
    ValuesIndices(values=tensor([3., 1., 1.]), indices=tensor([0, 1, 1]))""",
"cumsum": """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.cumsum(ag.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])""",
"logcumsumexp": """log of the running sum of exp(input) along `dim`, without overflow.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int): Dimension, from the front or (negative) from the end.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.logcumsumexp(ag.tensor([0.0, 0.0, 0.0]), 0)
    tensor([0.0000, 0.6931, 1.0986])""",
"amax": """The largest element over `dim`; equal ones share the gradient.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.amax(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([4., 3.])""",
"amin": """The smallest element over `dim`; equal ones share the gradient.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.amin(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([1., 2.])""",
"aminmax": """The smallest and the largest element, of all or along one `dim`.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    (min, max), a named tuple.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: aminmax(): cannot compute aminmax over an empty dimension as the operation has
        no identity.
    RuntimeError: Expected out tensor to have dtype {input.dtype}, but got {o.dtype} instead.

Example:
    >>> ag.aminmax(ag.tensor([3.0, 1.0, 2.0]))
    MinMax(min=tensor(1.), max=tensor(3.))""",
"argmax": """The index of the first largest element, of all or along `dim`.

Args:
    input (Tensor): Of any shape; integers or floating point.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor, int64.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    IndexError: {name}(): Expected reduction dim to be specified for input.numel() == 0, shape
        {...}.

Example:
    >>> ag.argmax(ag.tensor([[1, 4], [3, 2]]))
    tensor(1)
    >>> ag.argmax(ag.tensor([[1, 4], [3, 2]]), dim=1)
    tensor([1, 0])""",
"argmin": """The index of the first smallest element, of all or along `dim`.

Args:
    input (Tensor): Of any shape; integers or floating point.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor, int64.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    IndexError: {name}(): Expected reduction dim to be specified for input.numel() == 0, shape
        {...}.

Example:
    >>> ag.argmin(ag.tensor([[1, 4], [3, 2]]), dim=1)
    tensor([0, 1])""",
"max": """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (Tensor or int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    other (Tensor): The second operand of an elementwise maximum.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (Tensor or int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: {name}(): argument 'input' must be Tensor, not {...}.
    TypeError: {name}() takes keepdim only together with dim.

Example:
    >>> ag.max(ag.tensor([[1.0, 4.0], [3.0, 2.0]]))
    tensor(4.)
    >>> ag.max(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    ValuesIndices(values=tensor([4., 3.]), indices=tensor([1, 0]))""",
"min": """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (Tensor or int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    other (Tensor or number): The second operand of an elementwise minimum.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (Tensor or int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: {name}(): argument 'input' must be Tensor, not {...}.
    TypeError: {name}() takes keepdim only together with dim.

Example:
    >>> ag.min(ag.tensor([[1.0, 4.0], [3.0, 2.0]]))
    tensor(1.)
    >>> ag.min(ag.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    ValuesIndices(values=tensor([1., 2.]), indices=tensor([0, 1]))""",
"cumprod": """The products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.cumprod(ag.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])""",
"prod": """The product of all elements, or along one `dim`; integers and booleans multiply in int64.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: prod() takes keepdim only together with dim.

Example:
    >>> ag.prod(ag.tensor([1.0, 2.0, 3.0]))
    tensor(6.)""",
"median": """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is
one.

Args:
    input (Tensor): Of any shape; integers or floating point.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor, 0-d, or with `dim` (values, indices).

Raises:
    NotImplementedError: the dtype is bool or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: {name}() takes keepdim only together with dim.

Example:
    >>> ag.median(ag.tensor([3.0, 1.0, 2.0]))
    tensor(2.)""",
"mode": """The most frequent value along `dim`, the smallest of equally frequent ones, and its last index.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    (values, indices), a named tuple.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.mode(ag.tensor([1, 2, 2, 3]))
    ValuesIndices(values=tensor(2), indices=tensor(2))""",
"nanmedian": """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along
`dim`.

Args:
    input (Tensor): Of any shape; integers or floating point.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor, 0-d, or with `dim` (values, indices).

Raises:
    NotImplementedError: the dtype is bool or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: {name}() takes keepdim only together with dim.

Example:
    >>> ag.nanmedian(ag.tensor([3.0, float("nan"), 2.0]))
    tensor(2.)""",
"nanquantile": """quantile() of the elements that are not nan.

Args:
    input (Tensor): Of any shape; floating point.
    q (Tensor or float): The parts, in [0, 1]: a number or a vector of input's dtype.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    interpolation (str): "linear", "lower", "higher", "midpoint" or "nearest". Default:
        'linear'.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nanquantile(ag.tensor([0.0, float("nan"), 10.0]), 0.5)
    tensor(5.)""",
"quantile": """The values below which the parts q of all elements lie, or of those along `dim`; several q come
first.

Args:
    input (Tensor): Of any shape; floating point.
    q (Tensor or number): The parts, in [0, 1]: a number or a vector of input's dtype.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    interpolation (str): "linear", "lower", "higher", "midpoint" or "nearest". Default:
        'linear'.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.quantile(ag.tensor([0.0, 10.0, 20.0]), 0.25)
    tensor(5.)""",
"all": """Whether all elements are true.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor, bool; uint8 for uint8.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.all(ag.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])""",
"any": """Whether any element is true.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor, bool; uint8 for uint8.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.any(ag.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])""",
"count_nonzero": """How many elements, of all or over `dim`, are not 0.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.

Returns:
    Tensor, int64.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.count_nonzero(ag.tensor([[1, 0], [2, 3]]), dim=1)
    tensor([1, 2])""",
"mean": """The mean of all elements, or over the dimensions `dim`; floating point only.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: mean(): could not infer output dtype.

Example:
    >>> ag.mean(ag.tensor([[1.0, 2.0], [3.0, 6.0]]))
    tensor(3.)
    >>> ag.mean(ag.tensor([[1.0, 2.0], [3.0, 6.0]]), dim=0)
    tensor([2., 4.])""",
"nanmean": """The mean of the elements that are not nan; nan where there are none.

Args:
    input (Tensor): Of any shape; floating point.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: nanmean(): expected input to have floating point or complex dtype but got
        {input.dtype}.

Example:
    >>> ag.nanmean(ag.tensor([1.0, float("nan"), 3.0]))
    tensor(2.)""",
"nansum": """The sum of the elements that are not nan.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nansum(ag.tensor([1.0, float("nan"), 3.0]))
    tensor(4.)""",
"sum": """The sum of all elements, or over the dimensions `dim`; integers and booleans add up in int64.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`. Default: False.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.sum(ag.tensor([[1.0, 2.0], [3.0, 6.0]]))
    tensor(12.)
    >>> ag.sum(ag.tensor([[1.0, 2.0], [3.0, 6.0]]), dim=1, keepdim=True)
    tensor([[3.],
            [9.]])""",
"argsort": """Where the elements along `dim` are found in order; always stable.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    descending (bool): Largest first. Default: False.
    stable (bool): Equal elements keep their order; they do in any case. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.

Returns:
    Tensor, int64, of input's shape.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.argsort(ag.tensor([3, 1, 2]))
    tensor([1, 2, 0])""",
"kthvalue": """The k-th smallest along `dim`, counted from 1, and where it is.

Args:
    input (Tensor): Of any shape; integers or floating point.
    k (int): Which, from 1 to the size of `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.
    axis (int): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    (values, indices), a named tuple.

Raises:
    NotImplementedError: the dtype is bool or complex.
    IndexError: `dim` is no dimension of the input.
    IndexError: kthvalue(): Expected reduction dim {dim} to have non-zero size.
    RuntimeError: kthvalue(): selected number k out of range for dimension {dim}: k = {k}, size
        {size}.

Example:
    >>> ag.kthvalue(ag.tensor([3, 1, 2]), 2)
    ValuesIndices(values=tensor(2), indices=tensor(2))""",
"msort": """The elements in order along the first dimension.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.

Example:
    >>> ag.msort(ag.tensor([[3, 1], [2, 4]]))
    tensor([[2, 1],
            [3, 4]])""",
"sort": """The elements along `dim` in order and where they were; always stable, nan the largest.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    descending (bool): Largest first. Default: False.
    stable (bool): Equal elements keep their order; they do in any case. Default: False.
    axis (int): NumPy's name of `dim`.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (values, indices), a named tuple.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.sort(ag.tensor([3, 1, 2]))
    ValuesIndices(values=tensor([1, 2, 3]), indices=tensor([1, 2, 0]))""",
"topk": """The k largest (or smallest) along `dim`, the first of them first, and where they were.

Args:
    input (Tensor): Of any shape; integers or floating point.
    k (int): How many, at most the size of `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    largest (bool): The largest, else the smallest. Default: True.
    sorted (bool): In order; they are in any case. Default: True.
    axis (int): NumPy's name of `dim`.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (values, indices), a named tuple.

Raises:
    RuntimeError: the dtype is bool.
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: selected index k out of range: k = {k} along dimension {dim} of shape {...}.
    RuntimeError: topk does not support bool dtypes on CPU.

Example:
    >>> ag.topk(ag.tensor([3, 1, 2]), 2)
    ValuesIndices(values=tensor([3, 2]), indices=tensor([0, 2]))""",
"std": """The square root of the variance.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int or ints or bool): Dimension or dimensions; all if None.
    unbiased (bool): The older form of correction: True for 1, False for 0.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    correction (float): What is subtracted from the count; 1 if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints or bool): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: std and var only support floating point and complex dtypes, got {input.dtype}.
    TypeError: {name}() received two values for unbiased: {dim} and {unbiased}.
    TypeError: {name}() takes unbiased or correction, not both (unbiased={unbiased},
        correction={correction}).

Example:
    >>> ag.std(ag.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor(1.2910)""",
"std_mean": """The standard deviation and the mean.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int or ints or bool): Dimension or dimensions; all if None.
    unbiased (bool): The older form of correction: True for 1, False for 0.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    correction (float): What is subtracted from the count; 1 if None.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints or bool): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    (std, mean).

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: std and var only support floating point and complex dtypes, got {input.dtype}.
    TypeError: {name}() received two values for unbiased: {dim} and {unbiased}.
    TypeError: {name}() takes unbiased or correction, not both (unbiased={unbiased},
        correction={correction}).

Example:
    >>> ag.std_mean(ag.tensor([1.0, 2.0, 3.0, 4.0]))
    (tensor(1.2910), tensor(2.5000))""",
"var": """The variance: squared distances from the mean, added up, over (count - correction).

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int or ints or bool): Dimension or dimensions; all if None.
    unbiased (bool): The older form of correction: True for 1, False for 0.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    correction (float): What is subtracted from the count; 1 if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints or bool): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: std and var only support floating point and complex dtypes, got {input.dtype}.
    TypeError: {name}() received two values for unbiased: {dim} and {unbiased}.
    TypeError: {name}() takes unbiased or correction, not both (unbiased={unbiased},
        correction={correction}).

Example:
    >>> ag.var(ag.tensor([[1.0, 2.0], [3.0, 7.0]]), dim=1)
    tensor([0.5000, 8.0000])""",
"var_mean": """The variance and the mean.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int or ints or bool): Dimension or dimensions; all if None.
    unbiased (bool): The older form of correction: True for 1, False for 0.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    correction (float): What is subtracted from the count; 1 if None.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.
    axis (int or ints or bool): NumPy's name of `dim`.
    keepdims (bool): NumPy's name of `keepdim`.

Returns:
    (var, mean).

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: std and var only support floating point and complex dtypes, got {input.dtype}.
    TypeError: {name}() received two values for unbiased: {dim} and {unbiased}.
    TypeError: {name}() takes unbiased or correction, not both (unbiased={unbiased},
        correction={correction}).

Example:
    >>> ag.var_mean(ag.tensor([1.0, 2.0, 3.0, 4.0]))
    (tensor(1.6667), tensor(2.5000))""",
"Tensor.cumsum_": """In place: the sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in
int64.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.cumsum_(0)
    tensor([1, 3, 6])""",
"Tensor.cumprod_": """In place: the products of the first 1, 2, ... elements along `dim`; integers and booleans multiply
in int64.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1, 2, 3])
    >>> x.cumprod_(0)
    tensor([1, 2, 6])""",
"Tensor.sum_to_size": """input summed over the dimensions that broadcasting would add to, or repeat in, a tensor of `size`.

Args:
    *size (int or Tensor or ints): Sizes of the dimensions.

Returns:
    Tensor.

Raises:
    RuntimeError: size {{...}} is not expandable to size {{...}}.

Example:
    >>> ag.ones(3, 2).sum_to_size(1, 2)
    tensor([[3., 3.]])""",
}
for _pair in """Tensor.cummax:cummax Tensor.cummin:cummin Tensor.cumsum:cumsum Tensor.logcumsumexp:logcumsumexp
    Tensor.amax:amax Tensor.amin:amin Tensor.aminmax:aminmax Tensor.argmax:argmax Tensor.argmin:argmin Tensor.max:max
    Tensor.min:min Tensor.cumprod:cumprod Tensor.prod:prod Tensor.median:median Tensor.mode:mode
    Tensor.nanmedian:nanmedian Tensor.nanquantile:nanquantile Tensor.quantile:quantile Tensor.all:all Tensor.any:any
    Tensor.count_nonzero:count_nonzero Tensor.mean:mean Tensor.nanmean:nanmean Tensor.nansum:nansum Tensor.sum:sum
    Tensor.argsort:argsort Tensor.kthvalue:kthvalue Tensor.msort:msort Tensor.sort:sort Tensor.topk:topk
    Tensor.std:std Tensor.var:var""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
