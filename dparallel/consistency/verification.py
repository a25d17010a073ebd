"""Checks that all ranks have the same model, optimizer, data order or other value; all raise the same error on a difference.

One allgather of 16 bytes per rank finds whether there is one; entries and elements are sent only then. DataParallel calls
verify() on its module, sharding on its optimizers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection

import numpy as np

from autograd.nn import Module

from ..comm import CollectiveError, Communicator, communicator
from .fingerprint import Array, Entry, NotComparable, fingerprint

MAX_NAMES = 8                        # in one message
COMPARABLE = "biufcV"                # kinds of dtypes whose first different element is shown


def assert_same_everywhere(obj: object, comm: Communicator | None = None) -> None:
    """Raise AssertionError, on every rank, unless all ranks have bitwise the same value. Collective."""
    difference = first_difference(obj, comm)
    if difference:
        raise AssertionError(difference)


def verify(obj: object, comm: Communicator | None = None, *, what: str = "", ignored: Collection[str] = ()) -> None:
    """Raise CollectiveError, on every rank, unless all ranks have models or optimizers of the same structure.

    For a Module names, shapes, dtypes and requires_grad are compared, for an Optimizer its class, hyperparameters and the
    shapes of its parameters; values are not (assert_same_everywhere compares them).
    """
    difference = first_difference(obj, comm, structure=True, ignored=ignored)
    if difference:
        expected = "the same model" if isinstance(obj, Module) else "the same"
        raise CollectiveError(f"{what or 'verify'} expects {expected} on all ranks, but {difference}")


def first_difference(obj: object, comm: Communicator | None = None, structure: bool = False,
                     ignored: Collection[str] = ()) -> str:
    """The first difference between ranks in words, "" if there is none, except paths in `ignored`. Collective."""
    comm = communicator(comm)
    if comm.size == 1 or len(comm.held) > 1:
        return ""
    own, problem = _entries_or_problem(lambda: [entry for entry in fingerprint(obj, comm.rank, structure)
                                                if entry.path not in ignored])
    digest = hashlib.blake2b(repr(problem).encode(), digest_size=16)
    for entry in own:
        digest.update(repr(entry[:2]).encode() + entry.digest)
    digests = comm.allgather([np.frombuffer(digest.digest(), np.uint8).reshape(1, 16)])[0]
    if (digests == digests[0]).all():
        if problem:
            raise TypeError(problem)
        return ""
    gathered = comm.allgather_object([(problem, [entry[:4] for entry in own])])
    for rank, (rank_problem, _) in enumerate(gathered):
        if rank_problem:
            raise TypeError(f"rank {rank}: {rank_problem}")
    return _explain([[Entry(*entry) for entry in entries] for _, entries in gathered], own, comm, isinstance(obj, Module))


def _entries_or_problem(make: Callable[[], list[Entry]]) -> tuple[list[Entry], str]:
    """The entries, or why there are none: a problem is sent to all ranks before any rank raises."""
    try:
        return make(), ""
    except CollectiveError:                          # already raised on all ranks
        raise
    except NotComparable as error:
        return [], str(error)
    except Exception as error:                       # the object's own code
        return [], f"looking at the object raised {type(error).__name__}: {error}"


def _explain(entries_of_ranks: list[list[Entry]], own: list[Entry], comm: Communicator, is_module: bool) -> str:
    """A description of the first difference. own: this rank's entries, with arrays. Collective."""
    first = entries_of_ranks[0]
    more = _summary(entries_of_ranks)
    for position in range(max(map(len, entries_of_ranks))):
        for rank, entries in enumerate(entries_of_ranks):
            a = first[position] if position < len(first) else None
            b = entries[position] if position < len(entries) else None
            if (a is None) != (b is None) or (a is not None and b is not None and a[:3] != b[:3]):
                counts = "" if not is_module or len(first) == len(entries) else (
                    f"rank {rank} has {len(entries)} parameters and buffers, rank 0 has {len(first)}; the first "
                    "difference: ")
                return counts + _difference(a, b, rank, own[position] if position < len(own) else None, comm) + more
    raise AssertionError("the fingerprints differ, but no entry does")


def _summary(entries_of_ranks: list[list[Entry]]) -> str:
    """Which other entries differ, and which ranks agree with each other; "" if the first difference is all."""
    first, count = entries_of_ranks[0], len(entries_of_ranks)
    names: list[str] = []
    if len({tuple(entry.path for entry in entries) for entries in entries_of_ranks}) == 1:
        names = [first[i].path for i, of_ranks in enumerate(zip(*entries_of_ranks, strict=True)) if len(set(of_ranks)) > 1]
    groups: dict[tuple[Entry, ...], list[int]] = {}
    for rank, entries in enumerate(entries_of_ranks):
        groups.setdefault(tuple(entries), []).append(rank)
    found = [f"so do{'es' * (len(names) == 2)} {abbreviated(names[1:])}"] if len(names) > 1 else []
    if 1 < len(groups) < count:
        found.append("ranks that agree with each other: " + " and ".join(map(str, groups.values())))
    return "".join(f"; {text}" for text in found)


def _difference(a: Entry | None, b: Entry | None, rank: int, own: Entry | None, comm: Communicator) -> str:
    """A description of the difference between rank 0's entry a and that of another rank, b. own: this rank's. Collective."""
    if a is None or b is None or a.path != b.path:
        first, second = ("nothing" if e is None else repr(e.path or "the object itself") for e in (a, b))
        return f"rank 0 has {first} where rank {rank} has {second}"
    name = a.path or "the object"
    if a.description != b.description:
        return (f"{name} is {a.description} on rank 0 and {b.description} on rank {rank}: {name} differs between rank 0 and "
                f"rank {rank}")
    text = f"{name} differs between rank 0 and rank {rank}"
    if a.text or b.text:
        return f"{text}: {a.text or '(long)'} against {b.text or '(long)'}"
    array = None if own is None else own.array
    has_array = (own is not None and array is not None and array.dtype.kind in COMPARABLE
                 and (own.path, own.description) == (a.path, a.description))
    if not all(comm.allgather_object([has_array if comm.rank in (0, rank) else True])):
        return text
    expected = comm.broadcast(np.ascontiguousarray(array) if comm.rank == 0 else None, 0)[0]
    detail = _different_elements(expected, array) if comm.rank == rank and array is not None else ""
    return text + ": " + str(comm.broadcast_object(detail, rank))


def _different_elements(first: Array, second: Array) -> str:
    """The first element that differs between two arrays, and how many do. Elements are compared bitwise."""
    a, b = first.reshape(-1), np.ascontiguousarray(second).reshape(-1)
    size = a.dtype.itemsize
    different = (a.view(np.uint8).reshape(-1, size) != b.view(np.uint8).reshape(-1, size)).any(1)
    position = int(different.argmax())
    index = [int(i) for i in np.unravel_index(position, first.shape)]
    return (f"element {index} is {a[position].item()!r} against {b[position].item()!r}; {int(different.sum())} of {a.size} "
            "elements differ")


def abbreviated(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
