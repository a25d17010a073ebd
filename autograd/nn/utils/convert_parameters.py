"""Parameters as one vector, and the vector as parameters."""

from __future__ import annotations

from collections.abc import Iterable

from ...base import docstrings as _docstrings
from ...base.arguments import listed
from ...core.tensor import Tensor
from ...ops.shape import cat, reshape


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate all parameters to one vector, differentiably."""
    vector: Tensor = cat([reshape(p, -1) for p in parameters])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make each parameter a view of its piece of vec."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in listed("vector_to_parameters: `parameters`", parameters):
        end = start + parameter.numel()
        parameter.data = reshape(vec.detach()[start:end], parameter.shape)
        start = end


__all__ = ["parameters_to_vector", "vector_to_parameters"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.")
