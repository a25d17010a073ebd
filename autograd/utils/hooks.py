"""RemovableHandle under the name that PyTorch's `torch.utils.hooks` has."""

from ..graph import RemovableHandle

__all__ = ["RemovableHandle"]
