"""Versions: of this package, of the PyTorch whose interface it has, and the names of torch.version for what is not here."""

from .base.version import __version__, cuda, debug, hip, torch_level

__all__ = ["__version__", "cuda", "debug", "hip", "torch_level"]
