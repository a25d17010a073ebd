"""Whole modules and other objects in files: a pickle after an identifying line. load() reads it only with
weights_only=False."""

from __future__ import annotations

import pickle
import warnings
import zlib
from typing import Any

from .atomic import write
from .refusal import described, refuse, remedy
from .source import Source

MAGIC = b"autograd: a pickle\n"
MSG_SAVED = ("save() has written a pickle, for {what}: load(f, weights_only=False) reads it where the class can be "
             "imported, and runs code of the file. {remedy} Then the file is data only")
MSG_REFUSED = ("it holds objects as a pickle, such as a whole module, and reading a pickle can run code: "
               "load(f, weights_only=False) reads it where the file is trusted")


class HoldsObject(Exception):
    """Raised by encode() if a state contains a module, or another object that is not data. Its arguments: the object, and
    the keys that lead to it."""


def save_whole(obj: Any, f: Any, found: HoldsObject) -> None:
    """Write an object that is not data, or contains one, with a warning. TypeError if it cannot be pickled."""
    value, path = found.args
    try:
        data = pickle.dumps(obj, 5)
    except (pickle.PicklingError, TypeError, AttributeError, NotImplementedError) as error:
        refuse(value, path, also=f"; nor can it be pickled: {error}")
    write(f, [MAGIC, zlib.crc32(data).to_bytes(4, "little"), data])
    warnings.warn(MSG_SAVED.format(what=described(value, path), remedy=remedy(value)), UserWarning, stacklevel=3)


def load_whole(source: Source, weights_only: bool | None) -> Any:
    """Read the object that save_whole() wrote. UnpicklingError unless weights_only is False."""
    if weights_only is not False:
        raise pickle.UnpicklingError(MSG_REFUSED)
    start = len(MAGIC) + 4
    data = bytes(source.read(start, source.size - start))
    if zlib.crc32(data) != int.from_bytes(source.read(len(MAGIC), 4), "little"):
        raise ValueError("its pickle does not match its checksum: the file is damaged")
    return pickle.loads(data)
