"""README's commands print what it shows, numbers aside: its program as one process and on two MPI ranks, and a run that is killed.

The page stays short: 100 lines of 125 columns, and no point of its lists has more than two.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from launch import mpirun

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
PROGRAM = re.search(r"^```python\n(.*?)^```", README, re.S | re.M)[1]
SHOWN = dict(re.findall(r"^    \$ (?!pip)(.*)\n((?:    (?!\$).*\n)+)", README, re.M))          # command: its output


def without_numbers(text):
    """The lines, sorted: ranks print in any order, and another MPI or another machine has other numbers and versions."""
    lines = [re.sub(r"by [A-Z].*?;", "by MPI;", line.strip()) for line in text.splitlines()]
    return sorted(re.sub(r"\d+(\.\d+)?", "N", line) for line in lines if line and "oversubscription" not in line)


@pytest.mark.parametrize("command", SHOWN)
def test_commands_print_what_the_page_shows(command, tmp_path):
    try:
        mpi = mpirun.find()
    except mpirun.LaunchError:
        mpi = None
    if command.startswith("dprun") and (mpi is None or ("--survive" in command and not mpirun.survives(mpi))):
        pytest.skip("needs mpirun, and --survive Open MPI 5")
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    name, *words = command.split()
    how = [sys.executable] if name == "python" else [sys.executable, "-m", "launch"]
    done = subprocess.run([*how, *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=240)
    assert done.returncode == 0, done.stdout
    assert without_numbers(done.stdout) == without_numbers(SHOWN[command])
    if "train.py" in command:
        there, here = (re.findall(r"loss ([\d.]+)", text) for text in (done.stdout, SHOWN[command]))
        assert sorted(map(float, there)) == pytest.approx(sorted(map(float, here)), rel=0.05)


def test_the_page_is_short():
    lines = README.splitlines()
    assert len(SHOWN) == 3 and len(lines) <= 100 and max(map(len, lines)) <= 125
    for point in re.findall(r"^- .*\n(?:  .*\n)*", README, re.M):
        assert point.count("\n") <= 2, point
