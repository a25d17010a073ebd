"""Traces, read by tools that are not ours: Perfetto's trace processor, HolisticTraceAnalysis."""

import json
import time

import pytest
from trace_processor import TraceProcessor

import autograd as ag
from autograd import nn
from autograd.core.parallel import run_lanes
from autograd.observe.profiler.events import Interval
from autograd.profiler import profile, record_function, schedule
from autograd.spans import spans
from autograd.utils.data import DataLoader


def training(prof, lanes=True):
    """Three steps with a second derivative, lanes, a loader and spans in flight."""
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = ag.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(ag.ones(12, 4), batch_size=3):
        start = time.perf_counter_ns()
        with record_function('a "quoted" block, 50 % \\ done'):
            out = net(batch)
            if lanes:
                a, b = run_lanes([lambda: out.exp().sum(), lambda: out.sin().sum()])
                out = a + b
            g, = ag.grad((out * out).sum(), net[0].weight, create_graph=True)
            (g * g).sum().backward()
        for n in range(3):
            spans.complete("allreduce", spans.FLIGHT, start + n, time.perf_counter_ns(), 1024, n)
        optimizer.step()
        optimizer.zero_grad()
        prof.step()


@pytest.mark.parametrize("settings", [{}, {"record_shapes": True, "with_stack": True, "profile_memory": ag.show_config()["compiled core"]}], ids=["plain", "all"])
def test_perfetto_reads_every_slice_and_arrow(tmp_path, settings):
    path = tmp_path / "trace.json.gz"
    with profile(schedule=schedule(wait=0, warmup=1, active=3), on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
                 with_modules=True, **settings) as prof:
        training(prof)
    events = prof.events()
    with TraceProcessor(path) as perfetto:
        assert perfetto.query("select name, value from stats where severity = 'error' and value > 0") == []
        arrows = sum(e.scope == 1 and e.forward is not None for e in events)
        assert perfetto.query("select count(*) from flow") == [(arrows,)] and arrows > 20
        found = dict(perfetto.query("select name, count(*) from slice group by name"))
        wanted = {}
        events = prof._all_events()                  # with memory's, which the table has inside of operations
        for event in events:
            wanted[event.name] = wanted.get(event.name, 0) + 1
        assert found == wanted
        # an arrow begins in the call that made the node that it ends in
        pairs = perfetto.query("select a.name, b.name from flow join slice a on slice_out = a.id join slice b on slice_in = b.id")
        assert {("aten::addmm", "AddmmBackward0"), ("aten::relu", "ReluBackward0"), ("aten::exp", "ExpBackward0")} <= set(pairs)
        assert all(to.endswith("Backward0") and not of.endswith("Backward0") for of, to in pairs)
        # and times are ours, to the nanosecond
        first = min(events, key=lambda e: e.time_range.start)
        ours = {(e.name, round((e.time_range.start - first.time_range.start) * 1000), round(e.cpu_time_total * 1000)) for e in events}
        begin, = perfetto.query("select min(ts) from slice")[0]
        assert {(name, ts - begin, dur) for name, ts, dur in perfetto.query("select name, ts, dur from slice")} == ours
        parents = perfetto.query("select s.name, p.name from slice s join slice p on s.parent_id = p.id where s.name = 'aten::addmm'")
        assert {of.split("_")[0] for _, of in parents} <= {"nn.Module: Linear", "AddmmBackward0"}


def test_perfetto_is_strict(tmp_path):
    trace = [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10}, {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 5, "dur": 10}]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": trace}))
    with TraceProcessor(tmp_path / "t.json") as perfetto:
        assert perfetto.query("select name from stats where severity = 'error' and value > 0") == [("slice_drop_overlapping_complete_event",)]
        with pytest.raises(ValueError, match="select \\* from nothing"):
            perfetto.query("select * from nothing")


def union(ranges):
    """Ranges of time as pairs that do not overlap."""
    merged = []
    for start, end in sorted((r.start, r.end) for r in ranges):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(pairs):
    return sum(end - start for start, end in pairs)


def test_holistic_trace_analysis_computes_its_breakdowns(tmp_path, monkeypatch):
    analysis = pytest.importorskip("hta.trace_analysis")
    if pytest.importorskip("pandas").__version__ >= "3":
        pytest.skip("HolisticTraceAnalysis 0.5.0 does not work with pandas 3")
    ours = []
    for rank in range(2):
        monkeypatch.setenv("OMPI_COMM_WORLD_RANK", str(rank))
        with profile(schedule=schedule(wait=0, warmup=1, active=3)) as prof:
            training(prof, lanes=False)
        prof.export_hta(str(tmp_path))
        events = prof.events()
        outer = (spans.USER, spans.PASS)
        computed = union(e.time_range for e in events if e.kind not in (*outer, spans.FLIGHT) and (
            e.cpu_parent is None or e.cpu_parent.kind in outer))
        ours.append((computed, union(e.time_range for e in events if e.is_async), len(events)))
    trace = analysis.TraceAnalysis(trace_dir=str(tmp_path))
    breakdown = trace.get_temporal_breakdown(visualize=False)
    overlap = trace.get_comm_comp_overlap(visualize=False)
    assert list(breakdown["rank"]) == list(overlap["rank"]) == [0, 1]
    for rank, (computed, flights, count) in enumerate(ours):              # each event is rounded to 1 us
        assert breakdown["compute_time(us)"][rank] == pytest.approx(length(computed), abs=count)
        together = length(computed) + length(flights) - length(union(Interval(*pair) for pair in (*computed, *flights)))
        assert breakdown["non_compute_time(us)"][rank] == pytest.approx(length(flights) - together, abs=count)
        assert overlap["comp_comm_overlap_pctg"][rank] == pytest.approx(100 * together / length(flights), abs=100 * count / length(flights))
    idle, _ = trace.get_idle_time_breakdown(ranks=[0, 1], visualize=False)
    assert (idle["idle_time"] >= 0).all()
