"""save() and load(): states of models in files, as safetensors; PyTorch's files are read too.

May import: base, core, nn. Read first: files.py.
"""

from .files import load, save

__all__ = ["load", "save"]
