"""Linear algebra under the names of torch.linalg."""

from .ops.addmm import multi_dot
from .ops.cholesky import cholesky_ex
from .ops.cholesky import linalg_cholesky as cholesky
from .ops.determinant import det, slogdet
from .ops.eig import eig, eigh, eigvals, eigvalsh
from .ops.linalg_norms import cond, matrix_norm, norm, vector_norm
from .ops.lu import linalg_lu as lu
from .ops.lu import linalg_lu_solve as lu_solve
from .ops.lu import lu_factor, lu_factor_ex
from .ops.matmul import matmul
from .ops.matrices import LinAlgError
from .ops.matrix_functions import matrix_exp, matrix_power
from .ops.pinv import lstsq, matrix_rank, pinv
from .ops.qr import householder_product
from .ops.qr import linalg_qr as qr
from .ops.solve import inv, inv_ex, solve, solve_ex, solve_triangular, tensorinv, tensorsolve
from .ops.svd import linalg_svd as svd
from .ops.svd import svdvals
from .ops.triangle import linalg_diagonal as diagonal
from .ops.vector_products import linalg_cross as cross
from .ops.vector_products import linalg_vander as vander
from .ops.vector_products import vecdot

__all__ = ["LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
           "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve",
           "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr",
           "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander",
           "vecdot", "vector_norm"]
