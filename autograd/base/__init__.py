"""What everything stands on: dtypes, devices, sizes, the texts of errors, which modules are compiled, plugins.

May import: nothing. Read first: dtypes.py.
"""
