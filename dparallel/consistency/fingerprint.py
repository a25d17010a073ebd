"""The fingerprint of an object: an Entry for each of its parts, with a path, a description and a digest of the value.

verification.py compares fingerprints of ranks, so a value that must be the same on all ranks has an entry here.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autograd.nn import Module
from autograd.optim import Optimizer

from ..autograd import Generator, Tensor, get_rng_state

if TYPE_CHECKING:
    from autograd.utils.data import DataLoader, Sampler

Array = np.ndarray[Any, Any]

SCALARS = (type(None), bool, int, float, complex, str, bytes, range, slice, type, np.dtype, enum.Enum, os.PathLike)
ARRAY_LENGTH = 16                            # a list of this many numbers or more is one entry
TEXT_LENGTH = 80                           # a longer value is not shown in messages


class Entry(NamedTuple):
    """One part of an object.

    path: as "param_groups[0].lr". description: type, dtype, shape. digest: of the value. text: a short value. array: the
    value of a tensor or array, which is not sent.
    """

    path: str
    description: str
    digest: bytes
    text: str
    array: Array | None = None


class NotComparable(TypeError):
    """The object has a part that can't be compared over ranks."""


def fingerprint(obj: object, rank: int, structure: bool = False) -> list[Entry]:
    """The entries of an object's parts. structure: exclude values of modules and optimizers. NotComparable for unknown
    types."""
    return list(_entries(obj, "", rank, structure))


def _array_entry(path: str, array: Array | np.generic, more: str = "") -> Entry:
    """An entry of the elements' bytes. more: appended to the description."""
    array = np.asarray(array)
    if array.dtype.kind in "OV" and array.dtype.name != "bfloat16":
        raise NotComparable(f"{path or 'the object'} is an array of dtype {array.dtype}, which can't be compared over ranks")
    description = f"{array.dtype} {list(array.shape)}{more}"
    contiguous = np.ascontiguousarray(array)
    digest = hashlib.blake2b(contiguous.reshape(-1).view(np.uint8), digest_size=16).digest()       # type: ignore[arg-type]
    return Entry(path, description, digest, str(array.item()) if array.size == 1 else "", array)


def _text_entry(path: str, description: str, text: str) -> Entry:
    """An entry of a value that its text determines."""
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return Entry(path, description, digest, text if len(text) <= TEXT_LENGTH else "")


def _tensor_entry(path: str, t: Tensor, structure: bool = False) -> Entry:
    """An entry of a Tensor; structure: of its dtype, shape and requires_grad only."""
    more = ", requires_grad" if t.requires_grad else ""
    if structure:
        return _text_entry(path, f"{t.array.dtype} {list(t.shape)}{more}", "")
    return _array_entry(path, t.array, more)


def _entries(obj: Any, path: str, rank: int, structure: bool) -> Iterator[Entry]:
    """The entries of an object of any type; paths begin with `path`."""
    if isinstance(obj, Tensor):
        yield _tensor_entry(path, obj)
    elif isinstance(obj, (np.ndarray, np.generic)):
        yield _array_entry(path, obj)
    elif isinstance(obj, SCALARS):
        yield _text_entry(path, type(obj).__name__, repr(obj))
    elif isinstance(obj, Module):
        yield from _module_entries(obj, path, structure)
    elif isinstance(obj, Optimizer):
        yield from _optimizer_entries(obj, path, rank, structure)
    elif isinstance(obj, Generator):
        yield from _entries(obj.get_state(), path, rank, structure)
    elif isinstance(obj, np.random.Generator):
        yield from _entries(obj.bit_generator.state, path, rank, structure)
    elif isinstance(obj, Mapping):
        yield _text_entry(path, f"{type(obj).__name__} of {len(obj)}", "")
        for key, value in obj.items():
            name = key if isinstance(key, str) and not path else f"{path}[{key!r}]"
            yield from _entries(value, name, rank, structure)
    elif isinstance(obj, (set, frozenset)):
        yield _text_entry(path, type(obj).__name__, repr(sorted(obj, key=repr)))
    elif isinstance(obj, ((data := _data()).Sampler, data.DataLoader)):
        yield from _order_entries(obj, path, rank)
    elif dataclasses.is_dataclass(obj):
        for field in dataclasses.fields(obj):
            yield from _entries(getattr(obj, field.name), f"{path}.{field.name}".lstrip("."), rank, structure)
    elif isinstance(obj, Iterable):
        yield from _sequence_entries(obj, path, rank, structure)
    elif hasattr(obj, "state_dict"):                 # schedulers, scalers, loaders of other libraries
        yield from _entries(obj.state_dict(), path, rank, structure)
    elif callable(obj) and hasattr(obj, "__qualname__"):
        yield _text_entry(path, "function", f"{obj.__module__}.{obj.__qualname__}")
    else:
        raise NotComparable(f"{path or 'the object'} is a {type(obj).__name__}, which can't be compared over ranks: pass "
                            "its contents, as tensors, arrays, numbers, strings and containers of them")


def _sequence_entries(obj: Iterable[Any], path: str, rank: int, structure: bool) -> Iterator[Entry]:
    """One entry for many numbers of one type, else an entry for the length and those of each item."""
    items = list(obj)
    if len(items) >= ARRAY_LENGTH and all(type(item) is type(items[0]) and isinstance(item, (int, float)) for item in items):
        try:
            yield _array_entry(path, np.array(items), ", a sequence")
            return
        except (NotComparable, OverflowError):             # integers beyond 64 bits have an entry each
            pass
    yield _text_entry(path, f"{type(obj).__name__} of {len(items)}", "")
    fields = getattr(obj, "_fields", None)
    for index, item in enumerate(items):
        pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        if pair and isinstance(item[1], (Tensor, np.ndarray)):                  # an item of named_parameters()
            yield from _entries(item[1], item[0], rank, structure)
        else:
            name = f"{path}.{fields[index]}".lstrip(".") if fields else f"{path}[{index}]"
            yield from _entries(item, name, rank, structure)


def _module_entries(module: Module, path: str, structure: bool) -> Iterator[Entry]:
    """The entries of parameters and buffers."""
    prefix = f"{path}." if path else ""
    named = [*module.named_parameters(), *module.named_buffers()]
    if any(hasattr(t, "shard") for _, t in named):   # of a sharded model: compare the full tensors, as shards differ
        named = list(module.state_dict().items())
    for name, t in named:
        yield _tensor_entry(prefix + name, t, structure)


def _optimizer_entries(optimizer: Optimizer, path: str, rank: int, structure: bool) -> Iterator[Entry]:
    """The entries of the class, the groups' options, the parameters' shapes, and (unless structure) the state."""
    yield _text_entry(path, "optimizer", type(optimizer).__name__)
    for number, group in enumerate(optimizer.param_groups):
        here = f"{path}.param_groups[{number}]".lstrip(".")
        options = {name: value for name, value in group.items() if name not in ("params", "param_names")}
        yield from _entries(options, here, rank, structure)
        for i, p in enumerate(group["params"]):
            shard = getattr(p, "shard", None)
            name = f"{here}['params'][{i}]"
            shape = p.shape if shard is None else shard.shape
            yield _text_entry(name, f"{p.array.dtype} {list(shape)}{', requires_grad' if p.requires_grad else ''}", "")
    if not structure:
        yield from _entries(optimizer.state_dict()["state"], f"{path}.state".lstrip("."), rank, structure)


def _data() -> Any:
    """The module of loaders and samplers: 7 ms, which comparing models does not need."""
    return import_module("autograd.utils.data")


def _order_entries(obj: Sampler[Any] | DataLoader[Any], path: str, rank: int) -> Iterator[Entry]:
    """The entries of everything on which the order of a sampler or loader depends. Nothing is drawn from it."""
    data = _data()
    yield _text_entry(path, type(obj).__name__, "")
    if isinstance(obj, data.DataLoader):
        settings: dict[str, Any] = {"batch_size": obj.batch_size, "drop_last": obj.drop_last}
        sampler = obj.batch_sampler if obj.batch_sampler is not None else obj.sampler
        if sampler is not None:
            settings["sampler"] = sampler
    else:
        settings = {name.lstrip("_"): value for name, value in vars(obj).items()}
        if settings.get("generator", 0) is None and not isinstance(obj, (data.BatchSampler, data.DistributedSampler)):
            settings["generator"] = get_rng_state()      # its order comes from the default generator
    for name, value in settings.items():
        here = f"{path}.{name}".lstrip(".")
        if name in ("dataset", "data_source"):
            yield _text_entry(here, "dataset", f"of {len(value)} items")
        elif name == "rank" and isinstance(obj, data.DistributedSampler):
            text = "that of the process" if value == rank else f"{value}, where the process is {rank}"
            yield _text_entry(here, "rank", text)
        else:
            yield from _entries(value, here, rank, False)
