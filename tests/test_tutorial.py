"""docs/tutorial.md: its files are written, its commands run, and they print what the page says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from launch import mpirun

pytestmark = pytest.mark.commands
ROOT = Path(__file__).parent.parent
TUTORIAL = (ROOT / "docs/tutorial.md").read_text()
STEPS = re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```|^    ((?:python|dprun) [^\n]*)\n\n```text\n(.*?)^```", TUTORIAL, re.S | re.M)


def plain(text):
    """Without the digits after points, which differ in the last ones."""
    return re.sub(r"(?<=\.)\d+", "#", text)


def test_the_tutorial_has_five_steps():
    assert re.findall(r"^## (\d)\. ", TUTORIAL, re.M) == list("12345")
    assert [command for _, _, command, _ in STEPS if command] == [
        "python train.py", "dprun -n 2 ranks.py", "dprun -n 2 center.py", "python -m pytest test_center.py",
        "dprun -n 2 -H node1:1,node2:1 ranks.py"]


def test_the_tutorials_steps(tmp_path):
    """Each command prints what the page says. The last one needs two hosts: tests/launch/test_hosts.py has some."""
    try:
        mpirun.find()
    except mpirun.LaunchError:
        pytest.skip("no mpirun")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-p launch.pytest_plugin -p no:hypothesispytest -p no:cacheprovider"}
    for name, text, command, said in STEPS:
        if name:
            (tmp_path / name).write_text(text)
            continue
        if "-H" in command:
            continue
        program, *rest = shlex.split(command)
        start = [sys.executable] if program == "python" else [sys.executable, "-m", "launch", "-q"]
        done = subprocess.run([*start, *rest], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if "pytest" in command:
            assert said.strip() in done.stdout
        else:
            assert plain("".join(sorted(done.stdout.splitlines(True)))) == plain("".join(sorted(said.splitlines(True)))), command
            accuracy = re.search(r"accuracy ([\d.]+)", done.stdout)
            assert accuracy is None or float(accuracy[1]) > 0.93
