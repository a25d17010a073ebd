"""What a DataParallel has to do with its reducer: when it is created, and what a user may ask of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from autograd.core.primitive import side_effect
from autograd.nn import Module

from ..comm import Communicator
from ..hooks.bucket_hook import CommHook, GradBucket
from ..hooks.cast import cast_hook
from ..reduction.reducer import Reducer
from ..reduction.transport import HookTransport
from ..reduction.unused import UnusedParameters
from ..replicas.virtual_shards import VirtualShards
from ..sharding import ShardedReducer
from .config import Config
from .forward import Compute, OnThisRank, SummedForward
from .model_state import BufferSync, ModelWatch
from .nan_watch import NanWatch


class SummedModel:
    """The part of DataParallel that concerns the sum of gradients over ranks."""

    module: Module
    comm: Communicator
    shard: int
    _config: Config[Any]
    _unused: UnusedParameters
    _watch: ModelWatch
    _buffer_sync: BufferSync
    _compute: Compute
    _virtual: VirtualShards | None = None            # with reproducible=V
    _reducer: Reducer | None = None
    _nan: NanWatch | None = None                     # with find_nan=True
    _summed_forward: SummedForward | None = None     # what forward() is with a reducer
    _incomplete: bool                                # there is to be a reducer or virtual shards, and is none yet
    _recorded_alone = False                          # by trace_step(), on one rank, without a reducer

    # --- the reducer ------------------------------------------------------------------------------------------------------

    def _needs_reducer(self) -> bool:
        """Whether gradients are summed by a reducer, or, on one rank, buckets are asked for what they find out."""
        config = self._config
        if config.per_rank and self.comm.size > 1:
            return True
        if not (config.static_graph or config.find_unused_parameters == "error") or not config.trained():
            return False
        if self.comm.size > 1:
            raise NotImplementedError("find_unused_parameters='error' and static_graph=True look at buckets; "
                                      "local devices and batch='root' have none: they need batch='own'")
        return True

    def _complete(self) -> None:
        """Create the reducer or the virtual shards, if there are to be any: all ranks together. A copy, or one from a file,
        has none until it is first trained."""
        if not self._incomplete:
            return
        self._incomplete, config = False, self._config
        if config.reproducible is not None:
            self._virtual = VirtualShards(self.module, self.comm, config.reproducible, config.local, config.average,
                                          config.dim, self._buffer_sync, config.check(type(self).__name__))
            return
        self._use_reducer(self._make_reducer())
        if config.wire and self.comm.size > 1 and not self.shard:
            self.register_comm_hook(config.wire, cast_hook)

    def _make_reducer(self) -> Reducer:
        config, check = self._config, self._config.check(type(self).__name__)
        if self.shard and self.comm.size > 1:
            return ShardedReducer(self.module, self.comm, config.cap_mb, config.average, self.shard, config.shard_units,
                                  ignored=config.ignored, unused=self._unused, wire=config.wire, check=check)
        return Reducer(config.trained(), self.comm, config.cap_mb, config.average, delayed=config.delayed,
                       unused=self._unused, check=check)

    def _use_reducer(self, reducer: Reducer) -> None:
        """From now on this reducer sums the gradients."""
        self._reducer = reducer
        if isinstance(reducer, ShardedReducer) and isinstance(self._compute, OnThisRank):
            self._compute.sharded = reducer
        config = self._config
        self._summed_forward = SummedForward(self._compute, reducer, self._watch, config.dim, self._buffer_sync, self._nan)

    def _needed_reducer(self) -> Reducer | None:
        """The reducer; on one rank it is created when it is first needed. None where gradients are summed in the graph."""
        if self._config.reproducible is not None:
            raise NotImplementedError("no_sync, weighted and comm hooks: with reproducible=V gradients do not add up over "
                                      "calls, and are summed in a tree; pass all rows at once")
        self._complete()
        if self._reducer is None and self.comm.size == 1 and self._config.trained():
            self._use_reducer(self._make_reducer())
        return self._reducer

    # --- what a user asks of it -------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def no_sync(self, when: bool = True) -> Iterator[None]:
        """Backward passes inside add up gradients on this rank only (if `when`); the next one outside sums them all.

        Args:
            when (bool): False: the block does nothing. Default: True.

        Raises:
            NotImplementedError: the model has reproducible=V.
        """
        reducer = self._needed_reducer()
        if reducer is None:
            yield
            return
        side_effect("no_sync()")
        before, reducer.enabled = reducer.enabled, reducer.enabled and not when
        try:
            yield
        finally:
            reducer.enabled = before

    @contextlib.contextmanager
    def weighted(self, weight: Any) -> Iterator[None]:
        """What this rank's loss, a mean, counts in the mean over ranks: its number of tokens, say, in the place of rows.

        backward() leaves sum of w * gradient over sum of w, over all ranks and, after passes inside no_sync(), over all
        of those: the gradient of one process with everything. Losses are not to be divided by the number of passes. With
        average="sum", losses are sums, and their gradient is divided by the sum of weights. Put it around forward,
        backward or both. Calls inside one block are one loss.

        Args:
            weight (float or 0-d Tensor): A finite number, 0 or more; 0 leaves this rank out, whatever its gradient is.

        Raises:
            NotImplementedError: batch="root", so on local devices, or reproducible=V.
            RuntimeError: a rank's weight is no finite number of 0 or more: on all ranks, in backward(); or trace_step() has
                recorded
                a step of this model on one process without a weight.

        Example:
            >>> def train(comm):
            ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
            ...     with model.weighted([1, 3][comm.rank]):
            ...         model(ag.full((1, 1), float(comm.rank))).mean().backward()
            ...     return model.module.weight.grad.item()
            >>> dparallel.run_ranks(2, train)
            [0.75, 0.75]
        """
        reducer = self._needed_reducer()
        if reducer is None:
            raise NotImplementedError("weighted(): with batch='root' (so on local devices) the root's loss is of all rows")
        side_effect("weighted()")
        if self._recorded_alone:
            raise RuntimeError("weighted() after trace_step(), on one process: the recorded step does not tell what it "
                               "counts; enter `with model.weighted(1): pass` once before trace_step()")
        with reducer.weights.overridden(weight):
            yield

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """From now on hook(state, bucket) averages each bucket over ranks; see dparallel.hooks.bucket_hook.

        All ranks register the same one, before their next backward, which is a RuntimeError on all of them if not.

        Args:
            state: What hook gets as its first argument; its class is the same on all ranks.
            hook (callable): hook(state, bucket) -> a Handle, a Tensor or an array: the bucket's new flat buffer.

        Raises:
            TypeError: hook can't be called, or state is not of the class that the hook needs.
            ValueError: hook annotates its bucket as another class than GradBucket.
            RuntimeError: there is a comm hook already.
            NotImplementedError: shard=, reproducible=V, or batch="root", which has no buckets.

        Example:
            >>> def train(comm):
            ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
            ...     model.register_comm_hook(None, dparallel.hooks.allreduce_hook)
            ...     model(ag.full((1, 1), 1.0 + comm.rank)).mean().backward()
            ...     return model.module.weight.grad.item()
            >>> dparallel.run_ranks(2, train)
            [1.5, 1.5]
        """
        if self.shard:
            raise NotImplementedError("register_comm_hook with shard=: gradients of a sharded module leave in slices, "
                                      "and a hook averages whole buckets; hooks need shard=None")
        comm_hook = CommHook(state, hook)
        reducer = self._needed_reducer()
        if reducer is None:
            raise NotImplementedError("register_comm_hook: gradients of local devices and of batch='root' are summed in the "
                                      "graph, not in buckets; hooks need batch='own'")
        if self.comm_hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        reducer.use_hook(comm_hook)

    @property
    def comm_hook(self) -> CommHook | None:
        """The comm hook that was registered, with its state."""
        transport = None if self._reducer is None else self._reducer.transport
        return transport.hook if isinstance(transport, HookTransport) else None

    def _set_static_graph(self) -> None:
        """static_graph=True, after construction."""
        self._unused.static_graph = True


__all__ = ["SummedModel"]
