"""Gradients that travel as 8-bit integers, each chunk with a scale of its own (as in QSGD, Alistarh et al. 2017, but
rounded to nearest, and with error feedback)."""

from __future__ import annotations

from typing import Any

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, takes
from .encoded import Array, Int8, start_encoded_sum
from .feedback import Residuals, wide


class QuantizationState:
    """For quantization_hook. chunk: how many elements share a scale (4 bytes); use_error_feedback: add what rounding has
    taken off, at the sender and where the sum is made, to the next step's gradients."""

    def __init__(self, process_group: Communicator | None = None, chunk: int = 512, use_error_feedback: bool = True) -> None:
        if chunk < 1:
            raise ValueError(f"chunk={chunk}: a scale is for at least one element")
        self.process_group, self.chunk, self.use_error_feedback = process_group, chunk, use_error_feedback
        self.residuals = Residuals()

    def state_dict(self) -> dict[str, Any]:
        """What this rank has not sent yet; other ranks have other values."""
        return {"residuals": self.residuals.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """What state_dict() gave on this rank."""
        self.residuals.load_state_dict(state["residuals"])


@takes(QuantizationState)
def quantization_hook(state: QuantizationState, bucket: GradBucket) -> Handle:
    """The mean over ranks, sent as int8: a quarter of float32's bytes. Sums are made in float32, so none overflows."""
    comm = bucket.over(state.process_group)
    codec = Int8(state.chunk)
    bucket.bytes_sent = -(-bucket.array.size // state.chunk) * (state.chunk + 4)
    bucket.refuse_complex()
    mine = wide(bucket) / comm.size
    if not state.use_error_feedback:
        return start_encoded_sum(comm, mine, codec)
    mine = state.residuals.added(bucket, mine)
    left = mine * 0

    def lost(start: int, error: Array) -> None:
        left[start:start + error.size] += error

    def finished(handle: Handle) -> Any:
        state.residuals.keep(bucket, left)
        return handle.value()

    return start_encoded_sum(comm, mine, codec, lost).then(finished)


def quantization_perchannel_hook(process_group: Communicator | None, bucket: GradBucket, bucket_size: int = 512) -> Handle:
    """quantization_hook without memory, a scale for each `bucket_size` elements."""
    return quantization_hook(QuantizationState(process_group, bucket_size, use_error_feedback=False), bucket)


def quantization_pertensor_hook(process_group: Communicator | None, bucket: GradBucket) -> Handle:
    """quantization_hook without memory, one scale for the bucket."""
    return quantization_perchannel_hook(process_group, bucket, max(bucket.array.size, 1))
