"""Whole modules in files: a pickle behind a line that says so. load() reads it only with weights_only=False."""

from __future__ import annotations

import pickle
import warnings
import zlib
from typing import Any

from .atomic import write
from .source import Source

MAGIC = b"autograd: a pickle\n"
MSG_SAVED = ("save() has written a {name} as a pickle, for the file holds the module itself: load(f, weights_only=False) "
             "reads it where its class can be imported, and runs code of the file. save(model.state_dict(), f) writes data "
             "only")
MSG_REFUSED = ("it holds a whole module as a pickle, which can run code: load(f, weights_only=False) reads it where the "
               "file is trusted")


class HoldsModule(Exception):
    """Raised by encode() where a state holds a module; its argument is the module's class."""


def save_whole(obj: Any, f: Any, cls: type[Any]) -> None:
    """Write an object that is or holds a module, and warn that it is a pickle."""
    data = pickle.dumps(obj, 5)
    write(f, [MAGIC, zlib.crc32(data).to_bytes(4, "little"), data])
    warnings.warn(MSG_SAVED.format(name=cls.__qualname__), UserWarning, stacklevel=3)


def load_whole(source: Source, weights_only: bool | None) -> Any:
    """What save_whole() wrote. UnpicklingError unless weights_only is False."""
    if weights_only is not False:
        raise pickle.UnpicklingError(MSG_REFUSED)
    start = len(MAGIC) + 4
    data = bytes(source.read(start, source.size - start))
    if zlib.crc32(data) != int.from_bytes(source.read(len(MAGIC), 4), "little"):
        raise ValueError("its pickle does not match its checksum: the file is damaged")
    return pickle.loads(data)


__all__ = ["MAGIC", "HoldsModule", "load_whole", "save_whole"]
