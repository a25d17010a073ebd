"""Bitwise the same weights on 1, 2, 4, ... V ranks, and on local devices.

Sums of floats depend on their order, and a matrix product's last bits on its shapes. So every global batch is cut into V
virtual shards, whatever the number of ranks; each runs on its own, with random numbers of its own; and their gradients are
added in one fixed binary tree over the V shards. A rank holds V / size neighbouring shards, which are a whole branch of the
tree: it adds that branch, and all ranks add what remains in the same way (alltoall, a sum, allgather), bitwise alike.

What is left is how the loss scales: a mean over a rank's rows divides by their number, which is exact between powers of two
only. So the rows of all ranks are to be equal and a multiple of V / size (an error says so); or the loss is a sum, with
average="sum"; or it is made for each shard on its own, by DataParallel.shards().
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograd import Generator, Tensor, as_tensor
from autograd.core.random import default_generator, using_generator
from autograd.nn import Module, SyncBatchNorm

from ..comm import CollectiveError, Communicator, Devices, even_split
from ..functions.collective import row_counts
from ..pytree.scatter_gather import gather, scatter
from ..pytree.tree import tree_leaves_with_path
from .parallel_apply import parallel_apply
from .replicate import ModuleTree, looking_into
from .tree_reduce import VirtualBroadcast, check_fresh, tree_allreduce_all, tree_sum, widened


class VirtualShards:
    """How one process runs its share of a module's V virtual shards, on its local devices if it has several."""

    def __init__(self, module: Module, comm: Communicator, count: int, devices: Devices | None, average: str, dim: int,
                 broadcast_buffers: Callable[[], None]) -> None:
        size = comm.size if devices is not comm else 1
        if not isinstance(count, int) or count < 1 or count & (count - 1) or count % size:
            raise ValueError(f"reproducible={count!r} on {size} ranks: the number of virtual shards is a power of two, and "
                             "a multiple of the number of ranks")
        synchronised = [name for name, part in module.named_modules() if isinstance(part, SyncBatchNorm)]
        if synchronised:
            raise NotImplementedError(f"reproducible={count}: {synchronised[0] or 'the module'} is a SyncBatchNorm, whose "
                                      "sums depend on the number of ranks; use BatchNorm, which sees one shard")
        self.module, self.devices, self.average, self.dim = module, devices, average, dim
        self.ranks = Devices(1) if devices is comm else comm
        self.count, self.share = count, count // size
        self.broadcast_buffers = broadcast_buffers
        self.current: Module | None = None           # inside shards(): the shard's replica

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The module's output for this rank's rows, computed shard by shard."""
        if self.current is not None:
            return self.current(*args, **kwargs)
        self._check_rows((args, kwargs))
        local = Devices(self.share)
        parts = scatter((args, kwargs), local, dim=self.dim)
        shards = self._replicas(1.0 if self.average == "sum" else 1.0 / self.ranks.size)
        outputs = self._run(shards, parts)
        if self.module.training:
            self.broadcast_buffers()
        return gather(outputs, local, dim=self.dim) if self.share > 1 else outputs[0]

    def _replicas(self, scale: float) -> list[Module]:
        params = list(self.module.parameters())
        views: Any = VirtualBroadcast.apply(*params, comm=self.ranks, share=self.share, scale=scale)
        views = views if isinstance(views, tuple) else (views,)
        copies = {id(p): views[i * self.share:(i + 1) * self.share] for i, p in enumerate(params)}
        return ModuleTree(self.module).replicas(copies, Devices(self.share))

    def _run(self, shards: list[Module], parts: list[Any]) -> list[Any]:
        """Each shard with random numbers of its own; device d runs shards d, d + size, ..."""
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
        """Rank 0's next random number, on every rank: on one rank it is drawn in the same way."""
        return int(self.ranks.broadcast(np.array(default_generator().numpy.integers(2**63)))[0])

    def _generator(self, seed: int, i: int) -> Generator:
        """The random numbers of this rank's i-th shard in the step with this seed."""
        sequence = np.random.SeedSequence([seed, self.ranks.rank * self.share + i])
        return Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0]))

    def each(self, batch: tuple[Any, ...]) -> Iterator[Any]:
        """See DataParallel.shards(). Every shard gets leaves of its own; at the end their gradients are added up."""
        each = self._rows(batch)
        sizes = even_split(sum(each), self.count)
        if each != [sum(sizes[start:start + self.share]) for start in range(0, self.count, self.share)]:
            raise CollectiveError(f"reproducible={self.count}: the ranks have {each} rows; give each those of its shards: "
                                  f"these have {sizes}, see GlobalBatchSampler")
        params = [p for p in self.module.parameters() if p.requires_grad]
        check_fresh(params, self.ranks)
        copies = {id(p): tuple(looking_into(p).requires_grad_() if p.requires_grad else p for _ in range(self.share))
                  for p in self.module.parameters()}
        shards = ModuleTree(self.module).replicas(copies, Devices(self.share))
        mine = sizes[self.ranks.rank * self.share:][:self.share]
        seed = self._seed()
        try:
            for i, piece in enumerate(scatter(batch, Devices(self.share), dim=self.dim)):
                if mine[i]:
                    self.current = shards[i]
                    with using_generator(self._generator(seed, i)):
                        yield piece if len(batch) > 1 else piece[0]
        finally:
            self.current = None
        self._collect(params, copies, mine, sum(sizes))
        self.broadcast_buffers()

    def _collect(self, params: list[Any], copies: dict[int, tuple[Any, ...]], rows: list[int], total: int) -> None:
        """The mean over all rows, or the sum, into .grad."""
        weigh = self.average != "sum"
        branches = []
        for p in params:
            wide = widened(p.array[:0]).dtype
            grads = [None if leaf.grad is None else widened(leaf.grad.array) * wide.type(n if weigh else 1)
                     for leaf, n in zip(copies[id(p)], rows, strict=True)]
            branch = tree_sum(grads)
            branches.append(np.zeros(p.array.shape, wide) if branch is None else branch)
        sums = tree_allreduce_all(branches, self.ranks, 1.0)
        for p, g in zip(params, sums, strict=True):
            p.grad = as_tensor(np.divide(g, g.dtype.type(total if weigh else 1)).astype(p.array.dtype, copy=False))

    def _rows(self, inputs: Any) -> list[int]:
        """Every rank's number of rows: those of its first tensor. Collective."""
        first = next((value for _, value in tree_leaves_with_path(inputs) if isinstance(value, Tensor) and value.ndim), None)
        if first is None:
            raise ValueError("reproducible=V cuts batches, but forward() got no tensor with a dimension")
        return row_counts([first], self.ranks, self.dim)

    def _check_rows(self, inputs: Any) -> None:
        """Raise, on every rank alike, if the loss of these rows would not scale exactly."""
        each = self._rows(inputs)
        if self.average != "sum" and (len(set(each)) > 1 or each[0] % self.share):
            raise CollectiveError(
                f"reproducible={self.count}: the ranks have {each} rows, which are not {self.count} equal shards. The mean "
                "over a rank's rows would round otherwise on another number of ranks: drop the last batch, or pass "
                "average='sum' and make the loss a sum, or make a loss for each shard, `for x, y in model.shards(x, y)`")
