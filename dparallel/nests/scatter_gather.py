"""scatter, broadcast and gather of nests: tuples, lists, dicts and dataclasses of tensors, cut for all places, copied to
all, and joined from all. torch.nn.parallel.scatter_gather over places of a communicator, also over ranks.

All are recorded. Root's nest decides: other ranks may pass None. What is no tensor goes along (root's, pickled, between
ranks). Mistakes are one ValueError or TypeError on every rank.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd import Tensor

from ..comm import Communicator, Places, gather_target, places_of
from ..functions import Broadcast, Gather, Scatter, as_tuple
from .tree import is_namedtuple, leaves, nests, rebuilt

TENSOR = "a tensor"
PLAIN = (bool, int, float, complex, str, bytes)

class Slot:
    """Stands for a tensor in the nest that root sends to the other ranks: whether it is cut, or copied (0-d)."""

    def __init__(self, cut: bool) -> None:
        self.cut = cut


def scatter(inputs: Any, comm: Places = None, dim: int = 0, *, root: int = 0, sizes: Sequence[int] | None = None,
            target_gpus: Places = None) -> list[Any]:
    """root's nest of tensors cut along dim: one nest for each place held here, of `sizes` rows, or an even split.

    0-d tensors are copied, other values go along as they are. ValueError, naming both, if two tensors have different
    numbers of rows. `comm` is world() by default; a number of local devices, or their list [0, 1, ...], will do, also by
    PyTorch's name target_gpus.

    >>> (mine,) = scatter({"x": x, "y": y}, comm)            # on every rank; None but for root
    """
    comm = places_of(comm if target_gpus is None else target_gpus)
    problem = unequal(inputs, dim) if root in comm.held else ""
    return _spread("scatter", inputs, comm, root, problem, lambda given, cut: as_tuple(
        Scatter.apply(given, comm=comm, root=root, dim=dim, sizes=sizes) if cut else
        Broadcast.apply(given, comm=comm, root=root)))


def broadcast(inputs: Any, comm: Places = None, root: int = 0, *, devices: Places = None) -> list[Any]:
    """root's nest, tensors copied by Broadcast: one nest for each place held here. comm (or devices): as in scatter.

    >>> (same,) = broadcast(weights, comm)                   # gradients of all copies add up on root's
    """
    comm = places_of(comm if devices is None else devices)
    return _spread("broadcast", inputs, comm, root, "", lambda given, cut: as_tuple(
        Broadcast.apply(given, comm=comm, root=root)))


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, comm: Places = None, dim: int = 0, *,
                   root: int = 0, target_gpus: Places = None) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """scatter of a call's arguments: for each place held here a tuple of positional ones, and a dict of the others."""
    both = scatter((tuple(inputs or ()), dict(kwargs or {})), comm, dim, root=root, target_gpus=target_gpus)
    return tuple(args for args, _ in both), tuple(named for _, named in both)


def gather(outputs: Sequence[Any], comm: Communicator | int | None = None, dim: int = 0, *, root: int = 0,
           target_device: int | None = None) -> Any:
    """The nests of all places (a list, one for each place held here) as one: tensors joined along dim on root (0-d ones
    as a vector), empty ones elsewhere. None, numbers and text that are the same on all places stay; TypeError for other
    values, ValueError where nests differ.

    comm may be the number of a local device, also as target_device: outputs are those of as many devices as there are.
    """
    outputs = nests(outputs)
    comm, root = gather_target(len(outputs), comm if target_device is None else target_device, root)
    found = [dict(leaves(output)) for output in outputs]
    mine = [[(path, _kind(value)) for path, value in values.items()] for values in found]
    everyone = mine if comm.alone and len(mine) == comm.size else comm.allgather_object(mine)
    _check_alike([dict(layout) for layout in everyone])
    joined: dict[str, Any] = {}
    for path, kind in everyone[0]:                   # place 0's order: dicts may be in another one elsewhere
        values = [values[path] for values in found]
        joined[path] = Gather.apply(*values, comm=comm, root=root, dim=dim) if kind == TENSOR else values[0]
    paths = iter(found[0])
    return rebuilt(outputs[0], lambda _: joined[next(paths)])


def _kind(value: Any) -> str:
    """What gather compares between places: of a plain value all, of others the type."""
    if isinstance(value, Tensor):
        return TENSOR
    name = type(value).__name__
    return f"{name} {value!r}" if value is None or isinstance(value, PLAIN) else name


def _check_alike(layouts: Sequence[dict[str, str]]) -> None:
    """Raise unless the nests of all places can be joined."""
    for place, layout in enumerate(layouts):
        for path in sorted(set(layout) | set(layouts[0])):
            first, other = layouts[0].get(path, "nothing"), layout.get(path, "nothing")
            at = f" (at {path})" if path else ""
            if (first == TENSOR) != (other == TENSOR) or "nothing" in (first, other):
                raise ValueError(f"gather: the nests of places 0 and {place} differ{at}: {first} and {other}")
            if first != other or (first != TENSOR and " " not in first):
                raise TypeError("gather: outputs are tensors, and values that are the same on all places, in tuples, lists, "
                                f"dicts and dataclasses, not {first}" + (f" and {other}" if first != other else "") + at)


def unequal(nest: Any, dim: int) -> str:
    """What is wrong with the rows of a nest that is to be cut."""
    first: tuple[str, int] | None = None
    for path, value in leaves(nest):
        if not isinstance(value, Tensor) or value.ndim == 0:
            continue
        name = path or "the input"
        if not isinstance(dim, (int, np.integer)) or not -value.ndim <= dim < value.ndim:
            return f"scatter: dim {dim!r} is out of range for {name}, of shape {tuple(value.shape)}"
        if first is not None and value.shape[dim] != first[1]:
            return (f"scatter: {first[0]} has {first[1]} rows along dim {dim}, {name} has {value.shape[dim]}; tensors of "
                    "one batch have equally many")
        first = first or (name, value.shape[dim])
    return ""


def _spread(name: str, nest: Any, comm: Communicator, root: int, problem: str,
            send: Callable[[Any, bool], tuple[Any, ...]]) -> list[Any]:
    """Root's nest for each place held here, its tensors sent one by one by send(tensor or None, whether it is cut)."""
    given = {path: value for path, value in leaves(nest) if isinstance(value, Tensor)}     # not root's: for the graph only
    plan = nest if comm.alone else _roots_nest(name, nest, comm, root, problem)
    if problem:                                      # on local devices; ranks have heard of it by now
        raise ValueError(problem)
    arrived: list[tuple[Any, ...]] = []
    for path, slot in leaves(plan):
        if isinstance(slot, Slot):
            arrived.append(send(given.get(path), slot.cut))
        elif isinstance(slot, Tensor):
            arrived.append(send(slot, slot.ndim > 0))
        else:
            arrived.append((slot,) * len(comm.held))
    return [rebuilt(plan, _one_by_one(arrived, i)) for i in range(len(comm.held))]


def _one_by_one(arrived: Sequence[tuple[Any, ...]], place: int) -> Callable[[Any], Any]:
    """For rebuilt(): the next leaf's value for one place."""
    values: Iterator[Any] = iter([value[place] for value in arrived])
    return lambda _: next(values)


def _roots_nest(name: str, nest: Any, comm: Communicator, root: int, problem: str) -> Any:
    """Root's nest on every rank, Slots for its tensors. Where it can't be pickled (a class made inside a function, say),
    a rank's own nest serves, if it has the same leaves."""
    plan = rebuilt(nest, lambda value: Slot(value.ndim > 0) if isinstance(value, Tensor) else value)
    paths = [(path, value.cut if isinstance(value, Slot) else None) for path, value in leaves(plan)]
    packed, reason = b"", ""
    if root in comm.held:
        try:
            packed = pickle.dumps(plan)
        except Exception as error:                   # pickling runs the objects' own code
            reason = f"{type(error).__name__}: {error}"
    problem, packed, wanted, reason = comm.broadcast_object((problem, packed, paths, reason), root)
    if problem:
        raise ValueError(problem)
    if packed:
        return plan if root in comm.held else pickle.loads(packed)
    same = [path for path, _ in paths] == [path for path, _ in wanted]
    if comm.any(not same):
        raise ValueError(f"{name}: root's nest can't be pickled ({reason}), so all ranks must pass one with the same "
                         "leaves; some do not")
    cuts = iter([cut for _, cut in wanted])

    def as_roots(value: Any) -> Any:
        cut = next(cuts)
        return value if cut is None else Slot(cut)

    return rebuilt(plan, as_roots)


__all__ = ["broadcast", "gather", "is_namedtuple", "scatter", "scatter_kwargs"]
