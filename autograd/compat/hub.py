"""Weights from the network: refused. Nothing here opens a connection."""

from __future__ import annotations

from typing import Any


def load_state_dict_from_url(url: str, model_dir: Any = None, map_location: Any = None, progress: bool = True,
                             check_hash: bool = False, file_name: Any = None, weights_only: bool = False) -> Any:
    """Refused: nothing is downloaded. Download the file yourself, and load it.

    Args:
        url (str): What the error names.
        model_dir: Not used. Default: None.
        map_location: Not used. Default: None.
        progress: Not used. Default: True.
        check_hash: Not used. Default: False.
        file_name: Not used. Default: None.
        weights_only: Not used. Default: False.

    Raises:
        NotImplementedError: always.

    Example:
        >>> ag.hub.load_state_dict_from_url('https://x.org/a')
        Traceback (most recent call last):
            ...
        NotImplementedError: load_state_dict_from_url('https://x.org/a'): nothing is downloaded; fetch the file and load() it
    """
    raise NotImplementedError(f"load_state_dict_from_url({url!r}): nothing is downloaded; fetch the file and load() it")


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
    """Refused: no code is downloaded.

    Args:
        repo_or_dir (str): What the error names.
        model (str): What the error names.
        *args: Not used.
        **kwargs: Not used.

    Raises:
        NotImplementedError: always.

    Example:
        >>> ag.hub.load('pytorch/vision', 'resnet18')
        Traceback (most recent call last):
            ...
        NotImplementedError: hub.load('pytorch/vision', 'resnet18'): no code is downloaded
    """
    raise NotImplementedError(f"hub.load({repo_or_dir!r}, {model!r}): no code is downloaded")


__all__ = ["load", "load_state_dict_from_url"]
