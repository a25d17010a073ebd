"""gather_for_metrics(): all ranks' results for a batch, with each row of the data set once."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.core.tensor import result
from autograd.utils.data import DataLoader, DistributedSampler

from ..autograd import Tensor
from ..comm import CollectiveError, Communicator, communicator
from ..pytree.tree import tree_leaves_with_path, tree_map


def gather_for_metrics(data: Any, loader: DataLoader[Any] | None = None, *, comm: Communicator | None = None) -> Any:
    """All ranks' rows of `data`, on every rank, in rank order; without gradients. Collective.

    If a DistributedSampler's loader is passed, repeated rows are dropped from the last batch, as in Accelerate; without a
    loader nothing is dropped. Ranks may have different numbers of rows, including none.
    """
    comm = communicator(comm)
    repeated = 0 if loader is None else repeated_rows(loader)
    leaves = list(tree_leaves_with_path(data))
    numbers = Tensor, np.ndarray, np.generic, int, float, complex
    plain = bool(leaves) and all(isinstance(leaf, numbers) for _, leaf in leaves)
    if not comm.alone:
        structures = comm.allgather_object([[path for path, _ in leaves] if plain else None])
        if any((one is None) != (structures[0] is None) or (plain and one != structures[0]) for one in structures):
            raise CollectiveError(f"gather_for_metrics: ranks pass different structures: {structures}")
    if not plain:
        mine = data[:len(data) - repeated] if isinstance(data, list) and repeated else data
        everyone = [mine] if comm.alone else comm.allgather_object([mine])
        return [row for part in everyone for row in (part if isinstance(part, list) else [part])]

    def gathered(leaf: Any) -> Any:
        array = leaf.array if isinstance(leaf, Tensor) else np.asarray(leaf)
        rows = array[None] if array.ndim == 0 else array[:len(array) - repeated]
        whole = np.array(rows) if comm.alone else comm.allgather([np.ascontiguousarray(rows)])[0]
        return whole if isinstance(leaf, (np.ndarray, np.generic)) else result(whole)

    return tree_map(data, gathered)


def repeated_rows(loader: DataLoader[Any]) -> int:
    """How many rows at the end of the last batch are repeated: one on the last ranks, by a DistributedSampler."""
    if not hasattr(loader, "batch_sampler"):
        raise TypeError(f"gather_for_metrics(loader={loader!r}): pass a DataLoader, or None")
    sampler = getattr(loader.batch_sampler, "sampler", None) or loader.sampler
    if not isinstance(sampler, DistributedSampler) or sampler.uneven or sampler.drop_last or not loader.end_of_dataloader:
        return 0
    if loader.drop_last and loader.batch_size and sampler.num_samples % loader.batch_size:
        return 0                                     # they were in the batch that is left out
    last = sampler.rank + (sampler.num_samples - 1) * sampler.num_replicas
    return int(last >= len(sampler.dataset))
