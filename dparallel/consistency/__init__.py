"""Do all ranks hold the same? verify() compares models, assert_same_everywhere() values.

May import: comm. Read first: verification.py.
"""
