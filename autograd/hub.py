"""Weights from the network, by the names of torch.hub."""

from .compat.hub import (
    HASH_REGEX,
    _get_torch_home,
    download_url_to_file,
    get_dir,
    load,
    load_state_dict_from_url,
    set_dir,
    urlparse,
)

__all__ = ["HASH_REGEX", "_get_torch_home", "download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir",
           "urlparse"]
