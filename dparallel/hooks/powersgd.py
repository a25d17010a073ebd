"""PowerSGD: low-rank approximation of the gradients of matrices (Vogels, Karimireddy & Jaggi 2019, arXiv:1905.13727).

For a gradient M (n, m) and a Q (m, rank): P = mean over ranks of M Q, orthonormalized; Q = mean over ranks of M'P; P Q'
approximates the mean of M: one step of power iteration. Q is kept, and each rank adds M - P Q' to its next gradient.
"""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..comm import Communicator, Handle
from .bucket_hook import GradBucket, requires_state
from .error_feedback import Residuals, in_single_precision
from .plain import start_mean

Array = np.ndarray[Any, Any]


class PowerSGDState:
    """The state of powerSGD_hook and batched_powerSGD_hook, with PyTorch's arguments and defaults."""

    total_numel_before_compression: int
    total_numel_after_compression: int

    def __init__(self, process_group: Communicator | None = None, matrix_approximation_rank: int = 1,
                 start_powerSGD_iter: int = 1000, min_compression_rate: float = 2, use_error_feedback: bool = True,
                 warm_start: bool = True, orthogonalization_epsilon: float = 0, random_seed: int = 0,
                 compression_stats_logging_frequency: int = 10000, batch_tensors_with_same_shape: bool = False) -> None:
        if matrix_approximation_rank < 1:
            raise ValueError(f"matrix_approximation_rank={matrix_approximation_rank} must be at least 1")
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(f"start_powerSGD_iter={start_powerSGD_iter}: Expect `start_powerSGD_iter` > 1 if "
                             "`use_error_feedback` or `warm_start` is enabled")
        self.process_group: Communicator | None = process_group
        self.matrix_approximation_rank: int = matrix_approximation_rank
        self.start_powerSGD_iter: int = start_powerSGD_iter
        self.min_compression_rate: float = min_compression_rate
        self.use_error_feedback: bool = use_error_feedback
        self.warm_start: bool = warm_start
        self.orthogonalization_epsilon: float = orthogonalization_epsilon
        self.random_seed: int = random_seed
        self.compression_stats_logging_frequency = compression_stats_logging_frequency
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.iter: int = 0
        self.residuals: Residuals = Residuals()
        self.qs: dict[str, Array] = {}               # the same on all ranks
        self.total_numel_before_compression = self.total_numel_after_compression = 0

    def compression_stats(self) -> tuple[float, int, int]:
        """The ratio of elements before and after compression so far, and both numbers."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0.0), before, after

    def count(self, bucket: GradBucket, before: int, after: int) -> None:
        """Add a bucket's elements before and after compression to the statistics."""
        self.total_numel_before_compression += before
        self.total_numel_after_compression += after
        if bucket.is_last() and self.iter % self.compression_stats_logging_frequency == 0:
            log = import_module("logging").getLogger(__name__)         # 2 ms
            log.info("PowerSGD step %d: %.1f times less, %d elements before and %d after compression", self.iter,
                     *self.compression_stats())

    def initial_q(self, name: str, matrix: Array) -> Array:
        """An orthonormal Q: that of the last step, or random numbers, the same on all ranks and in any bucket."""
        shape = matrix.shape[1], min(*matrix.shape, self.matrix_approximation_rank)
        q = self.qs.get(name) if self.warm_start else None
        if q is None or q.shape != shape:
            rng = np.random.default_rng([self.random_seed, zlib.crc32(name.encode()), 0 if self.warm_start else self.iter])
            q = rng.standard_normal(shape)
        return orthonormal_columns(q.astype(matrix.dtype), self.orthogonalization_epsilon)

    def state_dict(self) -> dict[str, Any]:
        """The step, the Qs, and the errors of this rank's messages, which differ between ranks."""
        return {"iter": self.iter, "qs": {name: q.copy() for name, q in self.qs.items()},
                "residuals": self.residuals.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        self.iter = int(state["iter"])
        self.qs = {name: np.array(getattr(q, "array", q)) for name, q in state["qs"].items()}
        self.residuals.load_state_dict(state["residuals"])


class Segment(NamedTuple):
    """A part of a bucket's flat array. shape: that of its matrix; None if it is sent uncompressed."""

    name: str
    start: int
    stop: int
    shape: tuple[int, int] | None

    def of(self, x: Array) -> Array:
        """The segment of x as a vector, or as a matrix (padded with zeros if it has more elements)."""
        part = x[self.start:self.stop]
        if self.shape is None:
            return part
        padding = self.shape[0] * self.shape[1] - part.size
        return (np.append(part, np.zeros(padding, x.dtype)) if padding else part).reshape(self.shape)


@requires_state(PowerSGDState)
def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Handle:
    """Average over ranks, each weight matrix (all dimensions but the first flattened) compressed separately.

    Vectors, and matrices that compression would not make much smaller, are sent uncompressed.
    """
    segments, start = [], 0
    for name, p in zip(bucket.names, bucket.parameters(), strict=True):
        size = p.array.size
        shape = (p.shape[0], size // p.shape[0]) if p.ndim > 1 and size else None
        if shape and not sum(shape) * state.matrix_approximation_rank * state.min_compression_rate < size:
            shape = None
        segments.append(Segment(name, start, start + size, shape))
        start += size
    return _compressed(state, bucket, segments)


@requires_state(PowerSGDState)
def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Handle:
    """As powerSGD_hook(), with the bucket compressed as one square matrix: faster, less exact. New buckets restart Q."""
    size = bucket.array.size
    side = int(np.ceil(np.sqrt(size)))
    return _compressed(state, bucket, [Segment("\n".join(bucket.names), 0, size, (side, side) if size else None)])


def _compressed(state: PowerSGDState, bucket: GradBucket, segments: list[Segment]) -> Handle:
    """Start the mean over ranks with the segments compressed: a mean of the P, then one of the Q."""
    comm = bucket.over(state.process_group)
    x = in_single_precision(bucket)
    if state.iter < state.start_powerSGD_iter:
        state.iter += bucket.is_last()
        return start_mean(comm, x)
    if state.use_error_feedback:
        x = state.residuals.add_to(bucket, x)
    uncompressed = [s for s in segments if s.shape is None]
    compressed = [s for s in segments if s.shape is not None]
    matrices = [s.of(x) for s in compressed]
    qs = [state.initial_q(s.name, m) for s, m in zip(compressed, matrices, strict=True)]
    first = [*[s.of(x) for s in uncompressed], *[m @ q for m, q in zip(matrices, qs, strict=True)]]
    after = sum(a.size for a in [*first, *qs])
    bucket.bytes_sent = after * x.dtype.itemsize
    state.count(bucket, x.size, after)
    state.iter += bucket.is_last()

    def start_qs(handle: Handle) -> Any:
        means = unflatten_like(handle.value(), first)
        ps = [orthonormal_columns(p, state.orthogonalization_epsilon) for p in means[len(uncompressed):]]
        second = [m.T @ p for m, p in zip(matrices, ps, strict=True)]
        start = start_mean(comm, flatten(second)) if second else Handle(None, value=x[:0])
        return start.then(lambda handle: finish(means[:len(uncompressed)], ps, unflatten_like(handle.value(), second)))

    def finish(means: list[Array], ps: list[Array], qs: list[Array]) -> Array:
        out = x.copy()
        for s, p, q in zip(compressed, ps, qs, strict=True):
            out[s.start:s.stop] = (p @ q.T).reshape(-1)[:s.stop - s.start]
            if state.warm_start:
                state.qs[s.name] = q.copy()
        error = x - out                              # 0 in uncompressed segments, whose means follow
        if state.use_error_feedback:
            state.residuals.store(bucket, error)
        for s, mean in zip(uncompressed, means, strict=True):
            out[s.start:s.stop] = mean
        return out

    return start_mean(comm, flatten(first)).then(start_qs)


def flatten(arrays: list[Array]) -> Array:
    """All elements in one vector."""
    return np.concatenate([a.reshape(-1) for a in arrays])


def unflatten_like(flat: Array, like: list[Array]) -> list[Array]:
    """The inverse of flatten(): arrays of the shapes of `like`."""
    ends = np.cumsum([0, *[a.size for a in like]])
    return [flat[i:j].reshape(a.shape) for i, j, a in zip(ends[:-1], ends[1:], like, strict=True)]


def orthonormal_columns(columns: Array, epsilon: float = 0) -> Array:
    """Orthonormal columns with the same span. Zero or linearly dependent columns are replaced by arbitrary ones."""
    if epsilon == 0:
        return np.ascontiguousarray(np.linalg.qr(columns)[0])
    out = columns.copy()
    for i in range(out.shape[1]):
        out[:, i] /= np.sqrt((out[:, i] ** 2).sum()) + epsilon
        out[:, i + 1:] -= np.outer(out[:, i], out[:, i] @ out[:, i + 1:])
    return out
