"""Names of torch that only pass something on, or say that it is not here; the modules of these names are doors to them.

May import: core, ops. Read first: compiler.py.
"""
