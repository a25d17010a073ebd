"""save() and load(): states of models in files, as safetensors; PyTorch's files are read too.

May import: base, core, nn, spans. Read first: files.py."""

from .allowed import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .files import load, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
