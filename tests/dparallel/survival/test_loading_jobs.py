"""Worker processes of loaders on ranks (loading.py): they start no MPI, and end with their rank."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch import mpirun

pytestmark = pytest.mark.jobs
SCRIPT, ROOT = Path(__file__).parents[1] / "helpers" / "loading.py", Path(__file__).parents[3]


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("scenario, method, code, words", [
    ("plain", "forkserver", 0, []), ("plain", "spawn", 0, []),
    ("asking", "forkserver", 1, ["world() in DataLoader worker 0, a process that is not a rank", "worker threads (multiprocessing_context=None)"]),
    ("preempted", "forkserver", 75, ["saved after 3\nsaved after 3"]),
    ("surviving", "forkserver", 0, ["1 rank continues after step 2"])])
def test_workers_of_ranks(tmp_path, scenario, method, code, words):
    try:
        survives = mpirun.survives(mpirun.find())
    except mpirun.LaunchError:
        pytest.skip("no mpirun")
    if scenario == "surviving" and not survives:
        pytest.skip("needs ULFM, which is in Open MPI 5")
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    options = ["--survive"] if scenario == "surviving" else []
    done = subprocess.run([sys.executable, "-m", "launch", "-q", *options, "-n", "2", SCRIPT, scenario, method, tmp_path / "pids"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=250,
                          env={**os.environ, "PYTHONPATH": path, "HOME": str(tmp_path / "absent")})
    assert done.returncode == code and all(word in done.stdout + done.stderr for word in words), done.stdout + done.stderr
    assert scenario != "plain" or (tmp_path / "pids.well").exists()
    pids = (tmp_path / "pids").read_text().split() if scenario != "asking" else []
    assert len(pids) == {"asking": 0, "surviving": 6}.get(scenario, 4)
    end = time.monotonic() + 60
    while any(map(running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(running, pids))
