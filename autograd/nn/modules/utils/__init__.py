"""The names that model code takes from `torch.nn.modules.utils`."""

from __future__ import annotations

from typing import Any

from ..tuples import ntuple, pair, quadruple, reversed_repeated, single, triple

_ntuple, _single, _pair, _triple, _quadruple = ntuple, single, pair, triple, quadruple
_reverse_repeat_tuple = reversed_repeated


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Strip a prefix, such as "module.", from the keys that have it and from those of `_metadata`, in place, in order."""
    for key in list(state_dict):
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and f"{key}.".startswith(prefix):     # "" is the root, "module" becomes it
            metadata["" if f"{key}." == prefix else key.removeprefix(prefix)] = metadata.pop(key)


__all__ = ["consume_prefix_in_state_dict_if_present"]
