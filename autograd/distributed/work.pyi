"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.work import Future as Future
from dparallel.distributed.work import Work as Work

__all__ = ["Future", "Work"]
