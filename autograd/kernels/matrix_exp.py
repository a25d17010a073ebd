"""The exponential of matrices: scaling, a rational approximation, squaring."""

from __future__ import annotations

import numpy as np

from ..base.types import Array

# The coefficients of the [13/13] Pade approximant, and the norm up to which it is exact to double precision: N. Higham,
# The Scaling and Squaring Method for the Matrix Exponential Revisited, SIAM J. Matrix Anal. Appl. 26 (2005), Table 2.3.
COEFFICIENTS = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
                10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0)
LARGEST_NORM = 5.371920351148152


def matrix_exp(a: Array) -> Array:
    """exp of each matrix of a stack (..., n, n)."""
    if not a.size:
        return a.copy()
    given = a.dtype
    a = a.astype(np.complex128 if given.kind == "c" else np.float64)
    norms = np.abs(a).sum(-2).max(-1)
    with np.errstate(all="ignore"):
        times = np.ceil(np.log2(np.where(np.isfinite(norms), norms, 1) / LARGEST_NORM)).clip(0).astype(int)
    a = a / (2.0 ** times)[..., None, None]
    b = COEFFICIENTS
    one = np.eye(a.shape[-1])
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    out = np.linalg.solve(even - odd, even + odd)
    for step in range(int(times.max())):
        squared = out @ out
        out = np.where((times > step)[..., None, None], squared, out)
    return out.astype(given)
