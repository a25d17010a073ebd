"""Weights in and out: save() and load(), in our format, safetensors and PyTorch's.

May import: base, core, nn. Read first: files.py.
"""

from .files import load, save

__all__ = ["load", "save"]
