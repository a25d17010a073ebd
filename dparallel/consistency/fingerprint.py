"""What of an object must be the same on all ranks: its parts, each with a path, a description and a digest."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from autograd import Generator, Tensor, get_rng_state
from autograd.nn import Module
from autograd.optim import Optimizer
from autograd.utils.data import BatchSampler, DataLoader, DistributedSampler, Sampler

PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, type, np.dtype, enum.Enum, pathlib.PurePath)
MANY = 16                            # so many numbers in a list are compared as one array
SHOWN = 80                           # characters of a value that a message shows


class Entry(NamedTuple):
    """One part: where it is, what it is (kind, dtype, shape), its value's digest, and its value as text if it is short.

    `array` is what the digest is of; it stays on its rank.
    """

    path: str
    about: str
    digest: bytes
    shown: str
    array: Any = None


class Unknown(TypeError):
    """An object that can't be compared over ranks."""


def entries(obj: Any, rank: int, structure: bool = False) -> list[Entry]:
    """The parts of an object, in order. structure: of modules and optimisers what they are, not what they hold.

    Unknown (a TypeError) for what there is no way to compare.
    """
    return list(_parts(obj, "", rank, structure))


def _array(path: str, array: Any, more: str = "") -> Entry:
    array = np.asarray(array)
    if array.dtype.kind in "OV" and array.dtype.name != "bfloat16":
        raise Unknown(f"{path or 'the object'} is an array of dtype {array.dtype}, which can't be compared over ranks")
    about = f"{array.dtype} {list(array.shape)}{more}"
    contiguous = np.ascontiguousarray(array)
    digest = hashlib.blake2b(contiguous.reshape(-1).view(np.uint8), digest_size=16).digest()       # type: ignore[arg-type]
    return Entry(path, about, digest, str(array.item()) if array.size == 1 else "", array)


def _text(path: str, about: str, text: str) -> Entry:
    return Entry(path, about, hashlib.blake2b(text.encode(), digest_size=16).digest(), text if len(text) <= SHOWN else "")


def _tensor(path: str, t: Any, structure: bool = False) -> Entry:
    more = ", requires_grad" if t.requires_grad else ""
    return _text(path, f"{t.dtype} {list(t.shape)}{more}", "") if structure else _array(path, t.array, more)


def _parts(obj: Any, path: str, rank: int, structure: bool) -> Iterator[Entry]:
    if isinstance(obj, Tensor):
        yield _tensor(path, obj)
    elif isinstance(obj, (np.ndarray, np.generic)):
        yield _array(path, obj)
    elif isinstance(obj, PLAIN):
        yield _text(path, type(obj).__name__, repr(obj))
    elif isinstance(obj, Module):
        yield from _module(obj, path, structure)
    elif isinstance(obj, Optimizer):
        yield from _optimizer(obj, path, rank, structure)
    elif isinstance(obj, (Sampler, DataLoader)):
        yield from _order(obj, path, rank)
    elif isinstance(obj, Generator):
        yield from _parts(obj.get_state(), path, rank, structure)
    elif isinstance(obj, np.random.Generator):
        yield from _parts(obj.bit_generator.state, path, rank, structure)
    elif isinstance(obj, Mapping):
        yield _text(path, f"{type(obj).__name__} of {len(obj)}", "")
        for key, value in obj.items():
            name = key if isinstance(key, str) and not path else f"{path}[{key!r}]"
            yield from _parts(value, name, rank, structure)
    elif isinstance(obj, (set, frozenset)):
        yield _text(path, type(obj).__name__, repr(sorted(obj, key=repr)))
    elif dataclasses.is_dataclass(obj):
        for field in dataclasses.fields(obj):
            yield from _parts(getattr(obj, field.name), f"{path}.{field.name}".lstrip("."), rank, structure)
    elif isinstance(obj, Iterable):
        yield from _sequence(obj, path, rank, structure)
    elif hasattr(obj, "state_dict"):                 # schedulers, scalers, loaders of other make
        yield from _parts(obj.state_dict(), path, rank, structure)
    elif callable(obj) and hasattr(obj, "__qualname__"):
        yield _text(path, "function", f"{obj.__module__}.{obj.__qualname__}")
    else:
        raise Unknown(f"{path or 'the object'} is a {type(obj).__name__}, which can't be compared over ranks: pass what it "
                      "holds, as tensors, arrays, numbers, strings and containers of them")


def _sequence(obj: Any, path: str, rank: int, structure: bool) -> Iterator[Entry]:
    items = list(obj)
    if len(items) >= MANY and all(type(item) is type(items[0]) and isinstance(item, (int, float)) for item in items):
        try:
            yield _array(path, np.array(items), ", a sequence")
            return
        except (Unknown, OverflowError):             # numbers beyond 64 bits: one by one
            pass
    yield _text(path, f"{type(obj).__name__} of {len(items)}", "")
    fields = getattr(obj, "_fields", None)
    for index, item in enumerate(items):
        pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        if pair and isinstance(item[1], (Tensor, np.ndarray)):                  # as named_parameters() gives them
            yield from _parts(item[1], item[0], rank, structure)
        else:
            name = f"{path}.{fields[index]}".lstrip(".") if fields else f"{path}[{index}]"
            yield from _parts(item, name, rank, structure)


def _module(module: Module, path: str, structure: bool) -> Iterator[Entry]:
    prefix = f"{path}." if path else ""
    named = [*module.named_parameters(), *module.named_buffers()]
    if any(hasattr(t, "shard") for _, t in named):   # slices differ by design: the wholes count
        named = list(module.state_dict().items())
    for name, t in named:
        yield _tensor(prefix + name, t, structure)


def _optimizer(optimizer: Optimizer, path: str, rank: int, structure: bool) -> Iterator[Entry]:
    yield _text(path, "optimizer", type(optimizer).__name__)
    for number, group in enumerate(optimizer.param_groups):
        here = f"{path}.param_groups[{number}]".lstrip(".")
        options = {name: value for name, value in group.items() if name not in ("params", "param_names")}
        yield from _parts(options, here, rank, structure)
        for i, p in enumerate(group["params"]):
            shard = getattr(p, "shard", None)
            name = f"{here}['params'][{i}]"
            shape = p.shape if shard is None else shard.shape
            yield _text(name, f"{p.dtype} {list(shape)}{', requires_grad' if p.requires_grad else ''}", "")
    if not structure:
        yield from _parts(optimizer.state_dict()["state"], f"{path}.state".lstrip("."), rank, structure)


def _order(obj: Any, path: str, rank: int) -> Iterator[Entry]:
    """What the order of a sampler or loader depends on, without drawing from it."""
    yield _text(path, type(obj).__name__, "")
    if isinstance(obj, DataLoader):
        held: dict[str, Any] = {"batch_size": obj.batch_size, "drop_last": obj.drop_last}
        inner = obj.batch_sampler if obj.batch_sampler is not None else obj.sampler
        if inner is not None:
            held["sampler"] = inner
    else:
        held = {name.lstrip("_"): value for name, value in vars(obj).items()}
        if held.get("generator", 0) is None and not isinstance(obj, (BatchSampler, DistributedSampler)):
            held["generator"] = get_rng_state()      # it will draw from the default generator
    for name, value in held.items():
        here = f"{path}.{name}".lstrip(".")
        if name in ("dataset", "data_source"):
            yield _text(here, "dataset", f"of {len(value)} items")
        elif name == "rank" and isinstance(obj, DistributedSampler):
            yield _text(here, "rank", "that of the process" if value == rank else f"{value}, where the process is {rank}")
        else:
            yield from _parts(value, here, rank, False)


__all__ = ["Entry", "Unknown", "entries"]
