"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.elastic import multiprocessing as multiprocessing

__all__ = ["multiprocessing"]
