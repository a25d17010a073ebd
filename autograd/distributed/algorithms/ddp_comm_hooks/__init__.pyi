"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.distributed.algorithms.ddp_comm_hooks import default_hooks as default_hooks
from dparallel.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as post_localSGD_hook
from dparallel.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD_hook
from dparallel.distributed.algorithms.ddp_comm_hooks import quantization_hooks as quantization_hooks

__all__ = ["default_hooks", "post_localSGD_hook", "powerSGD_hook", "quantization_hooks"]
