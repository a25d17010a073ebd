"""DataParallel: train one module on a batch split across ranks, with the gradients of the whole batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Generic

from autograd.core.modes import GRAD, modes
from autograd.core.primitive import side_effect
from autograd.nn import Module

from ..autograd import Tensor
from ..comm import Communicator, Devices, communicator
from ..consistency.verification import verify
from ..hooks.bucket_hook import CommHook, GradBucket
from ..reduction.shared_parameters import refuse_taken, take_over
from ..reduction.unused import UnusedParameters
from .config import Config, compare_over_ranks, constructs_together, mark_ignored
from .gradient_sum import GradientSum
from .join import Join, Joinable, JoinHook, Joining, ModelHook
from .memory import MemoryUse
from .model_state import BufferSync, ModelWatch, broadcast_state
from .nan_watch import NanWatch
from .skipping import Recording, Skipping
from .statistics import Statistics, table
from .whole_state import WholeState, verify_weights

if TYPE_CHECKING:
    from typing import ParamSpec, Protocol, overload

    from typing_extensions import Self, TypeVar

    from autograd.observe.profiler import MemoryPrediction

    Wrapped = TypeVar("Wrapped", bound=Module)
    Wrapped_co = TypeVar("Wrapped_co", covariant=True, default=Module)       # DataParallel alone is DataParallel[Module]
    Arguments = ParamSpec("Arguments")
    Output_co = TypeVar("Output_co", covariant=True)

    class Forward(Protocol[Arguments, Output_co]):
        """The module, as a call of the model that wraps it sees it."""

        @property
        def forward(self) -> Callable[Arguments, Output_co]: ...

    class Wraps(Protocol[Arguments, Output_co]):
        """That model."""

        @property
        def module(self) -> Forward[Arguments, Output_co]: ...
else:
    from typing import TypeVar

    Wrapped_co = TypeVar("Wrapped_co", covariant=True)


# the attributes that a DataParallel sets from its arguments
CREATED = {"module", "comm", "devices", "batch", "average", "dim", "bucket_cap_mb", "forward_sync_buffers", "ignored",
           "output_rank", "shard", "shard_units", "verify_every", "_config", "_unused", "_watch", "_buffer_sync", "_sum",
           "_joining", "_statistics", "_memory", "_state"}


class DataParallel(Module, Joinable, Generic[Wrapped_co]):
    """Train `module` on a batch split across ranks or local devices, with the gradients of the whole batch.

    batch="own" (the default over ranks): each rank calls it with its own rows and computes its own loss; backward() leaves
    in .grad, on every rank, the gradient of the mean over the rows of all ranks. batch="root" (always so on local devices):
    the root's rows are scattered, and the root computes the loss. The arguments are documented by
    help(DataParallel.__init__), from the fields of dparallel.model.config.Config.
    """

    module: Wrapped_co
    skipped_steps: int = 0                           # in skipping() blocks
    forwards: int = 0                                # with gradients; counted if verify_every is set
    _nan: NanWatch | None = None                     # with find_nan=True

    if TYPE_CHECKING:                                # a call has the module's arguments and result
        def __new__(cls, module: Wrapped_co, *args: Any, **kwargs: Any) -> Self: ...         # lets pyright infer the class
        @overload                                    # type: ignore[override]
        def __call__(self: Wraps[Arguments, Output_co], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Output_co: ...
        @overload                                    # a module of unknown type
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    @constructs_together
    def __init__(self: DataParallel[Wrapped], module: Wrapped, device_ids: Sequence[int] | Communicator | None = None,
                 output_device: int | None = None, dim: int = 0, *,
                 comm: Communicator | None = None, devices: int | Sequence[int] | None = None, batch: str | None = None,
                 average: str = "rows",
                 bucket_cap_mb: float | None = None, broadcast_buffers: bool | None = None, init_sync: bool = True,
                 process_group: Communicator | None = None, find_unused_parameters: Any = False,
                 check_reduction: bool = False, gradient_as_bucket_view: bool | None = None, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, forward_sync_buffers: bool | None = None,
                 parameters_to_ignore: Sequence[str] = (), device_mesh: Any = None,
                 skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: Any = None,
                 batched_grad_copy: bool = False,
                 reproducible: int | None = None, shard: str | int | None = None, shard_units: Any = None,
                 verify_every: int | None = None, find_nan: bool = False, evaluation_buffers: str = "root") -> None:
        config = Config(
            module, device_ids, output_device, dim, comm=comm, devices=devices, batch=batch, average=average,
            bucket_cap_mb=bucket_cap_mb, broadcast_buffers=broadcast_buffers, init_sync=init_sync,
            process_group=process_group, find_unused_parameters=find_unused_parameters, check_reduction=check_reduction,
            gradient_as_bucket_view=gradient_as_bucket_view, static_graph=static_graph,
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce, mixed_precision=mixed_precision,
            forward_sync_buffers=forward_sync_buffers, parameters_to_ignore=parameters_to_ignore, device_mesh=device_mesh,
            skip_all_reduce_unused_params=skip_all_reduce_unused_params, bucket_cap_mb_list=bucket_cap_mb_list,
            batched_grad_copy=batched_grad_copy, reproducible=reproducible, shard=shard, shard_units=shard_units,
            verify_every=verify_every, find_nan=find_nan, evaluation_buffers=evaluation_buffers)
        if config.per_rank and not config.trained():
            raise RuntimeError(f"{type(self).__name__} is not needed when a module doesn't have any parameter that requires "
                               "a gradient.")
        self._configure(config)
        if self.comm.size > 1 and not config.local_only:
            compare_over_ranks(self, self.comm, config.same_on_all_ranks())
            verify(self.module, self.comm, what="DataParallel", ignored=self.ignored)
            if config.init_sync:
                broadcast_state(self.module, self.comm, 0, self.ignored, config.init_buffers)
        self._nan = self._sum.nan = NanWatch(self.module) if config.find_nan else None
        self._sum.complete()
        if config.copied:
            take_over(self.module.parameters(), config.how)

    def _configure(self, config: Config[Any], unused: UnusedParameters | None = None) -> None:
        """Set what follows from the arguments, and create the parts, without communication."""
        super().__init__()
        self.module = config.module
        self.comm: Communicator = config.ranks
        self.devices: Devices | None = config.local
        self.batch = "own" if config.per_rank else "root"
        self.average: str = config.average
        self.dim: int = config.dim
        self.bucket_cap_mb: float = config.cap_mb
        self.forward_sync_buffers: bool = config.sync_buffers
        self.ignored: frozenset[str] = config.ignored
        self.output_rank: int = config.output_rank
        self.shard: int = config.stage
        self.shard_units: Any = config.shard_units
        self.verify_every: int = config.verify_every or 0
        self._config = config
        self._unused = unused or UnusedParameters(config.find_unused_parameters, config.static_graph)
        self._watch = ModelWatch(config.module, self.ignored)
        self._buffer_sync = BufferSync(self._watch, self.comm, config.sync_buffers and config.per_rank,
                                       config.evaluation_buffers == "mean")
        self._sum: GradientSum = self._gradient_sum(config)
        self._joining = Joining(config, self._sum, self._buffer_sync)
        self._statistics = Statistics(config, self._sum)
        self._memory = MemoryUse(config, self._sum)
        self._state = WholeState(config, self._sum)

    def _gradient_sum(self, config: Config[Any]) -> GradientSum:
        return GradientSum(config, type(self).__name__, self._watch, self._buffer_sync, self._unused)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's output for this rank's rows; with batch="root", for all rows, on the root."""
        recording, summed = bool(modes.recording & GRAD), self._sum
        if recording:
            if summed.incomplete:
                summed.complete()
            if summed.in_graph:
                refuse_taken(self._config.module.parameters(), self._config.how)
        if not (self.training and self._config.module.training):
            if self._joining.block is None:          # a rank that has run out of batches only takes part in training
                self._buffer_sync.before_evaluation()
        elif not recording:
            self._buffer_sync.changed = True
        if self.verify_every and recording:
            verify_weights(self, self._config)
        if self._nan is not None:
            self._nan.begin(None, recording)
        return summed.forward(args, kwargs, recording, self.training)

    def shards(self, *batch: Any) -> Iterator[Any]:
        """With reproducible=V: iterate over this rank's rows of the batch, shard by shard.

        Compute a loss for each shard and call backward() on it. At the end .grad holds the mean over all rows of all ranks,
        also for uneven shards.

        Args:
            *batch: This rank's rows: Tensors, or containers of them.

        Yields:
            The rows of one shard: a tuple, or, for a batch of one entry, the entry.

        Raises:
            RuntimeError: the model was created without reproducible=V.
            CollectiveError: the ranks do not have the rows of their shards; see GlobalBatchSampler.

        Example:
            >>> def train(comm):
            ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm, reproducible=2)
            ...     for x in model.shards(ag.ones(2 // comm.size, 1)):
            ...         model(x).mean().backward()
            ...     return model.module.weight.grad.item()
            >>> dparallel.run_ranks(1, train), dparallel.run_ranks(2, train)
            ([1.0], [1.0, 1.0])
        """
        self._sum.complete()
        if self._sum.virtual is None:
            raise RuntimeError("shards() requires DataParallel(..., reproducible=V)")
        return self._sum.virtual.each(batch)

    def skipping(self, on: type[BaseException] | tuple[type[BaseException], ...] = (MemoryError, FloatingPointError),
                 nonfinite: bool = True) -> Skipping:
        """A block around forward and backward of one step that all ranks skip if one fails.

        If a rank raises one of `on` inside, or (nonfinite) the gradient over all ranks is not finite, all ranks leave the
        block without an error, without gradients and with their earlier buffers. Then step.skipped is true, step.reason
        names the failed rank and the reason, on all ranks, and model.skipped_steps is incremented. Other exceptions are a
        CollectiveError on the other ranks.
        """
        side_effect("skipping()")
        if self.shard == 3:
            raise NotImplementedError("skipping() with shard='parameters': a failed rank can't send the others its slices "
                                      "of parameters; use shard='gradients'")
        self._sum.complete()
        return Skipping(self, self._sum.reducer, on if isinstance(on, tuple) else (on,), nonfinite)

    def before_recording(self) -> str:
        """Called when trace_step() begins to record a step with this model. Returns what of it can't be recorded; "" if
        all can.
        """
        return self._sum.before_recording()

    def recording(self) -> Recording | None:
        """Called by compile() before it records steps with this model on several ranks: a block in which a failure on one
        rank is one on all. None if the model has no sums of its own.
        """
        return None if self._sum.reducer is None else Recording(self._sum.reducer)

    @property
    def broadcast_buffers(self) -> bool:
        """PyTorch's older name for forward_sync_buffers."""
        return self.forward_sync_buffers

    def synchronise_buffers(self) -> None:
        """Synchronize buffers across ranks for an evaluation, if a forward pass in training mode may have changed them. The
        first forward pass in evaluation mode calls it. Collective: CollectiveError if other ranks call another
        collective.
        """
        self._buffer_sync.before_evaluation()

    def synchronised_buffers(self) -> list[Tensor]:
        """The buffers that follow rank 0's."""
        return self._watch.buffers()

    _set_params_and_buffers_to_ignore_for_model = staticmethod(mark_ignored)

    # --- the sum of gradients ---------------------------------------------------------------------------------------------

    def no_sync(self, when: bool = True) -> AbstractContextManager[None]:
        """Backward passes inside add up gradients on this rank only (if `when`); the next one outside sums them all."""
        return self._sum.no_sync(when)

    def weighted(self, weight: Any) -> AbstractContextManager[None]:
        """What this rank's loss, a mean, counts in the mean over ranks: its number of tokens, say, in the place of rows.

        backward() leaves sum of w * gradient over sum of w, over all ranks and, after passes inside no_sync(), over all
        of those: the gradient of one process with everything. Losses are not to be divided by the number of passes. With
        average="sum", losses are sums, and their gradient is divided by the sum of weights. Put it around forward,
        backward or both. Calls inside one block are one loss.
        """
        return self._sum.weighted(weight)

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """From now on hook(state, bucket) averages each bucket over ranks; see dparallel.hooks.bucket_hook.

        All ranks register the same one, before their next backward, which is a RuntimeError on all of them if not.
        """
        self._sum.register_comm_hook(state, hook)

    @property
    def comm_hook(self) -> CommHook | None:
        """The registered comm hook, with its state."""
        return self._sum.comm_hook

    def _set_static_graph(self) -> None:
        """static_graph=True, after construction."""
        self._unused.static_graph = True

    # --- join() -----------------------------------------------------------------------------------------------------------

    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Join:
        """A block around training in which ranks may have different numbers of batches.

        Ranks that have run out take part in the others' sums with weight 0, and have the final weights at the end. Optimizer
        state is not synchronized.
        """
        return self._joining.join(self, divide_by_initial_world_size, enable, throw_on_early_termination)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """The hook for a rank without batches; called by Join."""
        return ModelHook(self, self._joining, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> str:
        """The device of the tensors that join() exchanges: always the CPU."""
        return "cpu"

    @property
    def join_process_group(self) -> Communicator:
        """The model's communicator."""
        return self.comm

    @property
    def _join(self) -> Join | None:                  # type: ignore[override]
        return self._joining.block

    @_join.setter
    def _join(self, join: Join | None) -> None:
        self._joining.enter(self, join)

    # --- statistics and memory --------------------------------------------------------------------------------------------

    def unused_parameters(self) -> list[str]:
        """The parameters that got no gradient on any rank in the last summed backward pass, by name."""
        return self._statistics.unused_parameters()

    def logging_data(self) -> dict[str, Any]:
        """Statistics of the model, under PyTorch's names if it has them: sizes of buckets, times of the last step and the
        average (ns) of forward, backward, waiting for other ranks in each, communication and its overlap with
        computation, bytes sent, unused parameters. The first 10 steps are timed, then every 100th.
        """
        return self._statistics.collect()

    _get_ddp_logging_data = logging_data             # PyTorch's name

    def report(self) -> str:
        """logging_data() as a table."""
        return table(self.logging_data())

    def _set_ddp_runtime_logging_sample_rate(self, sample_rate: int) -> None:
        """Time each sample_rate-th step after the first ten."""
        self._statistics.set_rate(sample_rate)

    def memory_summary(self, abbreviated: bool = False) -> str:
        """A table of this rank's memory by use; see autograd.cpu.memory_summary(). Not collective."""
        return self._memory.summary(abbreviated)

    def predict_memory(self, batch: Any, loss_fn: Callable[..., Any] | None = None, optimizer: Any = None, *,
                       batch_size: int, sizes: tuple[int, int] | None = None, train: bool = True,
                       ranks_per_host: int | None = None) -> MemoryPrediction:
        """Predict the memory of a step with batch_size rows per rank, and whether it fits; see
        autograd.cpu.predict_memory().

        Gradients are in buckets; each rank maps those of the other ranks on its host. Collective only if the module's
        forward is.
        """
        return self._memory.predict(batch, loss_fn, optimizer, batch_size=batch_size, sizes=sizes, train=train,
                                    ranks_per_host=ranks_per_host)

    # --- names and state: those of the module -----------------------------------------------------------------------------

    def summon_full_params(self, writeback: bool = True) -> AbstractContextManager[None]:
        """A block in which the parameters of `module` are whole, whatever the sharding; all ranks enter it together.

        With shard="optimizer" and shard="gradients" parameters are always whole, and changes persist.
        """
        return self._state.summon(writeback)

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """The module's parameters, names without a prefix; if sharded, this rank's slices of them. Yields (name, Parameter)
        pairs.
        """
        return self._state.named_parameters(prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """The module's buffers, named like the parameters; see named_parameters(). Yields (name, Tensor) pairs.

        (named_modules() has this module, then "module" and what is below: paths, for get_submodule().)
        """
        return self._state.module.named_buffers(prefix, recurse, remove_duplicate)

    def _tensor_paths(self, names: Iterable[str]) -> dict[str, str]:
        """The paths from this module to the tensors of these names, with or without "module.", as a dict; for
        functional_call(). NotImplementedError if the model is sharded, so its parameters are slices.
        """
        return self._state.tensor_paths(names)

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """The module's whole state, names without a prefix. With shard="parameters" all ranks call it together."""
        with self.summon_full_params(writeback=False):
            return self._state.module.state_dict(*args, destination=destination, prefix=prefix, keep_vars=keep_vars)

    def local_state(self) -> Any:
        """The module's state as stored on this rank, without communication; sharded parameters as ParameterSlices."""
        return self._state.local()

    def slices_changed(self) -> None:
        """Gather again the parameters that stay whole, after a write to slices. Collective."""
        self._state.slices_changed()

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Load names with or without PyTorch's prefix "module.". Returns the missing and the unexpected names."""
        return self._state.load(state_dict, strict, assign)

    # --- copies and pickles -----------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A DataParallel of a copy of the module, as averages of weights are; without the registered comm hook. Not
        collective: its buckets are created when it is first trained."""
        if self._sum.sharded is not None:
            raise NotImplementedError(f"a copy of a DataParallel with shard={self.shard}: wrap a copy of the module before "
                                      "it is sharded, and load_state_dict(model.state_dict())")
        cls: Any = type(self)
        new = cls.__new__(cls)
        memo[id(self)] = new
        new.__setstate__(copy.deepcopy(self._pickled(), memo))
        new._buffer_sync.changed = self._buffer_sync.changed
        return new

    def __getstate__(self) -> Any:
        """The module, the arguments, and attributes of the user's own. TypeError if ranks have slices of the module."""
        if self.shard:
            raise TypeError(f"a DataParallel with shard={self._config.shard!r} can't be pickled: each rank has its slices. "
                            "Save model.state_dict(), which all ranks call together, or wrap the module without shard=")
        return self._pickled()

    def _pickled(self) -> dict[str, Any]:
        config = self._config
        arguments = {each.name: getattr(config, each.name) for each in fields(config) if each.init}
        if config.comm is not None:                  # that of mpi4py has no name elsewhere
            arguments["comm"] = communicator(config.comm)
        return {"arguments": {**arguments, "module": self.module}, "unused": (self._unused.find, self._unused.static_graph),
                "attributes": {key: value for key, value in vars(self).items() if key not in CREATED}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A DataParallel over the ranks of this job. Not collective: its reducer is created when it is trained."""
        vars(self).update({"module": state["arguments"]["module"], **state["attributes"]})
        self._configure(Config(**state["arguments"]), UnusedParameters(*state["unused"]))
        self._sum.nan = self._nan
        if self._nan is not None:
            self._nan.watch_parameters(self._config.module)
