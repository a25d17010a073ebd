"""The switches of PyTorch's other engines. None is here: they can be set, and change nothing.

May import: base. Read first: this page."""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
