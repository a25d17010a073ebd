"""dprun --timeline and --report: what is refused; the file of a job that ends well, is asked, fails, is killed, or starts again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dparallel.observe.timeline.report import Report
from dparallel.observe.timeline.run import read
from launch import cli

ROOT = Path(__file__).parent.parent.parent
DPRUN = [sys.executable, "-m", "launch"]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
TRAIN = """
import os, sys, time
import autograd as ag, dparallel
from autograd import nn
comm = dparallel.world()
model = dparallel.DataParallel(nn.Linear(8, 4))
opt = ag.optim.SGD(model.parameters(), lr=0.1)
steps, how, at, wait = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
for step in range(steps):
    if comm.rank == 1:
        time.sleep(wait)
    model(ag.ones(4, 8)).sum().backward()
    opt.step()
    if step == at and how == "asked":
        open("here", "w").close()
    if step == at and comm.rank == 1:
        if how == "raise":
            raise ValueError("planted")
        if how == "kill":
            os.kill(os.getpid(), 9)
        if how == "leave":
            os._exit(3)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dprun(*args, **settings):
    return subprocess.run([*DPRUN, *map(str, args)], env=ENV, capture_output=True, text=True, timeout=120, **settings)


@pytest.mark.parametrize("args, words", [
    (["-n", "2", "--timeline", "run.txt", "train.py"], "must end in .json.gz or .json"),
    (["-n", "2", "--timeline", "run.json", "--steps", "5:5", "train.py"], "'5:5' must be the first step and the one after the last"),
    (["-n", "2", "--timeline", "run.json", "--steps", "5", "train.py"], "'5' must be"),
    (["-n", "2", "--steps", "1:5", "train.py"], "--steps requires --timeline"),
    (["-n", "2", "--json", "a.json", "train.py"], "--json and --html require --report"),
    (["-n", "2", "--timeline", "/proc/run.json", "train.py"], "is not writable")])
def test_what_is_refused(args, words, script, capsys):
    try:
        code = cli.main(args)
    except SystemExit as error:
        code = error.code
    said = capsys.readouterr().err
    assert code == 2 and words in said and len(said.strip().splitlines()) == 1


@pytest.mark.parametrize("name, text, words", [
    ("none.json.gz", None, "there is no such file"), ("other.json", '{"traceEvents": []}', "not a timeline"),
    ("torn.json", '{"dparallel":', "not a timeline"), ("torn.json.gz", "no gzip", "not a timeline")])
def test_files_that_are_no_timeline(name, text, words, script):
    if text is not None:
        (script / name).write_text(text)
    ended = dprun("--report", name)
    assert ended.returncode == 2 and words in ended.stderr and name in ended.stderr and not ended.stdout


def test_a_job_that_ends_well(script):
    ended = dprun("-n", 2, "--timeline", "out/run.json.gz", "--report", "--steps", "2:6", "--json", "r.json", "--html", "r.html",
                  "train.py", 12, "well", -1, 0.02)
    assert ended.returncode == 0, ended.stderr
    assert "dprun --report out/run.json.gz" in ended.stderr and not (script / "out" / "run.json.gz.parts").exists()
    data = json.loads((script / "r.json").read_text())
    assert data["steps"]["count"] == 4 and (data["steps"]["first"], data["steps"]["last"]) == (2, 5) and not data["missing"]
    own = [cause for cause in data["causes"] if cause["part"] != "other process"]
    assert (own[0]["rank"], own[0]["part"]) == (1, "script") and len(data["advice"]) == 3
    assert "rank 1: " in ended.stdout and "advice" in ended.stdout and "Rank 1" in (script / "r.html").read_text()
    again = dprun("--report", "out/run.json.gz")
    assert again.returncode == 0 and again.stdout == ended.stdout


@pytest.mark.parametrize("how, code", [("raise", 1), ("kill", 137), ("leave", 3)])
def test_a_job_whose_rank_dies_leaves_what_all_ranks_did(how, code, script):
    ended = dprun("-n", 2, "--timeline", "run.json", "train.py", 1000, how, 8, 0)
    assert ended.returncode == code, ended.stderr
    run = read("run.json")
    numbers = {rank: [step.number for step in steps] for rank, steps in Report(run).steps.items()}
    assert numbers[1] == list(range(9)) and numbers[0][:9] == numbers[1] and len(numbers[0]) <= 10 and not run.missing
    assert [rank.info["finished"] for rank in run.ranks] == [False, False]


def test_each_restart_has_a_file(script):
    ended = dprun("-q", "-n", 2, "--restarts", 1, "--timeline", "run.json.gz", "train.py", 9, "raise", 3, 0)
    assert ended.returncode == 1
    for name in ("run.json.gz", "run.1.json.gz"):
        assert len(Report(read(name)).numbers) == 4


def test_a_job_that_is_asked(script):
    """SIGUSR2 to dprun: the file has what was recorded until then, and the job goes on."""
    job = subprocess.Popen([*DPRUN, "-n", "2", "--timeline", "run.json", "train.py", "100000", "asked", "20", "0.001"], env=ENV,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until = time.monotonic() + 60
        while not (script / "here").exists() and time.monotonic() < until:
            time.sleep(0.05)
        job.send_signal(signal.SIGUSR2)
        while not (script / "run.json").exists() and time.monotonic() < until:
            time.sleep(0.05)
        report = Report(read("run.json"))
        assert job.poll() is None and len(report.numbers) > 15 and dprun("--report", "run.json.parts").returncode == 0
    finally:
        job.terminate()
        out = job.communicate()[0]
    assert "the timeline up to now is written to" in out
    assert len(Report(read("run.json")).numbers) > len(report.numbers)
