"""Samplers that split a data set, or each global batch, over ranks.

May import: comm. Read first: samplers.py.
"""

from autograd.base.docstrings import attach_to_modules

from . import batches, samplers

attach_to_modules("dparallel.data")
__all__ = ["batches", "samplers"]
