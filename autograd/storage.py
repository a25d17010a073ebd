"""torch.storage: the memory of tensors."""

from .base import docstrings as _docstrings
from .tensor_api.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

_docstrings.complete(globals(), "core", "storage.")
