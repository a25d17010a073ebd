"""The names that model code takes from `torch.nn.modules.utils`."""

from __future__ import annotations

from typing import Any

from ..tuples import ntuple, pair, quadruple, reversed_twice, single, triple

_ntuple, _single, _pair, _triple, _quadruple = ntuple, single, pair, triple, quadruple
_reverse_repeat_tuple = reversed_twice


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Strip a prefix, such as "module.", from the keys that have it, in place and in order."""
    for key in list(state_dict):
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)


__all__ = ["consume_prefix_in_state_dict_if_present"]
