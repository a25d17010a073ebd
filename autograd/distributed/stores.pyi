"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.stores import DistBackendError as DistBackendError
from dparallel.distributed.stores import DistError as DistError
from dparallel.distributed.stores import DistNetworkError as DistNetworkError
from dparallel.distributed.stores import DistStoreError as DistStoreError
from dparallel.distributed.stores import FileStore as FileStore
from dparallel.distributed.stores import HashStore as HashStore
from dparallel.distributed.stores import PrefixStore as PrefixStore
from dparallel.distributed.stores import Store as Store
from dparallel.distributed.stores import TCPStore as TCPStore

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]
