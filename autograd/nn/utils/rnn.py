"""Sequences of different lengths: padded (a rectangle), packed (step by step, no padding) or a list; and ways between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...base import docstrings as _docstrings
from ...base.dtypes import int64
from ...core.tensor import Tensor, result
from ...ops.creation.fill import full
from ...ops.index import index_select
from ...ops.reductions.sorting import sort
from ...ops.shape import cat, narrow, reshape, transpose, unbind


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences of different lengths, stored step by step and longest first.

    data (sum of lengths, ...) holds the first step of every sequence, then the second, and so on; batch_sizes[t] sequences
    have a step t.

    Args:
        data (Tensor): Elements, or the pair (data, batch_sizes).
        batch_sizes (Tensor): int64 (longest length,), decreasing.
        sorted_indices (Tensor): Index in the given batch of each sequence; None if the batch was sorted. Default: None.
        unsorted_indices (Tensor): Inverse of sorted_indices, computed if None. Default: None.

    Raises:
        AssertionError: `batch_sizes` is None, and `data` is not a pair.

    Example:
        >>> packed = ag.nn.utils.rnn.pack_sequence([ag.tensor([1, 2]), ag.tensor([3])])
        >>> packed.data, packed.batch_sizes, packed.to(ag.float64).data.dtype
        (tensor([1, 3, 2]), tensor([2, 1]), torch.float64)
    """

    __slots__ = ()

    def __new__(cls, data: Any, batch_sizes: Tensor | None = None, sorted_indices: Any = None,
                unsorted_indices: Any = None) -> PackedSequence:
        """(data, batch_sizes) may be given as one pair."""
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """This sequence with data.to(*args, **kwargs); itself if that changes nothing."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """to("cpu"): itself, since the CPU is the only device."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The CPU is the only device."""
        return self.to(*args, device="cuda", **kwargs)

    def pin_memory(self) -> PackedSequence:
        """Itself: memory is not pinned, since there is no device to copy to."""
        return self

    def double(self) -> PackedSequence:
        """The sequence with data of float64."""
        return self.to(dtype=np.dtype("float64"))

    def float(self) -> PackedSequence:
        """The sequence with data of float32."""
        return self.to(dtype=np.dtype("float32"))

    def half(self) -> PackedSequence:
        """The sequence with data of float16."""
        return self.to(dtype=np.dtype("float16"))

    def long(self) -> PackedSequence:
        """The sequence with data of int64."""
        return self.to(dtype=int64)

    def int(self) -> PackedSequence:
        """The sequence with data of int32."""
        return self.to(dtype=np.dtype("int32"))

    def short(self) -> PackedSequence:
        """The sequence with data of int16."""
        return self.to(dtype=np.dtype("int16"))

    def char(self) -> PackedSequence:
        """The sequence with data of int8."""
        return self.to(dtype=np.dtype("int8"))

    def byte(self) -> PackedSequence:
        """The sequence with data of uint8."""
        return self.to(dtype=np.dtype("uint8"))

    @property
    def is_cuda(self) -> bool:
        """False: the CPU is the only device."""
        return False

    def is_pinned(self) -> bool:
        """False: memory is not pinned."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The inverse of a permutation; None for None."""
    if permutation is None:
        return None
    inverse = np.empty_like(permutation.array)
    inverse.reshape(-1)[permutation.array.reshape(-1)] = np.arange(inverse.size)
    return result(inverse)


@lru_cache(maxsize=256)
def _positions(lengths: tuple[int, ...]) -> tuple[Any, Any]:
    """For lengths in decreasing order: which (step, sequence) each packed row is, as row numbers of (t, b); batch sizes."""
    steps = np.arange(max(lengths))[:, None] < np.asarray(lengths)
    return np.flatnonzero(steps), steps.sum(1)


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Pack padded sequences of different lengths."""
    lengths = lengths.array if isinstance(lengths, Tensor) else np.asarray(lengths)
    lengths = lengths.astype(np.int64)
    order = None
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if not enforce_sorted:
        _, order = sort(result(lengths), descending=True)
        lengths = lengths[order.array]
        input = index_select(input, 0 if batch_first else 1, order)
    x = transpose(input, 0, 1) if batch_first else input
    if len(lengths) != x.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size="
                           f"{x.shape[1]})")
    if (lengths <= 0).any():
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if (np.diff(lengths) > 0).any():
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                           "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
                           "requirement if you do not need ONNX exportability.")
    if lengths[0] > x.shape[0]:
        raise RuntimeError(f"Expected `len(lengths)` to be at most the number of steps, {x.shape[0]}, but got {lengths[0]}")
    rows, sizes = _positions(tuple(lengths.tolist()))
    data = index_select(reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])), 0, result(rows))
    return PackedSequence(data, result(sizes.astype(np.int64)), order, None)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """Pad a packed batch, in the original order of its sequences."""
    sizes = sequence.batch_sizes.array
    steps, batch = len(sizes), int(sizes[0])
    if total_length is not None:
        if total_length < steps:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                             f"total_length={total_length} and max sequence length being {steps}")
        steps = total_length
    lengths = (sizes[:, None] > np.arange(batch)).sum(0)
    data = sequence.data
    rows, _ = _positions(tuple(lengths.tolist()))
    source = np.full(steps * batch, data.shape[0])   # the row after the last is padding
    source[rows] = np.arange(data.shape[0])
    padding = full((1, *data.shape[1:]), padding_value, dtype=data.dtype)
    padded = reshape(index_select(cat([data, padding], 0), 0, result(source)), (steps, batch, *data.shape[1:]))
    if sequence.unsorted_indices is not None:
        padded = index_select(padded, 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.array]
    return transpose(padded, 0, 1) if batch_first else padded, result(lengths.astype(np.int64))


def pad_sequence(sequences: Sequence[Tensor] | Tensor, batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Pad sequences of different lengths to one tensor."""
    if not isinstance(sequences, (Iterable, Tensor)):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    sequences = list(unbind(sequences, 0)) if isinstance(sequences, Tensor) else list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    steps = max(x.shape[0] for x in sequences)
    parts = []
    for x in sequences:
        missing = full((steps - x.shape[0], *x.shape[1:]), padding_value, dtype=x.dtype)
        parts += [x, missing] if padding_side == "right" else [missing, x]
    padded = reshape(cat(parts, 0), (len(sequences), steps, *sequences[0].shape[1:]))
    return padded if batch_first else transpose(padded, 0, 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """Split a padded tensor into its sequences (length, ...)."""
    x = padded_sequences if batch_first else transpose(padded_sequences, 0, 1)
    return [narrow(row, 0, 0, min(int(length), row.shape[0]))
            for row, length in zip(unbind(x, 0), lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    return pack_padded_sequence(pad_sequence(sequences), [x.shape[0] for x in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Split a packed batch into its sequences, in their original order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
           "pad_sequence", "unpack_sequence", "unpad_sequence"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.rnn.")
