"""DistributedSampler: which items are whose."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import numpy as np

from ...base.arguments import whole_number
from ...base.plugins import provided
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """This rank's share of the items: every num_replicas-th of an order that all ranks draw alike.

    Call set_epoch(e) before each epoch for another order. If the items do not divide evenly, by default the first ones
    are seen twice so that all ranks have as many (as in PyTorch); drop_last leaves the rest out; `uneven=True` does
    neither: the first ranks have one more, and every item is seen exactly once (for evaluation, and for DataParallel,
    which weights by rows).

    state_dict() says where a pass stands as the number of items that all ranks together have seen, so that it is resumed at
    any number of them. A subclass with an __iter__ of its own has no such state unless it brings one.

    Args:
        dataset (Sized): The items; only their number counts.
        num_replicas (int): Number of ranks, by default that of autograd.distributed's default group.
        rank (int): This rank, by default its number there.
        shuffle (bool): Whether the order is drawn, from seed and epoch; otherwise it is 0, 1, 2, ... Default: True.
        seed (int): The same on all ranks. Default: 0.
        drop_last (bool): Whether items that do not divide evenly are left out. Default: False.
        uneven (bool): Whether the first ranks have one more item instead. Default: False.

    Raises:
        RuntimeError: DistributedSampler needs num_replicas and rank where there is no default process group, for instance
            comm.size and comm.rank of dparallel.world().
        TypeError: num_replicas or rank is no whole number.
        ValueError: num_replicas is below 1.
        ValueError: Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}].
        ValueError: drop_last and uneven exclude each other.

    Example:
        >>> for rank in range(2):
        ...     sampler = ag.utils.data.DistributedSampler(range(5), num_replicas=2, rank=rank, shuffle=False)
        ...     list(sampler)
        [0, 2, 4]
        [1, 3, 0]
        >>> list(ag.utils.data.DistributedSampler(range(5), 2, 1, shuffle=False, uneven=True))
        [1, 3]
        >>> sampler.set_epoch(1)                         # another order, where shuffle is on
        >>> sampler.num_samples, sampler.total_size
        (3, 6)
        >>> sampler.load_state_dict(sampler.state_dict())
    """

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
        """How many items this rank sees in a whole epoch."""
        n, size = len(self.dataset), self.num_replicas
        if self.uneven:
            return n // size + (self.rank < n % size)
        return n // size if self.drop_last else -(-n // size)

    @property
    def total_size(self) -> int:
        """How many items all ranks see in an epoch, those that are seen twice counted twice."""
        return len(self.dataset) if self.uneven else self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
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

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch.

        Args:
            epoch (int): The number of the epoch.
        """
        self.epoch = epoch

    def state_dict(self) -> dict[str, int]:
        """The position in the pass: {"seed", "epoch", "sample"}, the last counted over all ranks."""
        return {"seed": self.seed, "epoch": self.epoch, "sample": self.sample}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Let the next pass go on from there, on this number of ranks.

        Args:
            state (dict[str, int]): What state_dict() returned.

        Raises:
            TypeError: a value is no whole number.
            ValueError: state is no dict with seed, epoch and sample, as state_dict() returns it, or a value is out of range.
        """
        if not isinstance(state, dict) or not {"seed", "epoch", "sample"} <= state.keys():
            raise ValueError(f"DistributedSampler.load_state_dict({state!r:.100}): a dict with seed, epoch and sample is "
                             "needed, as state_dict() returns it")
        check_place("DistributedSampler", state, self.shuffle, len(self.dataset))
        self.seed, self.epoch = state["seed"], state["epoch"]
        self.sample = self._first = state["sample"]

    def begin_pass(self) -> None:
        """Called by a DataLoader before it draws the first number of a pass: state_dict() is of that pass from now on."""
        self.sample = self._first


def check_place(name: str, state: dict[str, Any], shuffle: bool, count: int) -> None:
    """TypeError or ValueError unless a sampler's loaded seed, epoch and sample are whole numbers that it can continue from.

    An order is drawn from seed and epoch, which must then be 0 or more. count: the items of an epoch.
    """
    for key in ("seed", "epoch"):
        whole_number(f"{name}.load_state_dict({key}", state[key], 0 if shuffle else None)
    if whole_number(f"{name}.load_state_dict(sample", state["sample"]) > count:
        raise ValueError(f"{name}.load_state_dict(sample={state['sample']!r:.100}): the dataset has only {count} items")
