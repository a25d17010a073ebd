"""Error feedback: what a compressed message has left out is added to the next one (Seide et al. 2014; Stich et al. 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.kernels.halves import converted

from ..pytree.flat_arrays import unflatten
from .bucket_hook import GradBucket

Array = np.ndarray[Any, Any]


class Residuals:
    """What has not been sent yet, by the name of its parameter: on which bucket it is does not matter."""

    def __init__(self) -> None:
        self.of: dict[str, Array] = {}

    def added(self, bucket: GradBucket, x: Array) -> Array:
        """x, a bucket's flat array, plus what is left from before. KeyError-free: a new parameter has nothing left."""
        out = x.copy()
        for name, view in named_parts(bucket, out):
            left = self.of.get(name)
            if left is not None:
                if left.size != view.size:
                    raise ValueError(f"error feedback: what is kept of {name} has {left.size} elements, the parameter has "
                                     f"{view.size}; the state was saved from another model")
                view += left.reshape(-1)
        return out

    def keep(self, bucket: GradBucket, error: Array) -> None:
        """Remember a bucket's flat array of errors."""
        for name, view in named_parts(bucket, error):
            self.of[name] = view.copy()

    def state_dict(self) -> dict[str, Array]:
        """Copies by name. Each rank has its own: save one file a rank."""
        return {name: left.copy() for name, left in self.of.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """What state_dict() gave."""
        self.of = {name: np.array(getattr(left, "array", left)) for name, left in state.items()}


def named_parts(bucket: GradBucket, flat: Array) -> list[tuple[str, Array]]:
    """The views of a bucket's flat array that belong to its parameters, with their names."""
    return list(zip(bucket.names, unflatten(flat, [(p.array.size,) for p in bucket.parameters()]), strict=True))


def wide(bucket: GradBucket) -> Array:
    """The bucket's flat array, or a float32 copy where it is float16."""
    return converted(bucket.array, np.float32) if bucket.array.dtype == np.float16 else bucket.array
