"""Statistics of a DataParallel model: sizes, times and bytes, as a dict (logging_data()) and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any

from autograd.core.primitive import primitive
from autograd.spans.spans import PASS, begin, end, number_of

from ..autograd import Tensor
from ..comm.waiting import waiting

FIRST_STEPS = 10                     # all timed; later only every SAMPLE_RATE-th step is (PyTorch's defaults)
SAMPLE_RATE = 100
STAGES = ("", "optimizer", "gradients", "parameters")
PHASES = ("forward_compute", "forward_wait", "backward_compute", "backward_wait", "backward_comm",
          "backward_compute_comm_overlap")
FORWARD, BACKWARD = (number_of(f"DataParallel.{name}", PASS) for name in ("forward", "backward"))


class Stats:
    """Times of the sampled steps, in ns, and the bytes sent in all steps. A timeline's spans DataParallel.forward and
    DataParallel.backward are measured at the same moments.

    A rank's waiting for others in a phase (comm/waiting.py, in all collectives: buffers and the statistics of batch norms
    are exchanged in forward) is not computation. The clock of forward starts before the first of these waits.
    """

    iteration: int
    sampled: int
    passes: int
    bytes_sent: int
    last_bytes: int

    def __init__(self) -> None:
        self.sampling: bool = True
        self.rate = SAMPLE_RATE
        self.iteration = self.sampled = self.passes = 0
        self.rebuilt = False
        self.bytes_sent = self.last_bytes = self.skipped = 0
        self.sums: dict[str, int] = dict.fromkeys(PHASES, 0)
        self.last: dict[str, int] = dict.fromkeys(PHASES, 0)
        self._communication = 0                      # when it began
        self._forward = self._backward = self._computed = (0, 0)         # moments, see now()
        self._span = 0                               # of the phase that is open

    def _begin(self, phase: int, rows: int = 0) -> None:
        """Begin the span of a phase, after one that an exception has left open."""
        self._end()
        self._span = begin(phase, rows)

    def _end(self) -> None:
        """End the open span, once only: a second call would end a later span."""
        span, self._span = self._span, 0
        end(span)

    def forward_begins(self, rows: float = 0) -> None:
        """A forward pass of some rows begins, and with it a step."""
        self._begin(FORWARD, int(rows))
        self.iteration += 1
        self.sampling = self.iteration <= FIRST_STEPS or self.iteration % self.rate == 0
        if self.sampling:
            self._communication, self._computed = 0, (0, 0)
            self._forward = moment()

    @primitive
    def forward_ends(self) -> None:
        """The module has returned its output."""
        self._end()
        if self.sampling:
            self.last["forward_compute"], self.last["forward_wait"] = elapsed(self._forward, moment())

    def backward_begins(self) -> None:
        """A backward pass has reached the module."""
        self._begin(BACKWARD)
        if self.sampling:
            self._backward = moment()

    def communication_begins(self) -> None:
        """The first bucket is launched."""
        if self.sampling:
            self._communication = perf_counter_ns()

    def backward_computed(self) -> None:
        """All gradients of this rank are computed."""
        if self.sampling:
            self._computed = moment()

    def summed(self, sent: Sequence[int]) -> None:
        """A pass has ended, and the sums of all buckets, of `sent` bytes each, have completed."""
        self._end()
        self.passes += 1
        self.last_bytes = sum(sent)
        self.bytes_sent += self.last_bytes
        if not self.sampling or not sent:
            return
        now = moment()
        start, computed = self._communication or self._computed[0], self._computed[0]
        self.last.update(backward_compute=elapsed(self._backward, self._computed)[0],
                         backward_wait=elapsed(self._backward, now)[1], backward_comm=now[0] - start,
                         backward_compute_comm_overlap=max(0, computed - start))
        self.sampled += 1
        for phase in PHASES:
            self.sums[phase] += self.last[phase]

    def times(self) -> dict[str, int]:
        """The last and the average times of the phases, in ns, under PyTorch's names."""
        out = {f"{phase}_time": self.last[phase] for phase in PHASES}
        return out | {f"avg_{phase}_time": self.sums[phase] // max(self.sampled, 1) for phase in PHASES}


def moment() -> tuple[int, int]:
    """Now, and how long this thread has waited for others until now."""
    return perf_counter_ns(), waiting.ns


def elapsed(since: tuple[int, int], until: tuple[int, int]) -> tuple[int, int]:
    """The time between two moments without waiting, and the time of waiting."""
    waiting = max(0, until[1] - since[1])            # below 0: a pass on another thread (on_fresh_stack)
    return until[0] - since[0] - waiting, waiting


class LoggedModel:
    """The reporting part of DataParallel."""

    _reducer: Any

    def unused_parameters(self) -> list[str]:
        """The parameters that got no gradient on any rank in the last summed backward pass, by name."""
        return [] if self._reducer is None else list(self._reducer.unused.everywhere)

    def logging_data(self) -> dict[str, Any]:
        """Statistics of the model, under PyTorch's names if it has them: sizes of buckets, times of the last step and the
        average (ns) of forward, backward, waiting for other ranks in each, communication and its overlap with
        computation, bytes sent, unused parameters. The first 10 steps are timed, then every 100th.
        """
        return collected(self)

    _get_ddp_logging_data = logging_data             # PyTorch's name

    def report(self) -> str:
        """logging_data() as a table."""
        return table(self.logging_data())

    def _set_ddp_runtime_logging_sample_rate(self, sample_rate: int) -> None:
        """Time each sample_rate-th step after the first ten."""
        if sample_rate < 1:
            raise ValueError("DDP runtime logging sample rate should be equal or greater than 1")
        if self._reducer is not None:
            self._reducer.stats.rate = sample_rate


def collected(model: Any) -> dict[str, Any]:
    """The dict that model.logging_data() returns."""
    reducer, comm, module = model._reducer, model.comm, model.module
    params = list(module.parameters())
    settings: dict[str, Any] = {
        "world_size": comm.size, "rank": comm.rank, "module_name": type(module).__name__, "backend_name": comm.kind,
        "batch": model.batch, "average": model.average, "shard": STAGES[model.shard], "num_parameter_tensors": len(params),
        "total_parameter_size_bytes": sum(nbytes(p) for p in params),
        "dtypes": ", ".join(sorted({str(p.dtype) for p in params})),
        "broadcast_buffers": model.forward_sync_buffers, "bucket_cap_bytes": int(model.bucket_cap_mb * 2**20)}
    if reducer is None:
        return settings
    log, unused = reducer.stats, reducer.unused
    sizes = [sum(map(nbytes, bucket.params)) for bucket in reducer.buckets]
    hook = getattr(reducer.transport, "hook", None)
    by_name = {name: nbytes(p) for name, p in reducer.named}
    return settings | {
        "iteration": log.iteration, "backward_passes_summed": log.passes, "num_buckets_reduced": len(sizes),
        "bucket_sizes": sizes, "has_rebuilt_buckets": log.rebuilt, "rebuilt_bucket_sizes": sizes if log.rebuilt else [],
        "bucket_parameters": [list(bucket.names) for bucket in reducer.buckets],
        "comm_hook": hook.name if hook is not None else "", "gradient_as_bucket_view": True,
        "find_unused_parameters": unused.find, "static_graph": unused.static_graph,
        "unused_parameters": list(unused.everywhere), "partly_used_parameters": dict(unused.somewhere),
        "unused_parameter_size": sum(by_name[name] for name in unused.everywhere),
        "bytes_sent": log.bytes_sent, "bytes_sent_last": log.last_bytes, "skipped_steps": log.skipped, **log.times()}


def nbytes(p: Tensor) -> int:
    """The bytes of a parameter, also of one whose values are sharded."""
    return int(p.numel() * p.dtype.itemsize)


def table(data: dict[str, Any]) -> str:
    """The entries of logging_data() as text, one line each, times in ms."""
    lines = []
    for key, value in data.items():
        if key.endswith("_time"):
            value, key = f"{value / 1e6:.3f} ms", key.removesuffix("_time").replace("_", " ")
        elif isinstance(value, (list, tuple)):
            value = ", ".join(str(v) for v in value) or "none"
        lines.append((key.replace("_", " "), str(value)))
    width = max(len(key) for key, _ in lines)
    return "\n".join(f"{key:{width}}  {value}" for key, value in lines)
