"""Collectives on nested structures: lists and dicts of tensors scattered, gathered, broadcast, in flat messages.

May import: comm, functions. Read first: tree.py.
"""
