"""DataLoader: batches of a dataset, in the order of a sampler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...ops.create import as_tensor, tensor
from ...ops.shape import stack
from ...random import Generator
from ...tensor import Tensor
from .dataset import Rows
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


def default_collate(batch: Any) -> Any:
    """A list of items as one batch: numbers and tensors stacked; tuples, lists and dicts item by item."""
    if isinstance(batch, Rows):
        return [as_tensor(t) for t in batch.tensors]
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch)
    if isinstance(first, (np.ndarray, np.generic)):
        return as_tensor(np.stack(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=np.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(column)) for column in zip(*batch, strict=True)))
    if isinstance(first, (tuple, list)):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(list(column)) for column in zip(*batch, strict=True)]
    raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                    f"{type(first).__name__}")


class DataLoader:
    """Batches of `dataset`, loaded in this thread.

    >>> for x, y in DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True): ...
    """

    def __init__(self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
                 sampler: Sampler | None = None, batch_sampler: Any = None, num_workers: int = 0,
                 collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False,
                 timeout: float = 0, worker_init_fn: Any = None, *, generator: Generator | None = None,
                 prefetch_factor: int | None = None, persistent_workers: bool = False) -> None:
        for name, value in (("num_workers", num_workers), ("timeout", timeout), ("worker_init_fn", worker_init_fn),
                            ("prefetch_factor", prefetch_factor), ("persistent_workers", persistent_workers)):
            if value:
                raise NotImplementedError(f"DataLoader({name}={value!r}) is not implemented: data is loaded in the "
                                          "caller's thread")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                             "drop_last")
        if batch_size is None and (shuffle or drop_last):
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with shuffle, "
                             "and drop_last")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler = sampler or (RandomSampler(dataset, generator) if shuffle else SequentialSampler(dataset))
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.collate_fn = collate_fn or (default_collate if self.batch_sampler is not None else lambda item: item)

    def __iter__(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        fetch = getattr(self.dataset, "__getitems__", None) if self.collate_fn is default_collate else None
        for indices in self.batch_sampler:
            yield self.collate_fn(fetch(indices) if fetch else [self.dataset[i] for i in indices])

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
