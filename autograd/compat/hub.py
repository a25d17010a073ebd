"""Weights from the network: refused. Nothing here opens a connection."""

from __future__ import annotations

from typing import Any


def load_state_dict_from_url(url: str, model_dir: Any = None, map_location: Any = None, progress: bool = True,
                             check_hash: bool = False, file_name: Any = None, weights_only: bool = False) -> Any:
    """NotImplementedError: download the file yourself, and load it."""
    raise NotImplementedError(f"load_state_dict_from_url({url!r}): nothing is downloaded; fetch the file and load() it")


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
    """NotImplementedError: no code is downloaded."""
    raise NotImplementedError(f"hub.load({repo_or_dir!r}, {model!r}): no code is downloaded")


__all__ = ["load", "load_state_dict_from_url"]
