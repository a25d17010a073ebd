"""Replicas of a model on local devices of one process, run in threads.

May import: comm, consistency, functions, pytree. Read first: local.py.
"""
