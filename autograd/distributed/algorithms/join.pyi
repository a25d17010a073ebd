"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.algorithms.join import Join as Join
from dparallel.distributed.algorithms.join import JoinHook as JoinHook
from dparallel.distributed.algorithms.join import Joinable as Joinable

__all__ = ["Join", "JoinHook", "Joinable"]
