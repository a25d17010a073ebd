"""The version, by the names of torch.version."""

from .base.version import __version__, cuda, debug, hip

__all__ = ["__version__", "cuda", "debug", "hip"]
