"""Hooks that send gradients as int8 with a scale per chunk (QSGD, Alistarh et al. 2017, but rounded, with error
feedback).
"""

from __future__ import annotations

from typing import Any

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, requires_state
from .encoded_sums import Array, Int8, start_allreduce_encoded
from .error_feedback import Residuals, in_single_precision


class QuantizationState:
    """The state of quantization_hook."""

    def __init__(self, process_group: Communicator | None = None, chunk: int = 512, use_error_feedback: bool = True) -> None:
        if chunk < 1:
            raise ValueError(f"chunk={chunk}: a scale must have at least one element")
        self.process_group: Communicator | None = process_group
        self.chunk: int = chunk
        self.use_error_feedback: bool = use_error_feedback
        self.residuals: Residuals = Residuals()

    def state_dict(self) -> dict[str, Any]:
        """The errors of this rank's messages, which differ between ranks."""
        return {"residuals": self.residuals.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        self.residuals.load_state_dict(state["residuals"])


@requires_state(QuantizationState)
def quantization_hook(state: QuantizationState, bucket: GradBucket) -> Handle:
    """Average over ranks, sent as int8, a quarter of float32's bytes; sums are in float32, so they do not overflow."""
    comm = bucket.over(state.process_group)
    codec = Int8(state.chunk)
    bucket.bytes_sent = -(-bucket.array.size // state.chunk) * (state.chunk + 4)
    bucket.refuse_complex()
    x = in_single_precision(bucket) / comm.size
    if not state.use_error_feedback:
        return start_allreduce_encoded(comm, x, codec)
    x = state.residuals.add_to(bucket, x)
    total_error = x * 0

    def add_error(start: int, error: Array) -> None:
        total_error[start:start + error.size] += error

    def finish(handle: Handle) -> Any:
        state.residuals.store(bucket, total_error)
        return handle.value()

    return start_allreduce_encoded(comm, x, codec, add_error).then(finish)


def quantization_perchannel_hook(process_group: Communicator | None, bucket: GradBucket, bucket_size: int = 512) -> Handle:
    """quantization_hook without error feedback, with a scale for each `bucket_size` elements."""
    return quantization_hook(QuantizationState(process_group, bucket_size, use_error_feedback=False), bucket)


def quantization_pertensor_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """As quantization_perchannel_hook(), with one scale for the whole bucket."""
    return quantization_perchannel_hook(process_group, bucket, max(bucket.array.size, 1))
