"""torch.storage: the memory of tensors."""

from .tensor_api.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
