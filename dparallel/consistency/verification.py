"""Whether all ranks hold the same: models, optimisers, data orders, anything. The first difference is named, on all ranks.

One message of 16 bytes per rank says whether there is a difference; details travel only if there is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from autograd.nn import Module

from ..comm import CollectiveError, Communicator, communicator
from .fingerprint import Entry, Unknown, entries

COMPARABLE = "biufcV"                # kinds of dtypes whose elements are shown


def assert_same_everywhere(obj: Any, comm: Communicator | None = None) -> None:
    """Raise AssertionError, on every rank, unless all ranks hold bitwise the same.

    obj: a Module (names, shapes, dtypes, requires_grad, values of parameters and buffers; of a sharded DataParallel the
    whole ones), an Optimizer (options, shapes, state), a Sampler or DataLoader (all that its order depends on; to compare
    the order itself pass list(sampler)), a Generator, anything with state_dict(), an iterable of (name, Tensor), arrays,
    numbers, strings, and containers of all these. TypeError, on every rank, if it holds anything else. The first difference
    is named with its path, the ranks and both values. All ranks call it together; where one process holds all places there
    is nothing to compare.

    >>> assert_same_everywhere(model, comm)
    >>> assert_same_everywhere({"lr": 0.1, "order": list(sampler)}, comm)
    """
    difference = first_difference(obj, comm)
    if difference:
        raise AssertionError(difference)


def verify(obj: Any, comm: Communicator | None = None, *, what: str = "", ignored: Collection[str] = ()) -> None:
    """Raise CollectiveError, on every rank, unless all ranks hold models or optimisers of the same form.

    Of a Module names, shapes, dtypes and requires_grad are compared, of an Optimizer its class, hyper-parameters and the
    shapes of its parameters; values are not (assert_same_everywhere compares them). `what` begins the message; `ignored`
    are names of parameters and buffers that may differ.

    >>> verify(optimizer, comm)
    """
    difference = first_difference(obj, comm, structure=True, ignored=ignored)
    if difference:
        expected = "the same model" if isinstance(obj, Module) else "the same"
        raise CollectiveError(f"{what or 'verify'} expects {expected} on all ranks, but {difference}")


def first_difference(obj: Any, comm: Communicator | None = None, structure: bool = False,
                     ignored: Collection[str] = ()) -> str:
    """In words, the first difference between ranks, but for the paths `ignored`; empty if there is none. The same on all
    ranks. Collective."""
    comm = communicator(comm)
    if comm.size == 1 or len(comm.held) > 1:
        return ""
    mine, problem = _listed(lambda: [entry for entry in entries(obj, comm.rank, structure) if entry.path not in ignored])
    digest = hashlib.blake2b(repr(problem).encode(), digest_size=16)
    for entry in mine:
        digest.update(repr(entry[:2]).encode() + entry.digest)
    fingerprints = comm.allgather([np.frombuffer(digest.digest(), np.uint8).reshape(1, 16)])[0]
    if (fingerprints == fingerprints[0]).all():
        if problem:
            raise TypeError(problem)
        return ""
    everyone = comm.allgather_object([(problem, [entry[:4] for entry in mine])])
    for rank, (trouble, _) in enumerate(everyone):
        if trouble:
            raise TypeError(f"rank {rank}: {trouble}")
    return _explain([[Entry(*entry) for entry in theirs] for _, theirs in everyone], mine, comm, isinstance(obj, Module))


def _listed(make: Callable[[], list[Entry]]) -> tuple[list[Entry], str]:
    """The entries, or why there are none: to be told to all ranks before anybody raises."""
    try:
        return make(), ""
    except CollectiveError:                          # all ranks have that already
        raise
    except Unknown as error:
        return [], str(error)
    except Exception as error:                       # the object's own code
        return [], f"looking at the object raised {type(error).__name__}: {error}"


def _explain(everyone: list[list[Entry]], mine: list[Entry], comm: Communicator, module: bool) -> str:
    """The first difference, in words."""
    first = everyone[0]
    for position in range(max(map(len, everyone))):
        for rank, theirs in enumerate(everyone):
            a = first[position] if position < len(first) else None
            b = theirs[position] if position < len(theirs) else None
            if (a is None) != (b is None) or (a is not None and b is not None and a[:3] != b[:3]):
                text = _counts(len(first), len(theirs), rank) if module and len(first) != len(theirs) else ""
                return text + _difference(a, b, rank, mine[position] if position < len(mine) else None, comm)
    raise AssertionError("the fingerprints differ, but no entry does")


def _counts(here: int, there: int, rank: int) -> str:
    return f"rank {rank} has {there} parameters and buffers, rank 0 has {here}; the first difference: "


def _difference(a: Entry | None, b: Entry | None, rank: int, mine: Entry | None, comm: Communicator) -> str:
    """What differs between rank 0's entry and that of another rank."""
    if a is None or b is None or a.path != b.path:
        has, lacks = ("nothing" if e is None else repr(e.path or "the object itself") for e in (a, b))
        return f"rank 0 has {has} where rank {rank} has {lacks}"
    name = a.path or "the object"
    if a.about != b.about:
        return f"{name} is {a.about} on rank 0 and {b.about} on rank {rank}: {name} differs between rank 0 and rank {rank}"
    text = f"{name} differs between rank 0 and rank {rank}"
    if a.shown or b.shown:
        return f"{text}: {a.shown or '(long)'} against {b.shown or '(long)'}"
    has_array = mine is not None and mine.array is not None and mine.array.dtype.kind in COMPARABLE
    if not all(comm.allgather_object([has_array and (mine.path, mine.about) == (a.path, a.about)       # type: ignore[union-attr]
                                      if comm.rank in (0, rank) else True])):
        return text
    theirs = comm.broadcast(np.ascontiguousarray(mine.array) if comm.rank == 0 and mine is not None else None, 0)[0]
    words = _elements(theirs, mine.array) if comm.rank == rank and mine is not None else ""
    return text + ": " + str(comm.broadcast_object(words, rank))


def _elements(here: Any, there: Any) -> str:
    """The first element that differs, and how many do."""
    a, b = here.reshape(-1), np.ascontiguousarray(there).reshape(-1)
    size = a.dtype.itemsize
    different = (a.view(np.uint8).reshape(-1, size) != b.view(np.uint8).reshape(-1, size)).any(1)
    place = int(different.argmax())
    index = [int(i) for i in np.unravel_index(place, here.shape)]
    return (f"element {index} is {a[place].item()!r} against {b[place].item()!r}; {int(different.sum())} of {a.size} "
            "elements differ")


__all__ = ["assert_same_everywhere", "first_difference", "verify"]
