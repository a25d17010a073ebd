"""Checks that all ranks have the same: verify() compares the structure of models, assert_same_everywhere() values.

May import: comm. Read first: verification.py.
"""
