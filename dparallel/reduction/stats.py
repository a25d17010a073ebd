"""Statistics of a DataParallel model: sizes, times and bytes, as a dict (logging_data()) and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any

from autograd import Tensor
from autograd.core.primitive import primitive

FIRST_STEPS = 10                     # all timed; later only every SAMPLE_RATE-th step is (PyTorch's defaults)
SAMPLE_RATE = 100
STAGES = ("", "optimizer", "gradients", "parameters")
PHASES = ("forward_compute", "backward_compute", "backward_comm", "backward_compute_comm_overlap")


class Stats:
    """Times of the sampled steps, in ns, and the bytes sent in all steps."""

    def __init__(self) -> None:
        self.sampling = True
        self.rate = SAMPLE_RATE
        self.iteration = self.sampled = self.passes = 0
        self.rebuilt = False
        self.bytes_sent = self.last_bytes = self.skipped = 0
        self.sums = dict.fromkeys(PHASES, 0)
        self.last = dict.fromkeys(PHASES, 0)
        self._forward = self._backward = self._computed = self._communication = 0

    def forward_begins(self) -> None:
        """A forward pass begins, and with it a step."""
        self.iteration += 1
        self.sampling = self.iteration <= FIRST_STEPS or self.iteration % self.rate == 0
        if self.sampling:
            self._communication = self._computed = 0
            self._forward = perf_counter_ns()

    @primitive
    def forward_ends(self) -> None:
        """The module has returned its output."""
        if not self.sampling:
            return
        self.last["forward_compute"] = perf_counter_ns() - self._forward

    def backward_begins(self) -> None:
        """A backward pass has reached the module."""
        self._backward = perf_counter_ns()

    def communication_begins(self) -> None:
        """The first bucket leaves."""
        self._communication = perf_counter_ns()

    def backward_computed(self) -> None:
        """All gradients of this rank are computed."""
        self._computed = perf_counter_ns()

    def summed(self, sent: Sequence[int]) -> None:
        """A pass has ended, and the sums of all buckets, of `sent` bytes each, have completed."""
        self.passes += 1
        self.last_bytes = sum(sent)
        self.bytes_sent += self.last_bytes
        if not self.sampling or not sent:
            return
        now = perf_counter_ns()
        start, computed = self._communication or self._computed, self._computed
        self.last.update(backward_compute=computed - self._backward, backward_comm=now - start,
                         backward_compute_comm_overlap=max(0, computed - start))
        self.sampled += 1
        for phase in PHASES:
            self.sums[phase] += self.last[phase]

    def times(self) -> dict[str, int]:
        """The last and the average times of the phases, in ns, under PyTorch's names."""
        out = {f"{phase}_time": self.last[phase] for phase in PHASES}
        return out | {f"avg_{phase}_time": self.sums[phase] // max(self.sampled, 1) for phase in PHASES}


class LoggedModel:
    """The part of DataParallel that tells what it did."""

    _reducer: Any

    def unused_parameters(self) -> list[str]:
        """The parameters that got no gradient on any rank in the last summed backward pass, by name."""
        return [] if self._reducer is None else list(self._reducer.unused.everywhere)

    def logging_data(self) -> dict[str, Any]:
        """What the model did, under PyTorch's names where it has them: sizes of buckets, times of the last step and the
        average (ns) of forward, backward, communication and their overlap, bytes on the wire, unused parameters. Timed
        are the first 10 steps, then each 100th."""
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
