"""DataParallel: one module trained on the shares of a batch that many places hold, as if one process had the whole."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograd import Tensor, is_grad_enabled
from autograd.core.primitive import side_effect
from autograd.nn import Module

from ..comm import Communicator, Devices
from ..consistency.verification import verify
from ..hooks.bucket_hook import CommHook, GradBucket
from ..hooks.cast import cast_hook
from ..reduction import stats
from ..reduction.reducer import Reducer
from ..reduction.transport import HookTransport
from ..reduction.unused import UnusedParameters
from ..reduction.weights import ForwardCall, checked_weight
from ..replicas.virtual_shards import VirtualShards
from ..sharding import ShardedModel, ShardedReducer
from ..sync_context import set_context
from .config import Config, compare_over_ranks, raised_on_all_ranks
from .forward import Compute, FromRoot, OnThisRank, SummedForward
from .join import JoinableModel
from .model_state import ModelWatch, broadcast_state, broadcast_tensors
from .skipping import Skipping


class DataParallel(ShardedModel, JoinableModel, Module):
    """`module` over all places of `comm` (default: the ranks of this job).

    batch="own" (the default over ranks): each rank calls it with its own rows and makes its own loss; backward() leaves
    in .grad, on every rank, the gradient of the mean over the rows of all ranks. batch="root" (always so on local
    devices): the root's rows are scattered, replicas of the module run in parallel, outputs are gathered on the root,
    which makes the loss; other ranks get an empty tensor y and call y.sum().backward() when the root calls backward.

    devices=n, or a list of numbers, are local devices: threads of this process. Under MPI each rank has its own: ranks
    times devices. comm=Devices(n) stands for local devices without other ranks. Outputs are gathered on output_device, one
    of the list; dim is the dimension that is scattered and gathered. average says what each
    rank's loss is, for batch="own": "rows", a mean over its rows (ranks count by their rows: uneven batches are exact,
    a rank may have none); "ranks", a mean of which all ranks count alike; "sum", a sum over rows. Rows are counted
    along `dim` of the first tensor argument of forward; weighted() counts something else, such as tokens.

    device_ids, PyTorch's second argument, is a list of numbers of local devices, as devices; a communicator in its place is
    comm. A wrong type is a TypeError that names the argument.

    The other arguments are those of PyTorch's DistributedDataParallel, and mean the same: bucket_cap_mb (size of gradient
    messages, MiB; the first is at most 1), broadcast_buffers and forward_sync_buffers (rank 0's buffers for all, before
    each forward in training mode), init_sync (rank 0's values for all, now), process_group (another name for comm),
    static_graph, delay_all_reduce_named_params with param_to_hook_all_reduce (these are summed last, in buckets of their
    own), mixed_precision (gradients on the wire: a dtype, or what has a reduce_dtype), parameters_to_ignore (names that
    stay each rank's own). find_unused_parameters: what is unused is found at the end of backward, at no cost, and right;
    False warns of it once by name, True takes it as meant, "error" raises on all ranks.

    reproducible=V (a power of two, a multiple of the number of ranks) gives bitwise the same weights on 1, 2, 4, ... V ranks
    and on local devices, see virtual_shards.py; rows are to come as GlobalBatchSampler gives them.

    shard="optimizer", "gradients" or "parameters" (or 1, 2, 3) leaves each rank a slice of the optimiser's state, of these
    and the gradients, or of these and the parameters: docs/sharding.md. parameters() then gives this rank's slices.
    shard_units, with shard="parameters": which modules are gathered as one: classes, or a function of a module.
    verify_every=k compares the weights of all ranks every k-th training forward (a hash; CollectiveError where they differ).

    >>> model = DataParallel(Net())
    >>> loss = F.cross_entropy(model(x), y)          # this rank's rows
    >>> loss.backward()                              # gradients of the whole batch, on every rank
    """

    @raised_on_all_ranks
    def __init__(self, module: Module, device_ids: Sequence[int] | Communicator | None = None,
                 output_device: int | None = None, dim: int = 0, *, comm: Communicator | None = None,
                 devices: int | Sequence[int] | None = None,
                 batch: str | None = None, average: str = "rows", bucket_cap_mb: float | None = None,
                 broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Communicator | None = None,
                 find_unused_parameters: Any = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool | None = None, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, forward_sync_buffers: bool | None = None,
                 parameters_to_ignore: Sequence[str] = (), device_mesh: Any = None,
                 skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: Any = None,
                 batched_grad_copy: bool = False, reproducible: int | None = None, shard: str | int | None = None,
                 shard_units: Any = None, verify_every: int = 0) -> None:
        config = Config(
            module=module, device_ids=device_ids, output_device=output_device, dim=dim, comm=comm, devices=devices,
            batch=batch, average=average, bucket_cap_mb=bucket_cap_mb, broadcast_buffers=broadcast_buffers,
            init_sync=init_sync, process_group=process_group, find_unused_parameters=find_unused_parameters,
            check_reduction=check_reduction, gradient_as_bucket_view=gradient_as_bucket_view, static_graph=static_graph,
            delay_all_reduce_named_params=delay_all_reduce_named_params, param_to_hook_all_reduce=param_to_hook_all_reduce,
            mixed_precision=mixed_precision, forward_sync_buffers=forward_sync_buffers,
            parameters_to_ignore=parameters_to_ignore, device_mesh=device_mesh,
            skip_all_reduce_unused_params=skip_all_reduce_unused_params, bucket_cap_mb_list=bucket_cap_mb_list,
            batched_grad_copy=batched_grad_copy, reproducible=reproducible, shard=shard, shard_units=shard_units,
            verify_every=verify_every)
        if config.per_rank and not config.trained():
            raise RuntimeError(f"{type(self).__name__} is not needed when a module doesn't have any parameter that requires "
                               "a gradient.")
        self.module, self.comm, self.devices = module, config.places, config.local
        self.batch, self.average, self.dim = "own" if config.per_rank else "root", average, dim
        self.bucket_cap_mb, self.forward_sync_buffers = config.cap_mb, config.sync_buffers
        self.ignored, self.output_place = config.ignored, config.output_place
        self.shard, self.shard_units, self.verify_every = config.stage, shard_units, verify_every
        self.skipped_steps = 0                       # by skipping()
        self.forwards = 0                            # in training, for verify_every
        self._recorded_alone = False                 # by trace_step(), on one place, without a reducer
        self._reducer: Reducer | None = None
        self._summed_forward: SummedForward | None = None
        self._config, self._unused = config, UnusedParameters(find_unused_parameters, static_graph)
        self._watch = ModelWatch(module, self.ignored)
        if self.comm.size > 1 and not config.local_only:
            compare_over_ranks(self, self.comm, config.same_on_all_ranks())
            verify(module, self.comm, what="DataParallel", ignored=self.ignored)
            if init_sync:
                broadcast_state(module, self.comm, 0, self.ignored, config.init_buffers)
        self._virtual: VirtualShards | None = None
        if reproducible is not None:
            self._virtual = VirtualShards(module, self.comm, reproducible, self.devices, average, dim,
                                          self._broadcast_buffers)
        self._compute = self._strategy()
        self._without_reducer = self._virtual is None and self._needs_reducer()      # yet: see _complete()
        self._complete()

    def _strategy(self) -> Compute:
        """How the module is computed in this process."""
        if self.batch == "root" and self.comm.size > 1 and not isinstance(self.comm, Devices):
            return FromRoot(self.module, self.comm, self.dim)
        return OnThisRank(self.module, self.devices, self.output_place, self.dim)

    def _needs_reducer(self) -> bool:
        """Whether gradients are summed by a reducer, or, on one place, buckets are asked for what they find out."""
        if self.batch == "own" and self.comm.size > 1:
            return True
        config = self._config
        if not (config.static_graph or config.find_unused_parameters == "error") or not config.trained():
            return False
        if self.comm.size > 1:
            raise NotImplementedError("find_unused_parameters='error' and static_graph=True look at buckets; "
                                      "local devices and batch='root' have none: they need batch='own'")
        return True

    def _complete(self) -> None:
        """Create the reducer, if there is to be one: all ranks together. A copy has none until it is first trained."""
        if self._without_reducer:
            self._without_reducer = False
            self._use_reducer(self._make_reducer())
            if self._config.wire and self.comm.size > 1 and not self.shard:
                self.register_comm_hook(self._config.wire, cast_hook)

    def _make_reducer(self) -> Reducer:
        config = self._config
        if self.shard and self.comm.size > 1:
            return ShardedReducer(self.module, self.comm, config.cap_mb, self.average, self.shard, self.shard_units,
                                  ignored=self.ignored, unused=self._unused, wire=config.wire)
        return Reducer(config.trained(), self.comm, config.cap_mb, self.average, delayed=config.delayed, unused=self._unused)

    def _use_reducer(self, reducer: Reducer) -> None:
        """From now on this reducer sums the gradients."""
        self._reducer = reducer
        if isinstance(reducer, ShardedReducer) and isinstance(self._compute, OnThisRank):
            self._compute.sharded = reducer
        self._summed_forward = SummedForward(self._compute, reducer, self._watch, self.dim, self.forward_sync_buffers)

    def _needed_reducer(self) -> Reducer | None:
        """The reducer; on one place it is created when it is first needed. None where gradients are summed in the graph."""
        if self._virtual is not None:
            raise NotImplementedError("no_sync, weighted and comm hooks: with reproducible=V gradients do not add up over "
                                      "calls, and are summed in a tree; pass all rows at once")
        self._complete()
        if self._reducer is None and self.comm.size == 1 and self._config.trained():
            self._use_reducer(self._make_reducer())
        return self._reducer

    def __deepcopy__(self, memo: dict[int, Any]) -> DataParallel:
        """A DataParallel of a copy of the module, as averages of weights are; without the comm hook that was registered.
        Not collective: its buckets are created when it is trained, if it ever is."""
        if self._sharded is not None:
            raise NotImplementedError(f"a copy of a DataParallel with shard={self.shard}: wrap a copy of the module before "
                                      "it is sharded, and load_state_dict(model.state_dict())")
        new = self.__class__.__new__(self.__class__)
        memo[id(self)] = new
        fresh = {"_reducer": None, "_summed_forward": None, "_compute": None, "_join_block": None, "_watch": None,
                 "_unused": UnusedParameters(self._unused.find, self._unused.static_graph),
                 "_without_reducer": self._without_reducer or self._reducer is not None}
        vars(new).update({key: copy.deepcopy(value, memo) for key, value in vars(self).items() if key not in fresh}, **fresh)
        vars(new).update(_watch=ModelWatch(new.module, new.ignored), _compute=new._strategy())
        return new

    def __getstate__(self) -> Any:
        """Refused."""
        raise TypeError("a DataParallel can't be pickled: its ranks are those of this job. Pickle model.module, or save "
                        "model.state_dict(); copy.deepcopy(model) works")

    def _broadcast_buffers(self) -> None:
        if self.forward_sync_buffers and not isinstance(self.comm, Devices):
            broadcast_tensors(self.synchronised_buffers(), self.comm)

    def shards(self, *batch: Any) -> Iterator[Any]:
        """With reproducible=V: this rank's rows of the batch, shard by shard; make a loss of each and call backward on it.
        At the end .grad holds the mean over all rows of all ranks, also where the shards are uneven.

        >>> for x, y in model.shards(x, y):
        ...     F.cross_entropy(model(x), y).backward()
        """
        if self._virtual is None:
            raise RuntimeError("shards() needs DataParallel(..., reproducible=V): this one has no virtual shards")
        return self._virtual.each(batch)

    @property
    def broadcast_buffers(self) -> bool:
        """PyTorch's older name for forward_sync_buffers."""
        return self.forward_sync_buffers

    def synchronised_buffers(self) -> list[Tensor]:
        """The buffers that follow rank 0's."""
        return self._watch.buffers()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's output for this rank's rows; with batch="root", for all rows, on the root."""
        recording = is_grad_enabled()
        if recording:
            self._complete()
        if self.verify_every and recording:
            self._verify_weights()
        if self._summed_forward is not None and recording:
            return self._summed_forward(args, kwargs, self.training)
        compute = self._virtual if self._virtual is not None and recording else self._compute
        before_collective = None if self._reducer is None else self._reducer.before_collective
        with set_context(comm=self.comm, before_collective=before_collective):
            return compute(args, kwargs)

    def before_recording(self) -> str:
        """trace_step() begins to record a step with this model. Returns what of it can't be recorded; "" for nothing."""
        self._recorded_alone = self._reducer is None
        transport = None if self._reducer is None else self._reducer.transport
        if self._virtual is not None:
            return "DataParallel with reproducible=V"
        if self.shard == 3:
            return "DataParallel with shard='parameters'"
        if (isinstance(self.comm, Devices) and self.comm.size > 1) or (self.devices is not None and self.devices.size > 1):
            return "DataParallel with local devices"
        if self._reducer is None and self.comm.size > 1:
            return "DataParallel with batch='root'"
        if isinstance(transport, HookTransport) and hasattr(transport.hook.state, "__dict__"):
            return f"DataParallel with a comm hook that keeps a state ({type(transport.hook.state).__name__})"
        return ""

    @contextlib.contextmanager
    def no_sync(self, when: bool = True) -> Iterator[None]:
        """Backward passes inside add up gradients on this rank only (if `when`); the next one outside sums them all."""
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
        backward or both; 0 leaves a rank out, whatever its gradient is. Calls inside one block are one loss.

        A weight that is no finite number of 0 or more is a RuntimeError on all ranks, in backward().

        >>> with model.weighted(mask.sum()):
        ...     token_loss(model(x), y, mask).backward()
        """
        reducer = self._needed_reducer()
        if reducer is None:
            raise NotImplementedError("weighted(): with batch='root' (so on local devices) the root's loss is of all rows")
        side_effect("weighted()")
        if self._recorded_alone:
            raise RuntimeError("weighted() after trace_step(), on one process: the recorded step does not tell what it "
                               "counts; enter `with model.weighted(1): pass` once before trace_step()")
        weights = reducer.weights
        value, problem = checked_weight(weight)
        weights.problem = weights.problem or problem
        before, weights.override = weights.override, ForwardCall(value, True)
        try:
            yield
        finally:
            weights.override = before

    def skipping(self, on: type[BaseException] | tuple[type[BaseException], ...] = (MemoryError, FloatingPointError),
                 nonfinite: bool = True) -> Skipping:
        """A block around forward and backward of one step: if a rank raises one of `on` inside it, or (nonfinite) if the
        gradient over all ranks is not finite, all ranks leave the block, without an error, without gradients and with the
        buffers they had before. Then step.skipped is true, and step.reason says which rank failed and why, on all ranks;
        model.skipped_steps counts. Other exceptions are a CollectiveError on the other ranks.

        >>> with model.skipping() as step:
        ...     loss_of(model(x), y).backward()
        >>> if not step.skipped:
        ...     optimizer.step()
        """
        side_effect("skipping()")
        if self.shard == 3:
            raise NotImplementedError("skipping() with shard='parameters': a rank that fails can't bring the others the "
                                      "parameters that they ask for; use shard='gradients'")
        self._complete()
        return Skipping(self, on if isinstance(on, tuple) else (on,), nonfinite)

    @property
    def comm_hook(self) -> CommHook | None:
        """The comm hook that was registered, with its state."""
        transport = None if self._reducer is None else self._reducer.transport
        return transport.hook if isinstance(transport, HookTransport) else None

    # --- what it did ----------------------------------------------------------------------------------------------------

    def unused_parameters(self) -> list[str]:
        """The parameters that got no gradient on any rank in the last summed backward pass, by name."""
        return [] if self._reducer is None else list(self._reducer.unused.everywhere)

    def logging_data(self) -> dict[str, Any]:
        """What the model did, under PyTorch's names where it has them: sizes of buckets, times of the last step and the
        average (ns) of forward, backward, communication and their overlap, bytes on the wire, unused parameters. Timed
        are the first 10 steps, then each 100th."""
        return stats.logging_data(self)

    _get_ddp_logging_data = logging_data             # PyTorch's name

    def report(self) -> str:
        """logging_data() as a table."""
        return stats.table(self.logging_data())

    def _set_ddp_runtime_logging_sample_rate(self, sample_rate: int) -> None:
        """Time each sample_rate-th step after the first ten."""
        if sample_rate < 1:
            raise ValueError("DDP runtime logging sample rate should be equal or greater than 1")
        if self._reducer is not None:
            self._reducer.stats.rate = sample_rate

    def _set_static_graph(self) -> None:
        """static_graph=True, after construction."""
        self._unused.static_graph = True

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, names: Sequence[str]) -> None:
        """Mark names of a module that DataParallel, when it wraps it, is to leave to each rank."""
        module._ddp_params_and_buffers_to_ignore = list(names)  # type: ignore[assignment]

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """From now on hook(state, bucket) averages each bucket over ranks; see dparallel.hooks.bucket_hook.

        All ranks register the same one, before their next backward, which is a RuntimeError on all of them if not.
        TypeError if hook can't be called; RuntimeError if there is one already; NotImplementedError where batch="root",
        which has no buckets.

        >>> model.register_comm_hook(state=None, hook=my_hook)
        """
        if self.shard:
            raise NotImplementedError("register_comm_hook with shard=: gradients of a sharded module leave in slices, "
                                      "and a hook averages whole buckets; hooks need shard=None")
        comm_hook = CommHook(state, hook)
        reducer = self._needed_reducer()
        if reducer is None:
            raise NotImplementedError("register_comm_hook: gradients of local devices and of batch='root' are summed in the "
                                      "graph, not in buckets; hooks need batch='own'")
        if isinstance(reducer.transport, HookTransport):
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        reducer.use_hook(comm_hook)
