"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.elastic.multiprocessing.errors import record as record

__all__ = ["record"]
