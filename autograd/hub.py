"""Weights from the network, by the names of torch.hub."""

from .compat.hub import load, load_state_dict_from_url

__all__ = ["load", "load_state_dict_from_url"]
