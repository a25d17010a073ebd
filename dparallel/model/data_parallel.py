"""DataParallel: one module trained on the shares of a batch that many places hold, as if one process had the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic

from autograd.core.primitive import side_effect

from ..autograd import Tensor, is_grad_enabled
from ..comm import Devices
from ..consistency.verification import verify
from ..reduction.shared_parameters import refuse_taken, take_over
from ..reduction.stats import LoggedModel
from ..reduction.unused import UnusedParameters
from ..sync_context import set_context
from .config import Config, compare_over_ranks, mark_ignored, takes
from .forward import module_compute
from .join import JoinableModel
from .memory import MeasuredModel
from .model_state import BufferSync, ModelWatch, broadcast_state
from .nan_watch import NanWatch
from .skipping import Skipping
from .summed_model import SummedModel
from .wrapped_module import WrappedModule

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, Protocol, overload

    from typing_extensions import Self, TypeVar

    from autograd.nn import Module

    from ..comm import Communicator

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


class DataParallel(WrappedModule, SummedModel, JoinableModel, LoggedModel, MeasuredModel, Generic[Wrapped_co]):
    """`module` over all places of `comm` (default: the ranks of this job).

    batch="own" (the default over ranks): each rank calls it with its own rows and makes its own loss; backward() leaves
    in .grad, on every rank, the gradient of the mean over the rows of all ranks. batch="root" (always so on local
    devices): the root's rows are scattered, replicas of the module run in parallel, outputs are gathered on the root,
    which makes the loss; other ranks get an empty tensor y and call y.sum().backward() when the root calls backward.

    average says what each rank's loss is, for batch="own": "rows", a mean over its rows (ranks count by their rows: uneven
    batches are exact, a rank may have none); "ranks", a mean of which all ranks count alike; "sum", a sum over rows. Rows
    are counted along `dim` of the first tensor argument of forward; weighted() counts something else, such as tokens.

    devices=n, or a list of numbers, are local devices: threads of this process. Under MPI each rank has its own: ranks
    times devices. Outputs are gathered on output_device, one of the list. device_ids, PyTorch's second argument, is the
    same list; a communicator in its place is comm.

    bucket_cap_mb, broadcast_buffers, init_sync, static_graph and the others that PyTorch's DistributedDataParallel has mean
    what they mean there. find_unused_parameters is always right, and costs nothing: False warns once by name of those that
    are unused, "error" raises on all ranks. Of this library are reproducible=V (the same bits on 1, 2, 4, ... V ranks and
    on local devices; rows as GlobalBatchSampler gives them), shard= and shard_units= (each rank has a slice of optimiser
    state, gradients or parameters: docs/sharding.md), verify_every=k (compares the weights of all ranks every k-th training
    forward, beside the checksums of every 8th pass; 0: never), evaluation_buffers= (whose buffers an evaluation uses).
    Config, in config.py, says of each argument what it is; a wrong type is a TypeError that names the argument.

    Args:
        module (Module): The model; each rank makes the same.
        device_ids (ints or Communicator): Numbers of local devices; or, in their place, a communicator.
        output_device (int): The local device that outputs are gathered on.
        dim (int): The dimension of rows: counted, scattered and gathered. Default: 0.
        comm (Communicator): The ranks, by default all of the job; Devices(n): local devices alone.
        devices (int or ints): How many, or which, local devices each rank has.
        batch (str): "own": each rank's rows are its own; "root": the root's are scattered.
        average (str): What a rank's loss is: a mean over "rows", of "ranks", or a "sum". Default: 'rows'.
        bucket_cap_mb (float): Size of gradient messages in MiB; the first is at most 1.
        broadcast_buffers (bool): Whether rank 0's buffers go to all before each forward in training mode.
        init_sync (bool): Whether rank 0's values go to all now. Default: True.
        process_group (Communicator): Another name for comm.
        find_unused_parameters: False warns once by name; True: they are meant; "error" raises on all ranks. Default:
            False.
        check_reduction (bool): Has no effect. Default: False.
        gradient_as_bucket_view (bool): Always so.
        static_graph (bool): Whether the same parameters are used in each pass. Default: False.
        delay_all_reduce_named_params: Parameters that are summed last, in buckets of their own.
        param_to_hook_all_reduce: Given with delay_all_reduce_named_params.
        mixed_precision: Dtype of gradients in messages, or what has a reduce_dtype.
        forward_sync_buffers (bool): broadcast_buffers by another name.
        parameters_to_ignore (Sequence[str]): Names that stay each rank's own.
        device_mesh: Not implemented.
        skip_all_reduce_unused_params (bool): Not implemented. Default: False.
        bucket_cap_mb_list: Not implemented.
        batched_grad_copy (bool): Not implemented. Default: False.
        reproducible (int): The same bits on 1, 2, 4, ... that many ranks.
        shard (str or int): "optimizer", "gradients" or "parameters", or 1, 2, 3.
        shard_units: Which modules are gathered as one: classes, or a function of a module.
        verify_every (int): The weights of all ranks are compared every so many training forwards, too; 0: never. Default:
            None, checksums are summed with the gradients in every 8th backward pass and in each of the first 16; if they
            differ, all ranks raise CollectiveError.
        find_nan (bool): Whether backward() raises, on all ranks, for a nan in outputs of modules or in gradients, with the
            rank and the first module that made it. Each tensor is read once more; False costs nothing. Default: False.
        evaluation_buffers (str): What the first forward pass in evaluation mode after training gives all ranks: rank 0's
            buffers ("root"), or for floating-point ones the mean over ranks ("mean"). Default: 'root'.

    Raises:
        TypeError: an argument has a wrong type, which the error names.
        RuntimeError: no parameter needs a gradient.
        NotImplementedError: an argument asks for what is not implemented.

    Example:
        >>> def train(comm):
        ...     ag.manual_seed(0)
        ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
        ...     x = ag.ones(comm.rank + 1, 1)
        ...     model(x).mean().backward()
        ...     return model.module.weight.grad.tolist()
        >>> dparallel.run_ranks(2, train)
        [[[1.0]], [[1.0]]]
        >>> def accumulate(comm):
        ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1, bias=False), comm=comm)
        ...     with model.no_sync():                        # added up on this rank only
        ...         model(ag.ones(1, 1)).mean().backward()
        ...     with model.weighted(2):                      # counts twice
        ...         model(ag.ones(1, 1)).mean().backward()
        ...     assert "forward" in model.report() and isinstance(model.logging_data(), dict)
        ...     return model.unused_parameters(), list(model.local_state()), model.comm_hook, model.broadcast_buffers
        >>> dparallel.run_ranks(2, accumulate)[0]
        ([], ['weight'], None, True)
        >>> def write(comm):                                 # each rank writes to its half of the weight
        ...     model = dparallel.DataParallel(ag.nn.Linear(4, 1, bias=False), comm=comm, shard="optimizer")
        ...     for p in model.parameters():
        ...         p.data.fill_(1.0 + comm.rank)
        ...     model.slices_changed()
        ...     with model.summon_full_params():
        ...         return model.module.weight.tolist(), model.synchronised_buffers()
        >>> dparallel.run_ranks(2, write)[0]
        ([[1.0, 1.0, 2.0, 2.0]], [])
        >>> def skip(comm):                                  # rank 1 has one batch more, and its gradient is not finite
        ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
        ...     with model.join():
        ...         for _ in range(1 + comm.rank):
        ...             model(ag.ones(1, 1)).mean().backward()
        ...     with model.skipping() as step:
        ...         model(ag.full((1, 1), float("nan") if comm.rank else 1.0)).mean().backward()
        ...     return step.skipped, model.skipped_steps
        >>> dparallel.run_ranks(2, skip)
        [(True, 1), (True, 1)]
    """

    module: Wrapped_co                               # type: ignore[assignment]

    if TYPE_CHECKING:                                # a call takes and gives what the module's does
        def __new__(cls, module: Wrapped_co, *args: Any, **kwargs: Any) -> Self: ...         # pyright's way to the class
        @overload                                    # type: ignore[override]
        def __call__(self: Wraps[Arguments, Output_co], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Output_co: ...
        @overload                                    # where it is not known: of several classes, or of Any
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    @takes(Config)
    def __init__(self: DataParallel[Wrapped], config: Config[Wrapped]) -> None:
        if config.per_rank and not config.trained():
            raise RuntimeError(f"{type(self).__name__} is not needed when a module doesn't have any parameter that requires "
                               "a gradient.")
        self._configure(config)
        if self.comm.size > 1 and not config.local_only:
            compare_over_ranks(self, self.comm, config.same_on_all_ranks())
            verify(self.module, self.comm, what="DataParallel", ignored=self.ignored)
            if config.init_sync:
                broadcast_state(self.module, self.comm, 0, self.ignored, config.init_buffers)
        self._nan = NanWatch(self.module) if config.find_nan else None
        self._complete()
        if config.copied:
            take_over(self.module.parameters(), config.how)

    def _configure(self, config: Config[Any]) -> None:
        """Set what follows from the arguments, without communication."""
        self.module = config.module
        self.comm: Communicator = config.ranks
        self.devices: Devices | None = config.local
        self.batch = "own" if config.per_rank else "root"
        self.average: str = config.average
        self.dim: int = config.dim
        self.bucket_cap_mb: float = config.cap_mb
        self.forward_sync_buffers: bool = config.sync_buffers
        self.ignored: frozenset[str] = config.ignored
        self.output_place: int = config.output_place
        self.shard: int = config.stage
        self.shard_units: Any = config.shard_units
        self.verify_every: int = config.verify_every or 0
        self.skipped_steps = 0                       # by skipping()
        self._config, self._unused = config, UnusedParameters(config.find_unused_parameters, config.static_graph)
        self._watch = ModelWatch(config.module, self.ignored)
        self._buffer_sync = BufferSync(self._watch, self.comm, config.sync_buffers and config.per_rank,
                                       config.evaluation_buffers == "mean")
        self._compute = module_compute(config)
        self._incomplete = config.reproducible is not None or self._needs_reducer()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's output for this rank's rows; with batch="root", for all rows, on the root."""
        recording = is_grad_enabled()
        if recording:
            self._complete()
            if self._config.copied:
                refuse_taken(self._config.module.parameters(), self._config.how)
        if not (self.training and self._config.module.training):
            if self._join_block is None:             # a rank that has run out of batches only takes part in training
                self._buffer_sync.before_evaluation()
        elif not recording:
            self._buffer_sync.changed = True
        if self.verify_every and recording:
            self._verify_weights()
        if self._nan is not None:
            self._nan.begin(None, recording)
        if self._summed_forward is not None and recording:
            return self._summed_forward(args, kwargs, self.training)
        compute = self._virtual if self._virtual is not None and recording else self._compute
        before_collective = None if self._reducer is None else self._reducer.before_collective
        with set_context(comm=self.comm, before_collective=before_collective):
            return compute(args, kwargs)

    def shards(self, *batch: Any) -> Iterator[Any]:
        """With reproducible=V: this rank's rows of the batch, shard by shard; make a loss of each and call backward on it.
        At the end .grad holds the mean over all rows of all ranks, also where the shards are uneven.

        Args:
            *batch: This rank's rows: Tensors, or containers of them.

        Yields:
            The rows of one shard: a tuple, or, for a batch of one entry, the entry.

        Raises:
            RuntimeError: the model was made without reproducible=V.
            CollectiveError: the ranks do not have the rows of their shards, see GlobalBatchSampler.

        Example:
            >>> def train(comm):
            ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm, reproducible=2)
            ...     for x in model.shards(ag.ones(2 // comm.size, 1)):
            ...         model(x).mean().backward()
            ...     return model.module.weight.grad.item()
            >>> dparallel.run_ranks(1, train), dparallel.run_ranks(2, train)
            ([1.0], [1.0, 1.0])
        """
        self._complete()
        if self._virtual is None:
            raise RuntimeError("shards() needs DataParallel(..., reproducible=V): this one has no virtual shards")
        return self._virtual.each(batch)

    def skipping(self, on: type[BaseException] | tuple[type[BaseException], ...] = (MemoryError, FloatingPointError),
                 nonfinite: bool = True) -> Skipping:
        """A block around forward and backward of one step: if a rank raises one of `on` inside it, or (nonfinite) if the
        gradient over all ranks is not finite, all ranks leave the block, without an error, without gradients and with the
        buffers they had before. Then step.skipped is true, and step.reason says which rank failed and why, on all ranks;
        model.skipped_steps counts. Other exceptions are a CollectiveError on the other ranks.

        Args:
            on (type or tuple of types): Exceptions that skip the step. Default: (MemoryError, FloatingPointError).
            nonfinite (bool): Whether a gradient that is nan or infinite skips the step. Default: True.

        Returns:
            A context manager, which gives the step: see dparallel.model.skipping.Step.

        Raises:
            NotImplementedError: shard="parameters", or the block is inside skipping() or join().

        Example:
            >>> def train(comm):
            ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
            ...     with model.skipping() as step:
            ...         model(ag.full((1, 1), float("nan") if comm.rank else 1.0)).mean().backward()
            ...     return step.skipped, model.skipped_steps
            >>> dparallel.run_ranks(2, train)
            [(True, 1), (True, 1)]
        """
        side_effect("skipping()")
        if self.shard == 3:
            raise NotImplementedError("skipping() with shard='parameters': a rank that fails can't bring the others the "
                                      "parameters that they ask for; use shard='gradients'")
        self._complete()
        return Skipping(self, on if isinstance(on, tuple) else (on,), nonfinite)

    def before_recording(self) -> str:
        """trace_step() begins to record a step with this model. Returns what of it can't be recorded; "" for nothing."""
        self._recorded_alone = self._reducer is None
        if self._config.reproducible is not None:
            return "DataParallel with reproducible=V"
        if self.shard == 3:
            return "DataParallel with shard='parameters'"
        if (isinstance(self.comm, Devices) and self.comm.size > 1) or (self.devices is not None and self.devices.size > 1):
            return "DataParallel with local devices"
        if self._reducer is None and self.comm.size > 1:
            return "DataParallel with batch='root'"
        if self.comm_hook is not None and hasattr(self.comm_hook.state, "__dict__"):
            return f"DataParallel with a comm hook that keeps a state ({type(self.comm_hook.state).__name__})"
        return ""

    @property
    def broadcast_buffers(self) -> bool:
        """PyTorch's older name for forward_sync_buffers."""
        return self.forward_sync_buffers

    def synchronise_buffers(self) -> None:
        """Give all ranks the same buffers for an evaluation, if a forward pass in training mode may have changed them since
        the last time. The first forward pass in evaluation mode calls it. Collective.

        Raises:
            CollectiveError: other ranks call something else.

        Example:
            >>> def evaluate(comm):
            ...     model = dparallel.DataParallel(ag.nn.Sequential(ag.nn.Linear(1, 1), ag.nn.BatchNorm1d(1)), comm=comm)
            ...     model(ag.rand(2, 1)).sum().backward()
            ...     model.synchronise_buffers()          # then model.module may be evaluated, too
            ...     return model.module[1].running_mean.item()
            >>> first, second = dparallel.run_ranks(2, evaluate)
            >>> first == second
            True
        """
        self._buffer_sync.before_evaluation()

    def synchronised_buffers(self) -> list[Tensor]:
        """The buffers that follow rank 0's."""
        return self._watch.buffers()

    _set_params_and_buffers_to_ignore_for_model = staticmethod(mark_ignored)
