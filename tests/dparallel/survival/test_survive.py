"""dprun --survive: small scripts whose ranks kill themselves at chosen places (survivors.py). Deaths at random moments are
tests/launch/test_kills.py's."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch import mpirun

pytestmark = pytest.mark.jobs
SCRIPT, ROOT = Path(__file__).parents[1] / "helpers" / "survivors.py", Path(__file__).parents[3]
OTHERS = {"MPICH 4.3.2": "HYDRA build details:\nVersion: 4.3.2\nMPICH", "Intel MPI 2021.17": "Intel(R) MPI Library for Linux* OS, Version 2021.17 Build 1",
          "Open MPI 4.1.6": "mpirun (Open MPI) 4.1.6"}


@pytest.fixture
def ulfm():
    """Skip where no job outlives its ranks."""
    try:
        mpi = mpirun.find()
    except mpirun.LaunchError:
        pytest.skip("no mpirun")
    if not mpirun.survives(mpi):
        pytest.skip(f"needs ULFM, which is in Open MPI 5; this is {mpi.name}")


def start(*arguments):
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen([sys.executable, "-m", "launch", "-q", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.DEVNULL)


def dprun(*arguments):
    process = start(*arguments)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize("scenario, options, left, died", [
    ("windows", ["-n", 5], 2, "ranks 1, 2, 3 died"),
    ("late", ["-n", 3], 1, "ranks 1, 2 died"),
    ("averaging", ["-n", 3], 2, "rank 1 died"),
    ("own", ["-n", 3], 2, "rank 1 died"),
    ("counted_differently", ["-n", 3], 2, "rank 1 died"),
    ("whole", ["-n", 4], 1, "died"),
    ("reproducible", ["-n", 2, "--spares", 1], 1, "ranks 0, 1 died"),
    ("growing", ["-n", 3, "--spares", 2], 2, "died"),
])
def test_what_is_left_is_what_one_process_has(ulfm, tmp_path, scenario, options, left, died):
    recorded = scenario == "growing"
    more = ["--timeline", tmp_path / "run.json", "--report", "--json", tmp_path / "report.json"] if recorded else []
    code, out, err = dprun("--survive", *more, *options, SCRIPT, scenario)
    assert code == 0 and out.count("well") == left, out + err
    assert err.count("had communicated in step 4 after optimizer.step()") == (scenario in ("late", "averaging")), err
    assert died in err.splitlines()[-1] and err.endswith("died; the others have finished\n"), err
    if recorded:
        report = json.loads((tmp_path / "report.json").read_text())
        steps = {row["rank"]: row["steps"] for row in report["per_rank"]}
        assert report["steps"]["count"] == 12 == max(steps.values()) and (report["steps"]["first"], report["steps"]["last"]) == (0, 11), report
        assert len(steps) + len(report["spares"]) == 5 and {0, 1} <= {death["rank"] for death in report["deaths"]}, report
        assert all(steps[death["rank"]] < death["step"] + 1 and death["left"] == 2 for death in report["deaths"]), report
        assert f"rank {report['deaths'][0]['rank']} died; 2 ranks continued" in out


@pytest.mark.parametrize("scenario, code, told", [
    ("error", 1, ["ValueError: a mistake", "dprun: rank 1 of 3 failed with exit code 1"]),
    ("outside", 1, ["AbandonedError: this communicator lost a rank", "create inside the function every object that communicates"]),
    ("twice", 1, ["RuntimeError: keep() is called once"]),
    ("by_hand", 1, ["UserWarning: survive(): loader= has other samples", "the first death will be an error", "so training can't continue"]),
    ("leaving", 0, ["rank 1 died; 2 ranks continue after step", "the others have finished"]),
    ("never", 1, ["RankLost: rank 1 died", "dparallel.survive", "dprun --restarts"]),
])
def test_how_a_job_ends(ulfm, scenario, code, told):
    """With a spare, which ends as well; a traceback is shown once."""
    found, out, err = dprun("--survive", "-n", 2, "--spares", 1, SCRIPT, scenario)
    assert found == code and "well" not in out, out + err
    assert all(words in err for words in told), err
    assert err.count("Traceback") - err.count("direct cause of") <= 1, err


def test_a_rank_that_dies_before_its_first_line_ends_the_job(ulfm, tmp_path, monkeypatch):
    """mpirun goes on without it, and the others would wait for it in MPI_Init for ever."""
    (tmp_path / "sitecustomize.py").write_text("import os\nif os.environ.get('OMPI_COMM_WORLD_RANK') == '1':\n    os.kill(os.getpid(), 9)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code, _, err = dprun("--survive", "-n", 3, SCRIPT, "leaving")
    assert code == 1 and "dprun: rank 1 died before MPI had started on it" in err, err


def test_a_rank_that_c_has_ended_ends_the_job(ulfm):
    """mpirun does, or it does not tell the others, and a watchdog does after 5 s. It never hangs, and is never a success."""
    code, out, err = dprun("--survive", "-n", 3, SCRIPT, "ended_by_c")
    assert code in (1, 3) and "well" not in out and "rank 1" in err, out + err


def test_a_job_that_is_asked_to_end(ulfm, tmp_path):
    """graceful_exit() around the function: also after a death, and with a spare that has come in."""
    process = start("--survive", "-n", 2, "--spares", 2, SCRIPT, "asked", tmp_path / "there")
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "there").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 75 and "ended after a step, on request, with exit code 75" in err, err


def test_no_spare_is_left_and_another_job_goes_on(ulfm):
    code, out, err = dprun("--survive", "--grow", "--spares", 1, "-n", 2, SCRIPT, "another_job")
    assert code == 0 and out.count("well") == 2, out + err
    assert "no spare is left: the job continues in a new one, with 2 ranks" in err and err.count("dprun: rank 1 crashed") == 1, err


def test_too_few_ranks_and_another_job(ulfm, tmp_path):
    code, out, err = dprun("--survive", "-n", 3, "--min-n", 2, "--restarts", 1, SCRIPT, "restarted", tmp_path / "state")
    assert code == 0 and out.count("well") == 2, out + err
    assert "1 of 3 ranks are left, fewer than the minimum of 2 (--min-n)" in err, err
    assert "job 1 of 3 from 6" in out and "restart 1 of 1" in err, out + err


@pytest.mark.parametrize("name", OTHERS)
def test_other_mpis_are_refused(name, tmp_path):
    path = tmp_path / "mpirun"
    path.write_text(f"#!/bin/sh\ncat <<END\n{OTHERS[name]}\nEND\n")
    path.chmod(0o755)
    code, _, err = dprun("--survive", "-n", 2, "--mpirun", path, SCRIPT, "never")
    assert code == 2 and err.startswith(f"dprun: --survive requires Open MPI 5, but this is {name}: ") and "--restarts" in err, err


def test_options_that_go_with_it(ulfm):
    for options, told in ((["--grow"], "--grow requires --survive"), (["--spares", 1], "--spares requires --survive"),
                          (["--frozen", 3], "--frozen requires --survive"), (["--survive", "--min-n", 3], "--min-n 3 exceeds the number of ranks, 2")):
        code, _, err = dprun("-n", 2, *options, SCRIPT, "never")
        assert code == 2 and told in err, err
