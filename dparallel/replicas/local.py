"""One module on several local devices: scatter, replicate, run in parallel, gather."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from autograd.base.environment import usable_cores
from autograd.core.graph import shared_counter
from autograd.core.versions import PartCounter
from autograd.nn import Module

from ..autograd import Tensor, as_tensor, cat
from ..comm import Devices, even_split, root_of
from ..pytree.scatter_gather import gather, mismatched_rows, scatter
from ..pytree.tree import PyTree, tensor_leaves, tree_leaves_with_path, tree_map
from .parallel_apply import parallel_apply
from .replicate import ModuleTree


def data_parallel(module: Module, inputs: PyTree, device_ids: Devices | Sequence[int] | int | None = None,
                  output_device: int | None = None, dim: int = 0, module_kwargs: dict[str, Any] | None = None) -> PyTree:
    """Call module(*inputs, **module_kwargs) with tensors split along dim over local devices; outputs are concatenated."""
    comm = device_ids if isinstance(device_ids, Devices) else Devices(usable_cores() if device_ids is None else device_ids)
    args = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return on_devices(module, args, module_kwargs or {}, comm, root_of(comm, output_device), dim)


class CallArguments(NamedTuple):
    """The arguments of a call. The field names appear in error messages, as in "args[0]"."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def on_devices(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], comm: Devices, root: int, dim: int,
               tree: ModuleTree | None = None) -> PyTree:
    """data_parallel() with a call's arguments; outputs are concatenated on rank `root`. tree: the current ModuleTree, if
    any."""
    arguments = CallArguments(args, kwargs)
    problem = mismatched_rows(arguments, dim) if comm.size > 1 else ""
    if problem:
        raise ValueError(problem)
    comm = needed_devices(comm, arguments, dim)
    if comm.size == 1:
        return module(*args, **kwargs)
    tree = tree or ModuleTree(module)
    parts, views_of_inputs = split_without_copy(arguments, comm, dim)
    replicas = tree.replicate(comm)
    outputs = parallel_apply(replicas, [part[0] for part in parts], [part[1] for part in parts], comm)
    for views in views_of_inputs:
        PartCounter.count_in_whole([x.counter for x in views])
    tree.copy_back_buffers(replicas[0])
    if all(type(y) is Tensor and y.ndim and y.dtype == outputs[0].dtype for y in outputs):
        return cat(outputs, dim)                     # the result of gather() in a third of its time
    return gather(outputs, comm, root=min(root, comm.size - 1), dim=dim)


def split_without_copy(inputs: PyTree, comm: Devices, dim: int) -> tuple[list[PyTree], list[list[Tensor]]]:
    """The inputs split as by scatter(), and each tensor's views: if none requires grad, parts are views of the batch (a copy
    of 1.6 MB took 0.1 ms)."""
    by_id = {id(x): x for x in tensor_leaves(inputs)}
    if any(x.tracked or x.is_inference() for x in by_id.values()):
        return scatter(inputs, comm, dim=dim), []
    views = {key: split_evenly(x, comm.size, dim) for key, x in by_id.items()}

    def part_of(device: int, leaf: Any) -> Any:
        return views[id(leaf)][device] if isinstance(leaf, Tensor) else leaf

    parts = [tree_map(inputs, functools.partial(part_of, device)) for device in comm.held]
    return parts, [views[key] for key, x in by_id.items() if x.ndim]


def split_evenly(x: Tensor, parts: int, dim: int) -> list[Tensor]:
    """Views of consecutive rows of a tensor, which replicas may write to at the same time; copies of a 0-d tensor."""
    if not x.ndim:
        return [as_tensor(x.array.copy()) for _ in range(parts)]
    views, start, leading = [], 0, (slice(None),) * (dim % x.ndim)
    for rows in even_split(x.shape[dim], parts):
        views.append(as_tensor(x.array[leading + (slice(start, start + rows),)]))
        views[-1].counter = PartCounter(shared_counter(x))
        start += rows
    return views


def needed_devices(comm: Devices, inputs: PyTree, dim: int) -> Devices:
    """The first devices only, if there are fewer rows than devices, so that each has a row."""
    rows = [value.shape[dim] for _, value in tree_leaves_with_path(inputs) if isinstance(value, Tensor) and value.ndim]
    return comm.first(max(1, min([comm.size, *rows] if rows else [1])))
