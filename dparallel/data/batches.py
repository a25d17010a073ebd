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
    """A batch_sampler for DataLoader whose global batches are the same on any number of ranks.

    This rank gets consecutive rows of each batch, split as DataParallel(reproducible=shards) requires. The order is drawn
    from (seed, epoch); iterating again is the next epoch, unless set_epoch() sets another. Without drop_last a last batch of
    fewer rows than shards is merged with the one before it.
    """

    def __init__(self, data_source: Sized, batch_size: int, *, comm: Communicator | None = None, shards: int | None = None,
                 shuffle: bool = True, seed: int = 0, drop_last: bool = False) -> None:
        self.comm: Communicator = communicator(comm)
        processes = self.comm.size // len(self.comm.held)
        self.shards: int = processes if shards is None else shards
        if self.shards < 1 or self.shards % processes:
            raise ValueError(f"shards={shards} is not a multiple of the {processes} ranks")
        if not isinstance(batch_size, int) or batch_size < self.shards:
            raise ValueError(f"batch_size={batch_size!r} must be an integer, with at least one row for each of "
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
        """This rank's row numbers of each remaining batch of the epoch."""
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
        """Start the next iteration at the first batch of `epoch`."""
        self.epoch, self.sample = epoch, 0

    def state_dict(self) -> dict[str, int]:
        """The seed, the epoch and its number of finished samples: equal on all ranks, for any number of ranks."""
        return {"seed": self.seed, "epoch": self.epoch, "sample": self.sample}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue after the batch at which state_dict() was called, also on another number of ranks."""
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
