"""What `make train` and `make quick` say: tools/install.py shows progress, tests/run_all.py what was skipped."""

import importlib.util
import re
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tools import install  # noqa: E402

LINES = re.compile("shown")


def test_lines_arrive_at_once_and_a_silent_command_repeats_the_last_one(monkeypatch, capsys):
    monkeypatch.setattr(install, "SILENCE", 0.05)
    begun = time.time()
    install.follow("a title", [sys.executable, "-c", "import time; print('hidden\\n shown', time.time(), flush=True); time.sleep(0.7)"], LINES)
    said = capsys.readouterr().out.splitlines()
    first = next(line for line in said if line.startswith("shown"))
    assert said[0] == "-- a title" and float(first.split()[1]) >= begun and "hidden" not in "".join(said)
    assert said.count(f"   0 s: {first}") > 1 and said[-1].endswith(first)


def test_a_command_that_fails_shows_all_that_it_said(capsys):
    with pytest.raises(SystemExit) as ended:
        install.follow("a title", [sys.executable, "-c", "print('hidden'); raise SystemExit(3)"], LINES)
    said = capsys.readouterr().out
    assert ended.value.code == 3 and "hidden\nexit code 3: " in said


def test_requirements_are_those_of_the_build_of_running_and_of_the_extras():
    found = install.requirements(["yardstick", "mpi"])
    assert found[0].startswith("setuptools>=") and len(found) == len(set(found))
    assert {"mpi4py>=4.0", "torch==2.13.0"} <= {*found} and any(name.startswith("openmpi") for name in found)
    with pytest.raises(KeyError):
        install.requirements(["nonsense"])


@pytest.fixture
def run_all(monkeypatch):
    monkeypatch.chdir(ROOT)                          # it looks for the tests' files
    spec = importlib.util.spec_from_file_location("run_all", ROOT / "tests" / "run_all.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_make_quick_has_skipped(run_all):
    outputs = ["SKIPPED [2] tests/a.py:10: could not import 'torch': No module named 'torch'\nSKIPPED [1] tests/b.py:2: no sshd\n9 passed\n",
               "SKIPPED [3] tests/c.py:7: PyTorch, the yardstick, is not installed\nSKIPPED [1] tests/d.py:1: PyTorch's expanded zeros\n"]
    assert run_all.left_out(outputs) == ("skipped: 5 without PyTorch (`make yardstick` installs it); 1 no sshd; 1 PyTorch's expanded zeros")
    assert run_all.left_out(["9 passed\n"]) == "skipped: none"
    assert re.search(r"^yardstick:.*\n(\t.*\n)*?\t\$\(INSTALL\) --only yardstick$", (ROOT / "Makefile").read_text(), re.M)
