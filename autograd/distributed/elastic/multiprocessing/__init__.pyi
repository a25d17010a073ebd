"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.elastic.multiprocessing import errors as errors

__all__ = ["errors"]
