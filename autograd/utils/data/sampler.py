"""Samplers: the order in which items are seen, and by which rank."""

from __future__ import annotations

from collections.abc import Iterator, Sized

import numpy as np

from ...random import Generator, default_generator


class Sampler:
    """An iterable of item numbers."""

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All items once, in an order drawn anew each time."""

    def __init__(self, data_source: Sized, generator: Generator | None = None) -> None:
        self.data_source, self.generator = data_source, generator

    def __iter__(self) -> Iterator[int]:
        rng = (self.generator or default_generator()).numpy
        return iter(rng.permutation(len(self.data_source)).tolist())

    def __len__(self) -> int:
        return len(self.data_source)


class DistributedSampler(Sampler):
    """This rank's share of the items: every num_replicas-th of an order that all ranks draw alike.

    Call set_epoch(e) before each epoch for another order. If the items do not divide evenly, by default the first ones
    are seen twice so that all ranks have as many (as in PyTorch); drop_last leaves the rest out; `uneven=True` does
    neither: the first ranks have one more, and every item is seen exactly once (for evaluation, and for DataParallel,
    which weights by rows).
    """

    def __init__(self, dataset: Sized, num_replicas: int, rank: int, shuffle: bool = True, seed: int = 0,
                 drop_last: bool = False, uneven: bool = False) -> None:
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        if drop_last and uneven:
            raise ValueError("drop_last and uneven exclude each other")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.uneven = shuffle, seed, drop_last, uneven
        self.epoch = 0

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            order = np.random.Generator(np.random.PCG64([self.seed, self.epoch])).permutation(n)
        else:
            order = np.arange(n)
        if not self.uneven and n:
            order = np.resize(order, self.num_replicas * len(self))      # cut, or repeated from the start
        return iter(order[self.rank::self.num_replicas].tolist())

    def __len__(self) -> int:
        n, size = len(self.dataset), self.num_replicas
        if self.uneven:
            return n // size + (self.rank < n % size)
        return n // size if self.drop_last else -(-n // size)

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch."""
        self.epoch = epoch


class BatchSampler(Sampler):
    """Lists of batch_size numbers from another sampler; the last may be shorter, or dropped."""

    def __init__(self, sampler: Sampler, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:  # type: ignore[override]
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
