"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from .base.types import DTypeLike
from .base.types import Dims
from .core.tensor import Tensor as Tensor
from .core.types import TensorOrArray
from .core.types import TensorOrNumber
from .ops.linalg.cholesky import CholeskyEx
from .ops.linalg.determinant import SlogDet
from .ops.linalg.eig import Eig
from .ops.linalg.eig import Eigh
from .ops.linalg.lu import LuFactor
from .ops.linalg.lu import LuFactorEx
from .ops.linalg.lu import Plu
from .ops.linalg.matrices import LinAlgError as LinAlgError
from .ops.linalg.pinv import Lstsq
from .ops.linalg.qr import LinalgQr
from .ops.linalg.solve import InvEx
from .ops.linalg.solve import SolveEx
from .ops.linalg.svd import LinalgSvd
from collections.abc import Sequence
from typing import overload

__all__ = ["LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm"]

def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The triangular L with L @ L^H = A (or U^H @ U = A) for positive definite A, of which one triangle is read."""
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> CholeskyEx:
    """(L, info): info is 0, or the order of the first leading minor that is not positive definite; its L is nan."""
def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The norm of each matrix times that of its inverse; for p None, 2 and -2 the ratio of its extreme singular values. inf for singular ones."""
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along `dim`; other dimensions broadcast."""
@overload
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of each square matrix."""
@overload
def det(*, input: Tensor, out: Tensor | None = None) -> Tensor:
    """The determinant of each square matrix."""
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal of each matrix, a view: diagonal() of the last two dimensions unless others are named."""
def eig(A: Tensor, *, out: Sequence[Tensor] | None = None) -> Eig:
    """(eigenvalues, eigenvectors) of each square matrix, complex."""
def eigh(A: Tensor, UPLO: str = 'L', *, out: Sequence[Tensor] | None = None) -> Eigh:
    """(eigenvalues, eigenvectors) of each Hermitian matrix, of which one triangle is read; values in increasing order."""
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of each square matrix, complex."""
def eigvalsh(A: Tensor, UPLO: str = 'L', *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of each Hermitian matrix, in increasing order."""
def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections 1 - tau_i v_i v_i^H, with v_i below the diagonal of A's column i and 1 on it."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of each square matrix. LinAlgError if one is singular."""
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> InvEx:
    """(inverse, info): info is 0, or the number of the first zero pivot of a singular matrix, whose inverse is nan."""
def lstsq(A: Tensor, B: Tensor, rcond: Tensor | float | None = None, *, driver: str | None = None, out: Sequence[Tensor] | None = None) -> Lstsq:
    """(solution, residuals, rank, singular_values): the X of least norm with the least |A X - B|."""
def lu(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> Plu:
    """(P, L, U) with A = P @ L @ U."""
def lu_factor(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> LuFactor:
    """(LU, pivots): L and U in one matrix; row i was exchanged with row pivots[i] - 1. LinAlgError if U is singular."""
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> LuFactorEx:
    """(LU, pivots, info): lu_factor without the error; info is 0, or the number of the first zero of U's diagonal."""
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Tensor | None = None) -> Tensor:
    """X with A @ X = B, from lu_factor(A); X @ A = B if left is False; A^H in place of A if `adjoint`."""
def matmul(input: TensorOrArray, other: TensorOrArray, *, out: Tensor | None = None) -> Tensor:
    """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes broadcast."""
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of each square matrix."""
def matrix_norm(A: Tensor, ord: str | float = 'fro', dim: Sequence[int] = ..., keepdim: bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """The norm of each matrix: "fro" (of all elements as one vector), "nuc" (the sum of the singular values), 2 and -2 (the largest and smallest), 1 and -1 (the largest and smallest sum of a column), inf and -inf (of a row)."""
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Each square matrix multiplied n times with itself; the inverse's power for negative n."""
def matrix_rank(A: Tensor, tol: Tensor | float | None = None, hermitian: bool = False, *, atol: Tensor | float | None = None, rtol: Tensor | float | None = None, out: Tensor | None = None) -> Tensor:
    """How many singular values of each matrix are larger than max(atol, rtol * the largest)."""
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of a chain of matrices, in the order that takes the fewest multiplications; the first and the last may be vectors."""
def norm(A: Tensor, ord: float | str | None = None, dim: Dims | None = None, keepdim: bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """vector_norm, or matrix_norm where `dim` names two dimensions, or A is a matrix and ord is given."""
def pinv(A: Tensor, rcond: Tensor | float | None = None, hermitian: bool = False, *, atol: Tensor | float | None = None, rtol: TensorOrNumber | None = None, out: Tensor | None = None) -> Tensor:
    """The pseudoinverse of each matrix; singular values up to max(atol, rtol * the largest) count as zero."""
def qr(A: Tensor, mode: str = 'reduced', *, out: Sequence[Tensor] | None = None) -> LinalgQr:
    """(Q, R) with A = Q @ R, Q^H @ Q = 1, R upper triangular; mode "complete": Q square; "r": R alone, Q empty."""
@overload
def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> SlogDet:
    """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet)."""
@overload
def slogdet(*, input: Tensor, out: Sequence[Tensor] | None = None) -> SlogDet:
    """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet)."""
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """X with A @ X = B, or X @ A = B where left is False. LinAlgError if A is singular."""
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> SolveEx:
    """(result, info): info is 0, or the number of the first zero pivot of a singular matrix."""
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Tensor | None = None) -> Tensor:
    """X with A @ X = B (or X @ A = B) where only the upper or lower triangle of A is read; unitriangular: and its diagonal taken for ones."""
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Sequence[Tensor] | None = None) -> LinalgSvd:
    """(U, S, Vh) with A = U @ diag(S) @ Vh, S in decreasing order; with full_matrices=False only min(m, n) vectors."""
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """The singular values of each matrix, in decreasing order."""
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A for tensordot: tensordot(tensorinv(A, ind), A, ind) is the identity."""
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B; `dims` of A are moved to its end first."""
def vander(x: TensorOrArray, *, N: int | None = None, out: Tensor | None = None) -> Tensor:
    """The powers 0 to N - 1 of x along a new last dimension; N is by default the size of x's last one."""
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The sum of conj(x) * y along `dim`."""
def vector_norm(x: Tensor, ord: TensorOrNumber = 2, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """(sum of |x|^ord)^(1/ord) over `dim`, or over all; for ord 0 the number of elements that are not 0, for inf and -inf the largest and smallest |x|."""
