"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.parallel import DataParallel as DataParallel
from dparallel.distributed.parallel import DistributedDataParallel as DistributedDataParallel
from dparallel.distributed.parallel import data_parallel as data_parallel
from dparallel.distributed.parallel import gather as gather
from dparallel.distributed.parallel import parallel_apply as parallel_apply
from dparallel.distributed.parallel import replicate as replicate
from dparallel.distributed.parallel import scatter as scatter
from dparallel.distributed.parallel import scatter_kwargs as scatter_kwargs

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter", "scatter_kwargs"]
