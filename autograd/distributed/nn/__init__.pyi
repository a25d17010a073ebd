"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.nn import all_gather as all_gather
from dparallel.distributed.nn import all_reduce as all_reduce
from dparallel.distributed.nn import all_to_all as all_to_all
from dparallel.distributed.nn import all_to_all_single as all_to_all_single
from dparallel.distributed.nn import broadcast as broadcast
from dparallel.distributed.nn import gather as gather
from dparallel.distributed.nn import reduce as reduce
from dparallel.distributed.nn import reduce_scatter as reduce_scatter
from dparallel.distributed.nn import scatter as scatter

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]
