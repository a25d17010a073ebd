"""RemovableHandle under the name that PyTorch's `torch.utils.hooks` has."""

from ..core.graph import RemovableHandle

__all__ = ["RemovableHandle"]
