"""numpy.linalg on Tensors: its functions as calls of autograd.linalg, with NumPy's arguments and NumPy's named results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, result
from ..ops.linalg.matrices import LinAlgError
from .numpy_functions import ag, of_one_dtype

RESULTS: Any = np.linalg._linalg if hasattr(np.linalg, "_linalg") else np.linalg      # where NumPy has its named results


def named(name: str, values: Any) -> Any:
    """NumPy's named result of that name; a tuple where this NumPy has none."""
    values = tuple(values)
    kind = getattr(RESULTS, name, None)
    return values if kind is None else kind(*values)


def only(name: str, argument: str, value: object, allowed: bool) -> None:
    """TypeError for a value of an argument that autograd's function has no counterpart of."""
    if not allowed:
        raise TypeError(f"numpy.linalg.{name} on Tensors: argument {argument}={value!r} is not supported")


def solve(a: Any, b: Any) -> Tensor:
    """numpy.linalg.solve: b is a vector if it has one dimension, and else matrices."""
    a, b = of_one_dtype(a, b)
    return ag.linalg.solve(a, ag.unsqueeze(b, -1)).squeeze(-1) if b.ndim == 1 else ag.linalg.solve(*stacked(a, b))


def stacked(a: Any, b: Any) -> tuple[Any, Any]:
    """Both with one number of dimensions: PyTorch's solve() takes a b of one less for vectors."""
    while b.ndim < a.ndim:
        b = ag.unsqueeze(b, 0)
    return a, b


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Tensor:
    """numpy.linalg.tensorsolve: x with tensordot(a, x, x.ndim) = b."""
    return ag.linalg.tensorsolve(*of_one_dtype(a, b), None if axes is None else tuple(axes))


def svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """numpy.linalg.svd. Gradients need full_matrices=False (or a square a), as in PyTorch."""
    if hermitian:                                    # a = v diag(w) v*: the values are |w|, largest first
        w, v = ag.linalg.eigh(a)
        order = ag.argsort(w.detach().abs(), -1, descending=True)
        w, v = ag.gather(w, -1, order), ag.gather(v, -1, ag.unsqueeze(order, -2).expand(v.shape))
        signs = ag.unsqueeze(ag.sgn(w), -2).to(v.dtype)
        return named("SVDResult", (v, w.abs(), ag.transpose(ag.conj(v * signs), -2, -1))) if compute_uv else w.abs()
    return named("SVDResult", ag.linalg.svd(a, full_matrices)) if compute_uv else ag.linalg.svdvals(a)


def qr(a: Tensor, mode: str = "reduced") -> Any:
    """numpy.linalg.qr; of its modes reduced, complete and r."""
    only("qr", "mode", mode, mode in ("reduced", "complete", "r"))
    found = ag.linalg.qr(a, "complete" if mode == "complete" else "reduced")
    return found[1] if mode == "r" else named("QRResult", found)


def pinv(a: Tensor, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """numpy.linalg.pinv: without rcond and rtol singular values below 1e-15 of the largest are left out."""
    if rcond is None and rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps
    elif rcond is None and rtol is np._NoValue:
        rtol = 1e-15
    return ag.linalg.pinv(a, rtol=rtol if rcond is None else rcond, hermitian=hermitian)


def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """numpy.linalg.matrix_rank; a vector's is 1 if it is not zero."""
    if A.ndim < 2:
        return ag.any(A != 0).long()
    if tol is not None:
        return ag.linalg.matrix_rank(A, atol=tol, rtol=0.0, hermitian=hermitian)
    return ag.linalg.matrix_rank(A, hermitian=hermitian) if rtol is None else ag.linalg.matrix_rank(
        A, atol=0.0, rtol=rtol, hermitian=hermitian)


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """numpy.linalg.lstsq: (solution, residuals, rank, singular values)."""
    a, b = of_one_dtype(a, b)
    matrix = ag.unsqueeze(b, -1) if b.ndim == 1 else b
    values = ag.linalg.svdvals(a)
    limit = np.finfo(a.dtype).eps * (max(a.shape) if rcond is None else 1) if rcond in (None, -1) else rcond
    rank = int((values.array > limit * values.array.max(initial=0)).sum())
    x = ag.linalg.pinv(a, rtol=limit) @ matrix
    rest = (matrix - a @ x).abs().square().sum(0) if rank == a.shape[1] < a.shape[0] else result(np.zeros(0, values.dtype))
    return (x.squeeze(-1) if b.ndim == 1 else x), rest, rank, values


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """numpy.linalg.norm of a vector or matrix; without ord that of all elements."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    if ord is None and axis is None:                 # of any number of dimensions
        found = ag.linalg.vector_norm(x)
        return found.reshape((1,) * x.ndim) if keepdims else found
    if axis is None and x.ndim not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    return ag.linalg.norm(x, ord, axis, keepdims)


def vector_norm(x: Tensor, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """numpy.linalg.vector_norm: without an axis of all elements."""
    return ag.linalg.vector_norm(x, ord, axis, keepdims)


def multi_dot(arrays: Any, *, out: Any = None) -> Tensor:
    """numpy.linalg.multi_dot: the product of all, in the order that costs least."""
    only("multi_dot", "out", out, out is None)
    return ag.linalg.multi_dot(of_one_dtype(*arrays))


def trace(x: Tensor, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """numpy.linalg.trace: over the last two dimensions."""
    return ag.sum(ag.diagonal(x, offset, -2, -1), -1, dtype=dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cholesky": lambda a, *, upper=False: ag.linalg.cholesky(a, upper=upper),
    "cond": lambda x, p=None: ag.linalg.cond(x, p),
    "cross": lambda x1, x2, *, axis=-1: ag.linalg.cross(*ag.broadcast_tensors(*of_one_dtype(x1, x2)), dim=axis),
    "det": lambda a: ag.linalg.det(a),
    "diagonal": lambda x, *, offset=0: ag.diagonal(x, offset, -2, -1),
    "eig": lambda a: named("EigResult", ag.linalg.eig(a)),
    "eigh": lambda a, UPLO="L": named("EighResult", ag.linalg.eigh(a, UPLO.upper())),
    "eigvals": lambda a: ag.linalg.eigvals(a),
    "eigvalsh": lambda a, UPLO="L": ag.linalg.eigvalsh(a, UPLO.upper()),
    "inv": lambda a: ag.linalg.inv(a),
    "lstsq": lstsq,
    "matmul": lambda x1, x2: ag.matmul(*of_one_dtype(x1, x2)),
    "matrix_norm": lambda x, *, keepdims=False, ord="fro": ag.linalg.matrix_norm(x, ord, (-2, -1), keepdims),
    "matrix_power": lambda a, n: ag.linalg.matrix_power(a, n),
    "matrix_rank": matrix_rank,
    "matrix_transpose": lambda x: ag.transpose(x, -2, -1),
    "multi_dot": multi_dot,
    "norm": norm,
    "outer": lambda x1, x2: ag.outer(*of_one_dtype(x1, x2)),
    "pinv": pinv,
    "qr": qr,
    "slogdet": lambda a: named("SlogdetResult", ag.linalg.slogdet(a)),
    "solve": solve,
    "svd": svd,
    "svdvals": lambda x: ag.linalg.svdvals(x),
    "tensordot": lambda x1, x2, *, axes=2: ag.tensordot(*of_one_dtype(x1, x2), axes),
    "tensorinv": lambda a, ind=2: ag.linalg.tensorinv(a, ind),
    "tensorsolve": tensorsolve,
    "trace": trace,
    "vecdot": lambda x1, x2, *, axis=-1: ag.linalg.vecdot(*of_one_dtype(x1, x2), dim=axis),
    "vector_norm": vector_norm,
}
EXACT = ("cross", "diagonal", "matmul", "matrix_power", "matrix_transpose", "multi_dot", "outer", "tensordot", "trace",
         "vecdot")                                   # of whole numbers whole numbers


def floats(x: Any) -> Any:
    """A Tensor of whole numbers as float64; anything else as it is."""
    return x.double() if isinstance(x, Tensor) and x.dtype.kind in "iub" else x


def in_floats(name: str) -> Callable[..., Any]:
    """The function of that name on Tensors whose whole numbers are float64, as NumPy computes, with NumPy's error for a
    matrix that has no result."""
    function = FUNCTIONS[name]

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*map(floats, args), **{key: floats(value) for key, value in kwargs.items()})
        except LinAlgError as error:
            raise np.linalg.LinAlgError(str(error)) from error

    return functools.update_wrapper(call, function)


for _name, _function in FUNCTIONS.items():           # what Python's errors about arguments begin with
    _function.__qualname__ = f"numpy.linalg.{_name} on Tensors"
FUNCTIONS.update({name: in_floats(name) for name in FUNCTIONS if name not in EXACT})
