"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.device_functions import Broadcast as Broadcast
from dparallel.distributed.device_functions import Gather as Gather
from dparallel.distributed.device_functions import ReduceAddCoalesced as ReduceAddCoalesced
from dparallel.distributed.device_functions import Scatter as Scatter

__all__ = ["Broadcast", "Gather", "ReduceAddCoalesced", "Scatter"]
