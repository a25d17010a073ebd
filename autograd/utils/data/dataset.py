"""Datasets: items by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Dataset:
    """Items by number: subclasses write __getitem__ and __len__."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class TensorDataset(Dataset):
    """Rows of tensors or arrays of equal length; item i is the tuple of their i-th rows."""

    def __init__(self, *tensors: Any) -> None:
        if not tensors or any(len(t) != len(tensors[0]) for t in tensors):
            raise ValueError(f"Size mismatch between tensors: {[len(t) for t in tensors]} rows")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __getitems__(self, indices: Sequence[int]) -> Any:
        """The rows of several items at once, as a batch; NumPy picks them in one go."""
        picked = np.asarray(indices, np.int64)
        return Rows(tuple(t[picked] for t in self.tensors))

    def __len__(self) -> int:
        return len(self.tensors[0])


class Rows:
    """A batch that is collated already: what __getitems__ returns when it picks whole rows."""

    def __init__(self, tensors: tuple[Any, ...]) -> None:
        self.tensors = tensors
