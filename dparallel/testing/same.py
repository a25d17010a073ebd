"""Whether all ranks hold the same."""

from __future__ import annotations

from typing import Any

from ..comm import Communicator


def assert_same_everywhere(tensors: Any, comm: Communicator) -> None:
    """Raise AssertionError, on every rank, unless all ranks hold bitwise the same values.

    tensors: a Module, or an iterable of (name, Tensor). The first difference is named.
    """
    named = list(tensors.state_dict().items()) if hasattr(tensors, "state_dict") else list(tensors)
    mine = [(name, t.dtype.str, t.shape, t.array.tobytes()) for name, t in named]
    everyone = comm.allgather_object([mine] * len(comm.held))
    for rank, theirs in enumerate(everyone):
        if [item[:3] for item in theirs] != [item[:3] for item in everyone[0]]:
            raise AssertionError(f"rank {rank} holds other tensors than rank 0: {[i[:3] for i in theirs]} against "
                                 f"{[i[:3] for i in everyone[0]]}")
        for (name, *_, here), (*_, there) in zip(theirs, everyone[0], strict=True):
            if here != there:
                raise AssertionError(f"{name} differs between rank 0 and rank {rank}")
