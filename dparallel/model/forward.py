"""The forward passes of DataParallel.

Two choices are independent. First, where the module is computed. `OnThisRank`: the module itself, or replicas of it on this
rank's local devices, or of units that ranks gather. `FromRoot`: replicas on all ranks, for a batch that the root scatters.
VirtualShards: replicas for shards whose number does not depend on the number of ranks. They differ in which rank has the
rows and computes the loss, so they share only their signature, Compute. Second, whether a reducer sums gradients: then
`SummedForward` wraps OnThisRank.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograd.core.primitive import primitive
from autograd.nn import Module

from ..autograd import Tensor
from ..comm import Communicator, Devices
from ..pytree.scatter_gather import gather, scatter
from ..pytree.tree import tensor_leaves, tree_map
from ..reduction.backward_signal import BackwardSignal
from ..reduction.reducer import Reducer
from ..reduction.weights import ForwardCall
from ..replicas.local import on_devices
from ..replicas.parallel_apply import parallel_apply
from ..replicas.replicate import ModuleTree, replicate
from ..replicas.sync_context import set_context
from ..sharding import ShardedReducer
from .config import Config
from .model_state import BufferSync, ModelWatch, graph
from .nan_watch import NanWatch

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Compute = Callable[[Args, Kwargs], Any]              # the module's output for this process's rows


class OnThisRank:
    """The module's output for the rows of this rank, computed on its local devices if it has several."""

    def __init__(self, module: Module, devices: Devices | None, output_rank: int, dim: int) -> None:
        self.module: Module = module
        self.devices: Devices | None = devices
        self.output_rank: int = output_rank
        self.dim: int = dim
        self.sharded: ShardedReducer | None = None   # gathers the module's parameters
        self._tree: ModuleTree | None = None         # of the last call on several devices

    def __call__(self, args: Args, kwargs: Kwargs) -> Any:
        """Call the module, or replicas of it."""
        if self.sharded is not None:
            with self.sharded.forward():
                return self.module(*args, **kwargs)
        if self.devices is None or self.devices.size == 1:
            return self.module(*args, **kwargs)
        if self._tree is None or not self._tree.is_current():
            self._tree = ModuleTree(self.module)
        return on_devices(self.module, args, kwargs, self.devices, self.output_rank, self.dim, self._tree)


class FromRoot:
    """The output for all rows, on the root: the batch is scattered, replicas run in parallel, outputs are gathered."""

    def __init__(self, module: Module, comm: Communicator, dim: int) -> None:
        self.module: Module = module
        self.comm: Communicator = comm
        self.dim: int = dim

    def __call__(self, args: Args, kwargs: Kwargs) -> Any:
        """Scatter, replicate, run in parallel, gather."""
        inputs = scatter((args, kwargs), self.comm, dim=self.dim)
        replicas = replicate(self.module, self.comm)
        outputs = parallel_apply(replicas, [i[0] for i in inputs], [i[1] for i in inputs], self.comm)
        return gather(outputs, self.comm, dim=self.dim)


def module_compute(config: Config[Any]) -> Compute:
    """How the module is computed in this process."""
    if not config.per_rank and config.ranks.size > 1 and not config.local_only:
        return FromRoot(config.module, config.ranks, config.dim)
    return OnThisRank(config.module, config.local, config.output_rank, config.dim)


class SummedForward:
    """A forward pass whose gradients `reducer` sums: it records the call's weight, broadcasts rank 0's buffers, and connects
    the outputs to the reducer, so that their backward begins a pass.
    """

    def __init__(self, compute: Compute, reducer: Reducer, watch: ModelWatch, dim: int, buffers: BufferSync,
                 nan: NanWatch | None = None) -> None:
        self.compute: Compute = compute
        self.reducer: Reducer = reducer
        self.watch: ModelWatch = watch
        self.dim: int = dim
        self.buffers: BufferSync = buffers
        self.nan: NanWatch | None = nan
        self.comm: Communicator = reducer.users_comm

    def __call__(self, args: Args, kwargs: Kwargs, training: bool) -> Any:
        """The output. training: the mode of the DataParallel."""
        reducer = self.reducer
        rows = self._rows((args, kwargs)) if reducer.weights.override is None else 0.0
        call = self.before_forward(rows, training)
        if self.nan is not None:
            self.nan.begin(call)
        with set_context(comm=self.comm, weight=functools.partial(reducer.loss_weight, call),
                         before_collective=reducer.before_collective):
            output = self.compute(args, kwargs)
        reducer.stats.forward_ends()
        if not any(p.tracked for _, p in reducer.named):       # all frozen, as a discriminator alternately is
            return output
        if type(output) is Tensor and output.tracked:          # the usual case
            return BackwardSignal.apply(output, reducer, call)
        return tree_map(output, lambda y: BackwardSignal.apply(y, reducer, call)
                       if isinstance(y, Tensor) and y.requires_grad else y)

    @primitive
    def before_forward(self, rows: float, training: bool) -> ForwardCall:
        """Prepare the forward pass on this rank and notify the other ranks. Returns the call with its weight."""
        reducer, weights, watch, root = self.reducer, self.reducer.weights, self.watch, 0
        if reducer.superseded:
            raise RuntimeError(reducer.superseded)
        reducer.stats.forward_begins(rows)
        if reducer.skipping is not None:
            reducer.skipping.barrier()
        if reducer.joined is not None:
            root = reducer.joined.forward_begins()
        call = weights.override if weights.override is not None else ForwardCall(rows)
        call.problem = call.problem or watch.look()
        if watch.fast:
            call.fast = [*call.fast, *watch.fast.values()]
            call.inner |= {c for node in graph(call.fast) if node.always_runs for c in getattr(node, "calls", ())} - {call}
            watch.fast = {}
        if training:
            if watch.has_buffers:
                self.buffers.broadcast(root)
            self.buffers.changed = True
        elif watch.has_buffers:
            call.evaluated = bool(self.buffers.buffers())
        if watch.synchronised and watch.evaluates():
            call.evaluated = True
        return call

    def _rows(self, arguments: Any) -> float:
        """The number of rows of this call; not used if ranks are not weighted by rows."""
        average = self.reducer.weights.average
        if average != "rows":
            return 1.0
        first = arguments[0][0] if arguments[0] else None
        found = [first] if isinstance(first, Tensor) else tensor_leaves(arguments)
        if not found or not found[0].ndim:
            raise ValueError(f"average={average!r} requires rows, but forward() got no tensor with a dimension; "
                             "pass average='ranks', or call it inside `with model.weighted(rows):`")
        return float(found[0].array.shape[self.dim])
