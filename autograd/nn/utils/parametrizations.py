"""Parametrizations that are ready for use: weight normalisation, spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np

from ...base import docstrings as _docstrings
from ...base.dtypes import finfo
from ...core.modes import no_grad
from ...core.tensor import Tensor, result
from ...ops.linalg.matmul import matmul, mv, vdot
from ...ops.linalg.matrix_functions import matrix_exp
from ...ops.linalg.qr import geqrf, householder_product
from ...ops.linalg.solve import solve
from ...ops.nn.normalization import normalize
from ...ops.pointwise.sign import sgn
from ...ops.random.draw import randn
from ...ops.reductions.reduce import sum
from ...ops.shape import cat, clone, diagonal, mH, mT, narrow, tril, unsqueeze
from ..module import Module
from .parametrize import register_parametrization
from .spectral_norm import as_matrix, default_dim, unit
from .weight_norm import norm_except_dim, normalized


class _WeightNorm(Module):
    """g v / |v|. Salimans & Kingma 2016 (arXiv:1602.07868)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """The weight of a length and a direction."""
        return normalized(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        """Length and direction of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train magnitude and direction of a weight separately: weight = g v / |v|. Salimans & Kingma 2016 (arXiv:1602.07868).

    State dicts of the older nn.utils.weight_norm fit too."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def older(state_dict: Any, prefix: str, *_: Any) -> None:
        keys = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state_dict for key in keys):
            for number, key in enumerate(keys):
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(older)
    return module


class _SpectralNorm(Module):
    """W / (u W v), u and v improved by power iterations while training. Miyato et al. 2018 (arXiv:1802.05957)."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but "
                             f"got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = as_matrix(weight, self.dim)
                self.register_buffer("_u", unit(matrix.shape[0], weight, eps))
                self.register_buffer("_v", unit(matrix.shape[1], weight, eps))
            self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        for _ in range(n_power_iterations):
            self._u.copy_(normalize(mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(mv(mH(matrix), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight divided by its largest singular value."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = clone(self._u), clone(self._v)        # a second forward must not change what this one's backward needs
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself, which is assumed to be normalised."""
        return value

    _u: Any
    _v: Any


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Any:
    """Divide a weight by its largest singular value, estimated by power iteration. Miyato et al. 2018 (arXiv:1802.05957).

    Each forward in training mode improves the estimate; in evaluation mode it stays. A vector is divided by its length."""
    weight = _demand_tensor(module, name)
    kind = _SpectralNorm(weight, n_power_iterations, default_dim(module, dim), eps)
    return register_parametrization(module, name, kind)


def _demand_tensor(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


class _OrthMaps(Enum):
    """Ways from any matrix to an orthogonal one."""

    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """An orthogonal (unitary) matrix of any matrix, times `base` if trivialized. Lezcano-Casado 2019 (arXiv:1909.09501)."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.dtype.kind == "c" and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        wide = X.shape[-2] < X.shape[-1]
        X = mT(X) if wide else X
        Q = _householder(X) if self.orthogonal_map == _OrthMaps.householder else _of_skew(X, self.orthogonal_map)
        if hasattr(self, "base"):
            Q = matmul(self.base, Q)
        return mT(Q) if wide else Q

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """The matrix from which Q, made orthogonal, is computed; base becomes Q itself if trivialized."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{Q.shape}.")
        shape, wide = Q.shape, Q.shape[-2] < Q.shape[-1]
        Q = mT(Q) if wide else Q
        if not hasattr(self, "base"):
            if self.orthogonal_map != _OrthMaps.householder:
                raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                          "parametrizations when use_trivialization=False.")
            out = result(_reflections(Q))
            return mT(out) if wide else out
        n, k = Q.shape[-2:]
        if n != k:
            Q = cat([Q, randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype)], -1)
        self.base = clone(Q) if n == k and _is_orthogonal(Q) else _orthogonalised(Q)
        minus = np.zeros(shape, Q.dtype)
        np.einsum("...ii->...i", minus[..., :min(shape[-2:]), :min(shape[-2:])])[...] = -1
        return result(minus)


def _of_skew(X: Any, way: _OrthMaps) -> Any:
    """exp(A), or Cayley's (1 + A / 2) (1 - A / 2)^-1, of A = L - L^H, L the lower triangle of X (n, k): k columns."""
    n, k = X.shape[-2:]
    L = tril(X)
    if n != k:
        L = cat([L, result(np.zeros((*X.shape[:-1], n - k), X.dtype))], -1)
    A = L - mH(L)
    one = result(np.eye(n, dtype=A.dtype))
    Q = matrix_exp(A) if way == _OrthMaps.matrix_exp else solve(one - A * 0.5, one + A * 0.5)
    return Q if n == k else narrow(Q, Q.ndim - 1, 0, k)


def _householder(X: Any) -> Any:
    """The product of the reflections below X's diagonal, columns times the signs on it."""
    A = tril(X, -1)
    tau = 2.0 / (1.0 + sum(A * A, -2))
    signs = diagonal(X, 0, -2, -1).detach().array.astype(np.int32)
    return householder_product(A, tau) * unsqueeze(result(signs), -2)


def _reflections(Q: Any) -> Any:
    """The matrix from which _householder() computes the orthogonal factor of Q, as an array."""
    A, tau = geqrf(Q)
    array = A.array.copy()
    on = np.einsum("...ii->...i", array[..., :array.shape[-1], :])
    on[...] = np.where(tau.array == 0, -np.sign(on), np.sign(on))
    return array


def _is_orthogonal(Q: Any) -> bool:
    eps = 10.0 * Q.shape[-2] * finfo(Q.dtype).eps
    q = Q.array
    return bool(np.allclose(np.conj(np.swapaxes(q, -1, -2)) @ q, np.eye(q.shape[-1], dtype=q.dtype), atol=eps))


def _orthogonalised(A: Any) -> Any:
    """The factor Q of A = Q R with positive numbers on R's diagonal."""
    X, tau = geqrf(A)
    return householder_product(X, tau) * unsqueeze(sgn(diagonal(X, 0, -2, -1)), -2)


def orthogonal(module: Any, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Any:
    """Keep a matrix, or a stack of them, orthogonal: columns (rows, if there are fewer) of length 1 at right angles."""
    weight = _demand_tensor(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.dtype.kind == "c"
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    kind = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return register_parametrization(module, name, kind, unsafe=True)


__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.parametrizations.")
