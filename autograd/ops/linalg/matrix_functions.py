"""Powers and the exponential of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import leading
from ...core.operation import Operation
from ...core.out import takes_out
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.matrix_exp import matrix_exp as exponential
from ..pointwise.where import where
from ..shape import cat, clone, mH, narrow
from .matmul import matmul
from .solve import inv


class MatrixExp(Operation, name="LinalgMatrixExp"):
    """exp(A) = 1 + A + A^2 / 2 + ..."""

    batched = leading

    @staticmethod
    def forward(ctx: Context, x: Array) -> Array:
        ctx.save(x)
        return exponential(x)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """The upper right block of exp([[A^H, g], [0, A^H]]) (N. Higham, Functions of Matrices, 2008, (3.16))."""
        (x,) = ctx.values
        n = x.shape[-1]
        a = mH(x)
        above = cat([a, g], -1)
        below = cat([np.zeros(x.shape, x.dtype), a], -1)
        block = MatrixExp.apply(cat([above, below], -2))
        return narrow(narrow(block, block.ndim - 2, 0, n), block.ndim - 1, n, n)


def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of each square matrix."""
    _square("linalg.matrix_exp", input)
    if input.dtype.kind not in "fcV":
        raise RuntimeError(f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {input.dtype}")
    return MatrixExp.apply(input)


def _square(name: str, x: Tensor) -> None:
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions, its shape is {list(x.shape)}.")
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by "
                           f"{x.shape[-1]} matrices")


@takes_out
def matrix_power(input: Tensor, n: int) -> Any:
    """Each square matrix multiplied n times with itself; the inverse's power for negative n."""
    _square("linalg.matrix_power", input)
    if n < 0:
        input, n = inv(input), -n
    if n == 0:
        return where(np.False_, input, np.eye(input.shape[-1], dtype=input.dtype))
    if n == 1:
        return clone(input)
    power, square = None, input
    while n:
        if n % 2:
            power = square if power is None else matmul(power, square)
        n //= 2
        if n:
            square = matmul(square, square)
    return power


__all__ = ["matrix_exp", "matrix_power"]
METHODS = ["matrix_exp", "matrix_power"]
