"""A profiler inside a timeline: the timeline loses nothing, and the profiler sees what it would see alone."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd as ag
from autograd import nn
from autograd.observe.profiler.collect import threads_of
from autograd.profiler import profile, schedule
from autograd.spans import spans
from autograd.spans.spans import FINE, MESSAGE, USER, Recorder, names
from autograd.utils.data import DataLoader
from dparallel.observe.timeline.ring_files import FileRecorder, Part
from dparallel.observe.timeline.run import read_parts

THREADS = 3
ACTIONS = ("begin", "end", "end", "message", "complete", "profile", "stop")


@contextlib.contextmanager
def recorded(limit=None):
    recorder = Recorder(limit, fine=False)
    recorder.start()
    try:
        yield recorder
    finally:
        for last in reversed(list(spans.recorders)):
            last.stop()


def rows(recorder, prefix=""):
    """(name, start, end, a, b) of all spans of a recording, by thread's number and name."""
    return {(thread.thread, thread.name): [(names[row[0]][0], *row[[1, 2, 6, 7]].tolist()) for row in thread.spans
                                           if names[row[0]][0].startswith(prefix)] for thread in threads_of(recorder)}


def found(recorder, prefix):
    return sorted(row for thread in rows(recorder, prefix).values() for row in thread)


class Script:
    """Carries out actions on threads, and notes between which moments each span began and ended."""

    def __init__(self, timeline):
        self.timeline = timeline
        self.threads = [ThreadPoolExecutor(1, f"planted-{n}") for n in range(THREADS)]
        self.open = [[] for _ in range(THREADS)]
        self.wanted = {}                             # by name: [thread, began, ended, a, b], moments as pairs
        self.profilers = []
        self.messages = set()                        # names of those whose a and b are told at their end

    def do(self, thread, action):
        self.threads[thread].submit(getattr(self, action), thread).result()

    def begin(self, thread, kind=USER):
        name = f"planted {len(self.wanted)}"
        before = time.perf_counter_ns()
        token = spans.begin(spans.number_of(name, kind))
        self.wanted[name] = [thread, (before, time.perf_counter_ns()), None, 0, 0]
        self.open[thread].append((name, token))

    def end(self, thread):
        if not self.open[thread]:
            return
        name, token = self.open[thread].pop()
        before = time.perf_counter_ns()
        if name in self.messages:
            self.wanted[name][3:] = [len(name), 7]
            spans.end_message(token, len(name), 7)
        else:
            spans.end(token)
        self.wanted[name][2] = before, time.perf_counter_ns()

    def message(self, thread):
        self.begin(thread, MESSAGE)
        self.messages.add(self.open[thread][-1][0])

    def complete(self, thread):
        name, now = f"planted {len(self.wanted)}", time.perf_counter_ns()
        spans.complete(name, spans.FLIGHT, now - 5, now, 3, 4)
        self.wanted[name] = [thread, (now - 5, now - 5), (now, now), 3, 4]

    def profile(self, thread):
        if not spans.profilers:
            self.profilers.append(Recorder())
            self.profilers[-1].start()

    def stop(self, thread):
        if spans.profilers:
            self.profilers[-1].stop()

    def finish(self, timeline_first):
        if timeline_first:
            self.timeline.stop()
        self.stop(0)
        if not timeline_first:
            self.timeline.stop()
        for thread in self.threads:
            thread.shutdown()

    def check(self):
        by_thread = rows(self.timeline, "planted")
        recorded = {name: (thread, start, end, a, b) for (_, thread), kept in by_thread.items()
                    for name, start, end, a, b in kept}
        assert sum(map(len, by_thread.values())) == len(recorded) == len(self.wanted)
        for name, (thread, began, ended, a, b) in self.wanted.items():
            where, start, end, *values = recorded[name]
            assert where == f"planted-{thread}_0" and began[0] <= start <= began[1] and values == [a, b], name
            assert end == self.timeline.stopped if ended is None else ended[0] <= end <= ended[1], (name, end - start, ended)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, THREADS - 1), st.sampled_from(ACTIONS)), max_size=25), st.booleans())
def test_spans_may_begin_in_one_and_end_in_the_other(actions, timeline_first):
    with recorded() as timeline:
        script = Script(timeline)
        for thread, action in actions:
            script.do(thread, action)
        script.finish(timeline_first)
    script.check()


@pytest.mark.parametrize("actions", [
    ["begin", "profile", "end"], ["profile", "begin", "stop", "end"], ["begin", "profile", "begin", "stop", "end", "end"],
    ["profile", "begin", "stop", "profile", "end", "stop"], ["profile", "message", "stop", "profile", "end", "stop"],
    ["message", "profile", "end", "stop"], ["profile", "complete", "begin"]], ids=" ".join)
@pytest.mark.parametrize("timeline_first", [False, True])
def test_the_cases_by_name(actions, timeline_first):
    with recorded() as timeline:
        script = Script(timeline)
        for action in actions:
            script.do(1 if action not in ("profile", "stop") else 0, action)
        script.finish(timeline_first)
    script.check()


def test_fine_kinds_are_the_profilers_alone_and_what_is_around_them_is_kept():
    with recorded() as timeline, profile() as prof, spans.record_function("planted"):
        x = ag.ones(3, requires_grad=True)
        (x * 2).sum().backward()
    kinds = {names[row[0]][1] for thread in threads_of(timeline) for row in thread.spans}
    assert not kinds & FINE and found(timeline, "planted") and found(timeline, "autograd::backward")
    assert {"aten::mul", "MulBackward0", "planted"} <= {event.name for event in prof.events()}


def test_a_profiler_sees_the_same_with_and_without_a_timeline():
    def events():
        with profile(record_shapes=True) as prof:
            net = nn.Linear(3, 2)
            net(ag.ones(4, 3)).sum().backward()
        return [(event.name, str(event.input_shapes), event.cpu_parent and event.cpu_parent.name) for event in prof.events()]

    alone = events()
    with recorded():
        assert events() == alone


def test_with_a_schedule():
    """Profilers that start and stop again and again: each step of the optimiser is in the timeline once."""
    parameter = nn.Parameter(ag.ones(3))
    optimizer = ag.optim.SGD([parameter], lr=0.1)
    with recorded() as timeline, profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=3)) as prof:
        for _ in range(14):
            parameter.sum().backward()
            optimizer.step()
            prof.step()
    steps = found(timeline, "Optimizer.step#SGD.step")
    assert [a for *_, a, _ in sorted(steps, key=lambda row: row[1])] == list(range(14))
    assert all(end > start for _, start, end, _, _ in steps)


def test_threads_that_end_while_the_profiler_runs_are_kept():
    """Also one that had not recorded before, and one whose number and name another one has later."""
    with recorded() as timeline:
        for n in range(3):
            recorder = Recorder()
            recorder.start()
            thread = threading.Thread(target=lambda n=n: spans.end(spans.begin(spans.number_of(f"planted {n}", USER))), name="short")
            thread.start()
            thread.join()
            recorder.stop()
    assert [name for name, *_ in found(timeline, "planted")] == ["planted 0", "planted 1", "planted 2"]
    assert all(end > start for _, start, end, _, _ in found(timeline, "planted"))


def test_an_exception_leaves_no_span_open_for_ever():
    """One that an exception left open in the profiler ends with the one around it, which began before."""
    number = spans.number_of("planted", USER)
    with recorded() as timeline:
        outer = spans.begin(number)
        profiler = Recorder()
        profiler.start()
        spans.begin(number)                          # and never ends
        profiler.stop()
        spans.end(outer)
        ended = time.perf_counter_ns()
    rows = found(timeline, "planted")
    assert len(rows) == 2 and all(end <= ended for _, _, end, _, _ in rows)


def test_a_ring_that_wraps_while_a_profiler_copies_into_it():
    with recorded(limit=1) as timeline:              # which keeps two blocks
        number = spans.number_of("planted", USER)
        profiler = Recorder()
        profiler.start()
        tokens = [spans.begin(number)]
        for _ in range(3 * spans.BLOCK):
            spans.end(spans.begin(number))
        tokens.append(spans.begin(number))
        profiler.stop()
        spans.end(tokens[1])
        spans.end(tokens[0])                         # its place has been taken
        spans.end(spans.begin(number))
    kept, = (rows for rows in rows(timeline, "planted").values() if rows)
    assert spans.BLOCK < len(kept) <= 2 * spans.BLOCK
    assert all(start < end < timeline.stopped for _, start, end, _, _ in kept)


def test_names_of_nodes_reach_the_file(tmp_path):
    """With operations=True: the names of nodes come when they first run."""
    class Odd(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    recorder = FileRecorder(tmp_path, 0, None, fine=True)
    recorder.start()
    x = ag.ones(3, requires_grad=True)
    Odd.apply(x).sum().backward()
    recorder.stop()
    recorder.close()
    lines = (tmp_path / "rank-0.names").read_text().splitlines()
    assert [tuple(json.loads(line)) for line in lines] == names[:len(lines)]
    used = {int(row[0]) for thread in threads_of(recorder) for row in thread.spans}
    assert max(used) < len(lines) and "OddBackward" in {names[number][0] for number in used}


@pytest.fixture
def part(tmp_path):
    part = Part(tmp_path, 0, 1, steps=None, limit=None)
    part.start()
    yield part
    part.stop()


def ring_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_a_child(function):
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            function()
            code = 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("profiled", [False, True])
def test_a_fork_writes_nothing_into_its_parents_files(part, tmp_path, profiled):
    number = spans.number_of("planted", USER)
    open_before = spans.begin(number)
    profiler = Recorder()
    if profiled:
        profiler.start()
    open_in_profiler = spans.begin(number)
    before = ring_files(tmp_path)

    def child():
        inside = spans.begin(number)
        for token in (inside, open_in_profiler, open_before):
            spans.end_message(token, 1, 2)
        threading.Thread(target=lambda: spans.end(spans.begin(number))).start()
        if profiled:
            profiler.stop()
        with profile() as prof:                      # one of the child's own
            ag.ones(3).exp()
        assert "aten::exp" in {event.name for event in prof.events()}
        part.stop()
        assert not spans.recorders

    assert in_a_child(child) == 0
    assert ring_files(tmp_path) == before
    assert part.recorder in spans.recorders
    if profiled:
        profiler.stop()
    spans.end(open_in_profiler)
    spans.end(open_before)


def test_workers_of_a_loader_write_nothing_and_the_parent_goes_on(part, tmp_path):
    with profile():
        for _ in DataLoader(np.ones((8, 2), np.float32), batch_size=2, num_workers=2):
            with spans.record_function("planted"):
                pass
    part.stop()
    run = read_parts(tmp_path)
    assert {path.name.split(".")[1].split("-")[0] for path in tmp_path.glob("*.ring")} <= {str(t.number) for t in run.ranks[0].threads}
    found = [run.names[name] for name in run.ranks[0].main.name]
    assert found.count("planted") == 4 and sum(name.startswith("enumerate(DataLoader)") for name in found) == 5


def test_a_second_timeline_and_a_second_profiler_are_refused():
    with recorded(), pytest.raises(RuntimeError, match="a timeline is recorded already"):
        Recorder(fine=False).start()
    with recorded(), profile(), pytest.raises(RuntimeError, match="a profiler records already"):
        Recorder().start()
    with profile(), pytest.raises(RuntimeError, match="a profiler records already"):
        Recorder(fine=False).start()
    assert not spans.recorders


@pytest.mark.skipif(not ag.show_config()["compiled core"], reason="this is that run")
def test_all_this_without_the_compiled_core():
    done = subprocess.run([sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", __file__], capture_output=True, text=True,
                          env={**os.environ, "DPARALLEL_PURE": "1"})
    assert done.returncode == 0, done.stdout


def test_a_name_given_while_another_one_is_written_down(tmp_path):
    """As the collector's callback does, wherever it interrupts: no thread waits for itself, and numbers are right."""
    recorder = FileRecorder(tmp_path, 0, None)
    recorder.start()
    write, inner = recorder._names.write, []

    class Interrupted:
        def write(self, line):
            if not inner:
                inner.append(spans.number_of("inner name", USER))
            write(line)

        def close(self):
            names_file.close()

    names_file, recorder._names = recorder._names, Interrupted()
    outer = spans.number_of("outer name", USER)
    recorder.stop()
    recorder.close()
    lines = [tuple(json.loads(line)) for line in (tmp_path / "rank-0.names").read_text().splitlines()]
    assert lines == names[:len(lines)] and lines[outer] == ("outer name", USER) and lines[inner[0]] == ("inner name", USER)
