"""The arguments that DataParallel shares with PyTorch's DistributedDataParallel, checked."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.nn import Module

from ..comm import CollectiveError, Communicator, communicator, is_communicator
from .buckets import default_capacity

FINDS = (False, True, "error")
SHORT = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


@dataclass
class MixedPrecision:
    """What gradients are on the wire: reduce_dtype is "float16", "bfloat16" (or "fp16", "bf16"), "float32" or "float64".
    PyTorch's param_dtype and buffer_dtype are refused: casting in forward is autograd.amp's."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None


@dataclass
class Settled:
    """Arguments after they were checked."""

    ignored: frozenset[str]
    delayed: frozenset[str]
    sync_buffers_in_forward: bool
    init_buffers: bool
    bucket_cap_mb: float


FLAGS = ("broadcast_buffers", "init_sync", "check_reduction", "gradient_as_bucket_view", "static_graph",
         "forward_sync_buffers", "skip_all_reduce_unused_params", "batched_grad_copy")


def check_types(given: dict[str, Any]) -> None:
    """TypeError, naming the argument, what it is and what it got, for arguments of another type."""
    def refuse(name: str, what: str) -> None:
        shown = repr(given[name])
        raise TypeError(f"DataParallel: {name} is {what}, not {shown if len(shown) < 80 else type(given[name]).__name__}")

    if not isinstance(given["module"], Module):
        refuse("module", "an autograd.nn.Module")
    ids = given["device_ids"]
    if ids is not None and not (isinstance(ids, (list, tuple, range)) and all(_whole(i) for i in ids)):
        refuse("device_ids", "a list of numbers of local devices, or a communicator (comm=), or None; devices=n stands for "
                             "n local devices")
    for name in ("output_device", "dim"):
        if not _whole(given[name]) and (given[name] is not None or name == "dim"):
            refuse(name, "a whole number")
    cap = given["bucket_cap_mb"]
    if cap is not None and (isinstance(cap, bool) or not isinstance(cap, (int, float, np.integer, np.floating))):
        refuse("bucket_cap_mb", "a number of MiB")
    for name in FLAGS:
        value = given[name]
        if value is not None and not isinstance(value, (bool, np.bool_)) and not (_whole(value) and value in (0, 1)):
            refuse(name, "True or False")
    for name in ("batch", "average"):
        if not isinstance(given[name], str) and (given[name] is not None or name == "average"):
            refuse(name, "a text")
    names = given["parameters_to_ignore"]
    if isinstance(names, str) or not (names is None or (hasattr(names, "__iter__") and not hasattr(names, "array")
                                                        and all(isinstance(name, str) for name in names))):
        refuse("parameters_to_ignore", "a list of names")


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def settle(module: Module, given: dict[str, Any]) -> Settled:
    """TypeError, ValueError, NotImplementedError or a FutureWarning for what can't be."""
    check_types(given)
    for name in ("device_mesh", "skip_all_reduce_unused_params", "bucket_cap_mb_list", "batched_grad_copy"):
        if given[name]:
            raise NotImplementedError(f"{name}={given[name]!r}: not implemented here")
    if given["gradient_as_bucket_view"] is False:
        raise NotImplementedError("gradient_as_bucket_view=False: gradients always are views of their bucket here")
    if given["check_reduction"]:
        warnings.warn("The `check_reduction` argument is deprecated and has no effect: sums always end with backward().",
                      FutureWarning, stacklevel=3)
    if given["find_unused_parameters"] not in FINDS:
        raise ValueError(f"find_unused_parameters={given['find_unused_parameters']!r} is one of {FINDS}")
    cap = given["bucket_cap_mb"]
    if cap is None:                                  # slices of shard= have their own reasons
        trained = sum(p.array.nbytes for p in module.parameters() if p.requires_grad)
        cap = default_capacity(math.inf if given["shard"] else trained) / 2**20
    if not cap > 0:
        raise ValueError(f"bucket_cap_mb={cap} must be positive")
    broadcast, forward = given["broadcast_buffers"], given["forward_sync_buffers"]
    return Settled(ignored(module, given["parameters_to_ignore"]), delayed(module, given), _first(forward, broadcast, True),
                   forward is not None or _first(broadcast, None, True), cap)


def _first(a: Any, b: Any, default: bool) -> bool:
    return bool(default if a is None and b is None else b if a is None else a)


def ignored(module: Module, names: Any) -> frozenset[str]:
    """The names that are left out of everything: given ones, and those that the module was marked with."""
    found = frozenset(names or ()) | frozenset(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
    known = {name for name, _ in [*module.named_parameters(), *module.named_buffers()]}
    if names and not set(names) <= known:
        raise ValueError(f"parameters_to_ignore: {sorted(set(names) - known)} are no parameters or buffers of the module")
    return found


def delayed(module: Module, given: dict[str, Any]) -> frozenset[str]:
    """The names of parameters that are summed last, together."""
    named, trigger = given["delay_all_reduce_named_params"], given["param_to_hook_all_reduce"]
    if (named is None) != (trigger is None):
        raise ValueError("delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time.")
    if named is None:
        return frozenset()
    own = dict(module.named_parameters())
    wrong = [name for name, p in named if own.get(name) is not p]
    if wrong or not any(p is trigger for p in own.values()):
        raise ValueError(f"delay_all_reduce_named_params: {wrong or 'param_to_hook_all_reduce'} not in the module: pass "
                         "pairs of a name and its parameter, as from module.named_parameters()")
    return frozenset(name for name, _ in named)


def wire_dtype(mixed_precision: Any) -> str:
    """The name of the dtype that gradients have on the wire; empty for their own."""
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
        raise ValueError(f"mixed_precision={mixed_precision!r}: gradients travel as float16, bfloat16, float32 or float64")
    return name


def told_to_all(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor whose errors, up to where it calls compared(), are told to the other ranks: a CollectiveError there."""
    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except Exception as error:
            second = kwargs.get("device_ids", args[1] if args[1:] else None)
            named = (kwargs.get("comm"), kwargs.get("process_group"), second)
            given = next((c for c in named if is_communicator(c)), None)
            if "_settings" not in vars(self) and (given is not None or all(c is None for c in named[:2])):
                comm = communicator(given)
                with contextlib.suppress(CollectiveError):       # here the error itself is raised
                    comm.refuse(f"{type(self).__name__}: {type(error).__name__}: {error}")
            raise
    return checked


def compared(model: Any, comm: Communicator, settings: dict[str, Any]) -> None:
    """Raise, on every rank, unless all ranks passed the same settings. Collective."""
    model._settings = settings
    first, *others = comm.allgather_object([settings])
    for rank, theirs in enumerate(others, 1):
        for name, value in first.items():
            if theirs[name] != value:
                raise CollectiveError(f"{type(model).__name__} needs the same arguments on all ranks, but {name} is "
                                      f"{value!r} on rank 0, {theirs[name]!r} on rank {rank}")
