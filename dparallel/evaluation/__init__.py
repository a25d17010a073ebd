"""Metrics summed over ranks, and evaluate(), which runs a model over a data set.

May import: autograd, comm, data, hooks, model, pytree. Read first: evaluate.py.
"""

from autograd.base.docstrings import attach_to_modules

from . import classification, evaluate, gathering, metrics

attach_to_modules("dparallel.evaluation")
__all__ = ["classification", "evaluate", "gathering", "metrics"]
