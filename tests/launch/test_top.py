"""dprun --top: which jobs there are, what each rank's files say, what fits a terminal; on real ranks."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch import cli, mpirun
from launch.top import Job, Row, describe, duration, jobs, rows_of, screen, started

ROOT = Path(__file__).parent.parent.parent
DPRUN = [sys.executable, "-m", "launch"]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}


def job(folder="", ranks=2, spares=0, spread=False, began=0.0):
    return Job(os.getpid(), started(os.getpid()), str(folder), ranks, spares, ["train.py", "--name", "a b"], began, spread)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder for temporary files, and make(name, **job) that puts a job of this process there."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def make(name, ranks=2, **files):
        folder = tmp_path / f"dprun-{name}"
        folder.mkdir(mode=0o700)
        describe(str(folder), ranks, 0, ["train.py"], False)
        for file, text in files.items():
            (folder / file.replace("_", ".", 1).lstrip("r")).write_text(text)
        return folder

    return make


def status(**changes):
    return json.dumps({"host": "node1", "process": 1, "steps": 40, "rate": 12.345, "loss": 0.5, "waiting": 0.25, "memory": 3 * 2**29,
                       "doing": "in allreduce() at train.py:3", "time": time.time(), **changes})


def test_jobs(places, tmp_path, capsys):
    """Those of running dpruns: not a folder that a killed one has left, nor one whose number another process has now."""
    assert jobs() == [] and cli.main(["--top"]) == 2
    assert "no job of yours runs" in capsys.readouterr().err
    first = places("a")
    assert [found.folder for found in jobs()] == [str(first)] and jobs()[0]._replace(began=0) == job(first)._replace(words=["train.py"])
    for name, change in (("dead", {0: 2**22 + 5}), ("other", {1: 7}), ("bad", None)):
        folder = places(name)
        fields = json.loads((folder / "job").read_text())
        if change:
            for at, value in change.items():
                fields[at] = value
        (folder / "job").write_text(json.dumps(fields) if change else "[1, 2")
    assert len(jobs()) == 1 and cli.main(["--top"]) == 0
    assert "has not started" in capsys.readouterr().out
    places("b", ranks=7)
    assert cli.main(["--top", "--once"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split() == ["JOB", "RANKS", "RUNS", "FOR", "SCRIPT"] and [line.split()[:2] for line in listed[1:]] == [
        [str(os.getpid()), "2"], [str(os.getpid()), "7"]]
    assert cli.main(["--top", str(first)]) == 0 and "2 ranks" in capsys.readouterr().out
    for unknown in ("/nowhere", "123456789", str(tmp_path / "dprun-dead")):
        assert cli.main(["--top", unknown]) == 2
        assert f"no job {unknown!r} runs" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["-n", "2", "--top"], ["-n", "2", "--top", "4", "train.py"]])
def test_top_comes_first(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    assert "--top stands alone: dprun --top [JOB] [--once]" in capsys.readouterr().err


def test_what_the_files_say(places):
    mine = str(os.getpid())
    folder = places("x", 12, r0_top=status(), r0_running=mine, r1_running=mine, r2_running="4194309", r3_ended="", r4_json="{}",
                    r5_crash="Fatal", r6_world="world() at x.py:1", r6_running=mine, r7_top=status(time=time.time() - 60),
                    r7_running=mine, r8_top="{", r9_top=status(loss=float("nan"), waiting=None, rate=None), r10_crash="",
                    r11_world="world()")
    rows = rows_of(job(folder, 11, spares=1), time.time())
    shown = {row.rank: (row.runs, row.doing) for row in rows}
    assert shown == {0: (True, "in allreduce() at train.py:3"), 1: (True, "running; not in dparallel.world() yet"), 2: (False, "died"),
                     3: (False, "has ended"), 4: (False, "failed"), 5: (False, "crashed"), 6: (True, "waits in world() at x.py:1"),
                     7: (False, "not heard from for 1:00"), 8: (False, "has not started"), 9: (True, "in allreduce() at train.py:3"),
                     10: (False, "has not started"), 11: (False, "a spare, waits")}
    assert (rows[0].host, rows[0].steps, rows[0].rate, rows[0].loss, rows[0].waiting) == ("node1", 40, 12.345, 0.5, 0.25)
    assert rows[1].memory > 2**20 and rows[7].rate is None and rows[7].steps == 40
    lines = screen(job(folder, 11, spares=1, began=time.time() - 4000), rows, time.time(), 200, 50)
    assert lines[0] == f"dprun {mine}: 11 ranks and 1 spare, 1:06:40: train.py --name 'a b'"
    assert re.match(r"4 running, step 40, steps/s 12.3\d, loss nan, waiting 25 %, memory in all", lines[1])
    assert lines[3].split() == ["rank", "steps", "steps/s", "loss", "waiting", "memory", "doing"]       # one host
    assert lines[4].split(maxsplit=7) == ["0", "40", "12.35", "0.5", "25", "%", "1.5", "GiB  in allreduce() at train.py:3"]
    assert lines[13].split()[:5] == ["9", "40", "-", "nan", "-"]
    assert rows_of(job(folder, 1, spread=True), time.time())[0].runs
    elsewhere = rows_of(job(folder.parent, 3, spread=True), time.time())
    assert {row.doing for row in elsewhere} == {"on another host, and not heard from"}


def test_hosts_are_shown_where_there_are_several():
    rows = [Row(rank, True, "", f"node{rank}", 1) for rank in range(3)]
    assert screen(job(ranks=3), rows, 0.0, 100, 30)[3].split()[:2] == ["rank", "host"]


def test_many_ranks_and_small_terminals():
    """2000 ranks: quartiles, and who the others wait for."""
    rows = [Row(rank, rank != 7, "died" if rank == 7 else f"at train.py:{rank}", "node", 100 + rank % 3, 10.0, 1.0,
                0.5 if rank != 1234 else 0.01, 2**30 + rank) for rank in range(2000)]
    lines = screen(job(ranks=2000), rows, 0.0, 300, 40)
    text = "\n".join(lines)
    assert "1999 running, step 102, steps/s 10, loss 1, waiting 50 %, memory in all 1999.0 GiB" in text
    assert re.search(r"waiting +1 % +50 % +50 % +50 % +50 %", text) and re.search(r"steps +100 +100 +101 +102 +102", text)
    assert lines[lines.index("wait least (the others wait for them)") + 1].split()[0] == "1234" and "1 rank died: 7" in lines
    for width, height in ((80, 24), (20, 5), (1, 1), (0, 0), (3, 2)):
        small = screen(job(ranks=2000), rows, 0.0, width, height)
        assert len(small) <= max(1, height) and all(len(line) <= max(1, width) for line in small)
    few = screen(job(ranks=2), [Row(0, True, "\x1b[2J\n\tat x"), Row(1, True, "é" * 500)], 0.0, 60, 24)
    assert len(few) == 6 and all(len(line) <= 60 and line.isprintable() for line in few)
    assert screen(job(ranks=1), [Row(0, True, "漢" * 50)], 0.0, 60, 24)[-1].count("漢") == 7
    assert screen(job(ranks=1), [], 0.0, 80, 24)[1] == "0 running"


def test_durations():
    assert [duration(seconds) for seconds in (0, 59.9, 60, 3600, 90061, -5, float("inf"))] == [
        "0 s", "59 s", "1:00", "1:00:00", "1 d 1:01:01", "0 s", "0 s"]


def test_vitals(monkeypatch):
    """Rates are over the last seconds, or the last step where that took longer; what lasts too long is not as fast as it was."""
    from autograd.optim.optimizer import every_optimizer
    from dparallel.comm.waiting import waited
    from dparallel.comm.watchdog.vitals import Vitals
    vitals = Vitals()
    monkeypatch.setattr(every_optimizer, "steps", 0)
    monkeypatch.setattr(waited, "ns", 0)

    def at(time, steps, seconds):
        every_optimizer.steps, waited.ns = steps, int(seconds / 2 * 1e9)
        found = vitals.measure(time, seconds / 2)
        return found["rate"], found["waiting"], found["steps"]

    assert at(0.0, 0, 0.0) == (None, None, 0)
    assert at(1.0, 10, 0.5) == (10.0, 0.5, 10)
    assert [at(t, 10 * t, 0.5 + 0.1 * (t - 1)) for t in range(2, 40)][-1] == (10.0, pytest.approx(0.1), 390)
    assert at(100.0, 391, 4.3)[0] == pytest.approx(1 / 61)
    assert at(110.0, 391, 4.3)[0] == pytest.approx(1 / 61) and at(300.0, 391, 100.0)[0] == 1 / 200
    assert at(301.0, 391, 350.0)[1] == 1.0 and at(302.0, 391, 0.0)[1] == 0.0
    assert vitals.measure(0.0, 0.0)["memory"] > 2**20


def test_steps_of_an_optimiser_in_another_count_once():
    import autograd as ag
    from autograd import optim
    from autograd.optim.optimizer import every_optimizer
    from dparallel import Devices, PeriodicModelAverager, PostLocalSGDOptimizer
    p = ag.ones(2, requires_grad=True)
    inner = optim.SGD([p], lr=0.1)
    outer = PostLocalSGDOptimizer(inner, PeriodicModelAverager(4, process_group=Devices(1)))
    before = every_optimizer.steps
    for optimizer in (outer, inner, outer):
        optimizer.step()
    assert every_optimizer.steps - before == 3
    with pytest.raises(ZeroDivisionError):
        inner.step(lambda: 1 // 0)
    outer.step()
    assert every_optimizer.steps - before == 4


def test_a_terminal(places, tmp_path):
    """It is drawn each second; Ctrl-C ends it with code 0 and brings the cursor back."""
    folder = places("x", r0_top=status(time=time.time() + 3600), r0_running=str(os.getpid()))
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)         # ignored where the suite runs in the background
        os.execve(sys.executable, [*DPRUN, "--top", str(folder)], {**ENV, "TERM": "xterm", "COLUMNS": "60", "LINES": "20"})
    seen = b""

    def until(text, limit=30.0):
        nonlocal seen
        end = time.monotonic() + limit
        while text not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    seen += os.read(terminal, 4096)
                except OSError:
                    break
        assert text in seen, seen
        seen = seen.partition(text)[2]

    until(b"\x1b[?25l\x1b[2J\x1b[H")
    until(b"12.35")
    (folder / "0.top").write_text(status(rate=99.5, time=time.time() + 3600))
    until(b"99.5")
    os.kill(pid, signal.SIGINT)
    until(b"\x1b[?25h")
    assert os.waitpid(pid, 0)[1] == 0


SCRIPT = """
import sys, time
import autograd as ag
from autograd import nn, optim
from dparallel import DataParallel, Logger, world
comm = world()
model = DataParallel(nn.Linear(3, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1)
log = Logger(every=5, console=False) if "log" in sys.argv else lambda **values: None
until = time.time() + float(sys.argv[1])
while not comm.any(time.time() > until):
    optimizer.zero_grad()
    loss = (model(ag.ones(4, 3)) ** 2).mean()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    log(loss=loss)
"""


def has_mpirun():
    try:
        mpirun.find()
    except mpirun.LaunchError:
        return False
    return True


@pytest.mark.skipif(not has_mpirun(), reason="no mpirun")
@pytest.mark.parametrize("ranks, log, settings", [(2, "log", []), (1, "", []), (2, "", ["--stall", "0"])])
def test_real_ranks(places, tmp_path, ranks, log, settings):
    """With a logger and without one; one rank, which has nobody to wait for; without the watchdog's limit."""
    (tmp_path / "train.py").write_text(SCRIPT)
    running = subprocess.Popen([*DPRUN, "-n", str(ranks), *settings, str(tmp_path / "train.py"), "600", log], env=ENV,
                               stderr=subprocess.DEVNULL)
    try:
        for _ in range(120):
            shown = subprocess.run([*DPRUN, "--top", str(running.pid)], env=ENV, capture_output=True, text=True)
            lines = shown.stdout.splitlines()
            found = [re.match(r" *(\d) +(\d+) +([\d.]+) +(\S+) +(\d+) % +(\d+ MiB|[\d.]+ GiB)(?:  |$)", line) for line in lines[4:]]
            if len(found) == ranks and all(found):
                break
            time.sleep(0.25)
        assert len(found) == ranks and all(found), shown
        for rank, match in enumerate(found):
            assert int(match[1]) == rank and int(match[2]) > 2 and 0 < float(match[3]) < 60
            assert (match[4] == "-") == (not log) and (match[4] == "-" or float(match[4]) < 10)
    finally:
        running.terminate()
        running.wait(30)
    assert not list(tmp_path.glob("dprun-*/job"))


SURVIVORS = """
import os, signal, sys, time
import autograd as ag
from autograd import nn, optim
from dparallel import DataParallel, Logger, survive, world

@survive
def train(run):
    comm = world()
    model = DataParallel(nn.Linear(2, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.001)
    done = run.keep(model=model, optimizer=optimizer)
    with Logger(every=5, step=done, console=False, jsonl=sys.argv[1], reduce={"n": "sum"}) as log:
        for step in range(done, 600):
            if step == 13 and comm.rank == 1 and run.attempt == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            loss = model(ag.ones(2, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.step()
            log(n=2, loss=loss, rows=2)
            time.sleep(0.0 if step < 40 else 0.5)

train()
"""


@pytest.mark.skipif(not has_mpirun() or not mpirun.survives(mpirun.find()), reason="needs Open MPI 5")
def test_a_rank_that_has_died(places, tmp_path):
    """It is shown as such; the log goes on after the last finished step, with the rows of those that are left."""
    (tmp_path / "train.py").write_text(SURVIVORS)
    lines = tmp_path / "log.jsonl"
    running = subprocess.Popen([*DPRUN, "--survive", "-n", "3", "--threads", "1", str(tmp_path / "train.py"), str(lines)], env=ENV,
                               stderr=subprocess.PIPE)
    try:
        for _ in range(160):
            shown = subprocess.run([*DPRUN, "--top", str(running.pid)], env=ENV, capture_output=True, text=True).stdout
            rows = [line.split() for line in shown.splitlines()[4:]]
            if len(rows) == 3 and rows[1][-1] == "died" and lines.exists() and lines.read_text().count("\n") > 4 and all(
                    row[1].isdigit() and int(row[1]) > 30 for row in (rows[0], rows[2])):
                break
            time.sleep(0.25)
        assert rows[1][-1] == "died" and rows[1][2] == "-", shown
        found = {line["step"]: line["n"] for line in map(json.loads, lines.read_text().splitlines())}
        assert {step: found[step] for step in (5, 15, 20, 25)} == {5: 30, 15: 8, 20: 20, 25: 20} and found.get(10, 30) == 30, found
    finally:
        running.terminate()
        running.communicate(timeout=60)
