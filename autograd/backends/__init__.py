"""The switches of PyTorch's other engines. None is here: they can be set, and change nothing.

May import: nothing. Read first: this page.
"""

from . import cuda, cudnn, mkldnn, mps

__all__ = ["cuda", "cudnn", "mkldnn", "mps"]
