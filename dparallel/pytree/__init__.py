"""Collectives on pytrees: lists, dicts and dataclasses of tensors scattered, gathered, broadcast, in flat messages.

May import: comm, functions. Read first: tree.py.
"""
