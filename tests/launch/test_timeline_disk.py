"""A timeline on a full disk, and where none can be recorded: training goes on, and says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dparallel import run_ranks, timeline
from dparallel.observe.timeline.run import read

ROOT = Path(__file__).parent.parent.parent
TRAIN = """
import autograd as ag, dparallel
from autograd import nn
model = dparallel.DataParallel(nn.Linear(8, 4))
optimizer = ag.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    model(ag.ones(4, 8)).sum().backward()
    optimizer.step()
print("done")
"""


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 1.5 MB: one rank's ring fits."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", folder], capture_output=True, check=False).returncode:
        pytest.skip("needs root, and to be allowed to mount a tmpfs")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_recording_and_not_the_training(small_disk, tmp_path):
    script, out = tmp_path / "train.py", small_disk / "run.json.gz"
    script.write_text(TRAIN)
    done = subprocess.run([sys.executable, "-m", "launch", "-q", "-n", "2", "--timeline", str(out), str(script)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=100, check=False)
    assert (done.returncode, done.stdout.count("done")) == (0, 2)
    assert "is not complete" in done.stderr and "No space left" in done.stderr
    lengths = sorted(len(rank.main.start) for rank in read(out).ranks)
    assert lengths[0] == 0 and (lengths[1] > 100 or lengths[1] == 0)      # two that allocate at once can both find it full


def test_ranks_that_are_threads_are_refused(tmp_path):
    def program(comm):
        with pytest.raises(NotImplementedError, match="threads of one process"), timeline(tmp_path / "run.json", comm=comm):
            pass

    run_ranks(2, program)
