"""save() and load(): states of tensors and plain values in safetensors files; PyTorch's own files are read too."""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..base import docstrings as _docstrings
from ..core.tensor import Tensor
from ..spans.spans import record_function
from .atomic import write
from .decode import Decoder, decode
from .encode import encode
from .location import check_location
from .safetensors import Entry, blocks, read_header
from .source import Source
from .whole import MAGIC, HoldsObject, load_whole, save_whole

STRUCTURE, CHECKSUM = "autograd.structure", "autograd.structure.crc32"
FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RuntimeError, MemoryError,
          EOFError, struct.error)
# The beginnings of PyTorch's files (a zip archive; before 1.6 a pickle of a number), and the modules that read them.
TORCH_READERS = {b"PK\x03\x04": "zip_archive", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.": "before_zip"}


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
         _use_new_zipfile_serialization: bool = True) -> None:
    """Write a nested state to a safetensors file, whole or not at all: `f` is its name, or an object with write().

    obj: dicts, lists, tuples, sets, numbers, strings, None, a script's options (argparse.Namespace), and tensors (complex128
    ones excepted). The tensors of a dict {name: tensor} have these names in the file, those of a nested state its keys
    with dots between them, and any reader of safetensors reads them; everything else is JSON in the file's metadata.

    A module or another object, or a state that holds one, is written as a pickle, with a warning: its class must be
    importable at loading, and load() reads it only with `weights_only=False`. TypeError for what can't be pickled.

    Tensors that share memory are each written in full, and share memory again after load(). Strides are not kept: a
    tensor that shares no memory comes back row by row. `pickle_protocol` has no effect."""
    if pickle_module not in (None, pickle):
        raise NotImplementedError(f"save(pickle_module={pickle_module!r}): files hold no pickles")
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("save(_use_new_zipfile_serialization=False): files are safetensors")
    try:
        arrays, structure = encode(obj)
    except HoldsObject as found:
        save_whole(obj, f, found)
        return
    text = json.dumps(structure, separators=(",", ":"), allow_nan=False)
    metadata = {"format": "pt", STRUCTURE: text, CHECKSUM: f"{zlib.crc32(text.encode()):08x}"}
    with record_function("autograd.save"):
        write(f, blocks(arrays, metadata))


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
         mmap: bool | None = None, **pickle_load_args: Any) -> Any:
    """The state in a file: what save() wrote, a dict of tensors from any safetensors file, or what torch.save() wrote.

    Which of them it is the first bytes tell. Of PyTorch's files tensors, parameters, containers, numbers and strings are
    read, whatever `weights_only` says, and no code is ever run; a file with anything else in it is refused with
    UnpicklingError, by the name of the class. A file of save(model) is a pickle, which can run code: it is read with
    `weights_only=False` only, UnpicklingError otherwise. A damaged file is a RuntimeError that says what is wrong with it.

    mmap: tensors are pages of the file, read when they are first used, without a comparison of checksums; writing to
    them does not change the file. map_location: what leaves on the CPU what is there; a dict's
    entries for other places, as in {"cuda:0": "cuda:1"}, have no effect."""
    check_location(map_location)
    if pickle_module not in (None, pickle):
        raise NotImplementedError(f"load(pickle_module={pickle_module!r}): no code of a file is run, so none can be chosen")
    for name, value in pickle_load_args.items():
        if name != "encoding" or str(value).lower() not in ("utf-8", "utf8", "ascii"):
            raise NotImplementedError(f"load({name}={value!r}): strings are read as UTF-8, and nothing else can be chosen")
    with Source(f, bool(mmap)) as source:
        try:
            if source.read(0, min(source.size, len(MAGIC))) == MAGIC:
                return load_whole(source, weights_only)
            return _reader(source)(source)
        except pickle.UnpicklingError as error:
            raise pickle.UnpicklingError(f"{source.name}: {error}") from error
        except FAULTS as error:
            raise RuntimeError(f"{source.name}: {_describe(error)}") from error


def _reader(source: Source) -> Callable[..., Any]:
    """The module that can read the file."""
    start = source.read(0, min(source.size, 16))
    for magic, module in TORCH_READERS.items():
        if start.startswith(magic):
            return import_module(f".torch_pickle.{module}", __package__).load
    if start[8:9] == b"{":
        return _load_safetensors
    if start[:1] == b"\x80":
        raise pickle.UnpicklingError("it is a pickle, but none of torch.save(): pickles can run code and are not read. "
                                     "Where it is trusted, unpickle it and save() what it holds")
    if source.size < 9:
        raise ValueError(f"the file has {source.size} bytes: it is {'truncated' if source.size else 'empty'}")
    raise ValueError(f"neither safetensors nor a file of PyTorch's: it starts with {start[:8]!r}")


def _load_safetensors(source: Source) -> Any:
    """A state that save() wrote; of a file without structure its tensors by name."""
    entries, metadata = read_header(source)
    if STRUCTURE not in metadata and CHECKSUM not in metadata:
        return _tensors(source, entries, metadata)
    text = metadata.get(STRUCTURE, "")
    if f"{zlib.crc32(text.encode()):08x}" != metadata.get(CHECKSUM):
        raise ValueError("its structure does not match its checksum: the file is damaged")
    return decode(source, entries, json.loads(text))


def _tensors(source: Source, entries: dict[str, Entry], metadata: dict[str, str]) -> dict[str, Tensor]:
    """All tensors by name, and those that `safetensors.torch.save_model` left out because they share another's memory."""
    table = {name: {"crc32": None} for name in entries}
    decoder = Decoder(source, entries, table)
    found = {name: decoder.value({"$": "tensor", "name": name}) for name in entries}
    for name, kept in metadata.items():
        if kept in entries and name not in entries and name != "format":
            found[name] = found[kept].detach()
    return found


def _describe(error: BaseException) -> str:
    """The text of an error; errors of other types than ValueError, which libraries raise about damaged contents, get a
    prefix."""
    if type(error) is ValueError:
        return str(error)
    return f"its contents make no sense ({type(error).__name__}: {error})"


_docstrings.complete(globals(), "serialization", "serialization.")
