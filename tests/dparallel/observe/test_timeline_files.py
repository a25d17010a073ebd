"""The files of a timeline: parts as ranks leave them, the finished file, and what Perfetto's own trace processor reads in it."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raised import raises
from trace_processor import TraceProcessor

from autograd.profiler import profile
from autograd.spans import spans
from autograd.spans.spans import BLOCK, COUNTER, FLIGHT, LANE, MESSAGE, PASS, USER
from dparallel import Devices, timeline
from dparallel.observe.timeline.__main__ import main
from dparallel.observe.timeline.report import Report, finish
from dparallel.observe.timeline.ring_files import PAGE, Part
from dparallel.observe.timeline.run import EMPTY, Rank, Run, Spans, Thread, TimelineError, read, read_parts, write_trace
from launch import mpirun

ROOT = Path(__file__).parents[3]
NAMES = ["DataParallel.forward", "dparallel::wait", "bucket 0", 'odd "name"\n\\ ü </script>', "[run delay]", "Optimizer.step#SGD.step", "lane 1"]
KINDS = [PASS, MESSAGE, FLIGHT, USER, COUNTER, USER, LANE]
DAYS = 86_400 * 10**9


def nested(draw, begin, count):
    """Rows of a thread whose spans lie inside one another or apart, and flights that do not."""
    rows, time, open_ends = [], begin, []
    for _ in range(count):
        time += draw(st.integers(1, 10**7))
        while open_ends and open_ends[-1] <= time:
            open_ends.pop()
        number = draw(st.integers(0, len(NAMES) - 1))
        length = draw(st.integers(0, 10**7))
        if KINDS[number] == COUNTER:
            length = 0
        elif KINDS[number] != FLIGHT:
            length = min(length, open_ends[-1] - time) if open_ends else length
            open_ends.append(time + length)
        rows.append((number, KINDS[number], time, time + length, draw(st.sampled_from([-1, 0, 12_345])), draw(st.integers(0, 2**40)),
                     draw(st.sampled_from([-1, 0, 1 << 40 | 5]))))
    return Spans(*np.array(rows, np.int64).reshape(-1, 7).T)


@st.composite
def runs(draw):
    """A run of some ranks, of which some may be missing."""
    size = draw(st.integers(1, 4))
    begin = draw(st.sampled_from([0, 10**9, 40 * DAYS]))
    ranks = []
    for rank in draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True)):
        threads = [Thread(1000 * rank + n, f"thread {n}", n == 0, nested(draw, begin + draw(st.integers(0, 30 * DAYS)), draw(st.integers(0, 12))))
                   for n in range(draw(st.integers(0, 2)))]
        ranks.append(Rank(rank, {"rank": rank, "host": f"h{rank}", "process": 7, "began": begin + rank, "bound": 3, "steps": None}, threads))
    return Run(NAMES, sorted(ranks, key=lambda rank: rank.rank), size)


def same(one, other, exact_names=True):
    assert (one.size, one.missing, one.bound, one.begin) == (other.size, other.missing, other.bound, other.begin)
    assert one.names == other.names or not exact_names
    for a, b in zip(one.ranks, other.ranks, strict=True):
        assert a.rank == b.rank and a.info == b.info and len(a.threads) == len(b.threads)
        for left, right in zip(a.threads, b.threads, strict=True):
            assert left[:3] == right[:3]
            for field, x, y in zip(Spans._fields, left.spans, right.spans, strict=True):
                np.testing.assert_array_equal(x, y, field)


@settings(max_examples=40, deadline=None)
@given(runs(), st.sampled_from(["run.json", "run.json.gz"]))
def test_what_is_written_is_read_back(tmp_path_factory, run, name):
    path = tmp_path_factory.mktemp("runs") / name
    write_trace(run, path, Report(run).events())
    same(run, read(path))
    assert [file.name for file in path.parent.iterdir()] == [name]


# --- parts ----------------------------------------------------------------------------------------------------------------

def record(folder, rank, size, body, limit=None, stop=True):
    """The part of a rank, in this process."""
    part = Part(folder, rank, size, steps=None, limit=limit)
    part.start()
    try:
        body()
    finally:
        if stop:
            part.stop()
    return part


def planted(count=3):
    def body():
        for n in range(count):
            with spans.record_function(f"planted {n % 7}", a=n):
                now = spans.ticks.now()
                spans.complete("bucket 0", FLIGHT, now - 10, now + 10, 100 + n, n, 5)
    return body


def set_info(folder, rank, **changes):
    path = folder / f"rank-{rank}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def names_in(run, rank=0):
    found = next(r for r in run.ranks if r.rank == rank)
    return [run.names[name] for name in found.main.name]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=3), st.integers(-10**12, 10**12), st.integers(-50, 50), st.sampled_from(["t.json", "t.json.gz"]))
def test_the_finished_file_says_the_same_as_its_parts(tmp_path_factory, counts, offset, millionths, name):
    """Also with clocks of several hosts that drift."""
    folder = tmp_path_factory.mktemp("parts")
    parts = folder / "parts"
    parts.mkdir()
    for rank, count in enumerate(counts):
        part = record(parts, rank, len(counts) + 1, planted(count))
        at = part.recorder.started
        if rank:
            set_info(parts, rank, host=f"node{rank}", offsets=[{"at": at, "offset": offset, "bound": 700},
                                                               {"at": at + 10**9, "offset": offset + 1000 * millionths, "bound": 900}])
    run = read(parts)
    assert run.missing == [len(counts)] and run.bound == (900 if len(counts) > 1 else 0)
    finish(parts, folder / name)
    assert [file.name for file in folder.iterdir()] == [name]
    same(run, read(folder / name))
    assert names_in(run).count("bucket 0") == counts[0]


def test_a_folder_under_way_and_its_dump(tmp_path):
    folder = tmp_path / "run.json.parts"
    folder.mkdir()
    part = Part(folder, 0, 1, steps=None, limit=None)
    part.start()
    try:
        outer = spans.begin(spans.number_of("open", USER))
        planted()()
        run = read(tmp_path / "run.json")            # which is not there yet
        main_ = run.ranks[0].main
        place = names_in(run).index("open")
        assert not run.ranks[0].info["finished"] and main_.end[place] == main_.end.max()
        finish(folder, tmp_path / "run.json", keep=True)
        planted()()
        assert names_in(read(folder)).count("planted 0") == 2 and names_in(read(tmp_path / "run.json")).count("planted 0") == 1
        spans.end(outer)
    finally:
        part.stop()
    assert names_in(read(folder)).count("planted 0") == 2


KILLED = """
import os, signal, sys
from autograd.spans import spans
from dparallel.observe.timeline.ring_files import Part
from pathlib import Path
part = Part(Path(sys.argv[1]), 0, 2, steps=None, limit=None)
part.start()
for n in range(40_000):
    spans.end(spans.begin(spans.number_of("done", spans.USER)))
token = spans.begin(spans.number_of("never ended", spans.USER))
spans.end(spans.begin(spans.number_of("last", spans.USER)))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_rank_leaves_all_it_recorded(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    run = read(tmp_path)
    found = names_in(run)
    assert found.count("done") == 40_000 and run.missing == [1]
    main_ = run.ranks[0].main
    assert main_.end[found.index("never ended")] == main_.end[found.index("last")] == main_.end.max()
    assert Report(run).data["steps"]["count"] == 0


@pytest.mark.parametrize("laps", [1, 2, 5])
def test_a_ring_that_wraps_keeps_the_newest(tmp_path, laps):
    number = spans.number_of("planted", USER)
    count = laps * 2 * BLOCK + 100

    def body():
        ring = spans.this_ring()
        for n in range(count):
            token = ring.begin(number)
            ring.set(token, 6, n)
            ring.end(token)

    record(tmp_path, 0, 1, body, limit=1)
    ring, = tmp_path.glob("*.ring")
    assert ring.stat().st_size == PAGE + 2 * 64 * BLOCK
    run = read(tmp_path)
    main_ = run.ranks[0].main
    kept = main_.a[main_.name == run.numbers["planted"]]
    assert BLOCK < len(kept) <= 2 * BLOCK
    np.testing.assert_array_equal(kept, np.arange(count - len(kept), count))


def test_ranks_and_threads_without_a_span(tmp_path):
    for rank in (0, 2):
        record(tmp_path, rank, 4, planted())
    for ring in tmp_path.glob("rank-2.*.ring"):
        ring.unlink()
    run = read(tmp_path)
    assert run.missing == [1, 3] and run.ranks[1].threads == [] and run.ranks[1].main is EMPTY
    data = Report(run).data
    assert data["missing"] == [1, 3] and [row["rank"] for row in data["per_rank"]] == [0, 2]


def test_a_names_file_cut_in_mid_line(tmp_path):
    record(tmp_path, 0, 1, planted())
    path = tmp_path / "rank-0.names"
    text = path.read_text()
    place = text.index('["planted 1"')
    path.write_text(text[:place + 7])
    found = names_in(read(tmp_path))
    assert "planted 0" in found and "planted 1" not in found and "planted 2" not in found


@pytest.mark.parametrize("size", [0, 100, PAGE, PAGE + 64 * 3 + 5])
def test_a_ring_that_was_copied_in_part(tmp_path, size):
    record(tmp_path, 0, 1, planted(2000))
    ring, = tmp_path.glob("*.ring")
    whole = names_in(read(tmp_path))
    ring.write_bytes(ring.read_bytes()[:size])
    run = read(tmp_path)
    found = names_in(run)
    assert len(found) == max(0, size - PAGE) // 64 and len(whole) > 4000
    assert set(found) <= set(whole)


# --- damaged and foreign files --------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A good file, plain and packed."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "parts").mkdir()
    for rank in range(2):
        record(folder / "parts", rank, 2, planted())
    finish(folder / "parts", folder / "run.json", keep=True)
    finish(folder / "parts", folder / "run.json.gz")
    return folder


def refused(path, says=""):
    with pytest.raises(TimelineError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ") and says in str(error.value), error.value


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_truncated_files(good, tmp_path, name, part):
    data = (good / name).read_bytes()
    (tmp_path / name).write_bytes(data[:int(part * len(data))])
    refused(tmp_path / name)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_are_refused_or_read(good, tmp_path_factory, data):
    """Never another exception than TimelineError."""
    name = data.draw(st.sampled_from(["run.json", "run.json.gz"]))
    content = bytearray((good / name).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(content)
    try:
        run = read(path)
    except TimelineError as error:
        assert str(error).startswith(str(path))
    else:
        assert run.ranks


def test_packed_files_without_the_ending_and_the_reverse(good, tmp_path):
    (tmp_path / "a.json").write_bytes((good / "run.json.gz").read_bytes())
    (tmp_path / "b.json.gz").write_bytes((good / "run.json").read_bytes())
    same(read(tmp_path / "a.json"), read(tmp_path / "b.json.gz"))


@pytest.mark.parametrize("text, says", [
    ("", "JSONDecodeError"), ("[]", "TypeError"), ("{}", "KeyError: 'dparallel'"), ('{"traceEvents": []}', "KeyError"), ("null", "TypeError"),
    ('{"dparallel": {"format": 2, "size": 1, "begin": 0, "names": [], "ranks": []}, "traceEvents": []}', "format 2, and this version"),
    ('{"dparallel": {"format": 1}, "traceEvents": []}', "without size, begin, names, ranks"),
    ('{"dparallel": {"format": 1, "size": 1, "begin": 0, "names": [], "ranks": []}}', "traceEvents"), ("[" * 100_000, "RecursionError")])
def test_foreign_files(tmp_path, text, says, capsys):
    path = tmp_path / "other.json"
    path.write_text(text)
    refused(path, says)
    assert main(["report", str(path), "--text"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"dprun: {path}: not a timeline")


def test_a_profilers_trace_is_no_timeline(tmp_path):
    with profile() as prof, spans.record_function("a"):
        pass
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    refused(tmp_path / "trace.json", "not a timeline")


def test_what_is_not_there(tmp_path):
    refused(tmp_path / "no.json", "there is no such file")
    refused(tmp_path, "no rank has recorded anything in it")
    record(tmp_path, 0, 1, planted())
    set_info(tmp_path, 0, version=2)
    raises(TimelineError, r"rank-0\.json: .*version 2", read, tmp_path)
    set_info(tmp_path, 0, version=1)
    (tmp_path / "rank-0.names").unlink()
    raises(TimelineError, r"rank-0\.names: the names", read, tmp_path)
    (tmp_path / "rank-0.json").write_text('{"rank": 0, ')
    refused(tmp_path, "no rank has recorded anything in it")


# --- Perfetto -------------------------------------------------------------------------------------------------------------

def check_in_perfetto(path):
    """Every span to the nanosecond, rows and arrows, as another reader finds them; the names of arrows with their numbers."""
    run = read(path)
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    wanted = sorted((run.names[name], start - run.begin, end - start) for rank in run.ranks for thread in rank.threads
                    for name, start, end in zip(thread.spans.name.tolist(), thread.spans.start.tolist(), thread.spans.end.tolist(), strict=True))
    arrows = sum(event["ph"] == "s" for event in events)
    with TraceProcessor(path) as perfetto:
        assert perfetto.query("select name, value from stats where severity = 'error' and value > 0") == []
        first, = perfetto.query("select min(ts) from slice")[0]
        early = min(event["ts"] for event in events if "ts" in event)
        found = sorted((name, ts - first + round(early * 1000), dur) for name, ts, dur in
                       perfetto.query("select name, ts, dur from slice where name not like 'step %' and name not like '% queued'"))
        assert found == wanted
        assert perfetto.query("select count(*) from flow") == [(arrows,)]
        processes = dict(perfetto.query("select pid, name from process where name is not null"))
        assert processes == {rank.rank: f"rank {rank.rank} of {run.size}, {rank.info['host']}, process {rank.info['process']}" for rank in run.ranks}
        threads = sorted(perfetto.query("select pid, thread.name from thread join process using (upid) where thread.name is not null"))
        rows = [(rank.rank, thread.name + " (trains)" * thread.main) for rank in run.ranks for thread in rank.threads]
        assert threads == sorted(rows + [(rank.rank, "steps") for rank in run.ranks])
        flights = sum(int((thread.spans.kind == FLIGHT).sum()) for rank in run.ranks for thread in rank.threads)
        queued = sum(event["ph"] == "b" and event["name"].endswith(" queued") for event in events)
        assert perfetto.query("select count(*) from slice where track_id not in (select id from thread_track)") == [(flights + queued,)]
        steps = dict(perfetto.query("select name, count(*) from slice where name like 'step %' group by name"))
    return run, arrows, steps


def test_perfetto_reads_long_times_and_odd_names(tmp_path):
    """A month of nanoseconds is exact; a name may hold anything."""
    month = 30 * DAYS
    rows = [(3, USER, month, month + 1_000_001, -1, 0, 0), (0, PASS, month + 1, month + 1, -1, 64, 0), (2, FLIGHT, month + 3, month + 5_000_003, 2, 8, 1 << 40),
            (2, FLIGHT, month + 4, month + 7, -1, 8, 1 << 40 | 1)]
    ranks = [Rank(rank, {"rank": rank, "host": "h", "process": rank, "began": 5, "bound": 0}, [
        Thread(9, "main", True, Spans(*np.array([(5, USER, 5, 6, -1, 0, 0), *rows], np.int64).T)), Thread(10, "other", False, EMPTY)])
        for rank in range(2)]
    run = Run(NAMES, ranks, 2)
    write_trace(run, tmp_path / "run.json", Report(run).events())
    check_in_perfetto(tmp_path / "run.json")


SCRIPT = """
import os, signal, sys, time
import numpy as np
import autograd as ag
from autograd import nn
from autograd.utils.data import DataLoader
from dparallel import DataParallel, world
comm = world()
model = DataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)), bucket_cap_mb=0.005)
optimizer = ag.optim.SGD(model.parameters(), lr=0.01)
for step, x in enumerate(DataLoader(np.ones((80, 64), np.float32), batch_size=4)):
    if comm.rank == 1:
        time.sleep(0.002)
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    comm.allreduce([np.ones(3)])
    if comm.rank == 0:
        comm.send(np.ones(4), 1)
    else:
        comm.recv(0)
        if step == 11 and "die" in sys.argv:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def dprun(tmp_path, *options, arguments=(), code=0):
    try:
        mpirun.find()
    except mpirun.LaunchError:
        pytest.skip("no mpirun")
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", *options, str(tmp_path / "train.py"), *arguments], capture_output=True, text=True,
                          cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    assert (done.returncode == 0) == (code == 0), done.stderr
    return done


def test_a_job_in_perfetto_and_its_report(tmp_path):
    done = dprun(tmp_path, "--timeline", "run.json.gz", "--report", "--json", "r.json", "--html", "r.html")
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", "run.json.gz", "r.json", "r.html"}
    run, arrows, steps = check_in_perfetto(tmp_path / "run.json.gz")
    assert steps == {f"step {n}": 2 for n in range(20)}
    report = Report(run)
    assert arrows >= 20 and report.data == json.loads((tmp_path / "r.json").read_text()) and report.text() in done.stdout
    assert report.text().splitlines()[0] in (tmp_path / "r.html").read_text()
    for rank in range(2):
        assert {"bucket 0", "Optimizer.step#SGD.step", "DataParallel.forward", "dparallel::allreduce"} <= set(names_in(run, rank))


def test_a_job_of_which_a_rank_was_killed(tmp_path):
    done = dprun(tmp_path, "--timeline", "run.json", "--steps", "5:10000", "--report", arguments=["die"], code=1)
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", "run.json"} and "advice" in done.stdout
    run, _, _ = check_in_perfetto(tmp_path / "run.json")
    assert Report(run).data["steps"]["first"] == 5 and Report(run).data["steps"]["last"] == 11


def test_a_timeline_of_one_process_in_perfetto(tmp_path):
    """With operations, and a block of it profiled."""
    import autograd as ag
    for operations in (False, True):
        with timeline(tmp_path / "run.json", operations=operations):
            x = ag.ones(3, requires_grad=True)
            if operations:
                (x * x).sum().backward()
            else:
                with profile(), spans.record_function("planted"):
                    (x * x).sum().backward()
        run, _, steps = check_in_perfetto(tmp_path / "run.json")
        found = set(names_in(run))
        assert ("aten::mul" in found) == operations and ("planted" in found) != operations and "autograd::backward" in found and not steps


def test_rings_have_one_file_each(tmp_path):
    record(tmp_path, 0, 1, lambda: read_parts(tmp_path))
    assert len(list(tmp_path.glob("rank-0.*.ring"))) == 1


def test_the_reports_keys_are_documented(good):
    text = (ROOT / "docs/monitoring.md").read_text()
    data = Report(read(good / "run.json")).data
    named = set(re.findall(r"`(\w+)`", text))
    for keys in (data, data["steps"], data["per_rank"][0], data["network"], data["series"]):
        assert set(keys) <= named, set(keys) - named
    assert {"rank", "part", "ms_per_step", "share", "waiting_ms", "device", "segments", "transfer_us", "queued_us", "GB_per_s"} <= named


def test_local_devices_are_one_process_and_a_start_that_fails_records_no_more(tmp_path, monkeypatch):
    with timeline(tmp_path / "run.json", comm=Devices(2)):
        pass
    assert read(tmp_path / "run.json").size == 1

    def lost(self, comm):
        raise ConnectionError("a rank was lost")
    monkeypatch.setattr(Part, "meet", lost)
    with pytest.raises(ConnectionError), timeline(tmp_path / "run.json"):
        pass
    assert not spans.recorders
