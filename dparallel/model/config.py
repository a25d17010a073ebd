"""Config: the arguments of DataParallel, their descriptions and checks, and values derived from them."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from autograd.nn import Module

from ..comm import CollectiveError, Communicator, Devices, communicator, is_communicator, root_of
from ..consistency.checksum import WeightCheck
from ..reduction.buckets import default_capacity
from ..sharding import stage_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Wrapped = TypeVar("Wrapped", bound=Module, default=Module)           # the module's class: Config alone is Config[Module]
    Init = TypeVar("Init", bound=Callable[..., None])
else:
    from typing import TypeVar

    Wrapped, Init = TypeVar("Wrapped"), TypeVar("Init")

BATCHES = ("own", "root")
AVERAGES = ("rows", "ranks", "sum")
FINDS = (False, True, "error")
SHORT = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}
FLAGS = ("broadcast_buffers", "init_sync", "check_reduction", "gradient_as_bucket_view", "static_graph",
         "forward_sync_buffers", "skip_all_reduce_unused_params", "batched_grad_copy", "find_nan")


@dataclass
class MixedPrecision:
    """The dtype of gradients in messages: reduce_dtype is "float16", "bfloat16" (or "fp16", "bf16"), "float32" or "float64".
    PyTorch's param_dtype and buffer_dtype are rejected: autograd.amp casts in forward."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None


def about(text: str) -> dict[str, str]:
    """The metadata of an argument: its description, which help(DataParallel) and the site show."""
    return {"doc": text}


@dataclass(eq=False)
class Config(Generic[Wrapped]):
    """The arguments of DataParallel, under their names, with their descriptions; then values derived from them. Raises
    TypeError, ValueError, NotImplementedError or RuntimeError, or warns (FutureWarning), for invalid ones."""

    module: Wrapped = field(metadata=about("The module to train; every rank constructs the same one."))
    device_ids: Sequence[int] | Communicator | None = field(default=None, metadata=about(
        "PyTorch's name for `devices`; or a communicator, as for `comm`."))
    output_device: int | None = field(default=None, metadata=about(
        "The local device on which outputs are gathered. Default: the first."))
    dim: int = field(default=0, metadata=about("The dimension of rows: counted, scattered and gathered."))
    _: KW_ONLY
    comm: Communicator | None = field(default=None, metadata=about(
        "The ranks; Devices(n): local devices only. Default: all ranks of the job."))
    devices: int | Sequence[int] | None = field(default=None, metadata=about(
        "The number of local devices of each rank, or a list of their numbers. Devices are threads; under MPI each rank "
        "has its own."))
    batch: str | None = field(default=None, metadata=about(
        "\"own\": each rank calls forward with its own rows and computes its own loss. \"root\": the root's rows are "
        "scattered, replicas run in parallel, and outputs are gathered on the root, which computes the loss; other ranks "
        'get an empty tensor y and call y.sum().backward() when the root calls backward. Default: "own" over ranks, '
        '"root" on local devices.'))
    average: str = field(default="rows", metadata=about(
        "What each rank's loss is, for batch=\"own\": \"rows\", a mean over its rows (ranks are weighted by rows, so "
        'uneven batches are exact, and a rank may have none); "ranks", a mean with equal weights of all ranks; "sum", a '
        "sum over rows. Rows are counted along `dim` of forward's first tensor argument; weighted() overrides the count, "
        "for example with tokens."))
    # PyTorch's
    bucket_cap_mb: float | None = field(default=None, metadata=about(
        "Size of gradient messages in MiB; the first is at most 1. Default: from the model's size."))
    broadcast_buffers: bool | None = field(default=None, metadata=about(
        "Broadcast rank 0's buffers before each forward in training mode. Default: True."))
    init_sync: bool = field(default=True, metadata=about("Broadcast rank 0's parameters and buffers at construction."))
    process_group: Communicator | None = field(default=None, metadata=about("Another name for `comm`."))
    find_unused_parameters: Any = field(default=False, metadata=about(
        'False: warn once, by name, of unused parameters; True: allow them silently; "error": raise on all ranks. '
        "Detection is exact and free in all cases."))
    check_reduction: bool = field(default=False, metadata=about("Ignored."))
    gradient_as_bucket_view: bool | None = field(default=None, metadata=about("Always True: .grad is a view of its bucket."))
    static_graph: bool = field(default=False, metadata=about("The same parameters are used in each pass."))
    delay_all_reduce_named_params: Any = field(default=None, metadata=about(
        "Parameters, with their names, that are all-reduced last, in their own buckets."))
    param_to_hook_all_reduce: Any = field(default=None, metadata=about("Required with delay_all_reduce_named_params."))
    mixed_precision: Any = field(default=None, metadata=about(
        "The dtype of gradients in messages, or an object with a reduce_dtype."))
    forward_sync_buffers: bool | None = field(default=None, metadata=about("Another name for `broadcast_buffers`."))
    parameters_to_ignore: Sequence[str] = field(default=(), metadata=about(
        "Names of parameters and buffers that stay local to each rank."))
    device_mesh: Any = field(default=None, metadata=about("Not implemented."))
    skip_all_reduce_unused_params: bool = field(default=False, metadata=about("Not implemented."))
    bucket_cap_mb_list: Any = field(default=None, metadata=about("Not implemented."))
    batched_grad_copy: bool = field(default=False, metadata=about("Not implemented."))
    # beyond PyTorch's
    reproducible: int | None = field(default=None, metadata=about(
        "V: bitwise identical results on 1, 2, 4, ... V ranks and on local devices, with rows from GlobalBatchSampler. "
        "See docs/reproducible.md."))
    shard: str | int | None = field(default=None, metadata=about(
        'What each rank holds a slice of: "optimizer" (state), "gradients" or "parameters"; or ZeRO stage 1, 2 or 3. See '
        "docs/sharding.md."))
    shard_units: Any = field(default=None, metadata=about(
        'With shard="parameters": which modules are gathered as one, as classes or a function of a module.'))
    verify_every: int | None = field(default=None, metadata=about(
        "Compare the weights of all ranks in every k-th training forward; 0: never. Default: checksums sent with the "
        "gradients of the first 16 and every 8th backward pass; if they differ, all ranks raise CollectiveError."))
    find_nan: bool = field(default=False, metadata=about(
        "Raise on all ranks for a nan in outputs of modules or in gradients, and name the rank and the first module that "
        "produced it. Reads each tensor once more."))
    evaluation_buffers: str = field(default="root", metadata=about(
        "The buffers of the first forward in evaluation mode after training: rank 0's (\"root\"), or for floating-point "
        'ones the mean over ranks ("mean").'))

    ignored: frozenset[str] = field(init=False)      # names excluded from everything
    delayed: frozenset[str] = field(init=False)      # names of parameters that are summed last, together
    cap_mb: float = field(init=False)
    sync_buffers: bool = field(init=False)           # broadcast rank 0's buffers before each forward,
    init_buffers: bool = field(init=False)           # and at construction
    ranks: Communicator = field(init=False)          # the ranks, or the local devices
    local: Devices | None = field(init=False)        # the local devices of each rank, if any
    output_rank: int = field(init=False)
    per_rank: bool = field(init=False)               # batch="own"
    stage: int = field(init=False)                   # of sharding; 0: not sharded
    wire: str = field(init=False)                    # the dtype of gradients in messages; "": unchanged

    def __post_init__(self) -> None:
        """Check all arguments."""
        if is_communicator(self.device_ids):         # the second argument may be one
            if self.comm is not None:
                raise TypeError("DataParallel(module, comm, comm=...): two communicators; device_ids must be a list of "
                                "local devices")
            self.comm, self.device_ids = cast(Communicator, self.device_ids), None
        self._check_types()
        self._check_supported()
        self.cap_mb = self._capacity()
        self.sync_buffers = _first(self.forward_sync_buffers, self.broadcast_buffers)
        self.init_buffers = self.forward_sync_buffers is not None or _first(self.broadcast_buffers, None)
        self.ignored, self.delayed = self._ignored(), self._delayed()
        self.ranks, self.local = self._ranks_and_devices()
        self.output_rank = root_of(self.ranks if self.local is None else self.local, self.output_device)
        self.stage = stage_of(self.shard)
        self._check_batch()
        self._check_wrapped()
        self._check_sharding()
        self._check_evaluation()
        self.wire = wire_dtype(self.mixed_precision)

    @property
    def local_only(self) -> bool:
        """Whether the ranks are local devices, without other ranks."""
        return isinstance(self.ranks, Devices)

    @property
    def how(self) -> str:
        """The arguments because of which gradients are not summed in buckets; for error texts."""
        if self.stage or self.reproducible is not None:
            return f"shard={self.shard!r}" if self.stage else f"reproducible={self.reproducible}"
        return (f"{self.local.size} local devices" if self.local is not None and self.local.size > 1
                else "batch='own'" if self.per_rank else "batch='root'")

    @property
    def copied(self) -> bool:
        """Whether replicas of the module run, whose gradients are summed in the graph."""
        return self.reproducible is not None or (not self.per_rank and self.ranks.size > 1)

    def trained(self) -> list[tuple[str, Any]]:
        """The parameters whose gradients are averaged, with their names."""
        return [(name, p) for name, p in self.module.named_parameters() if p.requires_grad and name not in self.ignored]

    def check(self, owner: str) -> WeightCheck | None:
        """The comparison of all ranks' weights by checksums; None if it is off. owner: begins errors."""
        if self.verify_every == 0:
            return None
        named = [(name, p) for name, p in self.module.named_parameters() if name not in self.ignored]
        return WeightCheck(owner, named)

    def same_on_all_ranks(self) -> dict[str, Any]:
        """The settings that must be the same on all ranks."""
        return {"batch": "own" if self.per_rank else "root", "average": self.average, "bucket_cap_mb": self.cap_mb,
                "find_unused_parameters": self.find_unused_parameters, "static_graph": self.static_graph,
                "broadcast_buffers, forward_sync_buffers": self.sync_buffers, "init_sync": self.init_sync,
                "delay_all_reduce_named_params": sorted(self.delayed), "mixed_precision": self.wire,
                "reproducible": self.reproducible, "shard": self.stage, "verify_every": self.verify_every,
                "find_nan": self.find_nan, "evaluation_buffers": self.evaluation_buffers}

    # --- the checks -----------------------------------------------------------------------------------------------------

    def _check_types(self) -> None:
        """TypeError, with the argument's name, expected type and value, for an argument of another type."""
        def refuse(name: str, what: str) -> None:
            value = getattr(self, name)
            shown = repr(value)
            raise TypeError(f"DataParallel: {name} must be {what}, not {shown if len(shown) < 80 else type(value).__name__}")

        if not isinstance(self.module, Module):
            refuse("module", "an autograd.nn.Module")
        ids = self.device_ids
        if ids is not None and not (isinstance(ids, (list, tuple, range)) and all(_whole(i) for i in ids)):
            refuse("device_ids", "a list of local devices, a communicator (comm=) or None; devices=n means n local "
                                 "devices")
        if self.output_device is not None and not _whole(self.output_device):
            refuse("output_device", "an integer")
        if not _whole(self.dim):
            refuse("dim", "an integer")
        cap = self.bucket_cap_mb
        if cap is not None and (isinstance(cap, bool) or not isinstance(cap, (int, float, np.integer, np.floating))):
            refuse("bucket_cap_mb", "a number of MiB")
        for name in FLAGS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, (bool, np.bool_)) and not (_whole(value) and value in (0, 1)):
                refuse(name, "True or False")
        if self.batch is not None and not isinstance(self.batch, str):
            refuse("batch", "a string")
        if not isinstance(self.average, str):
            refuse("average", "a string")
        names = self.parameters_to_ignore
        if isinstance(names, str) or not (names is None or (hasattr(names, "__iter__") and not hasattr(names, "array")
                                                            and all(isinstance(name, str) for name in names))):
            refuse("parameters_to_ignore", "a list of names")

    def _check_supported(self) -> None:
        """NotImplementedError for arguments that exist only for compatibility with PyTorch."""
        for name in ("device_mesh", "skip_all_reduce_unused_params", "bucket_cap_mb_list", "batched_grad_copy"):
            if getattr(self, name):
                raise NotImplementedError(f"{name}={getattr(self, name)!r} is not implemented")
        if self.gradient_as_bucket_view is False:
            raise NotImplementedError("gradient_as_bucket_view=False: gradients are always views of their bucket")
        if self.check_reduction:
            warnings.warn("The `check_reduction` argument is deprecated and ignored: sums always end with backward().",
                          FutureWarning, stacklevel=6)
        if self.evaluation_buffers not in ("root", "mean"):
            raise ValueError(f"evaluation_buffers={self.evaluation_buffers!r} must be 'root' or 'mean'")
        if self.find_unused_parameters not in FINDS:
            raise ValueError(f"find_unused_parameters={self.find_unused_parameters!r} must be one of {FINDS}")

    def _capacity(self) -> float:
        """The size of a bucket, in MiB."""
        cap = self.bucket_cap_mb
        if cap is None:                              # units of shard= have their own reasons
            trained = sum(p.array.nbytes for p in self.module.parameters() if p.requires_grad)
            cap = default_capacity(math.inf if self.shard else trained) / 2**20
        if not cap > 0:
            raise ValueError(f"bucket_cap_mb={cap} must be positive")
        return cap

    def _ignored(self) -> frozenset[str]:
        """The ignored names: those passed, and those with which the module was marked."""
        module, names = self.module, self.parameters_to_ignore
        found = frozenset(names or ()) | frozenset(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        known = {name for name, _ in [*module.named_parameters(), *module.named_buffers()]}
        if names and not set(names) <= known:
            raise ValueError(f"parameters_to_ignore: {sorted(set(names) - known)} are not parameters or buffers of the "
                             "module")
        return found

    def _delayed(self) -> frozenset[str]:
        """The names in delay_all_reduce_named_params."""
        named, trigger = self.delay_all_reduce_named_params, self.param_to_hook_all_reduce
        if (named is None) != (trigger is None):
            raise ValueError("delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time.")
        if named is None:
            return frozenset()
        params = dict(self.module.named_parameters())
        wrong = [name for name, p in named if params.get(name) is not p]
        if wrong or not any(p is trigger for p in params.values()):
            raise ValueError(f"delay_all_reduce_named_params: {wrong or 'param_to_hook_all_reduce'} not in the module: pass "
                             "pairs of a name and its parameter, as from module.named_parameters()")
        return frozenset(name for name, _ in named)

    def _ranks_and_devices(self) -> tuple[Communicator, Devices | None]:
        """The communicator of ranks or devices, and the local devices of each rank, if any."""
        comm, devices = self.comm, self.devices
        ids = cast("Sequence[int] | None", self.device_ids)
        if self.process_group is not None:
            if comm is not None and comm is not self.process_group:
                raise ValueError("process_group and comm are two names for one argument: pass one")
            comm = self.process_group
        if ids is not None and len(ids):
            if devices is not None:
                raise ValueError("pass devices= or device_ids=, not both")
            devices = ids
        comm = communicator(comm)
        if isinstance(comm, Devices) and comm.size > 1 and devices is not None:
            raise ValueError("pass devices=n or comm=Devices(n), not both")
        local = comm if isinstance(comm, Devices) else None
        if devices is not None:
            local = Devices(devices)
        return (local if isinstance(comm, Devices) and local is not None else comm), local

    def _check_batch(self) -> None:
        """ValueError for a `batch` that is impossible on these ranks."""
        scattered = self.local_only and not (self.stage and self.ranks.size == 1)     # sharded scripts on one process
        batch = self.batch or ("root" if scattered else "own")
        if batch not in BATCHES or self.average not in AVERAGES:
            raise ValueError(f"batch={self.batch!r} must be one of {BATCHES}, average={self.average!r} one of {AVERAGES}")
        self.per_rank = batch == "own"
        if self.per_rank and len(self.ranks.held) > 1:
            raise ValueError("batch='own' requires one rank per process; on local devices the batch is scattered")

    def _check_wrapped(self) -> None:
        """NotImplementedError for an already wrapped module that this wrapper can't take over."""
        for name, p in self.module.named_parameters():
            if hasattr(p, "joins"):                  # set by a Unit
                raise NotImplementedError(f"DataParallel: parameter {name!r} is already sharded by another DataParallel; "
                                          "construct the module again, and load that one's state_dict()")
        replicated = self.copied or self.stage or (self.local is not None and self.local.size > 1)
        for name, part in self.module.named_modules():
            inner = vars(part).get("_config")
            if isinstance(inner, Config) and (replicated or inner.copied):
                raise NotImplementedError(f"DataParallel with {self.how}: {name or 'the module'} is a "
                                          f"{type(part).__name__} with {inner.how} already; pass its .module")
            if isinstance(inner, Config) and inner.average != self.average and self.ranks.size > 1:
                raise ValueError(f"DataParallel with average={self.average!r}: {name or 'the module'} is a "
                                 f"{type(part).__name__} with average={inner.average!r} already, so ranks have different "
                                 "weights in the two; pass its .module, or the same average=")

    def _check_evaluation(self) -> None:
        """ValueError if evaluation_buffers="mean" would have no effect."""
        if self.evaluation_buffers == "root":
            return
        without = ("broadcast_buffers=False, where each rank has its own" if not self.sync_buffers else
                   f"{self.how}, where buffers are those of the first replica"
                   if self.reproducible is not None or (not self.per_rank and self.ranks.size > 1) else "")
        if without:
            raise ValueError(f"evaluation_buffers={self.evaluation_buffers!r} has no effect with {without}")

    def _check_sharding(self) -> None:
        """ValueError or NotImplementedError, naming both, for arguments that shard= or verify_every= excludes."""
        every = self.verify_every
        if every is not None and (not isinstance(every, int) or every < 0):
            raise ValueError(f"verify_every={every!r} must be a number of forward passes, 0 for never, or None for "
                             "checksums that are sent with the gradients")
        replicas = (self.ranks.size > 1 and not self.per_rank) or (self.local is not None and self.local.size > 1)
        if self.find_nan and (replicas or self.reproducible is not None or self.stage == 3):
            raise NotImplementedError("find_nan=True with local devices, batch='root', reproducible= or shard='parameters'; "
                                      "use autograd.detect_anomaly()")
        if every and not self.per_rank and not self.local_only:
            raise NotImplementedError(f"verify_every={every} with batch='root': only the root's weights are used there")
        if not self.stage:
            if self.shard_units is not None:
                raise ValueError("shard_units= requires shard='parameters'")
            return
        if not self.per_rank or (self.local is not None and self.local.size > 1):
            raise NotImplementedError("shard= with devices= or batch='root': ranks hold slices, not local devices; use "
                                      "batch='own' and one device per rank")
        if self.reproducible is not None:
            raise NotImplementedError(f"shard= with reproducible={self.reproducible!r} is not implemented: gradients are "
                                      "reduce-scattered")
        if self.delayed:
            raise NotImplementedError("shard= with delay_all_reduce_named_params is not implemented")


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _first(a: bool | None, b: bool | None) -> bool:
    """The first of two settings that is not None; True if both are None."""
    return bool(True if a is None and b is None else b if a is None else a)


def mark_ignored(module: Module, names: Sequence[str]) -> None:
    """Mark names of a module that DataParallel, when it wraps it, leaves local to each rank."""
    module._ddp_params_and_buffers_to_ignore = list(names)  # type: ignore[assignment]


def wire_dtype(mixed_precision: Any) -> str:
    """The name of the dtype of gradients in messages; "" for their own."""
    if mixed_precision is None:
        return ""
    dtype = mixed_precision
    if hasattr(mixed_precision, "reduce_dtype"):
        for name in ("param_dtype", "buffer_dtype"):
            if getattr(mixed_precision, name, None) is not None:
                raise NotImplementedError(f"mixed_precision: {name} is not implemented; autograd.amp casts in forward")
        dtype = mixed_precision.reduce_dtype
    name = str(np.dtype(dtype) if isinstance(dtype, type) else getattr(dtype, "name", dtype)).rsplit(".", 1)[-1]
    name = SHORT.get(name, name)
    if name not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(f"mixed_precision={mixed_precision!r}: use float16, bfloat16, float32 or float64")
    return name


def constructs_together(init: Init) -> Init:
    """Decorate the constructor of a model, which all ranks call. Its docstring describes the fields of Config. If it raises
    on one rank before compare_over_ranks(), also for an unknown argument, the other ranks raise CollectiveError.
    """

    @functools.wraps(init)
    def constructed(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except Exception as error:
            _refuse_elsewhere(self, error, args, kwargs)
            raise

    constructed.__doc__ = documented(Config)
    return cast(Init, constructed)


def documented(config: Any) -> str:
    """The section Args of a constructor that takes a Config: the descriptions of its fields."""
    lines = [f"    {each.name} ({each.type}): {each.metadata['doc']}" for each in fields(config) if each.init]
    return "\n".join(["Construct on all ranks together.", "", "Args:", *lines])


def _refuse_elsewhere(model: Any, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Let the other ranks, which are in the constructor too, fail with this rank's error."""
    second = kwargs.get("device_ids", args[1] if args[1:] else None)
    named = (kwargs.get("comm"), kwargs.get("process_group"), second)
    given = next((c for c in named if is_communicator(c)), None)
    if "_settings" not in vars(model) and (given is not None or all(c is None for c in named[:2])):
        comm = communicator(given)
        with contextlib.suppress(CollectiveError):   # here the error itself is raised
            comm.refuse(f"{type(model).__name__}: {type(error).__name__}: {error}")


def compare_over_ranks(model: Any, comm: Communicator, settings: dict[str, Any]) -> None:
    """Raise, on every rank, unless all ranks passed the same settings. Collective."""
    model._settings = settings
    first, *others = comm.allgather_object([settings])
    for rank, theirs in enumerate(others, 1):
        for name, value in first.items():
            if theirs[name] != value:
                raise CollectiveError(f"{type(model).__name__}: {name} is {value!r} on rank 0 but {theirs[name]!r} on rank "
                                      f"{rank}; pass the same arguments on all ranks")
