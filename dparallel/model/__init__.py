"""DataParallel, and what it consists of beside the reduction: its arguments, its forward passes, join(), skipping().

May import: comm, consistency, hooks, pytree, reduction, replicas, sharding, sync_context. Read first: data_parallel.py.
"""
