"""scatter, broadcast and gather of pytrees, as in torch.nn.parallel.scatter_gather, over local devices or MPI ranks.

All are recorded for backward. Root's tree is used; other ranks may pass None. Leaves that are not tensors are copied
(pickled between ranks). An error on one rank is the same ValueError or TypeError on every rank.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import Tensor
from ..comm import CommOrDevices, Communicator, comm_or_devices, gather_target
from ..functions import Broadcast, Gather, Scatter, as_tuple
from .tree import PyTree, is_namedtuple, tree_leaves_with_path, tree_map, trees_per_rank

TENSOR = "a tensor"
COMPARABLE = (bool, int, float, complex, str, bytes)


class TensorSlot:
    """Replaces a tensor in the tree that root sends to other ranks. splits: whether it is split along dim, or (0-d)
    copied."""

    def __init__(self, splits: bool) -> None:
        self.splits = splits


def scatter(inputs: PyTree, comm: CommOrDevices = None, dim: int = 0, *, root: int = 0, sizes: Sequence[int] | None = None,
            target_gpus: CommOrDevices = None) -> list[PyTree]:
    """Split root's tree of tensors along dim. Returns a list with one tree for each local rank. All ranks call it.

    0-d tensors and leaves that are not tensors are copied.
    """
    comm = comm_or_devices(comm if target_gpus is None else target_gpus)
    problem = mismatched_rows(inputs, dim) if root in comm.held else ""
    return _distribute("scatter", inputs, comm, root, problem, lambda x, splits: as_tuple(
        Scatter.apply(x, comm=comm, root=root, dim=dim, sizes=sizes) if splits else
        Broadcast.apply(x, comm=comm, root=root)))


def broadcast(inputs: PyTree, comm: CommOrDevices = None, root: int = 0, *, devices: CommOrDevices = None) -> list[PyTree]:
    """Copy root's tree to every rank. Root's gradients are the sums of all copies' gradients."""
    comm = comm_or_devices(comm if devices is None else devices)
    return _distribute("broadcast", inputs, comm, root, "", lambda x, splits: as_tuple(
        Broadcast.apply(x, comm=comm, root=root)))


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, comm: CommOrDevices = None, dim: int = 0, *,
                   root: int = 0, target_gpus: CommOrDevices = None) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """scatter() of a call's arguments: a tuple of positional, and a tuple of keyword arguments for each local rank."""
    both = scatter((tuple(inputs or ()), dict(kwargs or {})), comm, dim, root=root, target_gpus=target_gpus)
    return tuple(args for args, _ in both), tuple(named for _, named in both)


def gather(outputs: Sequence[PyTree], comm: Communicator | int | None = None, dim: int = 0, *, root: int = 0,
           target_device: int | None = None) -> PyTree:
    """Concatenate the trees of all ranks to one.

    Tensors are concatenated along dim on root (0-d tensors to a vector), and are empty on other ranks. None, numbers and
    strings must be equal on all ranks, and are kept.
    """
    outputs = trees_per_rank(outputs)
    comm, root = gather_target(len(outputs), comm if target_device is None else target_device, root)
    leaves_by_path = [dict(tree_leaves_with_path(output)) for output in outputs]
    held_layouts = [[(path, _description(leaf)) for path, leaf in leaves.items()] for leaves in leaves_by_path]
    layouts = held_layouts if comm.alone and len(held_layouts) == comm.size else comm.allgather_object(held_layouts)
    _check_layouts([dict(layout) for layout in layouts])
    joined: dict[str, Any] = {}
    for path, description in layouts[0]:             # in rank 0's order: other ranks' dicts may have another
        values = [leaves[path] for leaves in leaves_by_path]
        joined[path] = Gather.apply(*values, comm=comm, root=root, dim=dim) if description == TENSOR else values[0]
    paths = iter(leaves_by_path[0])
    return tree_map(outputs[0], lambda _: joined[next(paths)])


def _description(leaf: object) -> str:
    """The description that gather() compares between ranks: the value of a number or string, of other leaves the type."""
    if isinstance(leaf, Tensor):
        return TENSOR
    name = type(leaf).__name__
    return f"{name} {leaf!r}" if leaf is None or isinstance(leaf, COMPARABLE) else name


def _check_layouts(layouts: Sequence[dict[str, str]]) -> None:
    """Raise unless gather() can concatenate trees of these layouts (leaf descriptions by path), one for each rank."""
    for rank, layout in enumerate(layouts):
        for path in sorted(set(layout) | set(layouts[0])):
            first, other = layouts[0].get(path, "nothing"), layout.get(path, "nothing")
            at = f" (at {path})" if path else ""
            if (first == TENSOR) != (other == TENSOR) or "nothing" in (first, other):
                raise ValueError(f"gather: the structures of ranks 0 and {rank} differ{at}: {first} and {other}")
            if first != other or (first != TENSOR and " " not in first):
                raise TypeError("gather: outputs must be tensors, or values that are equal on all ranks, in tuples, lists, "
                                f"dicts and dataclasses, not {first}" + (f" and {other}" if first != other else "") + at)


def mismatched_rows(tree: PyTree, dim: int) -> str:
    """Why scatter() can't split the tensors of a tree: a dim out of range, or different numbers of rows. "" if it can."""
    first: tuple[str, int] | None = None
    for path, value in tree_leaves_with_path(tree):
        if not isinstance(value, Tensor) or value.ndim == 0:
            continue
        name = path or "the input"
        if not isinstance(dim, (int, np.integer)) or not -value.ndim <= dim < value.ndim:
            return f"scatter: dim {dim!r} is out of range for {name}, of shape {tuple(value.shape)}"
        if first is not None and value.shape[dim] != first[1]:
            return (f"scatter: {first[0]} has {first[1]} rows along dim {dim}, {name} has {value.shape[dim]}; tensors of "
                    "one batch must have equally many")
        first = first or (name, value.shape[dim])
    return ""


def _distribute(name: str, tree: PyTree, comm: Communicator, root: int, problem: str,
                send: Callable[[Tensor | None, bool], tuple[Tensor, ...]]) -> list[PyTree]:
    """Root's tree for each local rank. send(x, splits) sends one tensor: x is this rank's of that path, splits whether along
    dim."""
    own = {path: leaf for path, leaf in tree_leaves_with_path(tree) if isinstance(leaf, Tensor)}   # on other ranks than root
    template = tree if comm.alone else _roots_template(name, tree, comm, root, problem)            # for the graph only
    if problem:                                      # on local devices; ranks have raised it by now
        raise ValueError(problem)
    values: list[tuple[Any, ...]] = []               # of each leaf, one for each local rank
    for path, leaf in tree_leaves_with_path(template):
        if isinstance(leaf, TensorSlot):
            values.append(send(own.get(path), leaf.splits))
        elif isinstance(leaf, Tensor):
            values.append(send(leaf, leaf.ndim > 0))
        else:
            values.append((leaf,) * len(comm.held))
    return [_with_leaves(template, [value[i] for value in values]) for i in range(len(comm.held))]


def _with_leaves(template: PyTree, leaves: Sequence[Any]) -> PyTree:
    """A tree of the template's structure with these leaves."""
    remaining = iter(leaves)
    return tree_map(template, lambda _: next(remaining))


def _roots_template(name: str, tree: PyTree, comm: Communicator, root: int, problem: str) -> PyTree:
    """Root's tree on every rank, with a TensorSlot for each tensor; if it can't be pickled, a rank's own tree with the same
    paths."""
    template = tree_map(tree, lambda leaf: TensorSlot(leaf.ndim > 0) if isinstance(leaf, Tensor) else leaf)
    splits = [(path, leaf.splits if isinstance(leaf, TensorSlot) else None)
              for path, leaf in tree_leaves_with_path(template)]
    pickled, reason = b"", ""
    if root in comm.held:
        try:
            pickled = pickle.dumps(template)
        except Exception as error:                   # pickling runs the objects' own code
            reason = f"{type(error).__name__}: {error}"
    received = [template]

    def unpickle(value: Any) -> None:                # where it fails, all ranks raise
        if value[1] and root not in comm.held:
            received[0] = pickle.loads(value[1])

    problem, pickled, roots_splits, reason = comm.broadcast_object((problem, pickled, splits, reason), root, unpickle)
    if problem:
        raise ValueError(problem)
    if pickled:
        return received[0]
    if comm.any([path for path, _ in splits] != [path for path, _ in roots_splits]
                or any(own[1] is not None and roots[1] is None for own, roots in zip(splits, roots_splits, strict=True))):
        raise ValueError(f"{name}: root's structure can't be pickled ({reason}), so all ranks must pass one with the same "
                         "leaves, but some do not")
    own_leaves = [leaf for _, leaf in tree_leaves_with_path(template)]
    return _with_leaves(template, [leaf if split is None else TensorSlot(split)
                                   for leaf, (_, split) in zip(own_leaves, roots_splits, strict=True)])


__all__ = ["broadcast", "gather", "is_namedtuple", "scatter", "scatter_kwargs"]
