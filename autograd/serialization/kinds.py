"""The representation of values that JSON lacks: {"$": kind, ...}. One line per class, with both conversions."""

from __future__ import annotations

import base64
import sys
from argparse import Namespace
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..base.devices import device
from ..base.size import Size
from ..nn.parameter import UninitializedBuffer, UninitializedParameter
from .safetensors import CODES, raw

KIND = "$"
SEQUENCES: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset", Size: "Size"}
MAPPINGS: dict[type, str] = {dict: "dict", OrderedDict: "OrderedDict", Counter: "Counter", Namespace: "Namespace"}
CONTAINERS: dict[str, Callable[[Any], Any]] = {kind: cls for cls, kind in {**SEQUENCES, **MAPPINGS}.items()}
CONTAINERS["Namespace"] = lambda items: Namespace(**items)         # a script's options
NUMBERS = (*CODES, "complex128")


class Atom(NamedTuple):
    """A class whose values are written as one JSON value: its name in the file, and the conversions out and in."""

    kind: str
    out: Callable[[Any], Any]
    back: Callable[[Any], Any]


def named_dtype(name: str) -> np.dtype[Any]:
    """The dtype of a name."""
    if name not in NUMBERS:
        raise ValueError(f"no tensor can be of the dtype {name!r}")
    return dtypes.bfloat16() if name == "bfloat16" else np.dtype(name)


def _number(value: list[str]) -> Any:
    """A NumPy scalar of its dtype's name and its bytes."""
    array = np.frombuffer(bytes.fromhex(value[1]), named_dtype(value[0]))
    return (array if sys.byteorder == "little" else array.byteswap())[0]


def _shapeless(cls: type) -> Atom:
    """A parameter or buffer without shape: whether it requires a gradient, and its dtype."""
    return Atom(cls.__name__, lambda v: [v.requires_grad, v.dtype.name],
                lambda v: cls(requires_grad=bool(v[0]), dtype=named_dtype(v[1])))


NUMBER = Atom("number", lambda v: [v.dtype.name, bytes(raw(np.asarray(v))).hex()], _number)
DTYPE = Atom("dtype", lambda v: v.name, lambda v: dtypes.of_tensors[named_dtype(v)])
ATOMS: dict[Any, Any] = {
    int: Atom("int", hex, lambda v: int(v, 16)),                     # integers beyond 64 bits
    float: Atom("float", repr, float),                               # inf and nan
    complex: Atom("complex", lambda v: [repr(v.real), repr(v.imag)], lambda v: complex(float(v[0]), float(v[1]))),
    bytes: Atom("bytes", lambda v: base64.b64encode(v).decode(), lambda v: base64.b64decode(v, validate=True)),
    device: Atom("device", str, device),
    UninitializedBuffer: _shapeless(UninitializedBuffer),
    UninitializedParameter: _shapeless(UninitializedParameter),
}
BACK = {atom.kind: atom.back for atom in (*ATOMS.values(), NUMBER, DTYPE)}


def atom_of(value: Any) -> Atom | None:
    """The Atom that writes a value; None for containers, tensors and other classes."""
    if isinstance(value, np.generic):
        return NUMBER if value.dtype.name in NUMBERS else None
    if isinstance(value, (dtypes.TensorDType, np.dtype)):
        return DTYPE if value.name in NUMBERS else None
    return ATOMS.get(type(value))
