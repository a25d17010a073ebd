"""The bilinear form of two vectors."""

from __future__ import annotations

from ...core.tensor import Tensor
from ..linalg.matmul import multiplied
from ..reductions.reduce import sum
from ..shape import mT, reshape


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """out[..., k] = input1 weight[k] input2 + bias[k]: input1 (..., i), input2 (..., j), weight (k, i, j)."""
    if weight.ndim != 3:
        raise RuntimeError(f"bilinear(): weight must be 3-D (out, in1, in2), got {list(weight.shape)}")
    if input1.ndim != input2.ndim or input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {list(input1.shape)} and {list(input2.shape)}")
    if input1.ndim == 0 or input1.shape[-1] != weight.shape[1] or input2.shape[-1] != weight.shape[2]:
        raise RuntimeError(f"bilinear(): input1 size {list(input1.shape)} and input2 size {list(input2.shape)} do not match "
                           f"weight size: got {list(weight.shape)}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {list(bias.shape)} but expected "
                           f"{list(weight.shape[:1])}")
    k, i, j = weight.shape
    batch = input1.shape[:-1]
    n = 1
    for size in batch:
        n *= size
    x, y = reshape(input1, (n, i)), reshape(input2, (n, j))
    rows = multiplied(y, mT(weight))                 # (k, n, i): weight[k] y; one product would lose digits in gradients
    out = reshape(mT(sum(rows * x, -1)), (*batch, k))
    return out if bias is None else out + bias


__all__ = ["bilinear"]
METHODS: list[str] = []
