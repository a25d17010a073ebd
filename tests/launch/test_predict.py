"""dprun --predict on real ranks, with a script that knows nothing of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from launch import mpirun

try:
    mpirun.find()
except mpirun.LaunchError:
    pytest.skip("no mpirun", allow_module_level=True)

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import sys
import autograd as ag
from autograd import nn, optim
from dparallel import DataParallel
assert __name__ == "__main__" and sys.argv[1:] == ["--steps", "3000"], sys.argv
model = DataParallel(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5)))
optimizer = optim.Adam(model.parameters())
for step in range(int(sys.argv[2])):
    optimizer.zero_grad()
    model(ag.ones(8, 20)).square().mean().backward()
    optimizer.step()
print("the script came to its end")
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return str(path)


def dprun(*words):
    return subprocess.run([sys.executable, "-m", "launch", *map(str, words)], capture_output=True, text=True, timeout=180, cwd=ROOT)


def test_predict(script, tmp_path):
    kept, plot = tmp_path / "kept", tmp_path / "plot.html"
    done = dprun("--predict", "2,8,64", "--network", "latency=10us,bandwidth=25Gbit/s,topology=fat-tree", "--plot", plot, "--keep", kept,
                 script, "--steps", 3000)
    assert done.returncode == 0, done.stderr
    assert "Traced on 2 ranks" in done.stdout and "efficiency" in done.stdout and "the script came to its end" not in done.stdout
    assert "<svg" in plot.read_text() and json.loads((kept / "trace.json").read_text())["ranks"] == 2
    again = subprocess.run([sys.executable, "-m", "dparallel.prediction", kept, "--sizes", "16", "--hooks", ""], capture_output=True,
                           text=True, timeout=60, cwd=ROOT)
    assert again.returncode == 0 and "   16  " in again.stdout, again.stderr
    wrong = subprocess.run([sys.executable, "-m", "dparallel.prediction", kept, "--network", "speed=1"], capture_output=True, text=True,
                           timeout=60, cwd=ROOT)
    assert wrong.returncode == 2 and "'speed' not known" in wrong.stderr


def test_what_cannot_be_predicted(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("print('no training here')\n")
    done = dprun("--predict", "8", "-n", 1, path)
    assert done.returncode == 1 and "made no training step with a dparallel.DataParallel" in done.stderr


@pytest.mark.parametrize(("words", "said"), [
    (("--predict", "8,none"), "'8,none' is not a list of numbers of ranks"), (("--predict", "0"), "'0' is not a list"),
    (("--predict", "8", "--restarts", "2"), "--predict with --restarts"), (("-n", "2", "--plot", "p.svg"), "--plot requires --predict"),
    (("--predict", "8", "--plot", "p.png"), ".svg, .html, .json")])
def test_bad_options(script, words, said):
    done = dprun(*words, script)
    assert done.returncode == 2 and said in done.stderr


def test_options_are_documented():
    page = (ROOT / "docs" / "monitoring.md").read_text()
    helped = dprun("--help", "predictions").stdout
    for option in ("--predict", "--network", "--plot", "--keep"):
        assert option in helped and f"`{option} " in page
    fields = set(json.loads(subprocess.run([sys.executable, "-c", "import json; from dparallel.prediction import Network; print("
                                            "json.dumps(list(Network().as_dict())))"], capture_output=True, text=True, cwd=ROOT).stdout))
    assert all(f"`{name}`" in page for name in fields - {"exchange", "measured", "calls", "assumed"})
