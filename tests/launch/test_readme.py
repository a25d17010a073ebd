"""README's first program runs as it says: as one process, and on two MPI ranks; both end at about the same loss."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from launch import mpirun

ROOT = Path(__file__).parent.parent.parent
PROGRAM = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)[1]


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_first_program(ranks, tmp_path):
    if ranks > 1:
        try:
            mpirun.find()
        except mpirun.LaunchError:
            pytest.skip("no mpirun")
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "train.py"] if ranks == 1 else [sys.executable, "-m", "launch", "-n", str(ranks), "train.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    losses = {int(rank): float(loss) for rank, size, loss in re.findall(r"rank (\d) of (\d): loss ([\d.]+)", done.stdout)}
    assert sorted(losses) == list(range(ranks)) and all(loss < 0.4 for loss in losses.values()), done.stdout
