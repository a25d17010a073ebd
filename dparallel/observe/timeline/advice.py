"""Advice: three sentences that follow from a report's data, the largest saving first."""

from __future__ import annotations

import statistics
from typing import Any

from .blame import OTHER_PROCESS

FEW_BYTES = 64_000                   # a smaller sum is limited by latency, not by bandwidth
MANY_BYTES = 1_000_000               # a larger sum can be as fast as the one measured at the start
MUCH = 0.03                          # share of a step; a smaller one gets no sentence


def advice(data: dict[str, Any]) -> list[str]:
    """Three sentences, the largest saving first; each names the finding and the remedy."""
    steps = data["steps"]
    if not steps["count"]:
        return ["No step of an optimizer was recorded: record a loop that calls optimizer.step(), or more of it.",
                "With --steps A:B the job must reach step B.",
                "A run that ends before its first step has its causes of waiting above."]
    step = steps["median_ms"]
    found: list[tuple[float, str]] = []
    stolen = [(cost(cause), cause["rank"]) for cause in data["causes"] if cause["part"] == OTHER_PROCESS]
    if stolen and stolen[0][0] > MUCH * step:        # one sentence for all ranks
        ranks = " and ".join(f"{ms:.2f} ms a step from rank {rank}'s core" for ms, rank in stolen[:2] if ms > MUCH * step)
        found.append((stolen[0][0], f"Other processes take {ranks}: end them, or start with dprun --bind core and fewer "
                      "ranks or threads than cores."))
    for cause in data["causes"]:
        text = WORDS.get(cause["part"])
        saved = cost(cause)
        if text and saved > MUCH * step:
            found.append((saved, text.format(rank=cause["rank"], ms=saved)))
    for lane in data["lanes"]:
        if lane["ms_per_step"] > MUCH * step:
            found.append((lane["ms_per_step"], f"Local device {lane['device']} ends its {lane['part']} "
                          f"{lane['ms_per_step']:.2f} ms later than the others: give it fewer rows, or check what else runs "
                          "on its cores."))
    found += communication(data, step)
    found += phases(data, step)
    late = [cause for cause in data["before_first_step"] if cause["ms_per_step"] > 1000]
    if late:
        seconds = cost(late[0]) / 1000
        found.append((0.0, f"Before the first step the others waited {seconds:.1f} s for rank {late[0]['rank']} "
                           f"({late[0]['part']}): check what it imports and loads, and from which disk."))
    chosen = [text for _, text in sorted(found, key=lambda item: -item[0])[:3]]
    compute = max(row["compute_ms"] for row in data["per_rank"])
    mean = max(row["step_ms"] for row in data["per_rank"])           # as compute is a mean
    rest = [f"The steps are bound by computation, {compute:.2f} of {mean:.2f} ms: profile it (autograd.profiler), or use "
            "more ranks (dprun --predict estimates the gain)." if compute > 0.5 * mean else
            "Less than half of a step is computation: more rows a step on each rank use the ranks better.",
            "No rank makes the others wait for long." if not data["causes"] or cost(data["causes"][0]) < MUCH * step
            else "All other causes of waiting are less than 3 % of a step.",
            "Communication of gradients overlaps with backward and costs almost nothing." if data["ranks"] > 1
            else "One rank waits for no other rank."]
    return [*chosen, *rest][:3]


def cost(cause: dict[str, Any]) -> float:
    """The ms per step by which a cause delays others: the mean over ranks that wait at least half as long as the
    longest."""
    waiting = cause["waiting_ms"].values()
    return statistics.fmean(ms for ms in waiting if ms >= max(waiting) / 2) if waiting else 0.0


WORDS = {
    "loader": "Rank {rank} waits for its data loader, which costs the others {ms:.2f} ms a step: give it more "
              "workers (num_workers=), or prepare the data once.",
    "script": "Rank {rank} spends {ms:.2f} ms a step longer in the script's own code between the phases: look for printing, "
              "metrics or reading that only this rank does, or spread it.",
    "forward": "Rank {rank} is {ms:.2f} ms a step slower in forward, on as many rows: look for a slower host, other "
               "threads (OMP_NUM_THREADS), or branches that its rows take.",
    "backward": "Rank {rank} is {ms:.2f} ms a step slower in backward, on as many rows: look for a slower host, other "
                "threads (OMP_NUM_THREADS), or hooks that only it has.",
    "optimizer": "Rank {rank} is {ms:.2f} ms a step slower in its optimizer: look for hooks or clipping that only it does.",
    "checkpoint": "The others wait {ms:.2f} ms a step while rank {rank} saves: let Checkpointer write in the background, or "
                  "save less often.",
    "collector": "Python's garbage collector stops rank {rank} for {ms:.2f} ms a step when the others do not: call "
                 "gc.freeze() after the first step, or gc.disable() and collect on all ranks at once.",
    "replay": "Rank {rank} is {ms:.2f} ms a step slower in its replayed step: look for a slower host or other threads.",
    "rows": "Rank {rank} works on more rows than the others, which costs them {ms:.2f} ms a step: give all ranks as many "
            "(drop_last, DistributedSampler), or rows of the same length.",
    "wait": "Rank {rank} is late by {ms:.2f} ms a step since its messages take longer than the others': look at its link; "
            "on one host, at what else uses its core and memory.",
}


def communication(data: dict[str, Any], step: float) -> list[tuple[float, str]]:
    """Sentences about buckets and the network, from the time of transfers."""
    exposed = min((row["exposed_ms"] for row in data["per_rank"]), default=0.0)
    if data["ranks"] == 1 or exposed < MUCH * step:
        return []
    sums, network = data["network"]["sums"], data["network"]
    buckets = [row for row in sums if row["name"].startswith("bucket ")]
    small = [row for row in buckets if row["bytes"] < FEW_BYTES]
    possible, achieved = network["possible_GB_per_s"], network["achieved_GB_per_s"]
    if len(small) > 3:
        return [(exposed, f"{len(small)} of {len(buckets)} buckets have less than {FEW_BYTES // 1000} kB, and {exposed:.2f} "
                          "ms a step of communication are not hidden: a larger bucket_cap_mb makes fewer sums.")]
    if len(buckets) == 1 and buckets[0]["bytes"] > 4 * FEW_BYTES:
        return [(exposed, f"All gradients are sent in one bucket, at the end of backward, and {exposed:.2f} ms a step are "
                          "not hidden: a smaller bucket_cap_mb lets the first of them overlap with backward.")]
    if max((row["bytes"] for row in sums), default=0) < FEW_BYTES:
        return [(exposed, f"{exposed:.2f} ms a step of communication are not hidden, in sums of "
                          f"{network['bytes_per_step'] / 1e3:.0f} kB: that is the time of their start, and not of bytes: "
                          "accumulate gradients over passes, or more rows a step on each rank.")]
    if possible and achieved and achieved < 0.5 * possible and buckets and buckets[0]["bytes"] >= MANY_BYTES:
        return [(exposed, f"Sums run at {achieved:.2f} GB/s where {possible:.2f} were measured, and {exposed:.2f} ms a step "
                          "are not hidden: other traffic or a slow link takes the rest; try another hour or other hosts.")]
    return [(exposed, f"{exposed:.2f} ms a step of communication are not hidden, at what the network can do: send fewer "
                      "bytes (DataParallel's wire=\"float16\" or a comm hook), or accumulate gradients over passes.")]


def phases(data: dict[str, Any], step: float) -> list[tuple[float, str]]:
    """Sentences about parts of a step, other than computation, that take long on all ranks."""
    found = []
    for part, least, text in (
            ("loader", 0.1, "All ranks wait {ms:.2f} ms a step for their data loaders: give them more workers "
             "(num_workers=), or processes (multiprocessing_context=\"forkserver\") for transforms in Python."),
            ("checkpoint", 0.1, "Saving takes {ms:.2f} ms a step on all ranks: let Checkpointer write in the background."),
            ("collector", 0.05, "Python's garbage collector takes {ms:.2f} ms a step on all ranks: gc.freeze() after the "
                                "first step."),
            ("script", 0.15, "The script's own code between the phases takes {ms:.2f} ms a step on all ranks: look for "
                             "printing, copying and metrics there.")):
        least_ms = min((row["parts_ms"].get(part, 0.0) - row["stolen_parts_ms"].get(part, 0.0) for row in data["per_rank"]),
                       default=0.0)
        if least_ms > least * step:
            found.append((least_ms, text.format(ms=least_ms)))
    return found
