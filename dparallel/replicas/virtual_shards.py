"""DataParallel(reproducible=V): training gives bitwise the same weights on 1, 2, 4, ... V ranks, and on local devices.

A sum of floats depends on its order, and the last bits of a matrix product on its shapes. So every global batch is split
into V virtual shards. The model runs on each separately, with its own random numbers, and gradients are added in one fixed
binary tree over the shards. A rank has V / size neighboring shards, a branch of the tree; ranks add branches in the same
order (tree_reduce.py).

The loss must scale exactly, too: a mean divides by the number of rows, which is exact for powers of two only. So all ranks
must have equally many rows, a multiple of V / size (checked); or the loss is a sum, with average="sum"; or there is a loss
for each shard, with DataParallel.shards().
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol
from weakref import WeakMethod

import numpy as np

from autograd.kernels.halves import converted
from autograd.kernels.loops import loops
from autograd.modes.random import default_generator, using_generator
from autograd.nn import Module, Parameter, SyncBatchNorm

from ..autograd import Generator, Tensor, as_tensor
from ..comm import CollectiveError, Communicator, Devices, even_split
from ..consistency.checksum import WeightCheck
from ..functions.collective import row_counts
from ..pytree.scatter_gather import gather, scatter
from ..pytree.tree import PyTree, tree_leaves_with_path
from .parallel_apply import parallel_apply
from .replicate import ModuleTree, shared_view
from .tree_reduce import VirtualBroadcast, check_fresh, in_single_precision, tree_allreduce_all, tree_sum


class Buffers(Protocol):
    """The model's buffers as VirtualShards uses them: BufferSync."""

    def before_pass(self) -> None:
        """Give all ranks rank 0's if they may differ; what nodes save from now on does not change when they are
        broadcast."""

    def after_pass(self) -> None:
        """Give all ranks rank 0's."""


class VirtualShards:
    """Runs this process's part of a module's V virtual shards, on its local devices if it has several."""

    def __init__(self, module: Module, comm: Communicator, count: int, devices: Devices | None, average: str, dim: int,
                 buffers: Buffers, check: WeightCheck | None = None) -> None:
        size = comm.size if devices is not comm else 1
        if not isinstance(count, int) or count < 1 or count & (count - 1) or count % size:
            raise ValueError(f"reproducible={count!r} on {size} ranks: the number of virtual shards must be a power of two "
                             "and a multiple of the number of ranks")
        synchronised = [name for name, part in module.named_modules() if isinstance(part, SyncBatchNorm)]
        if synchronised:
            raise NotImplementedError(f"reproducible={count}: {synchronised[0] or 'the module'} is a SyncBatchNorm, whose "
                                      "sums depend on the number of ranks; use BatchNorm, which uses one shard")
        if size > 1:                                  # different processors round alike in loops of one level
            levels = comm.agree(1 << loops.level() + 1, "DataParallel")
            loops.lower_to((levels & -levels).bit_length() - 2)
        self.module: Module = module
        self.devices: Devices | None = devices
        self.average: str = average
        self.dim: int = dim
        self.ranks: Devices | Communicator = Devices(1) if devices is comm else comm
        self.count: int = count
        self.share: int = count // size
        self.buffers: Buffers = buffers
        self.check: WeightCheck | None = check if size > 1 else None
        self.current: Module | None = None           # the replica of the shard that shards() has yielded
        p: Any
        for p in module.parameters() if size > 1 else ():
            p.averaged_by = WeakMethod(self.largest_over_ranks)

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> PyTree:
        """The module's output for this rank's rows, computed shard by shard."""
        if self.current is not None:
            return self.current(*args, **kwargs)
        self._check_rows((args, kwargs))
        self._check_weights()
        self.buffers.before_pass()
        local = Devices(self.share)
        parts = scatter((args, kwargs), local, dim=self.dim)
        tree = ModuleTree(self.module)
        shards = self._replicas(tree, 1.0 if self.average == "sum" else 1.0 / self.ranks.size)
        outputs = self._run(shards, parts)
        tree.copy_back_buffers(shards[0])
        if self.module.training:
            self.buffers.after_pass()
        return gather(outputs, local, dim=self.dim) if self.share > 1 else outputs[0]

    def largest_over_ranks(self, values: list[float]) -> list[float]:
        """The largest of each number over ranks, for a GradScaler. Collective."""
        largest: list[float] = self.ranks.allreduce([np.array(values)], "max")[0].tolist()
        return largest

    def _replicas(self, tree: ModuleTree, scale: float) -> list[Module]:
        """One replica for each shard; backward adds their gradients, times scale."""
        params = list(self.module.parameters())
        views: Any = VirtualBroadcast.apply(*params, comm=self.ranks, share=self.share, scale=scale)
        views = views if isinstance(views, tuple) else (views,)
        copies = {id(p): views[i * self.share:(i + 1) * self.share] for i, p in enumerate(params)}
        return tree.replicas(copies, Devices(self.share))

    def _run(self, shards: list[Module], parts: list[Any]) -> list[PyTree]:
        """The shards' outputs, each computed with its own random numbers. Device d runs shards d, d + size, ..."""
        seed = self._seed() if self.module.training else 0
        outputs: list[Any] = [None] * self.share
        workers = 1 if self.devices is None else min(self.devices.size, self.share)

        def work(device: int) -> None:
            for i in range(device, self.share, workers):
                with using_generator(self._generator(seed, i)):
                    outputs[i] = shards[i](*parts[i][0], **parts[i][1])

        if workers == 1:
            work(0)
        else:
            assert self.devices is not None
            parallel_apply([work] * workers, [(d,) for d in range(workers)], devices=self.devices.first(workers))
        return outputs

    def _seed(self) -> int:
        """Rank 0's next random number, on every rank (one rank alone draws the same number)."""
        return int(self.ranks.broadcast(np.array(default_generator().numpy.integers(2**63)))[0])

    def _generator(self, seed: int, i: int) -> Generator:
        """The generator for this rank's i-th shard in the step with this seed."""
        sequence = np.random.SeedSequence([seed, self.ranks.rank * self.share + i])
        return Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0]))

    def each(self, batch: tuple[Any, ...]) -> Iterator[Any]:
        """See DataParallel.shards(). Every shard's replica has its own leaves, whose gradients are added at the end."""
        rank_rows = self._rows(batch)
        sizes = even_split(sum(rank_rows), self.count)
        if rank_rows != [sum(sizes[start:start + self.share]) for start in range(0, self.count, self.share)]:
            raise CollectiveError(f"reproducible={self.count}: the ranks have {rank_rows} rows; give each those of its "
                                  f"shards: these have {sizes}, see GlobalBatchSampler")
        self._check_weights()
        params = [p for p in self.module.parameters() if p.requires_grad]
        check_fresh(params, self.ranks)
        self.buffers.before_pass()
        copies = {id(p): tuple(shared_view(p).requires_grad_() if p.requires_grad else p for _ in range(self.share))
                  for p in self.module.parameters()}
        tree = ModuleTree(self.module)
        shards = tree.replicas(copies, Devices(self.share))
        rows = sizes[self.ranks.rank * self.share:][:self.share]
        seed = self._seed()
        try:
            for i, piece in enumerate(scatter(batch, Devices(self.share), dim=self.dim)):
                if rows[i]:
                    self.current = shards[i]
                    with using_generator(self._generator(seed, i)):
                        yield piece if len(batch) > 1 else piece[0]
        finally:
            self.current = None
        tree.copy_back_buffers(shards[0])
        self._store_gradients(params, copies, rows, sum(sizes))
        self.buffers.after_pass()

    def _store_gradients(self, params: list[Parameter], copies: dict[int, tuple[Tensor, ...]], rows: list[int],
                         total: int) -> None:
        """Set .grad to the mean over the rows of all shards of all ranks, or to the sum."""
        by_rows = self.average != "sum"
        branches = []
        for p in params:
            wide = in_single_precision(p.array[:0]).dtype
            grads = [None if leaf.grad is None else in_single_precision(leaf.grad.array) * wide.type(n if by_rows else 1)
                     for leaf, n in zip(copies[id(p)], rows, strict=True)]
            branch = tree_sum(grads)
            branches.append(np.zeros(p.array.shape, wide) if branch is None else branch)
        sums = tree_allreduce_all(branches, self.ranks, 1.0)
        for p, g in zip(params, sums, strict=True):
            p.grad = as_tensor(converted(np.divide(g, g.dtype.type(total if by_rows else 1)), p.array.dtype, copy=False))

    def _rows(self, inputs: PyTree) -> list[int]:
        """The number of rows of each rank, that of its first tensor. Collective."""
        first = next((value for _, value in tree_leaves_with_path(inputs) if isinstance(value, Tensor) and value.ndim), None)
        if first is None:
            raise ValueError("reproducible=V splits batches, but forward() got no tensor with a dimension")
        return row_counts([first], self.ranks, self.dim)

    def _check_weights(self) -> None:
        """In some passes, raise, on every rank, if ranks have different weights."""
        if self.check is not None:
            self.check.gather(self.ranks)

    def _check_rows(self, inputs: PyTree) -> None:
        """Raise, on every rank, if the mean loss of these rows would not scale exactly."""
        rank_rows = self._rows(inputs)
        if self.average != "sum" and (len(set(rank_rows)) > 1 or rank_rows[0] % self.share):
            raise CollectiveError(
                f"reproducible={self.count}: the ranks have {rank_rows} rows, which do not form {self.count} equal shards. "
                "The mean over a rank's rows would round differently on other numbers of ranks: drop the last batch, pass "
                "average='sum' and a loss that is a sum, or compute a loss per shard, `for x, y in model.shards(x, y)`")
