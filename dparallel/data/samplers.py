"""DistributedSampler with the number of ranks and the rank of this job as defaults."""

from __future__ import annotations

from collections.abc import Sized

from autograd.utils import data

from ..comm import Communicator, communicator


class DistributedSampler(data.DistributedSampler):
    """autograd.utils.data.DistributedSampler; num_replicas and rank default to those of comm.

    By default items are repeated so that all ranks get equally many, as in PyTorch. With uneven=True each item is used once,
    and DataParallel weights ranks by rows; evaluation requires uneven=True, because repeated items would count twice.
    """

    def __init__(self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False, uneven: bool = False, *, comm: Communicator | None = None) -> None:
        if num_replicas is None or rank is None:
            comm = communicator(comm)
            # on local devices DataParallel splits the batches of this process
            num_replicas = (1 if comm.alone else comm.size) if num_replicas is None else num_replicas
            rank = (0 if comm.alone else comm.rank) if rank is None else rank
        super().__init__(dataset, num_replicas, rank, shuffle, seed, drop_last, uneven)
