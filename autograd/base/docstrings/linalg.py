"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"addbmm": """beta * input + alpha * the sum of all batch1[i] @ batch2[i].

Args:
    input (Tensor): Of a shape that broadcasts to (n, m); integers, floating point or complex.
    batch1 (Tensor): (b, n, k).
    batch2 (Tensor): (b, k, m).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n, m).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: batch1 and batch2 must have same number of batches, got {...} and {...}.
    RuntimeError: Incompatible matrix sizes for bmm ({...} and {...}).

Example:
    >>> ag.addbmm(ag.zeros(2, 2), ag.ones(3, 2, 1), ag.ones(3, 1, 2))
    tensor([[3., 3.],
            [3., 3.]])""",
"addmm": """beta * input + alpha * (mat1 @ mat2).

Args:
    input (Tensor): Of a shape that broadcasts to (n, m); integers, floating point or complex.
    mat1 (Tensor): (n, k).
    mat2 (Tensor): (k, m).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n, m).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.addmm(ag.tensor([10.0, 20.0]), ag.ones(1, 3), ag.ones(3, 2))
    tensor([[13., 23.]])""",
"addmv": """beta * input + alpha * (mat @ vec).

Args:
    input (Tensor): Of a shape that broadcasts to (n,); integers, floating point or complex.
    mat (Tensor): (n, k).
    vec (Tensor): (k,).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n,).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.addmv(ag.tensor([10.0, 20.0]), ag.ones(2, 3), ag.ones(3))
    tensor([13., 23.])""",
"addr": """beta * input + alpha * outer(vec1, vec2).

Args:
    input (Tensor): Of a shape that broadcasts to (n, m); any dtype.
    vec1 (Tensor): (n,).
    vec2 (Tensor): (m,).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n, m).

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Boolean beta and alpha only supported for Boolean results.
    RuntimeError: Boolean {argument} only supported for Boolean results, not for {dtype}.
    RuntimeError: For integral input tensors, argument {argument} must not be a floating point
        number.
    RuntimeError: For non-complex input tensors, argument {argument} must not be a complex
        number.

Example:
    >>> ag.addr(ag.zeros(2, 2), ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])""",
"baddbmm": """beta * input[i] + alpha * (batch1[i] @ batch2[i]).

Args:
    input (Tensor): Of a shape that broadcasts to (b, n, m); integers, floating point or
        complex.
    batch1 (Tensor): (b, n, k).
    batch2 (Tensor): (b, k, m).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (b, n, m).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: batch1 and batch2 must have same number of batches, got {...} and {...}.
    RuntimeError: Incompatible matrix sizes for bmm ({...} and {...}).

Example:
    >>> ag.baddbmm(ag.zeros(1, 2, 2), ag.ones(1, 2, 3), ag.ones(1, 3, 2))
    tensor([[[3., 3.],
             [3., 3.]]])""",
"chain_matmul": """multi_dot(matrices), under its older name.

Args:
    *matrices (Tensor): Two or more, each with as many rows as the one before has columns;
        integers, floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.chain_matmul(ag.ones(1, 2), ag.ones(2, 3), ag.ones(3, 1))
    tensor([[6.]])""",
"cholesky": """linalg.cholesky, under its older name.

Args:
    input (Tensor): (..., n, n), symmetric or Hermitian and positive definite; floating point or
        complex.
    upper (bool): Whether the upper triangle is meant. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.cholesky(ag.tensor([[4.0, 2.0], [2.0, 3.0]]))
    tensor([[2.0000, 0.0000],
            [1.0000, 1.4142]])""",
"cholesky_inverse": """The inverse of A, from its Cholesky factor.

Args:
    input (Tensor): (..., n, n), a Cholesky factor; floating point or complex.
    upper (bool): Whether the upper triangle is meant. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.cholesky_inverse(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])""",
"cholesky_solve": """X with A @ X = input, from the Cholesky factor of A.

Args:
    input (Tensor): (..., n, k); floating point or complex.
    L (Tensor): (..., n, n), a Cholesky factor.
    upper (bool): Whether the upper triangle is meant. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., n, k).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Incompatible matrix sizes for cholesky_solve: each A matrix is {...} by {...}
        but each b matrix is {...} by {...}.

Example:
    >>> ag.cholesky_solve(ag.tensor([[4.0], [16.0]]), ag.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[1.],
            [1.]])""",
"det": """The determinant of each square matrix.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (...).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.det(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)""",
"logdet": """The logarithm of the determinant of each square matrix: nan where it is negative.

Args:
    input (Tensor): (..., n, n); floating point or complex.

Returns:
    Tensor (...).

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> ag.logdet(ag.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(1.7918)""",
"slogdet": """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet).

Args:
    A (Tensor): (..., n, n); floating point or complex.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (sign, logabsdet), a named tuple of tensors (...).

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> ag.slogdet(ag.tensor([[2.0, 0.0], [0.0, -3.0]]))
    SlogDet(sign=tensor(-1.), logabsdet=tensor(1.7918))""",
"cdist": """The p-norm distance of each row of x1 (..., n, d) from each row of x2 (..., m, d): (..., n, m).

Args:
    x1 (Tensor): (..., n, d); floating point.
    x2 (Tensor): (..., m, d).
    p (float): The order of the norm. Default: 2.0.
    compute_mode (str): For p = 2, whether distances come from a matrix product: by the number
        of rows, or always, or never. Default: 'use_mm_for_euclid_dist_if_necessary'.

Returns:
    Tensor (..., n, m).

Raises:
    RuntimeError: the dtype is bool or integers or complex.
    ValueError: {compute_mode} is not a valid value for compute_mode.
    RuntimeError: X1 and X2 must have the same number of columns.
    RuntimeError: cdist only supports non-negative p values, got {p}.
    RuntimeError: cdist only supports floating-point dtypes, {name} got: {x.dtype}.
    RuntimeError: cdist only supports at least 2D tensors, {name} got: {x.ndim}D.

Example:
    >>> ag.cdist(ag.tensor([[0.0, 0.0]]), ag.tensor([[3.0, 4.0], [1.0, 0.0]]))
    tensor([[5., 1.]])""",
"cosine_similarity": """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the gradient is that of the quotient without
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
"pairwise_distance": """The p-norm of x1 - x2 + eps along the last dimension.

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
"pdist": """The p-norm distances of all pairs of rows of a matrix, (0, 1), (0, 2), ..., (1, 2), ...: a vector.

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
"einsum": """The sum of the product of the operands over all labels that the output does not have.

einsum("ij,jk->ik", x, y); without "->" the output has the labels that stand once, in alphabetical order. "..."
stands for any dimensions, which broadcast; a label twice in one operand takes its diagonal. Or with lists of
numbers in 0..51: einsum(x, [0, 1], y, [1, 2], [0, 2]).

Args:
    *args (int or Tensor or ints): The equation and the operands; or operands, each followed by
        the list of its labels, and the list of the output's; any dtype.

Returns:
    Tensor.

Raises:
    ValueError: einsum(): must specify the equation string and at least one operand, or at least
        one operand and its subscripts list.
    RuntimeError: einsum(): must provide at least one operand, and every operand as a Tensor.
    RuntimeError: einsum(): operands do not broadcast with remapped shapes: {shapes} disagree
        about {name}.
    RuntimeError: einsum(): in the sublist format every operand is followed by the list of its
        subscripts, not by {...}.
    RuntimeError: einsum(): subscript {n} in the subscript list is not within the valid range
        [0, 52).
    RuntimeError: einsum(): subscript {...} is repeated for operand {operand} but the sizes
        don't match, {...} != {...}.

Example:
    >>> ag.einsum("ij,jk->ik", ag.ones(2, 3), ag.ones(3, 2))
    tensor([[3., 3.],
            [3., 3.]])
    >>> ag.einsum("ii->i", ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])""",
"pca_lowrank": """svd_lowrank of A with the mean of its rows taken off: the first q principal components are the
columns of V.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    q (int): The rank; min(6, m, n) if None.
    center (bool): Whether the mean of the rows is taken off. Default: True.
    niter (int): Rounds, 0 or more. Default: 2.

Returns:
    (U, S, V): (..., m, q), (..., q) and (..., n, q).

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> U, S, V = ag.pca_lowrank(ag.ones(4, 3), q=2)
    >>> U.shape, S.shape, V.shape
    (Size([4, 2]), Size([2]), Size([3, 2]))""",
"svd_lowrank": """(U, S, V) with A - M nearly U @ diag(S) @ V^H, of rank q; `niter` rounds make it more exact.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    q (int): The rank. Default: 6.
    niter (int): Rounds, 0 or more. Default: 2.
    M (Tensor): (..., m, n), taken off A.

Returns:
    (U, S, V): (..., m, q), (..., q) and (..., n, q).

Raises:
    RuntimeError: the dtype is bool or integers.
    ValueError: q(={q}) must be non-negative integer and not greater than min(m, n)={...}.
    ValueError: niter(={rounds}) must be non-negative integer.

Example:
    >>> U, S, V = ag.svd_lowrank(ag.ones(4, 3), q=2)
    >>> U.shape, S.shape, V.shape
    (Size([4, 2]), Size([2]), Size([3, 2]))""",
"lu": """(LU, pivots), and info if get_infos: linalg.lu_factor_ex, under its older name.

Args:
    input (Tensor): (..., m, n); floating point or complex.
    pivot (bool): Whether rows are exchanged; only True. Default: True.
    get_infos (bool): Whether the place of a zero pivot is returned too. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensors.

Raises:
    RuntimeError: the dtype is bool or integers.
    NotImplementedError: {name}: LU without pivoting (pivot=False) is not implemented on the
        CPU.

Example:
    >>> ag.lu(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([[3.0000, 4.0000],
            [0.3333, 0.6667]]), tensor([2, 2], dtype=int32))""",
"lu_solve": """linalg.lu_solve, under its older name and order.

Args:
    input (Tensor): (..., n, k); floating point or complex.
    LU_data (Tensor): (..., n, n), from lu().
    LU_pivots (Tensor): (..., n), from lu().
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., n, k).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> A = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.lu_solve(ag.tensor([[5.0], [11.0]]), *ag.linalg.lu_factor(A))
    tensor([[1.],
            [2.]])""",
"lu_unpack": """(P, L, U) from what lu_factor returns; empty tensors for what is not asked for.

Args:
    LU_data (Tensor): (..., m, n), from lu_factor(); any dtype.
    LU_pivots (Tensor): (..., min(m, n)), from lu_factor().
    unpack_data (bool): Whether L and U are asked for. Default: True.
    unpack_pivots (bool): Whether P is asked for. Default: True.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (P, L, U).

Raises:
    RuntimeError: torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of
        torch.int32 dtype, not {pivots.dtype}.
    RuntimeError: torch.lu_unpack: LU_pivots of shape {...} does not fit LU_data of shape {...}.

Example:
    >>> ag.lu_unpack(*ag.linalg.lu_factor(ag.tensor([[1.0, 2.0], [3.0, 4.0]])))
    Plu(P=tensor([[0., 1.],
            [1., 0.]]), L=tensor([[1.0000, 0.0000],
            [0.3333, 1.0000]]), U=tensor([[3.0000, 4.0000],
            [0.0000, 0.6667]]))""",
"bmm": """The products of two stacks of matrices, (b, n, k) and (b, k, m).

Args:
    input (Tensor): (b, n, k); integers, floating point or complex.
    mat2 (Tensor): (b, k, m).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (b, n, m).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but
        got: [{...}, {...}].

Example:
    >>> ag.bmm(ag.ones(1, 2, 3), ag.ones(1, 3, 2))
    tensor([[[3., 3.],
             [3., 3.]]])""",
"dot": """The sum of input * tensor, for two vectors.

Args:
    input (Tensor): (n,); any dtype.
    tensor (Tensor): (n,).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, 0-d.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: 1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors.
    RuntimeError: {name} : expected both vectors to have same dtype, but found {x.dtype} and
        {y.dtype}.
    RuntimeError: inconsistent tensor size, expected tensor {...} and src {...} to have the same
        number of elements, but got {...} and {...} elements respectively.

Example:
    >>> ag.dot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor(11.)""",
"ger": """All products of elements of two vectors, as a matrix.

Args:
    input (Tensor): (n,); any dtype.
    vec2 (Tensor): (m,).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n, m).

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: outer: Expected 1-D argument {argument}, but got {x.ndim}-D.

Example:
    >>> ag.ger(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])""",
"inner": """Products of all vectors along the last dimensions: shape input.shape[:-1] + other.shape[:-1].

Args:
    input (Tensor): (..., n); integers, floating point or complex.
    other (Tensor): (..., n).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: inner() the last dimension must match on both input tensors but got shapes
        {...} and {...}.

Example:
    >>> ag.inner(ag.tensor([1.0, 2.0]), ag.tensor([[3.0, 4.0], [5.0, 6.0]]))
    tensor([11., 17.])""",
"matmul": """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes
broadcast.

Args:
    input (Tensor): (n,) or (..., m, n); integers, floating point or complex.
    other (Tensor): (n,) or (..., n, k).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., m, k), without m or k where that operand is a vector.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.matmul(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1.0, 1.0]))
    tensor([3., 7.])""",
"mm": """The product of two matrices: no broadcasting.

Args:
    input (Tensor): (n, k); integers, floating point or complex.
    mat2 (Tensor): (k, m).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n, m).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.mm(ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0], [4.0]]))
    tensor([[11.]])""",
"mv": """The product of a matrix and a vector.

Args:
    input (Tensor): (n, k); integers, floating point or complex.
    vec (Tensor): (k,).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (n,).

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: size mismatch, got input ({...}), mat ({...}), vec ({...}).

Example:
    >>> ag.mv(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1.0, 1.0]))
    tensor([3., 7.])""",
"vdot": """The sum of conj(input) * other, for two vectors.

Args:
    input (Tensor): (n,); any dtype.
    other (Tensor): (n,).
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, 0-d.

Raises:
    RuntimeError: the shapes do not fit each other.
    RuntimeError: 1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors.
    RuntimeError: {name} : expected both vectors to have same dtype, but found {x.dtype} and
        {y.dtype}.
    RuntimeError: inconsistent tensor size, expected tensor {...} and src {...} to have the same
        number of elements, but got {...} and {...} elements respectively.

Example:
    >>> ag.vdot(ag.tensor([1j, 2]), ag.tensor([1j, 1]))
    tensor(3.+0.j)""",
"matrix_exp": """The exponential of each square matrix.

Args:
    input (Tensor): (..., n, n); floating point or complex.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: linalg.matrix_exp: Expected a floating point or complex tensor as input.
    RuntimeError: {name}: The input tensor A must have at least 2 dimensions, its shape is
        {...}.
    RuntimeError: {name}: A must be batches of square matrices, but they are {...} by {...}
        matrices.

Example:
    >>> ag.matrix_exp(ag.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])""",
"matrix_power": """Each square matrix multiplied n times with itself; the inverse's power for negative n.

Args:
    input (Tensor): (..., n, n); integers, floating point or complex.
    n (int): How often; negative: of the inverse.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}: The input tensor A must have at least 2 dimensions, its shape is
        {...}.
    RuntimeError: {name}: A must be batches of square matrices, but they are {...} by {...}
        matrices.

Example:
    >>> ag.matrix_power(ag.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])""",
"dist": """The p-norm of input - other, which broadcast.

Args:
    input (Tensor): Of any shape; floating point or complex.
    other (Tensor): Number, or tensor of a shape that broadcasts with input's.
    p (float): The order of the norm. Default: 2.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, 0-d.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: dist: subtraction of two bool tensors is not supported.

Example:
    >>> ag.dist(ag.tensor([0.0, 0.0]), ag.tensor([3.0, 4.0]))
    tensor(5.)""",
"frobenius_norm": """The square root of the sum of squares over `dim`.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.frobenius_norm(ag.tensor([[3.0, 4.0]]), dim=1)
    tensor([5.])""",
"norm": """The vector norm of order p over `dim`; "fro" is 2; "nuc" is the sum of singular values of matrices.

Args:
    input (Tensor): Of any shape; floating point or complex.
    p (float or str): a number, "fro" or "nuc". Default: 'fro'.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.matrix_norm: Order {p} not supported.
    RuntimeError: linalg.matrix_norm: dim must be a 2-tuple.

Example:
    >>> ag.norm(ag.tensor([3.0, 4.0]))
    tensor(5.)
    >>> ag.norm(ag.tensor([[3.0, -4.0]]), p=1, dim=1)
    tensor([7.])""",
"nuclear_norm": """The sum of the singular values of each matrix.

Args:
    input (Tensor): Of any shape; floating point or complex.
    dim (ints): The two dimensions of the matrices.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.nuclear_norm(ag.tensor([[1.0, 0.0], [0.0, 2.0]]))
    tensor(3.)""",
"renorm": """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger.

Args:
    input (Tensor): Of any shape; floating point or complex.
    p (float): The order of the norm.
    dim (int): Whose slices are scaled.
    maxnorm (float): The largest norm.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: renorm: non-positive-norm not supported, got p={p}.
    RuntimeError: renorm: expected maxnorm to be >= 0 but got {maxnorm}.
    RuntimeError: renorm: input needs at least 2 dimensions, got {input.ndim} dimensions.

Example:
    >>> ag.renorm(ag.tensor([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])""",
"pinverse": """linalg.pinv with rtol=rcond.

Args:
    input (Tensor): (..., m, n); floating point or complex.
    rcond (float): Singular values up to this part of the largest count as 0. Default: 1e-15.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., n, m).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.pinverse(ag.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])""",
"geqrf": """(a, tau): R in the upper triangle of a, the Householder vectors below it, and their factors. Without
gradient.

Args:
    input (Tensor): (..., m, n); floating point or complex.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (a, tau), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> ag.geqrf(ag.tensor([[3.0], [4.0]]))
    Geqrf(a=tensor([[-5.0000],
            [ 0.5000]]), tau=tensor([1.6000]))""",
"orgqr": """linalg.householder_product, under its older name.

Args:
    input (Tensor): (..., m, n), from geqrf(); floating point or complex.
    input2 (Tensor): (..., k), from geqrf().
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., m, n).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.orgqr(*ag.geqrf(ag.tensor([[3.0], [4.0]])))
    tensor([[-0.6000],
            [-0.8000]])""",
"ormqr": """Q @ other (or other @ Q, or with Q^H) for the square Q of the reflections in input and tau.

Args:
    input (Tensor): (..., m, k), from geqrf(); floating point or complex.
    tau (Tensor): (..., k), from geqrf().
    other (Tensor): (..., m, n).
    left (bool): Whether Q stands on the left. Default: True.
    transpose (bool): Whether Q^H is taken. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: torch.ormqr: batch dimensions of input, tau and other must be equal, but their
        shapes are {...}, {...} and {...}.
    RuntimeError: torch.ormqr: other.shape[{...}] must be equal to input.shape[-2] and at least
        tau.shape[-1].

Example:
    >>> ag.ormqr(*ag.geqrf(ag.tensor([[3.0], [4.0]])), ag.tensor([[1.0], [0.0]]))
    tensor([[-0.6000],
            [-0.8000]])""",
"qr": """linalg.qr, under its older name: reduced, or complete.

Args:
    input (Tensor): (..., m, n); floating point or complex.
    some (bool): Reduced, else complete. Default: True.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (Q, R).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: qr received unrecognized mode '{mode}' but expected one of 'reduced'
        (default), 'r', or 'complete'.

Example:
    >>> ag.qr(ag.tensor([[3.0], [4.0]]))
    LinalgQr(Q=tensor([[-0.6000],
            [-0.8000]]), R=tensor([[-5.]]))""",
"inverse": """linalg.inv() under its older name.

Args:
    input (Tensor): (..., n, n); floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.inverse(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])""",
"triangular_solve": """(X, A) with A @ X = input, or A^T @ X = input; the older form of linalg.solve_triangular.

Args:
    input (Tensor): (..., n, k); floating point or complex.
    A (Tensor): (..., n, n).
    upper (bool): Which triangle of A is read. Default: True.
    transpose (bool): Whether A^T is taken. Default: False.
    unitriangular (bool): Whether A's diagonal counts as ones. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (solution, cloned_coefficient), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: {name}: Incompatible shapes of A and B for the equation {...} ({...}x{...} and
        {...}x{...}).

Example:
    >>> ag.triangular_solve(ag.tensor([[4.0], [4.0]]), ag.tensor([[1.0, 1.0], [0.0, 2.0]])).solution
    tensor([[2.],
            [2.]])""",
"svd": """(U, S, V) with input = U @ diag(S) @ V^H; without compute_uv, U and V are zeros.

Args:
    input (Tensor): (..., m, n); floating point or complex.
    some (bool): Only min(m, n) singular vectors. Default: True.
    compute_uv (bool): Whether U and V are computed. Default: True.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (U, S, V), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> ag.svd(ag.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])""",
"cross": """The cross product of vectors of 3 elements along `dim`, by default the first dimension of that size.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.
    other (Tensor): Of a shape that broadcasts with input's.
    dim (int): Dimension or dimensions; all if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    TypeError: the dtype is bool.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: no dimension of size 3 in input, of shape {...}.
    RuntimeError: {name}: the shapes {...} and {...} do not broadcast.

Example:
    >>> ag.cross(ag.tensor([1.0, 0.0, 0.0]), ag.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])""",
"kron": """The Kronecker product: each element of input times all of other.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor): Number, or tensor of a shape that broadcasts with input's.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Example:
    >>> ag.kron(ag.tensor([1, 10]), ag.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])""",
"tensordot": """The sum of products over the last `dims` dimensions of a and the first of b, or over the two lists
in `dims`.

Args:
    a (Tensor): The left operand; any dtype.
    b (Tensor): The right operand.
    dims (int or ints or Sequence[Sequence[int]] or Tensor): How many, or (dimensions of a,
        dimensions of b). Default: 2.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: both dimension lists should have same length, got {first} and {second}.
    RuntimeError: tensordot: dims appear multiple times in {first} or {second}.
    RuntimeError: tensordot expects dims >= 0, but got dims={dims}.
    RuntimeError: tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for {a.ndim}D
        and {b.ndim}D.
    RuntimeError: contracted dimensions need to match, but first has size {...} in dim {i} and
        second has size {...} in dim {j}.

Example:
    >>> ag.tensordot(ag.ones(2, 3), ag.ones(3, 4), dims=1).shape
    Size([2, 4])""",
"vander": """The matrix of the powers of a vector's elements, N of them (by default as many as elements), from
the highest on.

Args:
    x (Tensor): (n,); any dtype.
    N (int): Number of powers.
    increasing (bool): Lowest power first. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: x must be a one-dimensional tensor, not one of shape {...}.
    RuntimeError: N must be non-negative, got {n}.

Example:
    >>> ag.vander(ag.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])""",
"Tensor.addbmm_": """In place: beta * input + alpha * the sum of all batch1[i] @ batch2[i].

Args:
    batch1 (Tensor): (b, n, k).
    batch2 (Tensor): (b, k, m).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: batch1 and batch2 must have same number of batches, got {...} and {...}.
    RuntimeError: Incompatible matrix sizes for bmm ({...} and {...}).
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(2, 2)
    >>> x.addbmm_(ag.ones(3, 2, 1), ag.ones(3, 1, 2))
    tensor([[3., 3.],
            [3., 3.]])""",
"Tensor.addmm_": """In place: beta * input + alpha * (mat1 @ mat2).

Args:
    mat1 (Tensor): (n, k).
    mat2 (Tensor): (k, m).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(1, 2)
    >>> x.addmm_(ag.ones(1, 3), ag.ones(3, 2))
    tensor([[3., 3.]])""",
"Tensor.addmv_": """In place: beta * input + alpha * (mat @ vec).

Args:
    mat (Tensor): (n, k).
    vec (Tensor): (k,).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([10.0, 20.0])
    >>> x.addmv_(ag.ones(2, 3), ag.ones(3))
    tensor([13., 23.])""",
"Tensor.addr_": """In place: beta * input + alpha * outer(vec1, vec2).

Args:
    vec1 (Tensor): (n,).
    vec2 (Tensor): (m,).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.

Returns:
    This tensor.

Raises:
    RuntimeError: Boolean beta and alpha only supported for Boolean results.
    RuntimeError: Boolean {argument} only supported for Boolean results, not for {dtype}.
    RuntimeError: For integral input tensors, argument {argument} must not be a floating point
        number.
    RuntimeError: For non-complex input tensors, argument {argument} must not be a complex
        number.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(2, 2)
    >>> x.addr_(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])""",
"Tensor.baddbmm_": """In place: beta * input[i] + alpha * (batch1[i] @ batch2[i]).

Args:
    batch1 (Tensor): (b, n, k).
    batch2 (Tensor): (b, k, m).
    beta (number): Factor of input; 0: input is not read. Default: 1.
    alpha (number): Factor of the product. Default: 1.

Returns:
    This tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: batch1 and batch2 must have same number of batches, got {...} and {...}.
    RuntimeError: Incompatible matrix sizes for bmm ({...} and {...}).
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.zeros(1, 2, 2)
    >>> x.baddbmm_(ag.ones(1, 2, 3), ag.ones(1, 3, 2))
    tensor([[[3., 3.],
             [3., 3.]]])""",
"Tensor.renorm_": """In place: each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is
larger.

Args:
    p (float): The order of the norm.
    dim (int): Whose slices are scaled.
    maxnorm (float): The largest norm.

Returns:
    This tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: renorm: non-positive-norm not supported, got p={p}.
    RuntimeError: renorm: expected maxnorm to be >= 0 but got {maxnorm}.
    RuntimeError: renorm: input needs at least 2 dimensions, got {input.ndim} dimensions.
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.tensor([[3.0, 4.0], [0.0, 1.0]])
    >>> x.renorm_(2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])""",
"Tensor.trace": """The sum of a matrix's diagonal.

Returns:
    Tensor.

Raises:
    TypeError: trace() takes a matrix.
    RuntimeError: trace: expected a matrix, but got tensor with dim {input.ndim}.

Example:
    >>> ag.tensor([[1.0, 2.0], [3.0, 4.0]]).trace()
    tensor(5.)""",
"linalg.cholesky": """The triangular L with L @ L^H = A (or U^H @ U = A) for positive definite A, of which one triangle is
read.

Args:
    A (Tensor): (..., n, n), Hermitian and positive definite; floating point or complex.
    upper (bool): Whether the upper triangle is meant. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.linalg.cholesky(ag.tensor([[4.0, 2.0], [2.0, 3.0]]))
    tensor([[2.0000, 0.0000],
            [1.0000, 1.4142]])""",
"linalg.cholesky_ex": """(L, info): info is 0, or the order of the first leading minor that is not positive definite; its L
is nan.

Args:
    A (Tensor): (..., n, n), Hermitian; floating point or complex.
    upper (bool): Whether the upper triangle is meant. Default: False.
    check_errors (bool): Whether an error is raised in place of an `info`. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (L, info), a named tuple; info is int32 (...).

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> ag.linalg.cholesky_ex(ag.tensor([[4.0, 2.0], [2.0, 3.0]])).info
    tensor(0, dtype=int32)""",
"linalg.cond": """The norm of each matrix times that of its inverse; for p None, 2 and -2 the ratio of its extreme singular values.
inf for singular ones.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    p (float or str): The norm: a number, "fro" or "nuc".
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (...).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.cond: The input tensor must have at least 2 dimensions, its shape is
        {...}.
    RuntimeError: linalg.cond got an invalid norm type: {p}.
    RuntimeError: {name}: Expected a floating point or complex tensor as input.
    RuntimeError: {name}: dtype should be {...} for an input of {x.dtype}, but got {dtype}.
    RuntimeError: {name}: the dtype of the input ({x.dtype}) should be convertible without
        narrowing to the specified dtype ({dtype}).

Example:
    >>> ag.linalg.cond(ag.tensor([[1.0, 0.0], [0.0, 4.0]]))
    tensor(4.)""",
"linalg.cross": """The cross product of vectors of 3 elements along `dim`; other dimensions broadcast.

Args:
    input (Tensor): Of any shape; integers, floating point or complex.
    other (Tensor): Of a shape that broadcasts with input's.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    TypeError: the dtype is bool.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: the shapes do not fit each other.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.cross: inputs must have the same number of dimensions, got {input.ndim}
        and {other.ndim}.
    RuntimeError: linalg.cross: inputs dimension {dim} must have length 3. Got {...} and {...}.
    RuntimeError: {name}: the shapes {...} and {...} do not broadcast.

Example:
    >>> ag.linalg.cross(ag.tensor([1.0, 0.0, 0.0]), ag.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])""",
"linalg.diagonal": """The diagonal of each matrix, a view: diagonal() of the last two dimensions unless others are named.

Args:
    A (Tensor): (..., m, n); any dtype.
    offset (int): Which diagonal: 0 the main one, above 0 above it, below 0 below it. Default:
        0.
    dim1 (int): The first dimension of the matrices. Default: -2.
    dim2 (int): The second dimension of the matrices. Default: -1.

Returns:
    Tensor.

Example:
    >>> ag.linalg.diagonal(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])""",
"linalg.eig": """(eigenvalues, eigenvectors) of each square matrix, complex.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (eigenvalues, eigenvectors), a named tuple of complex tensors (..., n) and (..., n, n).

Raises:
    RuntimeError: the dtype is bool or integers.

Example:
    >>> ag.linalg.eig(ag.tensor([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    tensor([2.+0.j, 3.+0.j])""",
"linalg.eigh": """(eigenvalues, eigenvectors) of each Hermitian matrix, of which one triangle is read; values in
increasing order.

Args:
    A (Tensor): (..., n, n), symmetric or Hermitian; floating point or complex.
    UPLO (str): "L" or "U": which triangle is read. Default: 'L'.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (eigenvalues, eigenvectors), a named tuple: (..., n), real, and (..., n, n).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: Expected UPLO argument to be 'L' or 'U', but got {UPLO}.

Example:
    >>> ag.linalg.eigh(ag.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    tensor([1., 3.])""",
"linalg.eigvals": """The eigenvalues of each square matrix, complex.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, complex (..., n).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.linalg.eigvals(ag.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor([2.+0.j, 3.+0.j])""",
"linalg.eigvalsh": """The eigenvalues of each Hermitian matrix, in increasing order.

Args:
    A (Tensor): (..., n, n), symmetric or Hermitian; floating point or complex.
    UPLO (str): "L" or "U": which triangle is read. Default: 'L'.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real (..., n).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Expected UPLO argument to be 'L' or 'U', but got {UPLO}.

Example:
    >>> ag.linalg.eigvalsh(ag.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])""",
"linalg.householder_product": """The first columns of the product of the reflections 1 - tau_i v_i v_i^H, with v_i below the diagonal of A's column i
and 1 on it.

Args:
    A (Tensor): (..., m, n), from geqrf(); floating point or complex.
    tau (Tensor): (..., k), from geqrf().
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., m, n).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}: input.shape[-2] must be greater than or equal to input.shape[-1], not
        {m} and {n}.
    RuntimeError: {name}: Expected tau to have one dimension less than input and the same batch,
        but got shapes {...} and {...}.
    RuntimeError: {name}: input.shape[-1] must be greater than or equal to tau.shape[-1], not
        {n} and {...}.

Example:
    >>> ag.linalg.householder_product(*ag.geqrf(ag.tensor([[3.0], [4.0]])))
    tensor([[-0.6000],
            [-0.8000]])""",
"linalg.inv": """The inverse of each square matrix. LinAlgError if one is singular.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.linalg.inv(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])""",
"linalg.inv_ex": """(inverse, info): info is 0, or the number of the first zero pivot of a singular matrix, whose
inverse is nan.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    check_errors (bool): Whether an error is raised in place of an `info`. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (inverse, info), a named tuple; info is int32 (...).

Raises:
    RuntimeError: the dtype is bool or integers.
    LinAlgError: {name}: {place}The diagonal element {number} is zero: the matrix is singular.

Example:
    >>> ag.linalg.inv_ex(ag.tensor([[2.0, 0.0], [0.0, 4.0]])).inverse
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])""",
"linalg.lstsq": """(solution, residuals, rank, singular_values): the X of least norm with the least |A X - B|.

Singular values of at most rcond times the largest count as zero; "gels" ignores rcond, as LAPACK does. The derivative
takes what is dropped for zero.
residuals are the squared sums, where A has full rank and more rows than columns, unless the driver is "gelsy";
rank is empty for the driver "gels", singular_values but for "gelsd" and "gelss".

Args:
    A (Tensor): (..., m, n); floating point or complex.
    B (Tensor): (..., m, k) or (..., m).
    rcond (Tensor or float): Singular values up to this part of the largest count as 0.
    driver (str): "gelsd", "gelss", "gelsy" or "gels".
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (solution, residuals, rank, singular_values), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd,
        gelss), not {driver}.
    RuntimeError: torch.linalg.lstsq: input B must have at least 1 dimension, its shape is [].
    RuntimeError: torch.linalg.lstsq: A.size(-2) should match B.size({...}).
    RuntimeError: linalg.lstsq: batch dimensions of {...} and {...} do not broadcast.
    TypeError: linalg_lstsq(): argument 'rcond' must be float, not {...}.

Example:
    >>> ag.linalg.lstsq(ag.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), ag.tensor([[1.0], [4.0], [9.0]])).solution
    tensor([[1.],
            [2.]])""",
"linalg.lu": """(P, L, U) with A = P @ L @ U.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    pivot (bool): Whether rows are exchanged; only True. Default: True.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (P, L, U), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    NotImplementedError: {name}: LU without pivoting (pivot=False) is not implemented on the
        CPU.

Example:
    >>> ag.linalg.lu(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Plu(P=tensor([[0., 1.],
            [1., 0.]]), L=tensor([[1.0000, 0.0000],
            [0.3333, 1.0000]]), U=tensor([[3.0000, 4.0000],
            [0.0000, 0.6667]]))""",
"linalg.lu_factor": """(LU, pivots): L and U in one matrix; row i was exchanged with row pivots[i] - 1. LinAlgError if U is
singular.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    pivot (bool): Whether rows are exchanged; only True. Default: True.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (LU, pivots), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    LinAlgError: torch.linalg.lu_factor: {place}U[{number},{number}] is zero and using it on
        lu_solve would result in a division by zero.
    NotImplementedError: {name}: LU without pivoting (pivot=False) is not implemented on the
        CPU.

Example:
    >>> ag.linalg.lu_factor(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    LuFactor(LU=tensor([[3.0000, 4.0000],
            [0.3333, 0.6667]]), pivots=tensor([2, 2], dtype=int32))""",
"linalg.lu_factor_ex": """(LU, pivots, info): lu_factor without the error; info is 0, or the number of the first zero of U's
diagonal.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    pivot (bool): Whether rows are exchanged; only True. Default: True.
    check_errors (bool): Whether an error is raised in place of an `info`. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (LU, pivots, info), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    NotImplementedError: {name}: LU without pivoting (pivot=False) is not implemented on the
        CPU.

Example:
    >>> ag.linalg.lu_factor_ex(ag.tensor([[1.0, 2.0], [3.0, 4.0]])).info
    tensor(0, dtype=int32)""",
"linalg.lu_solve": """X with A @ X = B, from lu_factor(A); X @ A = B if left is False; A^H in place of A if `adjoint`.

Args:
    LU (Tensor): (..., n, n), from lu_factor(); floating point or complex.
    pivots (Tensor): (..., n), from lu_factor().
    B (Tensor): (..., n, k).
    left (bool): Whether the matrix stands on the left. Default: True.
    adjoint (bool): Whether A^H stands in place of A. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}: pivots should be a Tensor of scalar type torch.int32, not
        {rows.dtype}.
    RuntimeError: {name}: Number of pivots per batch should be same as the dimension of the
        matrix.
    RuntimeError: {name}: Incompatible shapes of A and B for the equation {...} ({...}x{...} and
        {...}x{...}).

Example:
    >>> ag.linalg.lu_solve(*ag.linalg.lu_factor(ag.tensor([[1.0, 2.0], [3.0, 4.0]])), ag.tensor([[5.0], [11.0]]))
    tensor([[1.],
            [2.]])""",
"linalg.matrix_norm": """The norm of each matrix: "fro" (of all elements as one vector), "nuc" (the sum of the singular values), 2 and -2 (the
largest and smallest), 1 and -1 (the largest and smallest sum of a column), inf and -inf (of a row).

Args:
    A (Tensor): (..., m, n); floating point or complex.
    ord (str or float): "fro", "nuc", 2, -2, 1, -1, inf or -inf. Default: 'fro'.
    dim (ints): The two dimensions of the matrices.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.matrix_norm: Order {ord} not supported.
    RuntimeError: linalg.svd: Low precision dtypes not supported.
    RuntimeError: linalg.matrix_norm: The input tensor A must have at least 2 dimensions, its
        shape is {...}.
    RuntimeError: linalg.matrix_norm: dim must be a 2-tuple.
    RuntimeError: linalg.matrix_norm: dims must be different.
    RuntimeError: {name}: Expected a floating point or complex tensor as input.

Example:
    >>> ag.linalg.matrix_norm(ag.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(5.)""",
"linalg.matrix_rank": """How many singular values of each matrix are larger than max(atol, rtol * the largest).

Args:
    A (Tensor): (..., m, n); floating point or complex.
    tol (Tensor or float): The older name of atol.
    hermitian (bool): Whether A is Hermitian. Default: False.
    atol (Tensor or float): Absolute tolerance.
    rtol (Tensor or float): Relative tolerance.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, int64 (...).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.linalg.matrix_rank(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor(1)""",
"linalg.multi_dot": """The product of a chain of matrices, in the order that takes the fewest multiplications; the first and the last may
be vectors.

Args:
    tensors (Tensors): Two or more matrices; the first and the last may be vectors; integers,
        floating point or complex.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    NotImplementedError: the dtype is bool.
    RuntimeError: multi_dot(): expected at least 2 tensors but got {...}.
    RuntimeError: multi_dot(): tensor {i} must be 2D{...} but got {x.ndim}D.
    RuntimeError: multi_dot(): all tensors must have be the same dtype but tensor 0 is {...} and
        tensor {i} {x.dtype}.
    RuntimeError: multi_dot(): tensors {i} and {...} with shapes {...} and {...} cannot be
        multiplied.

Example:
    >>> ag.linalg.multi_dot([ag.ones(1, 2), ag.ones(2, 3), ag.ones(3, 1)])
    tensor([[6.]])""",
"linalg.norm": """vector_norm, or matrix_norm where `dim` names two dimensions, or A is a matrix and ord is given.

Args:
    A (Tensor): Of any shape; floating point or complex.
    ord (float or str): The order of the norm, see vector_norm and matrix_norm.
    dim (int): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.norm: If dim is specified, it must be of length 1 or 2. Got {...}.
    RuntimeError: linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D.
        Got {A.ndim}D.
    RuntimeError: linalg.norm: the order {ord} is one of matrices.
    RuntimeError: linalg.norm: The input tensor A must have at least 2 dimensions for ord={ord},
        not {A.ndim}.

Example:
    >>> ag.linalg.norm(ag.tensor([3.0, 4.0]))
    tensor(5.)
    >>> ag.linalg.norm(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor(6.)""",
"linalg.pinv": """The pseudoinverse of each matrix; singular values up to max(atol, rtol * the largest) count as zero.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    rcond (Tensor or float): The older name of rtol.
    hermitian (bool): Whether A is Hermitian. Default: False.
    atol (Tensor or float): Absolute tolerance.
    rtol (Tensor or number): Relative tolerance.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor (..., n, m).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.

Example:
    >>> ag.linalg.pinv(ag.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])""",
"linalg.qr": """(Q, R) with A = Q @ R, Q^H @ Q = 1, R upper triangular; mode "complete": Q square; "r": R alone, Q
empty.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    mode (str): "reduced", "complete" or "r". Default: 'reduced'.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (Q, R), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: qr received unrecognized mode '{mode}' but expected one of 'reduced'
        (default), 'r', or 'complete'.

Example:
    >>> ag.linalg.qr(ag.tensor([[3.0], [4.0]]))
    LinalgQr(Q=tensor([[-0.6000],
            [-0.8000]]), R=tensor([[-5.]]))""",
"linalg.solve": """X with A @ X = B, or X @ A = B where left is False. LinAlgError if A is singular.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    B (Tensor): (..., n, k), or (..., n) where that fits A.
    left (bool): Whether the matrix stands on the left. Default: True.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}: Vector broadcasting of the left hand side is not supported for
        left=False.

Example:
    >>> ag.linalg.solve(ag.tensor([[2.0, 0.0], [0.0, 4.0]]), ag.tensor([2.0, 8.0]))
    tensor([1., 2.])""",
"linalg.solve_ex": """(result, info): info is 0, or the number of the first zero pivot of a singular matrix.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    B (Tensor): (..., n, k), or (..., n) where that fits A.
    left (bool): Whether the matrix stands on the left. Default: True.
    check_errors (bool): Whether an error is raised in place of an `info`. Default: False.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (result, info), a named tuple; info is int32 (...).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: {name}: Vector broadcasting of the left hand side is not supported for
        left=False.
    LinAlgError: {name}: {place}The diagonal element {number} is zero: the matrix is singular.

Example:
    >>> ag.linalg.solve_ex(ag.tensor([[2.0, 0.0], [0.0, 4.0]]), ag.tensor([2.0, 8.0])).result
    tensor([1., 2.])""",
"linalg.solve_triangular": """X with A @ X = B (or X @ A = B) where only the upper or lower triangle of A is read; unitriangular: and its diagonal
taken for ones.

Args:
    A (Tensor): (..., n, n); floating point or complex.
    B (Tensor): (..., n, k).
    upper (bool): Which triangle of A is read.
    left (bool): Whether the matrix stands on the left. Default: True.
    unitriangular (bool): Whether A's diagonal counts as ones. Default: False.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: {name}: Incompatible shapes of A and B for the equation {...} ({...}x{...} and
        {...}x{...}).

Example:
    >>> ag.linalg.solve_triangular(ag.tensor([[1.0, 1.0], [0.0, 2.0]]), ag.tensor([[4.0], [4.0]]), upper=True)
    tensor([[2.],
            [2.]])""",
"linalg.svd": """(U, S, Vh) with A = U @ diag(S) @ Vh, S in decreasing order; with full_matrices=False only min(m, n)
vectors.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    full_matrices (bool): Square U and Vh. Default: True.
    driver (str): Only None.
    out (Tensors): Tensor that the result is written to; it gets the result's shape.

Returns:
    (U, S, Vh), a named tuple.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: linalg.svd: keyword argument `driver={driver}` is only supported on CUDA
        inputs with cuSOLVER backend.

Example:
    >>> ag.linalg.svd(ag.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])""",
"linalg.svdvals": """The singular values of each matrix, in decreasing order.

Args:
    A (Tensor): (..., m, n); floating point or complex.
    driver (str): Only None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor, real (..., min(m, n)).

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.svdvals: keyword argument `driver={driver}` is only supported on CUDA
        inputs with cuSOLVER backend.

Example:
    >>> ag.linalg.svdvals(ag.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])""",
"linalg.tensorinv": """The inverse of A for tensordot: tensordot(tensorinv(A, ind), A, ind) is the identity.

Args:
    A (Tensor): The product of the first `ind` sizes is that of the others; floating point or
        complex.
    ind (int): How many dimensions are rows. Default: 2.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Expected a strictly positive integer for 'ind', got {ind}.
    RuntimeError: Expected self to satisfy the requirement prod(self.shape[ind:]) ==
        prod(self.shape[:ind]), but got {m} != {n}, for shape {...}.

Example:
    >>> ag.linalg.tensorinv(ag.eye(4).reshape(2, 2, 2, 2)).shape
    Size([2, 2, 2, 2])""",
"linalg.tensorsolve": """X with tensordot(A, X, X.ndim) = B; `dims` of A are moved to its end first.

Args:
    A (Tensor): The product of B's sizes is that of the others; floating point or complex.
    B (Tensor): The right side.
    dims (ints): Dimensions of A that are moved to its end.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) ==
        prod(self.shape[:other.ndim]), but got {n} != {m}, for shapes {...} and {...}.

Example:
    >>> ag.linalg.tensorsolve(ag.eye(4).reshape(2, 2, 4), ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 2., 3., 4.])""",
"linalg.vander": """The powers 0 to N - 1 of x along a new last dimension; N is by default the size of x's last one.

Args:
    x (Tensor): (..., n); any dtype.
    N (int): Number of powers.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: linalg.vander: The input tensor must have at least one dimension, or N must be
        given.
    RuntimeError: N must be greater than 1, got {N}.

Example:
    >>> ag.linalg.vander(ag.tensor([2, 3]))
    tensor([[1, 2],
            [1, 3]])""",
"linalg.vecdot": """The sum of conj(x) * y along `dim`.

Args:
    x (Tensor): Of a shape that broadcasts with y's; floating point or complex.
    y (Tensor): Of a shape that broadcasts with x's.
    dim (int): Dimension, from the front or (negative) from the end. Default: -1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.vecdot: Expected vectors of one dtype, but found {x.dtype} and
        {y.dtype}.
    RuntimeError: linalg.vecdot: Expected a floating point or complex tensor as input.

Example:
    >>> ag.linalg.vecdot(ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0, 4.0]]))
    tensor([11.])""",
"linalg.vector_norm": """(sum of |x|^ord)^(1/ord) over `dim`, or over all; for ord 0 the number of elements that are not 0, for inf and -inf
the largest and smallest |x|.

Args:
    x (Tensor): Of any shape; floating point or complex.
    ord (Tensor or number): The order of the norm. Default: 2.
    dim (int or ints): Dimension or dimensions; all if None.
    keepdim (bool): Whether the reduced dimensions stay, with size 1. Default: False.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.

Returns:
    Tensor.

Raises:
    RuntimeError: the dtype is bool or integers.
    IndexError: `dim` is no dimension of the input.
    RuntimeError: `out` is given, and an operand needs a gradient.
    RuntimeError: linalg.vector_norm: Expected a non-complex scalar as the order of norm, not
        {ord}.
    RuntimeError: linalg.vector_norm cannot compute the {ord} norm on an empty dimension because
        the operation does not have an identity.
    RuntimeError: {name}: Expected a floating point or complex tensor as input.
    RuntimeError: {name}: dtype should be {...} for an input of {x.dtype}, but got {dtype}.
    RuntimeError: {name}: the dtype of the input ({x.dtype}) should be convertible without
        narrowing to the specified dtype ({dtype}).

Example:
    >>> ag.linalg.vector_norm(ag.tensor([3.0, 4.0]))
    tensor(5.)""",
}
for _pair in """outer:ger spmm:mm Tensor.addbmm:addbmm Tensor.addmm:addmm Tensor.addmv:addmv Tensor.addr:addr
    Tensor.baddbmm:baddbmm Tensor.cholesky:cholesky Tensor.cholesky_inverse:cholesky_inverse
    Tensor.cholesky_solve:cholesky_solve Tensor.det:det Tensor.logdet:logdet Tensor.slogdet:slogdet Tensor.lu:lu
    Tensor.lu_solve:lu_solve Tensor.bmm:bmm Tensor.dot:dot Tensor.ger:ger Tensor.inner:inner Tensor.matmul:matmul
    Tensor.mm:mm Tensor.mv:mv Tensor.outer:ger Tensor.vdot:vdot Tensor.matrix_exp:matrix_exp
    Tensor.matrix_power:matrix_power Tensor.dist:dist Tensor.norm:norm Tensor.renorm:renorm Tensor.pinverse:pinverse
    Tensor.geqrf:geqrf Tensor.orgqr:orgqr Tensor.ormqr:ormqr Tensor.qr:qr Tensor.inverse:inverse
    Tensor.triangular_solve:triangular_solve Tensor.svd:svd Tensor.cross:cross Tensor.kron:kron linalg.det:det
    linalg.matmul:matmul linalg.matrix_exp:matrix_exp linalg.matrix_power:matrix_power linalg.slogdet:slogdet""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
