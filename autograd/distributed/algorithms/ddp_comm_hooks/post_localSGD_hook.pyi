"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from dparallel.hooks import HierarchicalState as HierarchicalState
from dparallel.hooks import PostLocalSGDState as PostLocalSGDState
from dparallel.hooks import PowerSGDState as PowerSGDState
from dparallel.hooks import QuantizationState as QuantizationState
from dparallel.hooks import TopKState as TopKState
from dparallel.hooks import allreduce_hook as allreduce_hook
from dparallel.hooks import batched_powerSGD_hook as batched_powerSGD_hook
from dparallel.hooks import bf16_compress_hook as bf16_compress_hook
from dparallel.hooks import bf16_compress_wrapper as bf16_compress_wrapper
from dparallel.hooks import fp16_compress_hook as fp16_compress_hook
from dparallel.hooks import fp16_compress_wrapper as fp16_compress_wrapper
from dparallel.hooks import hierarchical_hook as hierarchical_hook
from dparallel.hooks import noop_hook as noop_hook
from dparallel.hooks import post_localSGD_hook as post_localSGD_hook
from dparallel.hooks import powerSGD_hook as powerSGD_hook
from dparallel.hooks import quantization_hook as quantization_hook
from dparallel.hooks import quantization_perchannel_hook as quantization_perchannel_hook
from dparallel.hooks import quantization_pertensor_hook as quantization_pertensor_hook
from dparallel.hooks import topk_hook as topk_hook

__all__ = ["HierarchicalState", "PostLocalSGDState", "PowerSGDState", "QuantizationState", "TopKState", "allreduce_hook", "batched_powerSGD_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper", "hierarchical_hook", "noop_hook", "post_localSGD_hook", "powerSGD_hook", "quantization_hook", "quantization_perchannel_hook", "quantization_pertensor_hook", "topk_hook"]
