"""Linear algebra under the names of torch.linalg."""

from .base import docstrings as _docstrings
from .ops.linalg.addmm import multi_dot
from .ops.linalg.cholesky import cholesky_ex
from .ops.linalg.cholesky import linalg_cholesky as cholesky
from .ops.linalg.determinant import det, slogdet
from .ops.linalg.eig import eig, eigh, eigvals, eigvalsh
from .ops.linalg.lu import linalg_lu as lu
from .ops.linalg.lu import linalg_lu_solve as lu_solve
from .ops.linalg.lu import lu_factor, lu_factor_ex
from .ops.linalg.matmul import matmul
from .ops.linalg.matrices import LinAlgError
from .ops.linalg.matrix_functions import matrix_exp, matrix_power
from .ops.linalg.norms import cond, matrix_norm, vector_norm
from .ops.linalg.norms import linalg_norm as norm
from .ops.linalg.pinv import lstsq, matrix_rank, pinv
from .ops.linalg.qr import householder_product
from .ops.linalg.qr import linalg_qr as qr
from .ops.linalg.solve import inv, inv_ex, solve, solve_ex, solve_triangular, tensorinv, tensorsolve
from .ops.linalg.svd import linalg_svd as svd
from .ops.linalg.svd import svdvals
from .ops.linalg.trace import linalg_diagonal as diagonal
from .ops.linalg.vector_products import linalg_cross as cross
from .ops.linalg.vector_products import linalg_vander as vander
from .ops.linalg.vector_products import vecdot

__all__ = ["LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
           "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve",
           "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr",
           "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander",
           "vecdot", "vector_norm"]

_docstrings.attach(globals(), "linalg", "linalg.")
