"""The recorded graph and hooks on it, by the names of torch.autograd.graph."""

from .base import docstrings as _docstrings
from .modes.graph_api import (
    GradientEdge,
    Node,
    SavedTensor,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = ["GradientEdge", "Node", "SavedTensor", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
           "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]

_docstrings.complete(globals(), "core", "graph.")
