"""Comm hooks: ways to average gradients over ranks other than the plain sum, for DataParallel.register_comm_hook().

Each hook works on one rank and on many, for float16, float32 and float64 parameters, and gives bitwise the same gradients on
every rank (except noop_hook and local SGD). Each assigns the number of bytes that it sends to bucket.bytes_sent. A state
that keeps data between steps has state_dict() and load_state_dict(); the data are stored by parameter name, not by bucket.
docs/comm_hooks.md compares the hooks.

>>> from dparallel import hooks
>>> model.register_comm_hook(hooks.PowerSGDState(matrix_approximation_rank=2, start_powerSGD_iter=100), hooks.powerSGD_hook)

May import: comm, pytree. Read first: bucket_hook.py.
"""

from .half import bf16_compress_hook, bf16_compress_wrapper, fp16_compress_hook, fp16_compress_wrapper
from .hierarchical import HierarchicalState, hierarchical_hook
from .local_sgd import PostLocalSGDState, post_localSGD_hook
from .plain import allreduce_hook, noop_hook
from .powersgd import PowerSGDState, batched_powerSGD_hook, powerSGD_hook
from .quantization import (
    QuantizationState,
    quantization_hook,
    quantization_perchannel_hook,
    quantization_pertensor_hook,
)
from .topk import TopKState, topk_hook

__all__ = ["HierarchicalState", "PostLocalSGDState", "PowerSGDState", "QuantizationState", "TopKState", "allreduce_hook",
           "batched_powerSGD_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
           "fp16_compress_wrapper", "hierarchical_hook", "noop_hook", "post_localSGD_hook", "powerSGD_hook",
           "quantization_hook", "quantization_perchannel_hook", "quantization_pertensor_hook", "topk_hook"]
