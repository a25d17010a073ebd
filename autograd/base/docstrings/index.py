"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"argwhere": """The indices of elements that are not 0, a row for each.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor, int64 (elements that are not 0, dimensions).

Example:
    >>> ag.argwhere(ag.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])""",
"as_strided": """input's memory seen with this size, stride and offset, all in elements. A view.

Args:
    input (Tensor): Of any shape; any dtype.
    size (ints): The shape of the view.
    stride (ints): For each dimension the step in memory, in elements.
    storage_offset (int): The first element; input's own if None.

Returns:
    Tensor.

Raises:
    RuntimeError: mismatch in length of strides and shape: {...} and {...}.
    RuntimeError: as_strided: Negative strides are not supported at the moment, got strides:
        {...}.
    RuntimeError: Trying to create tensor with negative dimension: {...}.
    RuntimeError: Tensor: invalid storage offset {offset}.
    RuntimeError: setStorage: sizes {...}, strides {...}, storage offset {offset}, and itemsize
        {x.array.itemsize} requiring a storage size of {...} are out of bounds for storage of
        size {flat.nbytes}.

Example:
    >>> ag.as_strided(ag.tensor([1, 2, 3, 4]), (3, 2), (1, 1))
    tensor([[1, 2],
            [2, 3],
            [3, 4]])""",
"as_strided_copy": """as_strided() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    size (ints): The shape of the result.
    stride (ints): For each dimension the step in memory, in elements.
    storage_offset (int): The first element; input's own if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.as_strided_copy(ag.tensor([1, 2, 3]), (2, 2), (1, 1))
    tensor([[1, 2],
            [2, 3]])""",
"as_strided_scatter": """input with what as_strided() shows of it replaced by src.

Args:
    input (Tensor): Of any shape; any dtype.
    src (Tensor): The new values, of shape `size`.
    size (ints): The shape of the view that is replaced.
    stride (ints): For each dimension the step in memory, in elements.
    storage_offset (int): The first element; input's own if None.

Returns:
    Tensor.

Raises:
    RuntimeError: expected src to have a size equal to the slice of self.
    RuntimeError: mismatch in length of strides and shape: {...} and {...}.
    RuntimeError: as_strided: Negative strides are not supported at the moment, got strides:
        {...}.
    RuntimeError: Trying to create tensor with negative dimension: {...}.
    RuntimeError: Tensor: invalid storage offset {offset}.
    RuntimeError: setStorage: sizes {...}, strides {...}, storage offset {offset}, and itemsize
        {x.array.itemsize} requiring a storage size of {...} are out of bounds for storage of
        size {flat.nbytes}.

Example:
    >>> ag.as_strided_scatter(ag.zeros(4), ag.tensor([1.0, 2.0]), (2,), (2,))
    tensor([1., 0., 2., 0.])""",
"diagonal_scatter": """input with a diagonal replaced by src.

Args:
    input (Tensor): Of any shape; any dtype.
    src (Tensor): The new values, of the diagonal's shape.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dim1 (int): The first dimension of the matrices. Default: 0.
    dim2 (int): The second dimension of the matrices. Default: 1.

Returns:
    Tensor.

Raises:
    RuntimeError: expected src to have a size equal to the slice of self.

Example:
    >>> ag.diagonal_scatter(ag.zeros(2, 2), ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])""",
"fill": """`value`, a number or a 0-d Tensor, in input's shape and dtype: fill_() as a new tensor.

Args:
    input (Tensor): Of any shape; any dtype.
    value (Tensor or number): Number or 0-d tensor.

Returns:
    Tensor.

Raises:
    RuntimeError: fill only supports 0-dimension value tensor but got tensor with {value.ndim}
        dimensions.

Example:
    >>> ag.fill(ag.tensor([1.0, 2.0]), 5)
    tensor([5., 5.])""",
"gather": """out[i, j] = input[index[i, j], j] for dim 0, and so on; index has the shape of the result.

Args:
    input (Tensor): Of any shape; integers.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input; no size but that of `dim` is above
        input's.
    sparse_grad (bool): Only False. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    IndexError: `dim` is no dimension of the input.
    NotImplementedError: gather(sparse_grad=True): gradients are dense here.
    RuntimeError: Expected out tensor to have dtype {input.dtype}, but got {out.dtype} instead.

Example:
    >>> ag.gather(ag.tensor([[1, 2], [3, 4]]), 1, ag.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])""",
"index_add": """input with alpha * source[i] added to its slice index[i] along `dim`.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    source (Tensor): input's shape with n at `dim`; input's dtype.
    alpha (number): Factor of source. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}(): self and source expected to have the same dtype, but got (self)
        {x.dtype} and (source) {source.dtype}.

Example:
    >>> ag.index_add(ag.zeros(3), 0, ag.tensor([0, 2, 2]), ag.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])""",
"index_copy": """input with its slice index[i] along `dim` replaced by source[i].

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    source (Tensor): input's shape with n at `dim`; input's dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}(): self and source expected to have the same dtype, but got (self)
        {x.dtype} and (source) {source.dtype}.

Example:
    >>> ag.index_copy(ag.zeros(3), 0, ag.tensor([0, 2]), ag.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])""",
"index_fill": """input with its slices `index` along `dim` filled with one number.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    value (Tensor or number): Number or 0-d tensor.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    IndexError: index_fill(): Expected dtype int64 for index, not {rows.dtype}.
    RuntimeError: index_fill only supports a 0-dimensional value tensor, but got tensor with
        {value.ndim} dimension(s).
    RuntimeError: index_fill_(): Converting complex Scalar to non-complex type is not supported:
        {value}.

Example:
    >>> ag.index_fill(ag.zeros(3), 0, ag.tensor([0, 2]), 7)
    tensor([7., 0., 7.])""",
"index_put": """input with input[indices] replaced by values, or with values added there if `accumulate`.

Args:
    input (Tensor): Of any shape; any dtype.
    indices (Tensors): Tuple of integer or bool tensors, one for each of the first dimensions.
    values (Tensor or number): Of a shape that broadcasts to the indexed one; input's dtype.
    accumulate (bool): Whether values are added. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: index_put(): argument 'values' (position 3) must be Tensor, not {...}.
    TypeError: index_put(): argument 'indices' (position 2) must be tuple of Tensors, not
        Tensor.

Example:
    >>> ag.index_put(ag.zeros(3), (ag.tensor([0, 0]),), ag.tensor([1.0, 2.0]), accumulate=True)
    tensor([3., 0., 0.])""",
"index_reduce": """input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i].

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    source (Tensor): input's shape with n at `dim`; input's dtype.
    reduce (str): "prod", "mean", "amax" or "amin".
    include_self (bool): Whether the old values count. Default: True.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got
        {reduce}.
    RuntimeError: {name}(): self and source expected to have the same dtype, but got (self)
        {x.dtype} and (source) {source.dtype}.

Example:
    >>> ag.index_reduce(ag.tensor([1.0, 1.0]), 0, ag.tensor([0, 0]), ag.tensor([2.0, 5.0]), "amax")
    tensor([5., 1.])""",
"index_select": """The slices of input along `dim` that the vector `index` names, in its order.

Args:
    input (Tensor): Of any shape; integers.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: index_select(): Index to scalar can have only 1 value, got {...} value(s).

Example:
    >>> ag.index_select(ag.tensor([[1, 2], [3, 4]]), 1, ag.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])""",
"masked_fill": """input, but `value` (a number or a 0-d Tensor) where the mask holds.

Args:
    input (Tensor): Of any shape; any dtype.
    mask (Tensor): Bool, of a shape that broadcasts to input's.
    value (Tensor or number): Number or 0-d tensor.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: masked_fill only supports a 0-dimensional value tensor, but got tensor with
        {value.ndim} dimension(s).
    RuntimeError: value cannot be converted to type of input without overflow: it is complex.
    TypeError: {name}(): argument 'mask' must be Tensor, not {...}.
    RuntimeError: {name} only supports boolean masks, but got mask with dtype {mask.dtype}.

Example:
    >>> x = ag.tensor([1.0, -2.0, 3.0])
    >>> ag.masked_fill(x, x < 0, 0.)
    tensor([1., 0., 3.])""",
"masked_scatter": """input, but the elements of source, one after the other, where the mask holds.

Args:
    input (Tensor): Of any shape; any dtype.
    mask (Tensor): Bool, of a shape that broadcasts to input's.
    source (Tensor): Of input's dtype, with at least as many elements as the mask selects.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: masked_scatter: expected self and source to have same dtypes but got
        {input.dtype} and {source.dtype}.
    RuntimeError: Number of elements of source < number of ones in mask: {size} < {wanted}.
    TypeError: {name}(): argument 'mask' must be Tensor, not {...}.
    RuntimeError: {name} only supports boolean masks, but got mask with dtype {mask.dtype}.

Example:
    >>> ag.masked_scatter(ag.zeros(3), ag.tensor([True, False, True]), ag.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])""",
"masked_select": """The elements of input where the mask holds, in one dimension; the two broadcast.

Args:
    input (Tensor): Of any shape; any dtype.
    mask (Tensor): Bool, of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: {name}(): argument 'mask' must be Tensor, not {...}.
    RuntimeError: {name} only supports boolean masks, but got mask with dtype {mask.dtype}.

Example:
    >>> x = ag.tensor([1.0, -2.0, 3.0])
    >>> ag.masked_select(x, x > 0)
    tensor([1., 3.])""",
"nonzero": """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each
dimension.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    as_tuple (bool): Whether a tuple of vectors is returned. Default: False.

Returns:
    Tensor, int64 (elements that are not 0, dimensions), or a tuple of int64 vectors.

Example:
    >>> ag.nonzero(ag.tensor([0, 3, 0, 5]))
    tensor([[1],
            [3]])""",
"nonzero_static": """nonzero() with `size` rows: cut off, or filled up with fill_value.

Args:
    input (Tensor): Of any shape; any dtype.
    size (int): Number of rows.
    fill_value (int): Number in the rows that are left over. Default: -1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: nonzero_static: 'size' must be an non-negative integer, not {size}.

Example:
    >>> ag.nonzero_static(ag.tensor([0, 3, 0]), size=2)
    tensor([[ 1],
            [-1]])""",
"put": """input with the elements that index numbers, as if it were one row, replaced by source; or added to.

Args:
    input (Tensor): Of any shape; any dtype.
    index (Tensor): int64, of any shape.
    source (Tensor): As many elements as index has; input's dtype.
    accumulate (bool): Whether source is added. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: put(): self and source expected to have the same dtype, but got self.dtype =
        {input.dtype} and source.dtype = {source.dtype}.
    IndexError: put(): Expected source and index to have the same number of elements, but got
        source.numel() = {...}, index.numel() = {...}.
    RuntimeError: {name}(): Expected a long tensor for index, but got {...}.
    IndexError: {name}(): tried to take from an empty tensor.
    IndexError: out of range: tried to access index {bad} on a tensor of {size} elements.

Example:
    >>> ag.put(ag.zeros(2, 2), ag.tensor([0, 3]), ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])""",
"repeat_interleave": """Each slice of input along `dim` (each element without it) repeated: a number of times for all, or one for each.

With repeats alone: the number i repeats[i] times, for each i.

Args:
    input (Tensor): Of any shape; any dtype.
    repeats (Tensor or number): a number for all, or a vector of one for each.
    dim (int): Dimension or dimensions; all if None.
    output_size (int): The sum of repeats, if it is known.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    TypeError: repeat_interleave(): argument 'repeats' must be Tensor or int, not {...}.
    RuntimeError: repeats must be 0-dim or 1-dim tensor.
    RuntimeError: repeats must have the same size as input along dim, but got repeats.size(0) =
        {...} and input.size({dim}) = {size}.
    RuntimeError: repeat_interleave only accept 1D vector as repeat, not of shape {...}.
    RuntimeError: repeats has to be Long or Int tensor, not {repeats.dtype}.
    RuntimeError: repeats can not be negative, not {...}.

Example:
    >>> ag.repeat_interleave(ag.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    >>> ag.repeat_interleave(ag.tensor([1, 2]), ag.tensor([1, 3]))
    tensor([1, 2, 2, 2])""",
"scatter": """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on.

reduce "add" or "multiply": combined with what is there instead.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input.
    src (Tensor or number): The values, no smaller than index along any dimension; input's
        dtype.
    value (Tensor or number): One number in place of src.
    reduce (str): "add" or "multiply": how values are combined with the old ones.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    TypeError: scatter() needs src, a Tensor, or value, a number.
    RuntimeError: reduce argument must be either add or multiply, not {reduce}.

Example:
    >>> ag.scatter(ag.zeros(3), 0, ag.tensor([2, 0]), ag.tensor([1.0, 5.0]))
    tensor([5., 0., 1.])""",
"scatter_add": """input with src[i, j] added at [index[i, j], j] for dim 0, and so on.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input.
    src (Tensor): The values, no smaller than index along any dimension; input's dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.scatter_add(ag.zeros(3), 0, ag.tensor([2, 0, 2]), ag.tensor([1.0, 5.0, 10.0]))
    tensor([ 5.,  0., 11.])""",
"scatter_reduce": """Each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it.

Without include_self, input's own elements count only where nothing comes.

Args:
    input (Tensor): Of any shape; bool, integers or floating point.
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input.
    src (Tensor): The values, no smaller than index along any dimension; input's dtype.
    reduce (str): "sum", "prod", "mean", "amax" or "amin".
    include_self (bool): Whether the old values count. Default: True.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.

Example:
    >>> ag.scatter_reduce(ag.zeros(2), 0, ag.tensor([0, 0, 1]), ag.tensor([1.0, 5.0, 2.0]), "amax")
    tensor([5., 2.])""",
"select_scatter": """input with its slice number `index` along `dim` replaced by src.

Args:
    input (Tensor): Of any shape; any dtype.
    src (Tensor): The new slice: input's shape without `dim`.
    dim (int): Dimension, from the front or (negative) from the end.
    index (int): Number of the slice.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: expected src to have a size equal to the slice of self.

Example:
    >>> ag.select_scatter(ag.zeros(2, 2), ag.tensor([1.0, 2.0]), 0, 1)
    tensor([[0., 0.],
            [1., 2.]])""",
"slice_copy": """A copy of input's slices start to end along `dim`, each step-th.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    start (int): The first slice.
    end (int): The slice after the last.
    step (int): Distance of two slices, 1 or more. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.slice_copy(ag.tensor([1, 2, 3, 4]), 0, 1, 4, 2)
    tensor([2, 4])""",
"slice_scatter": """input with its slices start to end along `dim`, each step-th, replaced by src.

Args:
    input (Tensor): Of any shape; any dtype.
    src (Tensor): The new slices, of the shape that they have.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    start (int): The first slice.
    end (int): The slice after the last.
    step (int): Distance of two slices, 1 or more. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: slice step must be positive, not {step}.
    RuntimeError: slice_scatter() cannot be applied to a 0-dim tensor.
    RuntimeError: expected src to have a size equal to the slice of self.

Example:
    >>> ag.slice_scatter(ag.zeros(4), ag.tensor([1.0, 2.0]), 0, 1, 3)
    tensor([0., 1., 2., 0.])""",
"take": """The elements of input that index numbers, as if it were one row; the result has index's shape.

Args:
    input (Tensor): Of any shape; integers.
    index (Tensor): int64, of any shape; negative ones count from the end.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    RuntimeError: {name}(): Expected a long tensor for index, but got {...}.
    IndexError: {name}(): tried to take from an empty tensor.
    IndexError: out of range: tried to access index {bad} on a tensor of {size} elements.

Example:
    >>> ag.take(ag.tensor([[1, 2], [3, 4]]), ag.tensor([0, 3]))
    tensor([1, 4])""",
"take_along_dim": """gather() whose index broadcasts against input; without dim on all elements as one row. Indices may
be negative.

Args:
    input (Tensor): Of any shape; integers.
    indices (Tensor): int64, of a shape that broadcasts with input's but along `dim`.
    dim (int): Dimension or dimensions; all if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or floating point or complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: torch.take_along_dim(): dtype of indices should be Long but got {...}.
    RuntimeError: torch.take_along_dim(): input and indices should have the same number of
        dimensions, but got {input.ndim} dimensions for input, and {indices.ndim} dimensions for
        indices.

Example:
    >>> x = ag.tensor([[3, 1, 2]])
    >>> ag.take_along_dim(x, ag.argsort(x), 1)
    tensor([[1, 2, 3]])""",
"unravel_index": """Indices into a flattened tensor of `shape`, converted to one index for each dimension.

Args:
    indices (Tensor): Integers of any shape.
    shape (int or ints): The shape that they are indices into.

Returns:
    A tuple of int64 tensors, one for each dimension.

Raises:
    TypeError: the dtype is bool or floating point or complex.
    TypeError: expected 'indices' to be integer dtype, but got {indices.dtype}.
    TypeError: expected 'shape' to be int or sequence of ints, but got {shape}.
    ValueError: 'shape' cannot have negative values, but got {dims}.

Example:
    >>> ag.unravel_index(ag.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))""",
"Tensor.index_add_": """In place: input with alpha * source[i] added to its slice index[i] along `dim`.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    source (Tensor): input's shape with n at `dim`; input's dtype.
    alpha (number): Factor of source. Default: 1.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: {name}(): self and source expected to have the same dtype, but got (self)
        {x.dtype} and (source) {source.dtype}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.index_add_(0, ag.tensor([0, 2, 2]), ag.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])""",
"Tensor.index_copy_": """In place: input with its slice index[i] along `dim` replaced by source[i].

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    source (Tensor): input's shape with n at `dim`; input's dtype.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: {name}(): self and source expected to have the same dtype, but got (self)
        {x.dtype} and (source) {source.dtype}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.index_copy_(0, ag.tensor([0, 2]), ag.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])""",
"Tensor.index_fill_": """In place: input with its slices `index` along `dim` filled with one number.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    value (Tensor or number): Number or 0-d tensor.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    IndexError: index_fill(): Expected dtype int64 for index, not {rows.dtype}.
    RuntimeError: index_fill only supports a 0-dimensional value tensor, but got tensor with
        {value.ndim} dimension(s).
    RuntimeError: index_fill_(): Converting complex Scalar to non-complex type is not supported:
        {value}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.index_fill_(0, ag.tensor([0, 2]), 7)
    tensor([7., 0., 7.])""",
"Tensor.index_put_": """In place: input with input[indices] replaced by values, or with values added there if `accumulate`.

Args:
    indices (Tensors): Tuple of integer or bool tensors, one for each of the first dimensions.
    values (Tensor or number): Of a shape that broadcasts to the indexed one; input's dtype.
    accumulate (bool): Whether values are added. Default: False.

Returns:
    This tensor.

Raises:
    TypeError: index_put(): argument 'values' (position 3) must be Tensor, not {...}.
    TypeError: index_put(): argument 'indices' (position 2) must be tuple of Tensors, not
        Tensor.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.index_put_((ag.tensor([0, 0]),), ag.tensor([1.0, 2.0]), accumulate=True)
    tensor([3., 0., 0.])""",
"Tensor.index_reduce_": """In place: input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with
source[i].

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): Integers (n,).
    source (Tensor): input's shape with n at `dim`; input's dtype.
    reduce (str): "prod", "mean", "amax" or "amin".
    include_self (bool): Whether the old values count. Default: True.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got
        {reduce}.
    RuntimeError: {name}(): self and source expected to have the same dtype, but got (self)
        {x.dtype} and (source) {source.dtype}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, 1.0])
    >>> x.index_reduce_(0, ag.tensor([0, 0]), ag.tensor([2.0, 5.0]), 'amax')
    tensor([5., 1.])""",
"Tensor.masked_fill_": """In place: input, but `value` (a number or a 0-d Tensor) where the mask holds.

Args:
    mask (Tensor): Bool, of a shape that broadcasts to input's.
    value (Tensor or number): Number or 0-d tensor.

Returns:
    This tensor.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: masked_fill only supports a 0-dimensional value tensor, but got tensor with
        {value.ndim} dimension(s).
    RuntimeError: value cannot be converted to type of input without overflow: it is complex.
    TypeError: {name}(): argument 'mask' must be Tensor, not {...}.
    RuntimeError: {name} only supports boolean masks, but got mask with dtype {mask.dtype}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([1.0, -2.0, 3.0])
    >>> x.masked_fill_(x < 0, 0.0)
    tensor([1., 0., 3.])""",
"Tensor.masked_scatter_": """In place: input, but the elements of source, one after the other, where the mask holds.

Args:
    mask (Tensor): Bool, of a shape that broadcasts to input's.
    source (Tensor): Of input's dtype, with at least as many elements as the mask selects.

Returns:
    This tensor.

Raises:
    RuntimeError: masked_scatter: expected self and source to have same dtypes but got
        {input.dtype} and {source.dtype}.
    RuntimeError: Number of elements of source < number of ones in mask: {size} < {wanted}.
    TypeError: {name}(): argument 'mask' must be Tensor, not {...}.
    RuntimeError: {name} only supports boolean masks, but got mask with dtype {mask.dtype}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.masked_scatter_(ag.tensor([True, False, True]), ag.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])""",
"Tensor.put_": """In place: input with the elements that index numbers, as if it were one row, replaced by source; or
added to.

Args:
    index (Tensor): int64, of any shape.
    source (Tensor): As many elements as index has; input's dtype.
    accumulate (bool): Whether source is added. Default: False.

Returns:
    This tensor.

Raises:
    RuntimeError: put(): self and source expected to have the same dtype, but got self.dtype =
        {input.dtype} and source.dtype = {source.dtype}.
    IndexError: put(): Expected source and index to have the same number of elements, but got
        source.numel() = {...}, index.numel() = {...}.
    RuntimeError: {name}(): Expected a long tensor for index, but got {...}.
    IndexError: {name}(): tried to take from an empty tensor.
    IndexError: out of range: tried to access index {bad} on a tensor of {size} elements.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(2, 2)
    >>> x.put_(ag.tensor([0, 3]), ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])""",
"Tensor.scatter_": """In place: input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input.
    src (Tensor or number): The values, no smaller than index along any dimension; input's
        dtype.
    value (Tensor or number): One number in place of src.
    reduce (str): "add" or "multiply": how values are combined with the old ones.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    TypeError: scatter() needs src, a Tensor, or value, a number.
    RuntimeError: reduce argument must be either add or multiply, not {reduce}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.scatter_(0, ag.tensor([2, 0]), ag.tensor([1.0, 5.0]))
    tensor([5., 0., 1.])""",
"Tensor.scatter_add_": """In place: input with src[i, j] added at [index[i, j], j] for dim 0, and so on.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input.
    src (Tensor): The values, no smaller than index along any dimension; input's dtype.

Returns:
    This tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(3)
    >>> x.scatter_add_(0, ag.tensor([2, 0, 2]), ag.tensor([1.0, 5.0, 10.0]))
    tensor([ 5.,  0., 11.])""",
"Tensor.scatter_reduce_": """In place: each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src
that index sends to it.

Args:
    dim (int): Dimension, from the front or (negative) from the end.
    index (Tensor): int64, of as many dimensions as input.
    src (Tensor): The values, no smaller than index along any dimension; input's dtype.
    reduce (str): "sum", "prod", "mean", "amax" or "amin".
    include_self (bool): Whether the old values count. Default: True.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is complex.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(2)
    >>> x.scatter_reduce_(0, ag.tensor([0, 0, 1]), ag.tensor([1.0, 5.0, 2.0]), 'amax')
    tensor([5., 2.])""",
}
for _pair in """Tensor.argwhere:argwhere Tensor.as_strided:as_strided Tensor.as_strided_scatter:as_strided_scatter
    Tensor.diagonal_scatter:diagonal_scatter Tensor.gather:gather Tensor.index_add:index_add
    Tensor.index_copy:index_copy Tensor.index_fill:index_fill Tensor.index_put:index_put
    Tensor.index_reduce:index_reduce Tensor.index_select:index_select Tensor.masked_fill:masked_fill
    Tensor.masked_scatter:masked_scatter Tensor.masked_select:masked_select Tensor.nonzero:nonzero
    Tensor.nonzero_static:nonzero_static Tensor.put:put Tensor.repeat_interleave:repeat_interleave
    Tensor.scatter:scatter Tensor.scatter_add:scatter_add Tensor.scatter_reduce:scatter_reduce
    Tensor.select_scatter:select_scatter Tensor.slice_scatter:slice_scatter Tensor.take:take
    Tensor.take_along_dim:take_along_dim""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
