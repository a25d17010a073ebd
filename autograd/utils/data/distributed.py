"""DistributedSampler: each rank's share of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import numpy as np

from ...base.arguments import whole_number
from ...base.errors import warn_user
from ...base.plugins import provided
from ...core.modes import GRAD, modes
from .sampler import Sampler

MSG_EPOCH = ("DistributedSampler: this is another pass over the samples in the order of the one before, as set_epoch() was "
             "never called. Call sampler.set_epoch(epoch) before each epoch, or pass shuffle=False")


class DistributedSampler(Sampler[int]):
    """Restrict each rank to its share of the samples: every num_replicas-th of an order that all ranks draw identically.

    Call set_epoch(e) before each epoch for another order. If the samples do not divide evenly, the first ones are repeated
    so that all ranks have equally many, as in PyTorch; drop_last drops the rest instead. With `uneven=True` each sample is
    seen exactly once, as evaluation and DataParallel (which weights by rows) require.

    state_dict() counts the samples seen by all ranks together, so a pass can resume on any number of ranks. A subclass that
    overrides __iter__ has no such state unless it implements one."""

    _passed: int | None = None                       # the epoch of the last complete pass
    _watches = True                                  # until set_epoch() was called, or the warning was given

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__iter__" in cls.__dict__ and "state_dict" not in cls.__dict__:
            cls.state_dict = None                    # type: ignore[assignment, method-assign]   # then it is replayed

    def __init__(self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False, uneven: bool = False) -> None:
        if num_replicas is None or rank is None:
            group = provided("autograd.distributed")
            if group is None or not group.is_initialized():
                raise RuntimeError("DistributedSampler needs num_replicas and rank where there is no default process group, "
                                   "for instance comm.size and comm.rank of dparallel.world()")
            num_replicas = group.get_world_size() if num_replicas is None else num_replicas
            rank = group.get_rank() if rank is None else rank
        num_replicas = whole_number("DistributedSampler(num_replicas", num_replicas, 1)
        rank = whole_number("DistributedSampler(rank", rank, None)
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        if drop_last and uneven:
            raise ValueError("drop_last and uneven exclude each other")
        self.dataset: Sized = dataset
        self.num_replicas: int = num_replicas
        self.rank: int = rank
        self.shuffle: bool = shuffle
        self.seed: int = seed
        self.drop_last: bool = drop_last
        self.uneven: bool = uneven
        self.epoch: int = 0
        self.sample: int = 0                         # how many items all ranks together were given in the newest pass
        self._first = 0                              # the same at the beginning of the next one

    @property
    def num_samples(self) -> int:
        """Number of samples that this rank sees in an epoch."""
        n, size = len(self.dataset), self.num_replicas
        if self.uneven:
            return n // size + (self.rank < n % size)
        return n // size if self.drop_last else -(-n // size)

    @property
    def total_size(self) -> int:
        """Number of samples that all ranks see in an epoch, counting repetitions."""
        return len(self.dataset) if self.uneven else self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        if self._passed == self.epoch and self.shuffle and self.rank == 0 and modes.recording & GRAD:
            self._watches = False
            warn_user(MSG_EPOCH)
        n, size = len(self.dataset), self.num_replicas
        if self.shuffle:
            order = np.random.Generator(np.random.PCG64([self.seed, self.epoch])).permutation(n)
        else:
            order = np.arange(n)
        self.sample, self._first = self._first, 0
        if not self.uneven and n:                    # cut, or repeated from the start
            left = n - self.sample
            order = np.resize(order, self.sample + (left // size if self.drop_last else -(-left // size)) * size)
        return self._numbers(order[self.sample + self.rank::size].tolist(), size, n)

    def _numbers(self, indices: list[int], size: int, n: int) -> Iterator[int]:
        for number in indices:
            self.sample = min(self.sample + size, n)
            yield number
        self._passed = self.epoch if self._watches else None

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, from which the order is drawn."""
        self.epoch, self._watches = epoch, False

    def state_dict(self) -> dict[str, int]:
        """Position in the pass: {"seed", "epoch", "sample"}; samples are counted over all ranks."""
        return {"seed": self.seed, "epoch": self.epoch, "sample": self.sample}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Resume the next pass from a state, on this number of ranks."""
        if not isinstance(state, dict) or not {"seed", "epoch", "sample"} <= state.keys():
            raise ValueError(f"DistributedSampler.load_state_dict({state!r:.100}): a dict with seed, epoch and sample is "
                             "needed, as state_dict() returns it")
        check_place("DistributedSampler", state, self.shuffle, len(self.dataset))
        self.seed, self.epoch = state["seed"], state["epoch"]
        self.sample = self._first = state["sample"]

    def begin_pass(self) -> None:
        """The DataLoader calls this before it draws a pass's first index; state_dict() then refers to that pass."""
        self.sample = self._first


def check_place(name: str, state: dict[str, Any], shuffle: bool, count: int) -> None:
    """TypeError or ValueError unless a sampler's loaded seed, epoch and sample are whole numbers that it can continue from.

    An order is drawn from seed and epoch, which must then be 0 or more. count: the items of an epoch."""
    for key in ("seed", "epoch"):
        whole_number(f"{name}.load_state_dict({key}", state[key], 0 if shuffle else None)
    if whole_number(f"{name}.load_state_dict(sample", state["sample"]) > count:
        raise ValueError(f"{name}.load_state_dict(sample={state['sample']!r:.100}): the dataset has only {count} items")
