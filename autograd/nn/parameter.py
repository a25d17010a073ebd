"""Parameter and Buffer, under the path that model code imports them from."""

from ..core.tensor import Parameter
from .registry import Buffer

__all__ = ["Buffer", "Parameter"]
