"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.algorithms import ddp_comm_hooks as ddp_comm_hooks
from dparallel.distributed.algorithms import join as join

__all__ = ["ddp_comm_hooks", "join"]
