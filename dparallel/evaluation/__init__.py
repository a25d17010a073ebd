"""Metrics summed over ranks, and evaluate(), which runs a model over a data set.

May import: comm, data, data_parallel, hooks. Read first: evaluate.py.
"""
