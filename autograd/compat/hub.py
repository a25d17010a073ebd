"""Weights from files where torch.hub keeps its downloads. Nothing here opens a connection."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any
from urllib.parse import urlparse

from ..base import docstrings as _docstrings
from ..base.environment import environment

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")          # of a file's name: the beginning of its SHA-256


class Folder:
    """Where the files are: set_dir() sets it."""

    path: str | None = None


def _get_torch_home() -> str:
    """$TORCH_HOME, or the folder torch in the user's cache."""
    cache = environment.cache_home or os.path.join("~", ".cache")
    return os.path.expanduser(environment.torch_home or os.path.join(cache, "torch"))


def get_dir() -> str:
    """The folder of downloads: the one of set_dir(), or hub in $TORCH_HOME, which is torch in the user's cache if not set.
    """
    return Folder.path or os.path.join(_get_torch_home(), "hub")


def set_dir(d: Any) -> None:
    """Set the folder of downloads."""
    Folder.path = os.path.expanduser(d)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Refused: nothing is downloaded."""
    raise NotImplementedError(f"hub.download_url_to_file({url!r}): nothing is downloaded; put the file at {dst!r}")


def load_state_dict_from_url(url: str, model_dir: Any = None, map_location: Any = None, progress: bool = True,
                             check_hash: bool = False, file_name: Any = None, weights_only: bool = False) -> Any:
    """The state in the file of a URL's name, where torch.hub has put it, or the user: nothing is downloaded."""
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        raise NotImplementedError(f"load_state_dict_from_url({url!r}): nothing is downloaded; put the file into {folder}")
    serialization = import_module("...serialization", __name__)          # the room is above this one
    return serialization.load(path, map_location=map_location, weights_only=weights_only)


@contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def load(repo_or_dir: str, model: str, *args: Any, source: str = "github", trust_repo: bool | str = "check",
         force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any) -> Any:
    """Call a function of a folder's hubconf.py, which makes a model. Nothing is downloaded."""
    if source.lower() not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source.lower() == "github":
        raise NotImplementedError(f"hub.load({repo_or_dir!r}, {model!r}): no code is downloaded; clone the repository and "
                                  'pass its folder with source="local"')
    folder = os.path.expanduser(repo_or_dir)
    spec: Any = spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
    module = module_from_spec(spec)
    with _first_on_path(folder):
        spec.loader.exec_module(module)
        missing = [name for name in getattr(module, "dependencies", None) or () if find_spec(name) is None]
        if missing:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        entry = getattr(module, model, None)
        if not callable(entry):
            raise RuntimeError(f"Cannot find callable {model} in hubconf of {folder}")
        return entry(*args, **kwargs)


_docstrings.complete(globals(), "compat", "hub.")
