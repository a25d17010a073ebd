"""GradientSum: how the gradients of a DataParallel are summed over ranks, and what a user may change about it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from autograd.core.primitive import side_effect, this_thread

from ..comm import Communicator
from ..hooks.bucket_hook import CommHook, GradBucket
from ..hooks.half import cast_hook
from ..reduction.reducer import Reducer
from ..reduction.transport import HookTransport
from ..reduction.unused import UnusedParameters
from ..replicas.sync_context import set_context
from ..replicas.virtual_shards import VirtualShards
from ..sharding import ShardedReducer
from .config import Config
from .forward import Args, Compute, Kwargs, OnThisRank, SummedForward, module_compute
from .model_state import BufferSync, ModelWatch
from .nan_watch import NanWatch


class GradientSum:
    """The forward passes of one model, and the sum of their gradients: by a reducer, by virtual shards, or in the graph.

    owner: the model's class, for errors. averages_grad, grad_in_bucket: attributes of the reducer.
    """

    def __init__(self, config: Config[Any], owner: str, watch: ModelWatch, buffers: BufferSync, unused: UnusedParameters, *,
                 averages_grad: bool = True, grad_in_bucket: bool = True) -> None:
        self.config: Config[Any] = config
        self.owner: str = owner
        self.comm: Communicator = config.ranks
        self.watch: ModelWatch = watch
        self.buffers: BufferSync = buffers
        self.unused: UnusedParameters = unused
        self.averages_grad: bool = averages_grad
        self.grad_in_bucket: bool = grad_in_bucket
        self.nan: NanWatch | None = None             # with find_nan=True
        self.compute: Compute = module_compute(config)
        self.virtual: VirtualShards | None = None    # with reproducible=V
        self.reducer: Reducer | None = None
        self.in_graph: bool = config.copied          # replicas' gradients are summed in the graph
        self.incomplete: bool = config.reproducible is not None or self._needs_reducer()
        self.recorded_alone = False                  # by trace_step(), on one rank, without a reducer
        self._summed_forward: SummedForward | None = None

    @property
    def sharded(self) -> ShardedReducer | None:
        """The reducer of a model that is sharded over several ranks."""
        return self.reducer if isinstance(self.reducer, ShardedReducer) else None

    def _needs_reducer(self) -> bool:
        """Whether a reducer sums the gradients or, on one rank, detects what its buckets can."""
        config = self.config
        if config.per_rank and self.comm.size > 1:
            return True
        if not (config.static_graph or config.find_unused_parameters == "error") or not config.trained():
            return False
        if self.comm.size > 1:
            raise NotImplementedError("find_unused_parameters='error' and static_graph=True look at buckets; "
                                      "local devices and batch='root' have none: they need batch='own'")
        return True

    def complete(self) -> None:
        """Create the reducer or the virtual shards, if the model needs them. Collective. A copy, or a model from a file, has
        none until it is first trained."""
        if not self.incomplete:
            return
        self.incomplete, config = False, self.config
        if config.reproducible is not None:
            self.virtual = VirtualShards(config.module, self.comm, config.reproducible, config.local, config.average,
                                         config.dim, self.buffers, config.check(self.owner))
            return
        self._create_reducer()
        if config.wire and self.comm.size > 1 and not config.stage:
            self.register_comm_hook(config.wire, cast_hook)

    def _create_reducer(self) -> None:
        config, check = self.config, self.config.check(self.owner)
        if config.stage and self.comm.size > 1:
            self.reducer = ShardedReducer(
                config.module, self.comm, config.cap_mb, config.average, config.stage, config.shard_units,
                ignored=config.ignored, unused=self.unused, wire=config.wire, check=check)
            if isinstance(self.compute, OnThisRank):
                self.compute.sharded = self.reducer
        else:
            self.reducer = Reducer(config.trained(), self.comm, config.cap_mb, config.average, delayed=config.delayed,
                                   unused=self.unused, check=check)
        self.reducer.averages_grad, self.reducer.grad_in_bucket = self.averages_grad, self.grad_in_bucket
        self._summed_forward = SummedForward(self.compute, self.reducer, self.watch, config.dim, self.buffers, self.nan)

    def needed_reducer(self) -> Reducer | None:
        """The reducer; on one rank it is created when it is first needed. None if gradients are summed in the graph."""
        if self.config.reproducible is not None:
            raise NotImplementedError("no_sync, weighted and comm hooks: with reproducible=V gradients do not add up over "
                                      "calls, and are summed in a tree; pass all rows at once")
        self.complete()
        if self.reducer is None and self.comm.size == 1 and self.config.trained():
            self._create_reducer()
        return self.reducer

    def forward(self, args: Args, kwargs: Kwargs, recording: bool, training: bool) -> Any:
        """The module's output. training: the mode of the DataParallel."""
        if recording and self._summed_forward is not None:
            return self._summed_forward(args, kwargs, training)
        compute = self.virtual if self.virtual is not None and recording else self.compute
        before_collective = None if self.reducer is None else self.reducer.before_collective
        with set_context(comm=self.comm, before_collective=before_collective):
            return compute(args, kwargs)

    # --- methods of DataParallel ------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def no_sync(self, when: bool) -> Iterator[None]:
        """The body of DataParallel.no_sync()."""
        reducer = self.needed_reducer()
        if reducer is None:
            yield
            return
        if self.config.stage:
            side_effect("no_sync() with shard=")
        before = reducer.enabled, reducer.local
        reducer.enabled = reducer.enabled and not when
        reducer.local = reducer.local or (when and this_thread.call_watcher is not None)
        try:
            yield
        finally:
            reducer.enabled, reducer.local = before

    @contextlib.contextmanager
    def weighted(self, weight: Any) -> Iterator[None]:
        """The body of DataParallel.weighted()."""
        reducer = self.needed_reducer()
        if reducer is None:
            raise NotImplementedError("weighted(): with batch='root' (so on local devices) the root's loss is of all rows")
        side_effect("weighted()")
        if self.recorded_alone:
            raise RuntimeError("weighted() after trace_step(), on one process: the recorded step does not tell what it "
                               "counts; enter `with model.weighted(1): pass` once before trace_step()")
        with reducer.weights.overridden(weight):
            yield

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """The body of DataParallel.register_comm_hook()."""
        if self.config.stage:
            raise NotImplementedError("register_comm_hook with shard=: gradients of a sharded module leave in slices, "
                                      "and a hook averages whole buckets; hooks need shard=None")
        comm_hook = CommHook(state, hook)
        reducer = self.needed_reducer()
        if reducer is None:
            raise NotImplementedError("register_comm_hook: gradients of local devices and of batch='root' are summed in the "
                                      "graph, not in buckets; hooks need batch='own'")
        if self.comm_hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        reducer.use_hook(comm_hook)

    @property
    def comm_hook(self) -> CommHook | None:
        """The registered comm hook, with its state."""
        transport = None if self.reducer is None else self.reducer.transport
        return transport.hook if isinstance(transport, HookTransport) else None

    def before_recording(self) -> str:
        """The body of DataParallel.before_recording()."""
        config = self.config
        self.recorded_alone = self.reducer is None
        if config.reproducible is not None:
            return "DataParallel with reproducible=V"
        if config.stage == 3:
            return "DataParallel with shard='parameters'"
        if (config.local_only and self.comm.size > 1) or (config.local is not None and config.local.size > 1):
            return "DataParallel with local devices"
        if self.reducer is None and self.comm.size > 1:
            return "DataParallel with batch='root'"
        hook = self.comm_hook
        if hook is not None and hasattr(hook.state, "__dict__"):
            return f"DataParallel with a comm hook that keeps a state ({type(hook.state).__name__})"
        return ""
