"""Error feedback of PowerSGD, top-k and quantization: a message's error is added to the next gradients (Seide et al.
2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.kernels.halves import converted

from ..pytree.flat_arrays import unflatten
from .bucket_hook import GradBucket

Array = np.ndarray[Any, Any]


class Residuals:
    """The errors of the last messages, by parameter name, so that they survive when buckets are assigned again."""

    def __init__(self) -> None:
        self.by_name: dict[str, Array] = {}

    def add_to(self, bucket: GradBucket, x: Array) -> Array:
        """A copy of x, a bucket's flat array, plus the errors of the last messages."""
        out = x.copy()
        for name, view in parameter_views(bucket, out):
            residual = self.by_name.get(name)
            if residual is not None:
                if residual.size != view.size:
                    raise ValueError(f"error feedback: the residual of {name} has {residual.size} elements, but the "
                                     f"parameter has {view.size}; the state was saved from another model")
                view += residual.reshape(-1)
        return out

    def store(self, bucket: GradBucket, error: Array) -> None:
        """Store a bucket's flat array of errors."""
        for name, view in parameter_views(bucket, error):
            self.by_name[name] = view.copy()

    def state_dict(self) -> dict[str, Array]:
        """Copies by name. They differ between ranks: save a file for each rank."""
        return {name: residual.copy() for name, residual in self.by_name.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what state_dict() returned on this rank."""
        self.by_name = {name: np.array(getattr(residual, "array", residual)) for name, residual in state.items()}


def parameter_views(bucket: GradBucket, flat: Array) -> list[tuple[str, Array]]:
    """The name of each of the bucket's parameters, with its view of the flat array."""
    return list(zip(bucket.names, unflatten(flat, [(p.array.size,) for p in bucket.parameters()]), strict=True))


def in_single_precision(bucket: GradBucket) -> Array:
    """The bucket's flat array, or a float32 copy if it is float16."""
    return converted(bucket.array, np.float32) if bucket.array.dtype == np.float16 else bucket.array
