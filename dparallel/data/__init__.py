"""Samplers that split a data set, or each global batch, over ranks.

May import: comm. Read first: samplers.py.
"""
