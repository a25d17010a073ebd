"""Parameter and Buffer, under the path that model code imports them from."""

from ..tensor import Parameter
from .held import Buffer

__all__ = ["Buffer", "Parameter"]
