"""One process holds all places: replicas of a model on local devices, run in threads.

May import: comm, consistency, functions, pytree, sync_context. Read first: local.py.
"""
