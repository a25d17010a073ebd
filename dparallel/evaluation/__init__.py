"""Metrics summed over ranks, and evaluate(), which runs a model over a data set.

May import: autograd, comm, data, hooks, model, pytree. Read first: evaluate.py.
"""
