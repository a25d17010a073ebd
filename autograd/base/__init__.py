"""What everything stands on: dtypes, devices, sizes, the texts of errors, which modules are compiled, plugins, the thread
pool.

May import: nothing. Read first: dtypes.py."""
