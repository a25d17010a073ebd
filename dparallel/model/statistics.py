"""Statistics of a DataParallel: sizes, times and bytes, as a dict and as a table."""

from __future__ import annotations

from typing import Any

from ..autograd import Tensor
from .config import Config
from .gradient_sum import GradientSum

STAGES = ("", "optimizer", "gradients", "parameters")


class Statistics:
    """Reads the model's arguments and, if there is a reducer, its reduction/stats.py."""

    def __init__(self, config: Config[Any], summed: GradientSum) -> None:
        self.config: Config[Any] = config
        self.summed: GradientSum = summed

    def unused_parameters(self) -> list[str]:
        """The body of DataParallel.unused_parameters()."""
        return [] if self.summed.reducer is None else list(self.summed.reducer.unused.everywhere)

    def collect(self) -> dict[str, Any]:
        """The body of DataParallel.logging_data()."""
        config, reducer, module = self.config, self.summed.reducer, self.config.module
        params = list(module.parameters())
        settings: dict[str, Any] = {
            "world_size": config.ranks.size, "rank": config.ranks.rank, "module_name": type(module).__name__,
            "backend_name": config.ranks.kind, "batch": "own" if config.per_rank else "root", "average": config.average,
            "shard": STAGES[config.stage], "num_parameter_tensors": len(params),
            "total_parameter_size_bytes": sum(nbytes(p) for p in params),
            "dtypes": ", ".join(sorted({str(p.dtype) for p in params})),
            "broadcast_buffers": config.sync_buffers, "bucket_cap_bytes": int(config.cap_mb * 2**20)}
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

    def set_rate(self, sample_rate: int) -> None:
        """Time each sample_rate-th step after the first ten."""
        if sample_rate < 1:
            raise ValueError("DDP runtime logging sample rate should be equal or greater than 1")
        if self.summed.reducer is not None:
            self.summed.reducer.stats.rate = sample_rate


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
