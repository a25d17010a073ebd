"""The reducer: sums the gradients of a replicated model over ranks while backward runs.

May import: comm, consistency, hooks, pytree. Read first: reducer.py, then departure.py (the order in which buckets are
launched).
"""
