"""dprun --restarts: another job after one that failed, until one ends well, the limit is reached, or nothing progresses."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from launch import hosts, mpirun
from launch.hosts import Host
from launch.restarts import Restarts

ROOT = Path(__file__).parent.parent.parent


def test_delays_grow():
    assert [Restarts(9, count).delay for count in (0, 1, 2, 3, 9)] == [1, 2, 4, 8, 60]


@pytest.mark.parametrize("limit, reached, refused", [
    (0, [5], [" "]), (2, [None, None, None], ["", "", "the job was restarted 2 times"]),
    (9, [5, 5, 5], ["", "", "2 jobs in a row did not pass step 5"]),
    (9, [5, 4, 6, 6, None], ["", "", "", "", "2 jobs in a row did not pass step 6"]), (9, [None, 1, 2, 3], [""] * 4)])
def test_jobs_that_come_no_further_are_not_started_again(limit, reached, refused):
    restarts = Restarts(limit)
    for step, words in zip(reached, refused, strict=True):
        said = restarts.refusal(step)
        assert said.startswith(words) and bool(said) == bool(words)
        restarts.count += 1


def test_fewer_hosts_have_fewer_ranks(monkeypatch):
    asked = [Host("a", 4), Host("b", 4), Host("c", 2)]
    assert hosts.ranks_on(asked[:2], asked, 10) == 8 and hosts.ranks_on(asked[2:], asked, 5) == 1
    monkeypatch.setattr(hosts, "is_here", lambda name: name == "a")
    assert hosts.answering([Host("a"), Host("b")], "false", False) == [Host("a")]
    assert hosts.answering([Host("a"), Host("b")], "true", False) == [Host("a"), Host("b")]


SCRIPT = """
import os, sys, time
from pathlib import Path
from dparallel import report_progress, world
comm, saved = world(), Path(sys.argv[2])
first = int(saved.read_text()) if saved.exists() else 0
print("from", first, "restart", os.environ["TORCHELASTIC_RESTART_COUNT"], "of", os.environ["TORCHELASTIC_MAX_RESTARTS"], flush=True)
for step in range(first, 6):
    comm.barrier()
    if step == 2 and first == 0 and comm.rank == 1:
        os.kill(os.getpid(), 9)
    if comm.rank == 0 and sys.argv[1] == "saves":
        saved.with_suffix(".part").write_text(str(step + 1))
        saved.with_suffix(".part").rename(saved)     # whole: this rank may be killed at any time
        report_progress(step + 1)
print("done", flush=True)
"""


def job(tmp_path, how, *options):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return subprocess.run([sys.executable, "-m", "launch", "-q", "-n", "2", *options, path, how, tmp_path / "saved"], capture_output=True,
                          env={**mpirun.outer(), "PYTHONPATH": str(ROOT)}, text=True, timeout=200)


def test_a_job_that_is_killed_goes_on(tmp_path):
    done = job(tmp_path, "saves", "--restarts", "3")
    assert done.returncode == 0 and done.stdout.count("done") == 2, done.stderr
    assert "from 0 restart 0 of 3" in done.stdout and "restart 1 of 3" in done.stdout
    assert "dprun: the job restarts in 1 s (restart 1 of 3)" in done.stderr


def test_the_limit_of_restarts(tmp_path):
    done = job(tmp_path, "dies", "--restarts", "1")
    assert done.returncode == 137 and re.search(r"no restart: the job was restarted 1 times \(--restarts\)\n$", done.stderr), done.stderr
