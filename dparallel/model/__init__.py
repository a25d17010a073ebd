"""DataParallel, and what it consists of beside the reduction: its arguments, its forward passes, join(), skipping().

May import: comm, consistency, functions, hooks, pytree, reduction, replicas, sharding. Read first: data_parallel.py.
"""
