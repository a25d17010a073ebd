"""DataParallel: train one module on a batch split across ranks, with the gradients of the whole batch."""

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
from ..replicas.sync_context import set_context
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
    """Train `module` on a batch split across ranks or local devices, with the gradients of the whole batch.

    batch="own" (the default over ranks): each rank calls it with its own rows and computes its own loss; backward() leaves
    in .grad, on every rank, the gradient of the mean over the rows of all ranks. batch="root" (always so on local devices):
    the root's rows are scattered, and the root computes the loss. The arguments are documented by
    help(DataParallel.__init__), from the fields of dparallel.model.config.Config.

    Raises:
        TypeError: an argument has an invalid type; the error names it.
        RuntimeError: no parameter requires grad.
        NotImplementedError: an argument is not supported.

    Example:
        >>> def train(comm):
        ...     ag.manual_seed(0)
        ...     model = dparallel.DataParallel(ag.nn.Linear(1, 1), comm=comm)
        ...     with model.no_sync():                        # accumulate on this rank only
        ...         model(ag.ones(1, 1)).mean().backward()
        ...     with model.weighted(2):                      # counts twice
        ...         model(ag.ones(1, 1)).mean().backward()
        ...     assert "forward" in model.report() and isinstance(model.logging_data(), dict)
        ...     model.slices_changed()
        ...     with model.summon_full_params():
        ...         return model.module.weight.grad.tolist(), model.unused_parameters(), list(model.local_state())
        >>> dparallel.run_ranks(2, train)[0]
        ([[1.0]], [], ['weight', 'bias'])
    """

    module: Wrapped_co                               # type: ignore[assignment]

    if TYPE_CHECKING:                                # a call has the module's arguments and result
        def __new__(cls, module: Wrapped_co, *args: Any, **kwargs: Any) -> Self: ...         # lets pyright infer the class
        @overload                                    # type: ignore[override]
        def __call__(self: Wraps[Arguments, Output_co], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Output_co: ...
        @overload                                    # a module of unknown type
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
        self.output_rank: int = config.output_rank
        self.shard: int = config.stage
        self.shard_units: Any = config.shard_units
        self.verify_every: int = config.verify_every or 0
        self.skipped_steps = 0                       # in skipping() blocks
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
        self._complete()
        if self._virtual is None:
            raise RuntimeError("shards() requires DataParallel(..., reproducible=V)")
        return self._virtual.each(batch)

    def skipping(self, on: type[BaseException] | tuple[type[BaseException], ...] = (MemoryError, FloatingPointError),
                 nonfinite: bool = True) -> Skipping:
        """A block around forward and backward of one step that all ranks skip if one fails.

        If a rank raises one of `on` inside, or (nonfinite) the gradient over all ranks is not finite, all ranks leave the
        block without an error, without gradients and with their earlier buffers. Then step.skipped is true, step.reason
        names the failed rank and the reason, on all ranks, and model.skipped_steps is incremented. Other exceptions are a
        CollectiveError on the other ranks.

        Args:
            on (type or tuple of types): Exceptions that skip the step. Default: (MemoryError, FloatingPointError).
            nonfinite (bool): Skip the step if a gradient is nan or infinite. Default: True.

        Returns:
            A context manager whose value is the step; see dparallel.model.skipping.Step.

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
            raise NotImplementedError("skipping() with shard='parameters': a failed rank can't send the others its slices "
                                      "of parameters; use shard='gradients'")
        self._complete()
        return Skipping(self, on if isinstance(on, tuple) else (on,), nonfinite)

    def before_recording(self) -> str:
        """Called when trace_step() begins to record a step with this model. Returns what of it can't be recorded; "" if
        all can.
        """
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
        """Synchronize buffers across ranks for an evaluation, if a forward pass in training mode may have changed them. The
        first forward pass in evaluation mode calls it. Collective: CollectiveError if other ranks call another
        collective.
        """
        self._buffer_sync.before_evaluation()

    def synchronised_buffers(self) -> list[Tensor]:
        """The buffers that follow rank 0's."""
        return self._watch.buffers()

    _set_params_and_buffers_to_ignore_for_model = staticmethod(mark_ignored)
