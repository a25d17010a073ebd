"""DataParallel: one module trained on the shares of a batch that many places hold, as if one process had the whole."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from autograd import Tensor, is_grad_enabled
from autograd.core.primitive import primitive, side_effect
from autograd.nn import Module, SyncBatchNorm

from .comm import Communicator, Devices, communicator, is_communicator, root_of
from .consistency.verification import verify
from .hooks.bucket_hook import CommHook, GradBucket
from .hooks.wire import wire_hook
from .nests.scatter_gather import gather, scatter
from .nests.tree import rebuilt, tensors
from .reduction import stats
from .reduction.backward_signal import BackwardSignal
from .reduction.config import compared, settle, told_to_all, wire_dtype
from .reduction.join import Join, Joinable, JoinedModel, JoinHook, ModelHook
from .reduction.model_state import ModelWatch, broadcast_state, broadcast_tensors
from .reduction.reducer import Reducer
from .reduction.skipping import Skipping
from .reduction.transport import Hooked
from .reduction.unused import Unused
from .reduction.weights import ForwardCall, checked_weight
from .replicas.local import on_devices
from .replicas.parallel_apply import parallel_apply
from .replicas.replicate import ModuleTree, replicate
from .replicas.virtual_shards import VirtualShards
from .sharding import ShardedModel, ShardedReducer, check_sharding, stage_of
from .sync_context import inside

BATCHES = ("own", "root")
AVERAGES = ("rows", "ranks", "sum")


class DataParallel(ShardedModel, Module, Joinable):
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

    @told_to_all
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
        if is_communicator(device_ids):              # comm, where it comes first in one's mind
            if comm is not None:
                raise TypeError("DataParallel(module, comm, comm=...): two communicators; device_ids is a list of "
                                "numbers of local devices")
            comm, device_ids = cast(Communicator, device_ids), None
        settled = settle(module, locals())
        comm, self.devices = self._places(comm, process_group, cast(Any, device_ids), devices)
        self.output_place = root_of(comm if self.devices is None else self.devices, output_device)
        self.module, self.comm = module, comm
        local = isinstance(comm, Devices)
        self.batch = batch or ("root" if local else "own")
        if self.batch not in BATCHES or average not in AVERAGES:
            raise ValueError(f"batch={batch!r} is one of {BATCHES}, average={average!r} one of {AVERAGES}")
        if self.batch == "own" and len(comm.held) > 1:
            raise ValueError("batch='own' needs one place per process; on local devices the batch is scattered")
        self.dim, self.average, self.forward_sync_buffers = dim, average, settled.sync_buffers_in_forward
        self.bucket_cap_mb, self.ignored = settled.bucket_cap_mb, settled.ignored
        self._delayed, self._unused = settled.delayed, Unused(find_unused_parameters, static_graph)
        self.skipped_steps = 0                       # by skipping()
        self.shard, self.shard_units, self.verify_every, self._forwards = stage_of(shard), shard_units, verify_every, 0
        check_sharding(self, reproducible)
        self._inside_join: Join | None = None
        self._recorded_alone = False                 # by trace_step(), on one place, without a reducer
        if self.batch == "own" and not self._trained():
            raise RuntimeError(f"{type(self).__name__} is not needed when a module doesn't have any parameter that requires "
                               "a gradient.")
        self._reducer: Reducer | None = None
        self._unmade = False                         # a copy makes its reducer when it is first trained
        self._tree: ModuleTree | None = None         # of the last call on local devices
        self._watch = ModelWatch(module, self.ignored)
        self._wire = wire = wire_dtype(mixed_precision)
        if comm.size > 1 and not local:
            compared(self, comm, {"batch": self.batch, "average": average, "bucket_cap_mb": self.bucket_cap_mb,
                                  "find_unused_parameters": find_unused_parameters, "static_graph": static_graph,
                                  "broadcast_buffers, forward_sync_buffers": self.forward_sync_buffers,
                                  "init_sync": init_sync,
                                  "delay_all_reduce_named_params": sorted(self._delayed), "mixed_precision": wire,
                                  "reproducible": reproducible, "shard": self.shard, "verify_every": verify_every})
            verify(module, comm, what="DataParallel", ignored=self.ignored)
            if init_sync:
                broadcast_state(module, comm, 0, self.ignored, settled.init_buffers)
        self._virtual: VirtualShards | None = None
        if reproducible is not None:
            self._virtual = VirtualShards(module, comm, reproducible, self.devices, average, dim, self._broadcast_buffers)
        elif self.batch == "own" and comm.size > 1:
            self._unmade = True
        elif (static_graph or find_unused_parameters == "error") and self._trained():
            if comm.size > 1:
                raise NotImplementedError("find_unused_parameters='error' and static_graph=True look at buckets; "
                                          "local devices and batch='root' have none: they need batch='own'")
            self._unmade = True                      # one process is to find what many would
        self._complete()

    @staticmethod
    def _places(comm: Communicator | None, group: Communicator | None, device_ids: Sequence[int] | None,
                devices: int | Sequence[int] | None) -> tuple[Communicator, Devices | None]:
        """What the arguments that name places come to."""
        if group is not None:
            if comm is not None and comm is not group:
                raise ValueError("process_group and comm are two names of one thing: pass one")
            comm = group
        if device_ids is not None and len(device_ids):
            if devices is not None:
                raise ValueError("pass devices= or device_ids=, not both")
            devices = device_ids
        return places(comm, devices)

    def _trained(self) -> list[tuple[str, Any]]:
        return [(name, p) for name, p in self.module.named_parameters() if p.requires_grad and name not in self.ignored]

    def _make_reducer(self) -> Reducer:
        if self.shard and self.comm.size > 1:
            return ShardedReducer(self.module, self.comm, self.bucket_cap_mb, self.average, self.shard, self.shard_units,
                                  ignored=self.ignored, unused=self._unused, wire=self._wire)
        return Reducer(self._trained(), self.comm, self.bucket_cap_mb, self.average, delayed=self._delayed,
                       unused=self._unused)

    def _complete(self) -> None:
        """Make the reducer, if there is to be one: all ranks together."""
        if self._unmade:
            self._unmade = False
            self._reducer = self._make_reducer()
            if self._wire and self.comm.size > 1 and not self.shard:
                self.register_comm_hook(self._wire, wire_hook)

    def __deepcopy__(self, memo: dict[int, Any]) -> DataParallel:
        """A DataParallel of a copy of the module, as averages of weights are; without the comm hook that was registered.
        Not collective: its buckets are made when it is trained, if it ever is."""
        if self._sharded is not None:
            raise NotImplementedError(f"a copy of a DataParallel with shard={self.shard}: wrap a copy of the module before "
                                      "it is sharded, and load_state_dict(model.state_dict())")
        new = self.__class__.__new__(self.__class__)
        memo[id(self)] = new
        fresh = {"_reducer": None, "_tree": None, "_inside_join": None, "_watch": None,
                 "_unused": Unused(self._unused.find, self._unused.static_graph),
                 "_unmade": self._unmade or self._reducer is not None}
        vars(new).update({key: copy.deepcopy(value, memo) for key, value in vars(self).items() if key not in fresh}, **fresh)
        vars(new)["_watch"] = ModelWatch(new.module, new.ignored)
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

    def _needed_reducer(self) -> Reducer | None:
        """The reducer; on one place it is made when it is first needed. None where gradients are summed in the graph."""
        if self._virtual is not None:
            raise NotImplementedError("no_sync, weighted and comm hooks: with reproducible=V gradients do not add up over "
                                      "calls, and are summed in a tree; pass all rows at once")
        self._complete()
        if self._reducer is None and self.comm.size == 1 and self._trained():
            self._reducer = self._make_reducer()
        return self._reducer

    @property
    def broadcast_buffers(self) -> bool:
        """PyTorch's older name for forward_sync_buffers."""
        return self.forward_sync_buffers

    def synchronised_buffers(self) -> list[Tensor]:
        """The buffers that follow rank 0's."""
        return self._watch.buffers()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's output for this rank's rows; with batch="root", for all rows, on the root."""
        if self._unmade and is_grad_enabled():
            self._complete()
        if self.verify_every and is_grad_enabled():
            self._verify_weights()
        if self._reducer is not None and is_grad_enabled():
            return self._forward_own(self._reducer, args, kwargs)
        with inside(comm=self.comm, meet=None if self._reducer is None else self._reducer.before_collective):
            if self._virtual is not None and is_grad_enabled():
                return self._virtual(args, kwargs)
            if self.batch == "own" or self.comm.size == 1 or isinstance(self.comm, Devices):
                return self._here(args, kwargs)
            return self._forward_scattered(args, kwargs)

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
        if isinstance(transport, Hooked) and transport.hook is not None and hasattr(transport.hook.state, "__dict__"):
            return f"DataParallel with a comm hook that keeps a state ({type(transport.hook.state).__name__})"
        return ""

    def _here(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The module's output for what this process was given, computed on its local devices if it has several."""
        if self.shard and self._sharded is not None:
            with self._sharded.forward():
                return self.module(*args, **kwargs)
        if self.devices is None or self.devices.size == 1:
            return self.module(*args, **kwargs)
        if self._tree is None or not self._tree.fits():
            self._tree = ModuleTree(self.module)
        return on_devices(self.module, args, kwargs, self.devices, self.output_place, self.dim, self._tree)

    def _forward_own(self, reducer: Reducer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rows = self._rows((args, kwargs)) if reducer.weights.inside is None else 0.0
        call = self._before_forward(reducer, rows)
        with inside(comm=self.comm, weight=functools.partial(reducer.counts, call), meet=reducer.before_collective):
            output = self._here(args, kwargs)
        reducer.stats.forward_ends()
        if not any(p.tracked for _, p in reducer.named):       # all frozen, as a discriminator is in turns
            return output
        return rebuilt(output, lambda y: BackwardSignal.apply(y, reducer, call)
                       if isinstance(y, Tensor) and y.requires_grad else y)

    @primitive
    def _before_forward(self, reducer: Reducer, rows: float) -> ForwardCall:
        """What this rank does, and says to the others, before its module runs; what the call counts."""
        weights, root = reducer.weights, 0
        if reducer.skipping is not None:
            reducer.skipping.announce()
        if reducer.joined is not None:
            root = reducer.joined.forward_begins()
        weights.problem = weights.problem or self._watch.look()
        call = weights.inside if weights.inside is not None else ForwardCall(rows)
        buffers = self.synchronised_buffers() if self.forward_sync_buffers else []
        if buffers and self.training:
            broadcast_tensors(buffers, self.comm, root)
        call.evaluated = (not self.training and bool(buffers)) or self._watch.evaluates()
        reducer.stats.forward_begins()                 # its clock: this rank has waited for the others up to here
        return call

    def _rows(self, arguments: Any) -> float:
        """How many rows this call works on; not asked for where ranks do not count by rows."""
        if self.average != "rows":
            return 1.0
        first = arguments[0][0] if arguments[0] else None
        found = [first] if isinstance(first, Tensor) else tensors(arguments)
        if not found or not found[0].ndim:
            raise ValueError(f"average={self.average!r} counts rows, but forward() got no tensor with a dimension; "
                             "pass average='ranks', or call it inside `with model.weighted(rows):`")
        return float(found[0].array.shape[self.dim])

    def _forward_scattered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Scatter, replicate, run in parallel, gather."""
        inputs = scatter((args, kwargs), self.comm, dim=self.dim)
        replicas = replicate(self.module, self.comm)
        outputs = parallel_apply(replicas, [i[0] for i in inputs], [i[1] for i in inputs], self.comm)
        return gather(outputs, self.comm, dim=self.dim)

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
        before, weights.inside = weights.inside, ForwardCall(value, True)
        try:
            yield
        finally:
            weights.inside = before

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

    # --- uneven numbers of batches --------------------------------------------------------------------------------------

    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Join:
        """A block around training in which ranks may have different numbers of batches: those that have run out take part
        in the others' sums with weight 0, and at the end have the final weights. With throw_on_early_termination all
        ranks raise RuntimeError when the first one runs out.

        divide_by_initial_world_size is for average="ranks": whether ranks that have run out still count in the mean.
        Where ranks count by rows they have none. Optimiser state is not brought along.

        >>> with model.join():
        ...     for x, y in loader:
        ...         loss_of(model(x), y).backward()
        ...         optimizer.step()
        """
        if enable and self.comm.size > 1 and (self.shard or self.verify_every):
            raise NotImplementedError(f"join() with {'shard=' if self.shard else 'verify_every='}: a rank that has run out "
                                      "of batches does not take part in the others' steps")
        if enable and not throw_on_early_termination and self.comm.size > 1 and any(
                isinstance(m, SyncBatchNorm) for m in self.module.modules()):
            raise NotImplementedError("join(): SyncBatchNorm needs the forward passes of all ranks, and one that has run "
                                      "out of batches makes none; pass throw_on_early_termination=True")
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a rank without batches does; called by Join."""
        return ModelHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> str:
        """The CPU."""
        return "cpu"

    @property
    def join_process_group(self) -> Communicator:
        """The model's communicator."""
        return self.comm

    @property
    def _join(self) -> Join | None:
        return self._inside_join

    @_join.setter
    def _join(self, join: Join | None) -> None:
        self._inside_join = join
        self._complete()
        if self._reducer is not None and self.comm.size > 1:
            self._reducer.joined = None if join is None else JoinedModel(self, join)

    # --- what it did ----------------------------------------------------------------------------------------------------

    def unused_parameters(self) -> list[str]:
        """The parameters that got no gradient on any rank in the last summed backward pass, by name."""
        return [] if self._reducer is None else list(self._reducer.unused.everywhere)

    def logging_data(self) -> dict[str, Any]:
        """What the model did, under PyTorch's names where it has them: sizes of buckets, times of the last step and the
        average (ns) of forward, backward, communication and their overlap, bytes on the wire, unused parameters. Timed
        are the first 10 steps, then each 100th."""
        return stats.data(self)

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
        if getattr(reducer.transport, "hook", None) is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        reducer.use_hook(comm_hook)


def places(comm: Any, devices: int | Sequence[int] | None) -> tuple[Communicator, Devices | None]:
    """The places that ranks or devices are, and the local devices under each rank, if any."""
    comm = communicator(comm)
    if isinstance(comm, Devices) and comm.size > 1 and devices is not None:
        raise ValueError("pass devices=n or comm=Devices(n), not both")
    local = comm if isinstance(comm, Devices) else None
    if devices is not None:
        local = Devices(devices)
    return (local if isinstance(comm, Devices) and local is not None else comm), local
