"""How the gradients of a replicated model are summed over ranks while backward runs.

May import: comm, hooks, pytree. Read first: reducer.py, then departure.py (the order in which buckets leave).
"""
