"""Weights from the network, by the names of torch.hub."""

from .compat.hub import (
    HASH_REGEX,
    download_url_to_file,
    get_dir,
    load,
    load_state_dict_from_url,
    set_dir,
    urlparse,
)
from .compat.hub import _get_torch_home as _get_torch_home

__all__ = ["HASH_REGEX", "download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir", "urlparse"]
