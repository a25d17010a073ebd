"""GlobalBatchSampler: global batches that do not depend on the number of ranks, for DataParallel(reproducible=V)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sized
from typing import Any

import numpy as np

from autograd.utils.data import Sampler
from autograd.utils.data.distributed import check_place

from ..comm import Communicator, communicator, even_split


class GlobalBatchSampler(Sampler[list[int]]):
    """A batch_sampler for DataLoader. Each global batch is the same on any number of ranks; this rank gets consecutive rows
    of it, split as DataParallel(reproducible=shards) needs them.

    The order is drawn from (seed, epoch); iterating again is the next epoch, unless set_epoch() sets another. Without
    drop_last a last batch of fewer rows than shards is joined to the one before it.

    Args:
        data_source: The dataset, or anything with a length.
        batch_size (int): Rows of a global batch, at least `shards`.
        comm (Communicator): The ranks, by default world().
        shards (int): Number of equal parts of a batch, a multiple of the number of ranks. Default: that number.
        shuffle (bool): Whether the order is random. Default: True.
        seed (int): Of the order. Default: 0.
        drop_last (bool): Whether an incomplete last batch is left out. Default: False.

    Raises:
        ValueError: shards is not a multiple of the number of ranks; batch_size, or the number of rows, is below shards.

    Example:
        >>> def batches(comm):
        ...     return list(dparallel.GlobalBatchSampler(range(8), 4, comm=comm, shuffle=False))
        >>> dparallel.run_ranks(1, batches)
        [[[0, 1, 2, 3], [4, 5, 6, 7]]]
        >>> dparallel.run_ranks(2, batches)
        [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
        >>> sampler = dparallel.GlobalBatchSampler(range(8), 4, comm=dparallel.Devices(1), shuffle=False)
        >>> sampler.set_epoch(3)
        >>> first = next(iter(sampler))
        >>> state = sampler.state_dict()                     # after the first batch
        >>> sampler.load_state_dict(state)
        >>> state, list(sampler)
        ({'seed': 0, 'epoch': 3, 'sample': 4}, [[4, 5, 6, 7]])
    """

    def __init__(self, data_source: Sized, batch_size: int, *, comm: Communicator | None = None, shards: int | None = None,
                 shuffle: bool = True, seed: int = 0, drop_last: bool = False) -> None:
        self.comm: Communicator = communicator(comm)
        processes = self.comm.size // len(self.comm.held)
        self.shards: int = processes if shards is None else shards
        if self.shards < 1 or self.shards % processes:
            raise ValueError(f"shards={shards} is not a multiple of the {processes} ranks")
        if not isinstance(batch_size, int) or batch_size < self.shards:
            raise ValueError(f"batch_size={batch_size!r}: a whole number of rows, at least one for each of "
                             f"{self.shards} shards")
        if len(data_source) < self.shards:
            raise ValueError(f"{len(data_source)} rows are fewer than {self.shards} shards")
        self.data_source: Sized = data_source
        self.batch_size: int = batch_size
        self.shuffle: bool = shuffle
        self.seed: int = seed
        self.drop_last: bool = drop_last
        self.share: int = self.shards // processes
        self.epoch: int = 0  # how many samples of the epoch all ranks together have been given
        self.sample: int = 0

    def __len__(self) -> int:
        """The number of batches in a whole epoch."""
        return len(self._batch_bounds(0)) - 1

    def __iter__(self) -> Iterator[list[int]]:
        """This rank's row numbers of each batch of the epoch that are still to come."""
        order = self.order(self.epoch)
        for start, stop in itertools.pairwise(self._batch_bounds(self.sample)):
            self.sample = stop
            yield order[start:stop][self.mine(stop - start)].tolist()
        self.epoch, self.sample = self.epoch + 1, 0

    def order(self, epoch: int) -> np.ndarray[Any, Any]:
        """All row numbers in the order of this epoch, the same on all ranks."""
        count = len(self.data_source)
        return np.random.default_rng([self.seed, epoch]).permutation(count) if self.shuffle else np.arange(count)

    def mine(self, rows: int) -> slice:
        """This rank's part of a batch of so many rows."""
        ends = np.cumsum([0, *even_split(rows, self.shards)])
        first = 0 if self.comm.alone else self.comm.rank * self.share
        return slice(int(ends[first]), int(ends[first + self.share]))

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration be that of `epoch`, from its first batch.

        Args:
            epoch (int): The number that the order is drawn from, with the seed.
        """
        self.epoch, self.sample = epoch, 0

    def state_dict(self) -> dict[str, int]:
        """The seed, the epoch and how many of its samples are done: the same on all ranks, and for any number of ranks and
        any batch size."""
        return {"seed": self.seed, "epoch": self.epoch, "sample": self.sample}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue after the batch at which state_dict() was called, also on another number of ranks.

        Args:
            state (dict): What state_dict() returned.

        Raises:
            KeyError: state lacks seed, epoch or sample.
            TypeError: a value is no whole number.
            ValueError: a value is out of range.
        """
        if "sample" not in state:                    # earlier states have the number of the batch, of this size
            state = {**state, "sample": self._batch_bounds(0)[state["batch"]]}
        check_place("GlobalBatchSampler", state, self.shuffle, len(self.data_source))
        self.seed, self.epoch, self.sample = state["seed"], state["epoch"], state["sample"]

    def _batch_bounds(self, first: int) -> list[int]:
        """Where each batch begins, from the sample `first` on, and, last, where the last one ends."""
        count = len(self.data_source)
        bounds = list(range(first, count + 1, self.batch_size))
        if bounds[-1] < count and not self.drop_last:
            bounds.append(count)
            if count - bounds[-2] < self.shards and len(bounds) > 2:
                del bounds[-2]
        return bounds
