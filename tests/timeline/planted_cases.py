"""The planted cases: what is planted, and who is to be blamed for which share of the waiting."""

from __future__ import annotations

from planted import Case, devices, groups, ring, slow_link, slow_messages, stages, stolen_core


def only(rank: int, part: str) -> dict[tuple[int, str], float]:
    """One is to blame for all."""
    return {(rank, part): 1.0}


def alternate(ms: float, even: bool):                # type: ignore[no-untyped-def]
    """So many ms in each second step."""
    return lambda step, rows: ms if step % 2 == (not even) else 0.0


def single(rank: int, part: str, ms: float, ranks: int = 2, name: str = "", **settings):       # type: ignore[no-untyped-def]
    """One rank is slow in one part."""
    about = ", ".join(f"{key}={value}" for key, value in settings.items())
    return Case(name or f"rank {rank} of {ranks}: {part} {ms:g} ms" + (f" ({about})" if about else ""), ranks, only(rank, part),
                {(rank, part): ms}, None, settings)


CASES = [
    # one rank is slow in one part: who, in what, how much, on which model
    single(0, "loader", 10), single(1, "loader", 3), single(2, "loader", 20, 3, model="conv"),
    single(0, "forward", 5), single(1, "forward", 10), single(1, "forward", 15, 3), single(2, "forward", 30, 3, model="gpt"),
    single(0, "forward", 8, model="conv"), single(1, "forward", 8, model="conv"),
    single(0, "backward", 10), single(1, "backward", 5, model="gpt"), single(2, "backward", 15, 3), single(1, "backward", 12, model="conv"),
    single(1, "optimizer", 6), single(0, "optimizer", 20, 3), single(0, "optimizer", 10, model="gpt"),
    single(0, "collector", 10), single(2, "collector", 15, 3),
    single(1, "script", 10), single(0, "script", 25, 3), single(0, "checkpoint", 15), single(1, "checkpoint", 10, 3),
    # buckets, accumulation, what else DataParallel does
    single(1, "backward", 8, cap=0.01), single(0, "forward", 10, cap=0.01, model="gpt"), single(0, "loader", 12, cap=0.001, model="conv"),
    single(1, "forward", 6, passes=3), single(0, "backward", 5, passes=2),
    single(0, "backward", 8, way="skipping"), single(1, "forward", 10, way="skipping"),
    single(1, "forward", 10, way="join"),
    single(0, "forward", 10, shard="optimizer"), single(1, "backward", 10, shard="gradients"), single(1, "forward", 10, shard="parameters"),
    single(0, "optimizer", 10, 3, shard="gradients"), single(2, "loader", 10, 3, shard="parameters"),
    single(0, "forward", 10, model="conv", sync=True), single(1, "loader", 8, model="conv", sync=True), single(2, "backward", 12, 3, model="conv", sync=True),
    single(1, "forward", 15, batch="root"), single(1, "backward", 15, batch="root"), single(0, "loader", 15, batch="root"),
    Case("rank 0: replay 10 ms", 2, only(0, "replay"), {(0, "replay"): 10}, None, {"way": "replay"}),
    Case("rank 1: loader 12 ms of replayed steps", 2, only(1, "loader"), {(1, "loader"): 12}, None, {"way": "replay"}),
    Case("rank 1: optimizer 8 ms of replayed steps", 2, only(1, "optimizer"), {(1, "optimizer"): 8}, None, {"way": "replay"}),
    # several causes
    Case("rank 0: loader 6, forward 4 ms", 2, {(0, "loader"): 0.6, (0, "forward"): 0.4}, {(0, "loader"): 6, (0, "forward"): 4}),
    Case("rank 1: forward 6, backward 9, optimizer 15 ms", 2, {(1, "forward"): 0.2, (1, "backward"): 0.3, (1, "optimizer"): 0.5},
         {(1, "forward"): 6, (1, "backward"): 9, (1, "optimizer"): 15}),
    Case("even steps rank 0 forward, odd steps rank 1 loader, 10 ms", 2, {(0, "forward"): 0.5, (1, "loader"): 0.5},
         {(0, "forward"): alternate(10, True), (1, "loader"): alternate(10, False)}),
    Case("rank 0 forward 20 ms, rank 1 forward 8 ms", 2, only(0, "forward"), {(0, "forward"): 20, (1, "forward"): 8}),
    Case("rank 0 loader 20 ms, rank 2 backward 8 ms", 3, only(0, "loader"), {(0, "loader"): 20, (2, "backward"): 8}),
    Case("rank 0 forward 10 ms, then rank 1 behind SyncBatchNorm 10 ms", 2, {(0, "loader"): 0.5, (1, "backward"): 0.5},
         {(0, "loader"): 10, (1, "backward"): 10}, None, {"model": "conv", "sync": True}),
    # rows
    Case("rank 1 has 16 rows, rank 0 4: 1 ms a row", 2, only(1, "rows"), {(rank, "forward"): lambda step, rows: rows for rank in range(2)},
         None, {"rows": (4, 16)}),
    Case("rank 0 has 24 rows, others 8: 1 ms a row in backward", 3, only(0, "rows"),
         {(rank, "backward"): lambda step, rows: rows for rank in range(3)}, None, {"rows": (24, 8, 8)}),
    # messages
    Case("pipeline: rank 0 makes 1 late, 1 makes 2 late", 3, only(0, "forward"), {(0, "forward"): 15}, stages),
    Case("pipeline: rank 1 forward", 3, only(1, "forward"), {(1, "forward"): 10}, stages),
    Case("pipeline: rank 2 backward", 3, only(2, "backward"), {(2, "backward"): 12}, stages),
    Case("Send and Recv: rank 0 forward", 2, only(0, "forward"), {(0, "forward"): 10}, ring),
    Case("groups {0, 1}, {1, 2}: rank 0 makes 1 late, 1 makes 2 late", 3, only(0, "forward"), {(0, "forward"): 15}, groups),
    # links
    Case("sums take 10 ms longer on both ranks", 2, {}, {(0, "link"): 10, (1, "link"): 10}, slow_link, judge="transfer"),
    Case("rank 1's link is slow by 10 ms", 2, only(1, "wait"), {(1, "link"): 10}, slow_link),
    Case("the link from rank 0 to 1 is slow by 12 ms", 2, {}, {(1, "link"): 12}, slow_messages, judge="link 0 1"),
    # the core, the start
    Case("stolen core of rank 0", 2, only(0, "other process"), {}, stolen_core, {"whose": 0}, counted=True),
    Case("stolen core of rank 1", 2, only(1, "other process"), {}, stolen_core, {"whose": 1}, counted=True),
    Case("objects in cycles: rank 1's collector, and their making", 2, {(1, "collector"): 0.85, (1, "script"): 0.1}, {}, None, {"collect": True}),
    # local devices
    Case("local device 1 forward", 1, {}, {}, devices, {"whose": 0, "device": 1, "part": "forward"}, judge="lane 0 1 forward"),
    Case("local device 0 backward", 1, {}, {}, devices, {"whose": 0, "device": 0, "part": "backward"}, judge="lane 0 0 backward"),
    Case("ranks of local devices: rank 1, device 1, forward", 2, only(1, "forward"), {}, devices, {"whose": 1, "device": 1, "part": "forward"}),
    # nothing
    Case("nothing planted, mlp", 2, {}, {}), Case("nothing planted, gpt", 2, {}, {}, None, {"model": "gpt"}),
]

__all__ = ["CASES"]
