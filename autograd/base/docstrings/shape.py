"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"adjoint": """The conjugate transpose of each matrix: mH as a method.

Args:
    input (Tensor): (..., m, n); any dtype.

Returns:
    Tensor (..., n, m).

Raises:
    RuntimeError: tensor.{name} is only supported on matrices or batches of matrices.

Example:
    >>> ag.adjoint(ag.tensor([[1, 2j]]))
    tensor([[1.-0.j],
            [0.-2.j]])""",
"alias_copy": """alias() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.alias_copy(ag.tensor([1, 2]))
    tensor([1, 2])""",
"atleast_1d": """Each tensor with one dimension or more.

Args:
    *tensors (Tensor or Tensors): Sequence of tensors; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.atleast_1d(ag.tensor(5))
    tensor([5])""",
"atleast_2d": """Each tensor with two dimensions or more: a vector becomes a row.

Args:
    *tensors (Tensor or Tensors): Sequence of tensors; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.atleast_2d(ag.tensor([1, 2]))
    tensor([[1, 2]])""",
"atleast_3d": """Each tensor with three dimensions or more: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1).

Args:
    *tensors (Tensor or Tensors): Sequence of tensors; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.atleast_3d(ag.tensor([1, 2])).shape
    Size([1, 2, 1])""",
"block_diag": """A matrix with the tensors as blocks along its diagonal, zeros elsewhere; vectors count as rows.

Args:
    *tensors (Tensor or Tensors): Each of at most two dimensions; any dtype.

Returns:
    Tensor.

Raises:
    RuntimeError: torch.block_diag: Input tensors must have 2 or fewer dimensions.

Example:
    >>> ag.block_diag(ag.tensor([[1, 2]]), ag.tensor([[3]]))
    tensor([[1, 2, 0],
            [0, 0, 3]])""",
"broadcast_shapes": """The shape that tensors of these shapes broadcast to. RuntimeError if there is none.

Args:
    *shapes (int or ints): Sequences of sizes.

Returns:
    A Size.

Raises:
    RuntimeError: Input shapes should be of type ints, a tuple of ints, or a list of ints, got
        {shape}.
    RuntimeError: Trying to create tensor with negative dimension ({n}): {...}.
    RuntimeError: Shape mismatch: objects cannot be broadcast to a single shape: {...}.

Example:
    >>> ag.broadcast_shapes((3, 1), (1, 4))
    (3, 4)""",
"broadcast_tensors": """The tensors, each expanded to the shape that all broadcast to.

Args:
    *tensors (Tensor or Tensors): Sequence of tensors; any dtype.

Returns:
    A tuple of views of one shape.

Example:
    >>> ag.broadcast_tensors(ag.tensor([1, 2]), ag.tensor([[3]]))
    (tensor([[1, 2]]), tensor([[3, 3]]))""",
"broadcast_to": """input repeated to `size`, a view.

Args:
    input (Tensor): Of any shape; any dtype.
    size (ints): Sizes of the dimensions.

Returns:
    Tensor.

Example:
    >>> ag.broadcast_to(ag.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])""",
"cartesian_prod": """All tuples with one element of each vector, as rows.

Args:
    *tensors (Tensor or Tensors): Vectors; any dtype.

Returns:
    Tensor.

Raises:
    RuntimeError: Expect a 1D vector, but got shape {...}.

Example:
    >>> ag.cartesian_prod(ag.tensor([1, 2]), ag.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])""",
"cat": """Tensors put end to end along `dim`; their other sizes agree. Legacy empty vectors, shape (0,), are
left out.

Args:
    tensors (sequence): Of equal sizes but along `dim`; any dtype.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    axis (int): NumPy's name of `dim`.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    ValueError: torch.cat(): expected a non-empty list of Tensors.
    RuntimeError: zero-dimensional tensor (at position {...}) cannot be concatenated.
    RuntimeError: Tensors must have same number of dimensions: got {...} and {x.ndim}.
    RuntimeError: Sizes of tensors must match except in dimension {dim}.

Example:
    >>> ag.cat([ag.tensor([1, 2]), ag.tensor([3])])
    tensor([1, 2, 3])
    >>> ag.cat([ag.tensor([[1], [2]]), ag.tensor([[3], [4]])], dim=1)
    tensor([[1, 3],
            [2, 4]])""",
"chunk": """input cut along `dim` in at most `chunks` pieces of equal size, the last smaller.

Args:
    input (Tensor): Of any shape; any dtype.
    chunks (int): How many at most, 1 or more.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of views.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: chunk expects at least a 1-dimensional tensor.
    RuntimeError: chunk expects `chunks` to be greater than 0, got: {chunks}.
    RuntimeError: split expects split_size be non-negative, but got split_size={step}.
    RuntimeError: split_size can only be 0 if dimension size is 0, but got dimension size of
        {size}.

Example:
    >>> ag.chunk(ag.tensor([1, 2, 3]), 2)
    (tensor([1, 2]), tensor([3]))""",
"clone": """A copy of input that gradients flow through.

Args:
    input (Tensor): Of any shape; any dtype.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> y = ag.clone(x)
    >>> y[0] = 5
    >>> x
    tensor([1., 2.])""",
"column_stack": """Tensors put side by side, vectors as columns.

Args:
    tensors (sequence): Of one number of rows; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.column_stack([ag.tensor([1, 2]), ag.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])""",
"combinations": """All choices of r elements of a vector, in order, as rows.

Args:
    input (Tensor): (n,); any dtype.
    r (int): How many. Default: 2.
    with_replacement (bool): Whether an element may be chosen twice. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: Expect a 1D vector, but got shape {...}.
    RuntimeError: Expect a non-negative number, but got {r}.

Example:
    >>> ag.combinations(ag.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])""",
"detach": """The same memory as a tensor without history.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor.

Example:
    >>> x = ag.ones(2, requires_grad=True)
    >>> ag.detach(x * 2).requires_grad
    False""",
"detach_copy": """detach() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.detach_copy(ag.ones(2, requires_grad=True))
    tensor([1., 1.])""",
"diag": """Of a vector the matrix with that diagonal, of a matrix a copy of its diagonal.

Args:
    input (Tensor): (n,) or (m, n); any dtype.
    diagonal (int): Which: 0 the main one, above 0 above it, below 0 below it. Default: 0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: diag(): Supports 1D or 2D tensors.

Example:
    >>> ag.diag(ag.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    >>> ag.diag(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])""",
"diag_embed": """Matrices, in dimensions dim1 and dim2, with input's last dimension as diagonals and zeros elsewhere.

Args:
    input (Tensor): Of any shape; any dtype.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dim1 (int): The first dimension of the matrices. Default: -2.
    dim2 (int): The second dimension of the matrices. Default: -1.

Returns:
    Tensor.

Raises:
    RuntimeError: diag_embed() needs at least one dimension.
    RuntimeError: diagonal dimensions cannot be identical {dim1}, {dim2}.

Example:
    >>> ag.diag_embed(ag.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])""",
"diagflat": """The matrix with all elements of input on its diagonal.

Args:
    input (Tensor): Of any shape; any dtype.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.

Returns:
    Tensor.

Example:
    >>> ag.diagflat(ag.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])""",
"diagonal": """The diagonals of the matrices in dimensions dim1 and dim2, as the last dimension. A view.

Args:
    input (Tensor): Of any shape; any dtype.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dim1 (int): The first dimension of the matrices. Default: 0.
    dim2 (int): The second dimension of the matrices. Default: 1.

Returns:
    Tensor.

Raises:
    RuntimeError: diagonal dimensions cannot be identical {dim1}, {dim2}.

Example:
    >>> ag.diagonal(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])""",
"diagonal_copy": """diagonal() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dim1 (int): The first dimension of the matrices. Default: 0.
    dim2 (int): The second dimension of the matrices. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: diagonal dimensions cannot be identical {dim1}, {dim2}.

Example:
    >>> ag.diagonal_copy(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])""",
"dsplit": """tensor_split() along the third dimension, in equal parts.

Args:
    input (Tensor): Of three dimensions or more; any dtype.
    indices_or_sections (int or ints): Number of pieces, or the indices before which to cut.

Returns:
    A tuple of Tensors, views.

Raises:
    RuntimeError: torch.{name} requires a tensor with at least {least} dimension, but got a
        tensor with {x.ndim} dimensions!.
    RuntimeError: torch.{name} attempted to split along dimension {dim}, but the size of the
        dimension {...} is not divisible by the split_size {given}!.

Example:
    >>> [x.shape for x in ag.dsplit(ag.ones(2, 2, 4), 2)]
    [Size([2, 2, 2]), Size([2, 2, 2])]""",
"dstack": """Tensors put behind each other, along the third dimension.

Args:
    tensors (sequence): Sequence of tensors; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.dstack([ag.tensor([1, 2]), ag.tensor([3, 4])]).shape
    Size([1, 2, 2])""",
"expand_copy": """expand() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    size (int or Tensor or ints): Sizes of the dimensions.
    implicit (bool): Has no effect. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.expand_copy(ag.tensor([[1], [2]]), (2, 2))
    tensor([[1, 1],
            [2, 2]])""",
"flatten": """Dimensions start_dim to end_dim as one.

Args:
    input (Tensor): Of any shape; any dtype.
    start_dim (int): The first dimension. Default: 0.
    end_dim (int): The last dimension. Default: -1.

Returns:
    Tensor.

Raises:
    RuntimeError: flatten() has invalid args: start_dim cannot come after end_dim.

Example:
    >>> ag.flatten(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])""",
"flip": """A copy of input, reversed along dims.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    dims (ints): Dimensions; all if None.

Returns:
    Tensor.

Example:
    >>> ag.flip(ag.tensor([[1, 2], [3, 4]]), 1)
    tensor([[2, 1],
            [4, 3]])""",
"fliplr": """A copy of input, reversed along its second dimension.

Args:
    input (Tensor): Of two dimensions or more; any dtype.

Returns:
    Tensor.

Raises:
    RuntimeError: Input must be >= 2-d, not {input.ndim}-d.

Example:
    >>> ag.fliplr(ag.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])""",
"flipud": """A copy of input, reversed along its first dimension.

Args:
    input (Tensor): Of one dimension or more; any dtype.

Returns:
    Tensor.

Raises:
    RuntimeError: Input must be >= 1-d.

Example:
    >>> ag.flipud(ag.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])""",
"hsplit": """tensor_split() along the second dimension (of vectors the first), in equal parts.

Args:
    input (Tensor): Of one dimension or more; any dtype.
    indices_or_sections (int or ints): Number of pieces, or the indices before which to cut.

Returns:
    A tuple of Tensors, views.

Raises:
    RuntimeError: torch.{name} requires a tensor with at least {least} dimension, but got a
        tensor with {x.ndim} dimensions!.
    RuntimeError: torch.{name} attempted to split along dimension {dim}, but the size of the
        dimension {...} is not divisible by the split_size {given}!.

Example:
    >>> ag.hsplit(ag.tensor([1, 2, 3, 4]), 2)
    (tensor([1, 2]), tensor([3, 4]))""",
"hstack": """Tensors put side by side: along the second dimension, vectors along their only one.

Args:
    tensors (sequence): Sequence of tensors; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.hstack([ag.tensor([1, 2]), ag.tensor([3])])
    tensor([1, 2, 3])""",
"meshgrid": """Vectors as grids: the i-th result holds the i-th vector along dimension i; "xy" exchanges the first
two. Views.

Args:
    *tensors (Tensor or Tensors): Vectors; any dtype.
    indexing (str): "ij" or "xy".

Returns:
    A tuple of views.

Raises:
    RuntimeError: meshgrid expects a non-empty TensorList.
    RuntimeError: torch.meshgrid: indexing must be one of "xy" or "ij", but received:
        {indexing}.
    RuntimeError: torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got shape
        {...}.
    RuntimeError: torch.meshgrid expects all tensors to have the same dtype, not {x.dtype} and
        {...}.

Example:
    >>> ag.meshgrid(ag.tensor([1, 2]), ag.tensor([3, 4]), indexing="ij")
    (tensor([[1, 1],
            [2, 2]]), tensor([[3, 4],
            [3, 4]]))""",
"moveaxis": """input with dimensions moved from `source` to `destination` (integers, or as many in each), the
others in order.

Args:
    input (Tensor): Of any shape; any dtype.
    source (int or ints): Dimension or dimensions that move.
    destination (int or ints): Where they move to.

Returns:
    Tensor.

Raises:
    RuntimeError: movedim: Invalid source or destination dims: source ({origins} dims) should
        contain the same number of dims as destination ({targets} dims).
    RuntimeError: movedim: repeated dim in `{name}` ({listed}).

Example:
    >>> ag.moveaxis(ag.ones(2, 3, 4), 0, -1).shape
    Size([3, 4, 2])""",
"narrow": """Elements start to start + length of dimension `dim`, a view. start may be a 0-d integer Tensor.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    start (int or Tensor): The first slice.
    length (int): How many slices.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: narrow() cannot be applied to a 0-dim tensor.
    RuntimeError: start must be an 0-dim integral Tensor, not {start.dtype} of shape {...}.
    RuntimeError: narrow(): length must be non-negative, not {length}.
    IndexError: Dimension out of range (expected to be in range of [{...}, {size}], but got
        {begin}).
    RuntimeError: start ({begin}) + length ({length}) exceeds dimension size ({size}).

Example:
    >>> ag.narrow(ag.tensor([1, 2, 3, 4]), 0, 1, 2)
    tensor([2, 3])""",
"narrow_copy": """narrow() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    start (int or Tensor): The first slice.
    length (int): How many slices.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.narrow_copy(ag.tensor([1, 2, 3, 4]), 0, 1, 2)
    tensor([2, 3])""",
"permute": """input with its dimensions in the order `dims`, a view.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    dims (int or ints): Dimensions; all if None.

Returns:
    Tensor.

Raises:
    RuntimeError: permute: the tensor has {input.ndim} dimensions, but dims {...} name {...}.
    RuntimeError: permute(): duplicate dims are not allowed: dims {...} do not name each of the
        {input.ndim} dimensions once.

Example:
    >>> ag.permute(ag.ones(2, 3, 4), (2, 0, 1)).shape
    Size([4, 2, 3])""",
"permute_copy": """permute() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    dims (int or ints): Dimensions; all if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.permute_copy(ag.ones(2, 3, 4), (2, 0, 1)).shape
    Size([4, 2, 3])""",
"ravel": """All elements in one dimension, contiguous: input itself if it is both.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.ravel(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])""",
"reshape": """The elements of input, in order, in another shape; one size may be -1. A view where the memory
allows it.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    shape (ints): The shape; one size may be -1.

Returns:
    Tensor.

Example:
    >>> ag.reshape(ag.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])""",
"resolve_conj": """The input itself: conjugation is never lazy here.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.resolve_conj(ag.tensor([1j]))
    tensor([0.+1.j])""",
"resolve_neg": """The input itself: negation is never lazy here.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    Tensor.

Example:
    >>> ag.resolve_neg(ag.tensor([1.0]))
    tensor([1.])""",
"roll": """input moved on by `shifts` along dims, what leaves at the end comes in at the start; without dims as
one row.

Args:
    input (Tensor): Of any shape; any dtype.
    shifts (int or ints): By how many places, for each of dims.
    dims (int or ints): dimensions.

Returns:
    Tensor.

Raises:
    RuntimeError: `shifts` required.
    RuntimeError: shifts and dimensions must align.

Example:
    >>> ag.roll(ag.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])""",
"rot90": """A copy of input, turned k times by 90 degrees from the first of two dims towards the second.

Args:
    input (Tensor): Of any shape; any dtype.
    k (int): How often. Default: 1.
    dims (ints): The plane: two dimensions.

Returns:
    Tensor.

Raises:
    RuntimeError: expected total rotation dims == 2, but got dims = {...}.
    RuntimeError: expected total dims >= 2, but got total dims = {input.ndim}.
    RuntimeError: expected rotation dims to be different, but got dim0 = {...} and dim1 = {...}.

Example:
    >>> ag.rot90(ag.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])""",
"row_stack": """Tensors put on top of each other, vectors as rows.

Args:
    tensors (sequence): Sequence of tensors; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.row_stack([ag.tensor([1, 2]), ag.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])""",
"select": """The slice number `index` of dimension `dim`, which is removed. A view.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (int): Number of the slice; negative ones count from the end.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    IndexError: select() cannot be applied to a 0-dim tensor.
    IndexError: select(): index {index} out of range for tensor of size {...} at dimension
        {dim}.

Example:
    >>> ag.select(ag.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])""",
"select_copy": """select() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    index (int): Number of the slice; negative ones count from the end.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.select_copy(ag.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])""",
"split": """The tensor cut along `dim` in pieces of one size (the last may be smaller), or of the sizes given.

Args:
    tensor (Tensor): Of any shape; any dtype.
    split_size_or_sections (int or ints): One size, or a list of sizes that add up to that of
        `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    axis (int): NumPy's name of `dim`.

Returns:
    A tuple of views.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: split expects at least a 1-dimensional tensor.
    RuntimeError: split expects split_size be non-negative, but got split_size={step}.
    RuntimeError: split_size can only be 0 if dimension size is 0, but got dimension size of
        {size}.

Example:
    >>> ag.split(ag.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> ag.split(ag.arange(5), [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))""",
"split_copy": """split() as a copy.

Args:
    tensor (Tensor): Of any shape; any dtype.
    split_size_or_sections (int or ints): One size, or a list of sizes that add up to that of
        `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    A tuple of tensors.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.split_copy(ag.arange(3), 2)
    (tensor([0, 1]), tensor([2]))""",
"split_with_sizes": """input cut along `dim` in pieces of the sizes given.

Args:
    input (Tensor): Of any shape; any dtype.
    split_sizes (ints): Sizes that add up to that of `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of views.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: split_with_sizes expects at least a 1-dimensional tensor.
    RuntimeError: split_with_sizes expects split_sizes have only non-negative entries, but got
        split_sizes={...}.
    RuntimeError: split_with_sizes expects split_sizes to sum exactly to {...} (input tensor's
        size at dimension {dim}), but got split_sizes={...}.

Example:
    >>> ag.split_with_sizes(ag.arange(5), [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))""",
"split_with_sizes_copy": """split_with_sizes() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    split_sizes (ints): Sizes that add up to that of `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    A tuple of tensors.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.split_with_sizes_copy(ag.arange(5), [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))""",
"squeeze": """input without its dimensions of size 1, or without those of `dim` that have size 1. A view.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.
    axis (int or ints): NumPy's name of `dim`.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.squeeze(ag.ones(1, 2, 1)).shape
    Size([2])
    >>> ag.squeeze(ag.ones(1, 2, 1), 0).shape
    Size([2, 1])""",
"squeeze_copy": """squeeze() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int or ints): Dimension or dimensions; all if None.
    axis (int or ints): NumPy's name of `dim`.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.squeeze_copy(ag.ones(1, 2, 1)).shape
    Size([2])""",
"stack": """Tensors of one shape side by side along a new dimension.

Args:
    tensors (sequence): Of one shape; any dtype.
    dim (int): Where the new dimension is. Default: 0.
    axis (int): NumPy's name of `dim`.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: stack expects a non-empty TensorList.
    RuntimeError: stack expects each tensor to be equal size, but got {...} at entry 0 and {...}
        at entry {number}.

Example:
    >>> ag.stack([ag.tensor([1, 2]), ag.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])""",
"swapaxes": """transpose() under NumPy's name.

Args:
    input (Tensor): Of any shape; any dtype.
    axis0 (int): The one dimension.
    axis1 (int): The other.

Returns:
    Tensor.

Example:
    >>> ag.swapaxes(ag.ones(2, 3), 0, 1).shape
    Size([3, 2])""",
"swapdims": """input with two dimensions exchanged, a view.

Args:
    input (Tensor): Of any shape; any dtype.
    dim0 (int): The one dimension.
    dim1 (int): The other.

Returns:
    Tensor.

Example:
    >>> ag.swapdims(ag.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])""",
"t": """The transpose of a matrix; vectors and scalars as they are. A view.

Args:
    input (Tensor): Of at most two dimensions; any dtype.

Returns:
    Tensor.

Raises:
    RuntimeError: t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D.

Example:
    >>> ag.t(ag.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])""",
"t_copy": """t() as a copy.

Args:
    input (Tensor): Of at most two dimensions; any dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.t_copy(ag.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])""",
"tensor_split": """input cut along `dim` in that many pieces, the first ones longer by one; or before each of the
indices.

Args:
    input (Tensor): Of any shape; any dtype.
    indices_or_sections (int or Tensor or ints): Number of pieces, or the indices before which
        to cut.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of views.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0
        dims.
    RuntimeError: tensor_split expected tensor_indices_or_sections to have dtype of long, but
        got {given.dtype}.
    RuntimeError: tensor_split expected tensor_indices_or_sections to be a zero-dimensional or
        one-dimensional tensor, but got a tensor with {given.ndim} dims.
    RuntimeError: number of sections must be larger than 0, got {given}.

Example:
    >>> ag.tensor_split(ag.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))""",
"tile": """repeat() with ones put before dims that are fewer than input's.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    dims (int or ints): How often along each dimension.

Returns:
    Tensor.

Example:
    >>> ag.tile(ag.tensor([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])""",
"transpose_copy": """transpose() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dim0 (int): The one dimension.
    dim1 (int): The other.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.transpose_copy(ag.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])""",
"tril": """The elements on and below a diagonal of each matrix, zeros above.

Args:
    input (Tensor): (..., m, n); any dtype.
    diagonal (int): The last that is kept: 0 the main one, above 0 above it. Default: 0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: input tensor must have at least 2 dimensions, not {x.ndim}.

Example:
    >>> ag.tril(ag.tensor([[1, 2], [3, 4]]))
    tensor([[1, 0],
            [3, 4]])""",
"tril_indices": """The places on and below a diagonal of a (row, col) matrix: two rows of indices.

Args:
    row (int): Number of rows.
    col (int): Number of columns.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.
    layout (layout): Only strided.

Returns:
    Tensor (2, places), int64 by default.

Raises:
    NotImplementedError: device={device}: tensors live in the CPU's memory.
    RuntimeError: layout={layout}: only dense (strided) tensors are implemented.
    RuntimeError: row and col must be non-negative, got {row} and {col}.

Example:
    >>> ag.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])""",
"triu": """The elements on and above a diagonal of each matrix, zeros below.

Args:
    input (Tensor): (..., m, n); any dtype.
    diagonal (int): The first that is kept: 0 the main one, above 0 above it. Default: 0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: input tensor must have at least 2 dimensions, not {x.ndim}.

Example:
    >>> ag.triu(ag.tensor([[1, 2], [3, 4]]))
    tensor([[1, 2],
            [0, 4]])""",
"triu_indices": """The places on and above a diagonal of a (row, col) matrix: two rows of indices.

Args:
    row (int): Number of rows.
    col (int): Number of columns.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.
    layout (layout): Only strided.

Returns:
    Tensor (2, places), int64 by default.

Raises:
    NotImplementedError: device={device}: tensors live in the CPU's memory.
    RuntimeError: layout={layout}: only dense (strided) tensors are implemented.
    RuntimeError: row and col must be non-negative, got {row} and {col}.

Example:
    >>> ag.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])""",
"unbind": """The slices of input along `dim`, views.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    axis (int): NumPy's name of `dim`.

Returns:
    A tuple of views.

Raises:
    IndexError: `dim` is no dimension of the input.
    IndexError: Dimension specified as {dim} but tensor has no dimensions.

Example:
    >>> ag.unbind(ag.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))""",
"unbind_copy": """unbind() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    A tuple of tensors.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.unbind_copy(ag.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))""",
"unflatten": """One dimension cut into several of the given sizes; one may be -1.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Dimension, from the front or (negative) from the end.
    sizes (ints): The sizes, whose product is that of `dim`.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.
    RuntimeError: unflatten: sizes must be non-empty.
    RuntimeError: unflatten: Provided sizes {...} don't multiply up to the size of dim {dim}
        ({size}) in the input tensor.

Example:
    >>> ag.unflatten(ag.arange(6), 0, (2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])""",
"unfold_copy": """unfold() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dimension (int): Along which.
    size (int): Elements of a window.
    step (int): Distance of two windows.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.unfold_copy(ag.arange(4), 0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])""",
"unsafe_chunk": """chunk(), whose results may be written to, as unsafe_split's.

Args:
    input (Tensor): Of any shape; any dtype.
    chunks (int): How many at most, 1 or more.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of tensors.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.unsafe_chunk(ag.tensor([1, 2, 3]), 2)
    (tensor([1, 2]), tensor([3]))""",
"unsafe_split": """split(), whose results may be written to; writes reach the tensor's memory, and its graph knows
nothing of them.

Args:
    tensor (Tensor): Of any shape; any dtype.
    split_size (int or ints): The size of the pieces.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of tensors.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.unsafe_split(ag.arange(3), 2)
    (tensor([0, 1]), tensor([2]))""",
"unsafe_split_with_sizes": """split_with_sizes(), whose results may be written to, as unsafe_split's.

Args:
    input (Tensor): Of any shape; any dtype.
    split_sizes (ints): Sizes that add up to that of `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of tensors.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.unsafe_split_with_sizes(ag.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))""",
"unsqueeze": """input with a dimension of size 1 put in at `dim`. A view.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Where the new dimension is.
    axis (int): NumPy's name of `dim`.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.unsqueeze(ag.tensor([1, 2]), 1)
    tensor([[1],
            [2]])""",
"unsqueeze_copy": """unsqueeze() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    dim (int): Where the new dimension is.
    axis (int): NumPy's name of `dim`.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    IndexError: `dim` is no dimension of the input.

Example:
    >>> ag.unsqueeze_copy(ag.tensor([1, 2]), 1)
    tensor([[1],
            [2]])""",
"view_copy": """view() as a copy.

Args:
    input (Tensor): Of any shape; any dtype.
    *args (int or Tensor or ints): The same as separate arguments.
    size (int or Tensor or ints): Sizes of the dimensions.
    dtype (dtype): The dtype that the bytes are taken for.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.view_copy(ag.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])""",
"vsplit": """tensor_split() along the first dimension, in equal parts.

Args:
    input (Tensor): Of two dimensions or more; any dtype.
    indices_or_sections (int or ints): Number of pieces, or the indices before which to cut.

Returns:
    A tuple of Tensors, views.

Raises:
    RuntimeError: torch.{name} requires a tensor with at least {least} dimension, but got a
        tensor with {x.ndim} dimensions!.
    RuntimeError: torch.{name} attempted to split along dimension {dim}, but the size of the
        dimension {...} is not divisible by the split_size {given}!.

Example:
    >>> ag.vsplit(ag.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))""",
"constant_pad_nd": """input with `value` put round it: pad holds (before, after) for the last dimension, then for the one before it, and
so on. Negative numbers cut off.

Args:
    input (Tensor): Of any shape; any dtype.
    pad (ints): An even number of sizes; negative ones cut off.
    value (number): The number. Default: 0.

Returns:
    Tensor.

Raises:
    RuntimeError: The input size {n}, plus negative padding {a} and {b}, resulted in a negative
        output size, which is invalid.

Example:
    >>> ag.constant_pad_nd(ag.tensor([1, 2]), (1, 2))
    tensor([0, 1, 2, 0, 0])""",
"Tensor.contiguous": """input itself if its memory is in the order asked for, else a copy.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    RuntimeError: preserve memory format is unsupported by the contiguous operator.

Example:
    >>> ag.ones(2, 3).T.contiguous().stride()
    (2, 1)""",
"Tensor.expand": """input repeated along dimensions of size 1 to `size` (-1: as it is), a view.

Args:
    *args (int or Tensor or ints): The same as separate arguments.
    size (int or Tensor or ints): Sizes of the dimensions.
    implicit (bool): Has no effect. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])""",
"Tensor.expand_as": """input repeated to the shape of `other`.

Args:
    other (Tensor): Tensor of the shape wanted.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1, 2]).expand_as(ag.ones(2, 2))
    tensor([[1, 2],
            [1, 2]])""",
"Tensor.repeat": """Copies of input side by side: repeats[i] of them along dimension i, counted from the end.

Args:
    *args (int or Tensor or ints): How often along each dimension.
    repeats (ints): The same as one sequence.

Returns:
    Tensor.

Raises:
    RuntimeError: Number of dimensions of repeat dims can not be smaller than number of
        dimensions of tensor: {...} for shape {...}.
    RuntimeError: Trying to create tensor with negative dimension: repeats {...}.

Example:
    >>> ag.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])""",
"Tensor.reshape_as": """input in the shape of `other`.

Args:
    other (Tensor): Tensor of the shape wanted.

Returns:
    Tensor.

Example:
    >>> ag.arange(4).reshape_as(ag.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])""",
"Tensor.split": """split(), whose argument the method calls otherwise.

Args:
    split_size (int or ints): One size, or a list of sizes that add up to that of `dim`.
    dim (int): Dimension, from the front or (negative) from the end. Default: 0.

Returns:
    A tuple of views.

Example:
    >>> ag.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))""",
"Tensor.tril_": """In place: the elements on and below a diagonal of each matrix, zeros above.

Args:
    diagonal (int): The last that is kept: 0 the main one, above 0 above it. Default: 0.

Returns:
    This tensor.

Raises:
    RuntimeError: {name}: input tensor must have at least 2 dimensions, not {x.ndim}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([[1, 2], [3, 4]])
    >>> x.tril_()
    tensor([[1, 0],
            [3, 4]])""",
"Tensor.triu_": """In place: the elements on and above a diagonal of each matrix, zeros below.

Args:
    diagonal (int): The first that is kept: 0 the main one, above 0 above it. Default: 0.

Returns:
    This tensor.

Raises:
    RuntimeError: {name}: input tensor must have at least 2 dimensions, not {x.ndim}.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([[1, 2], [3, 4]])
    >>> x.triu_()
    tensor([[1, 2],
            [0, 4]])""",
"Tensor.unfold": """The windows of `size` elements, one each `step`, along a dimension: they come as the last dimension.
A view.

Args:
    dimension (int): Along which.
    size (int): Elements of a window.
    step (int): Distance of two windows.

Returns:
    Tensor.

Raises:
    RuntimeError: size is {size} but must be >= 0.
    RuntimeError: maximum size for tensor at dimension {dim} is {length} but size is {size}.
    RuntimeError: step is {step} but must be > 0.

Example:
    >>> ag.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])""",
"Tensor.view": """reshape() that never copies: RuntimeError where the memory layout does not allow it. view(dtype): the same bytes
read as another dtype, without a gradient.

Args:
    *args (int or Tensor or ints): The same as separate arguments.
    size (int or Tensor or ints): Sizes of the dimensions.
    dtype (dtype): The dtype that the bytes are taken for.

Returns:
    Tensor.

Raises:
    RuntimeError: view(dtype): a tensor of {x.dtype}, shape {...}, cannot be read as {dtype}:
        {error}.
    RuntimeError: view size is not compatible with input tensor's size and stride (at least one
        dimension spans across two contiguous subspaces).

Example:
    >>> ag.arange(4).view(2, 2)
    tensor([[0, 1],
            [2, 3]])""",
"Tensor.view_as": """input seen in the shape of `other`.

Args:
    other (Tensor): Tensor of the shape wanted.

Returns:
    Tensor.

Example:
    >>> ag.arange(4).view_as(ag.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])""",
}
for _pair in """concat:cat concatenate:cat movedim:moveaxis transpose:swapdims vstack:row_stack Tensor.adjoint:adjoint
    Tensor.broadcast_to:broadcast_to Tensor.chunk:chunk Tensor.clone:clone Tensor.diag:diag
    Tensor.diag_embed:diag_embed Tensor.diagflat:diagflat Tensor.diagonal:diagonal Tensor.dsplit:dsplit
    Tensor.flatten:flatten Tensor.flip:flip Tensor.fliplr:fliplr Tensor.flipud:flipud Tensor.hsplit:hsplit
    Tensor.moveaxis:moveaxis Tensor.movedim:moveaxis Tensor.narrow:narrow Tensor.narrow_copy:narrow_copy
    Tensor.permute:permute Tensor.ravel:ravel Tensor.reshape:reshape Tensor.resolve_conj:resolve_conj
    Tensor.resolve_neg:resolve_neg Tensor.roll:roll Tensor.rot90:rot90 Tensor.select:select
    Tensor.split_with_sizes:split_with_sizes Tensor.squeeze:squeeze Tensor.swapaxes:swapaxes Tensor.swapdims:swapdims
    Tensor.t:t Tensor.tensor_split:tensor_split Tensor.tile:tile Tensor.transpose:swapdims Tensor.tril:tril
    Tensor.triu:triu Tensor.unbind:unbind Tensor.unflatten:unflatten Tensor.unsafe_chunk:unsafe_chunk
    Tensor.unsafe_split:unsafe_split Tensor.unsafe_split_with_sizes:unsafe_split_with_sizes Tensor.unsqueeze:unsqueeze
    Tensor.vsplit:vsplit""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
