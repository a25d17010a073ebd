"""What DataParallel consists of beside the reduction: its arguments, its forward passes, join(), skipping().

May import: comm, nests, reduction, replicas, sharding, sync_context. Read first: forward.py.
"""
