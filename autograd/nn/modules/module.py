"""Module, under the path that model code imports it from."""

from ..held import Buffer
from ..module import Module

__all__ = ["Buffer", "Module"]
