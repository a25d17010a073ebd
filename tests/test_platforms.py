"""macOS and Windows, as far as a Linux can play them: what these systems lack is taken away (other_system.py); and ROS 2's
package `launch` in the place of ours, or before it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CODE = """
failed = every_module()
assert not failed.keys() - before.keys(), failed
import contextlib, io, sys, tempfile
import autograd as ag, autograd.nn.functional as F
from autograd import nn, optim
from autograd.utils.data import DataLoader, TensorDataset
import dparallel
from dparallel import AllReduce, DataParallel, graceful_exit, run_ranks, world
ag.show_config(), ag.cpu.memory_summary()
for model in (DataParallel(nn.Linear(3, 1)), DataParallel(nn.Linear(3, 1), device_ids=[0, 1])):      # one process; local devices
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(ag.ones(8, 3), ag.ones(8, 1)), batch_size=4):
        F.mse_loss(model(x), y).backward()
        optimizer.step()
assert [y.item() for y in run_ranks(2, lambda comm: AllReduce.apply(ag.ones(1), comm=comm))] == [2, 2]
with tempfile.TemporaryDirectory() as folder:
    ag.save(model.state_dict(), f"{folder}/a.safetensors")
    assert ag.load(f"{folder}/a.safetensors", mmap=True).keys() == model.state_dict().keys()
with graceful_exit() as stop:
    assert not stop.requested()
assert world().size == 1
from launch.cli import main
for words, there in ((["-n", "2", "train.py"], "dprun has no mpirun to start on Windows"), (["--top"], "")):
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    if sys.platform == "win32" and there:
        assert code == 2 and there in said.getvalue() and "dparallel.run_ranks" in said.getvalue(), said.getvalue()
"""


def test_other_systems(tmp_path):
    """Every module imports; training on one process, local devices and threads; files; dprun says what there is not."""
    done = subprocess.run([sys.executable, "-W", "ignore", str(ROOT / "tests" / "other_system.py"),
                           CODE, "darwin", "win32"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "DPARALLEL_PURE": "1"})      # extensions are not loaded a second time
    assert not done.returncode, done.stderr


IN_ROS = """
import launch, pytest, sys
assert launch.LaunchService
assert not pytest.main(["-q", "-p", "launch_testing_hooks", "-p", "dprun.pytest_plugin", "-p", "no:cacheprovider", "test_both.py"])
import dparallel.integrations.notebook, dparallel.distributed.rendezvous
assert sys.modules["launch"] is launch and "launch.job" not in sys.modules
"""
BOTH = """
import launch, pytest
@pytest.mark.ranks(2, kinds=("threads", "mpi"))
def test_ranks(comm):
    assert comm.size == 2
def test_theirs(service):
    assert isinstance(service, launch.LaunchService)
"""


def test_launch_is_another_package(tmp_path):
    """ROS 2's package before ours on the path: all runs that is ours, its own too. Over ours, or uninstalled: one line says so."""
    site, ros = tmp_path / "site", tmp_path / "ros" / "launch"
    shutil.copytree(ROOT / "launch", site / "launch", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "dprun.py", site)
    for package in ("autograd", "dparallel"):
        (site / package).symlink_to(ROOT / package)
    for name, text in {"launch/__init__": "from . import actions\nfrom .launch_service import LaunchService\n", "launch/actions": "",
                       "launch/launch_service": "class LaunchService: pass\n",
                       "launch_testing_hooks": "import launch, pytest\n@pytest.fixture\ndef service(): return launch.LaunchService()\n"}.items():
        (ros.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (ros.parent / f"{name}.py").write_text(text)
    (tmp_path / "train.py").write_text("print('trains')\n")
    (tmp_path / "test_both.py").write_text(BOTH)
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ros.parent, site))), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def python(*words):
        return subprocess.run([sys.executable, *words], env=path, cwd=tmp_path, capture_output=True, text=True)

    done = python("-c", IN_ROS)
    assert not done.returncode and "3 passed" in done.stdout, done.stdout + done.stderr
    assert 'pytest_plugin" = "dprun.pytest_plugin"' in (ROOT / "pyproject.toml").read_text()
    assert "-n" in python(site / "dprun.py", "--help").stdout
    shutil.copytree(ros, site / "launch", dirs_exist_ok=True)
    for _ in range(2):
        done = python(site / "dprun.py", "-n", "2", "train.py")
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.startswith(f"dprun: {site / 'launch' / '__init__.py'} is not dparallel's"), done.stderr
        assert "ROS 2" in done.stderr and "`pip install --force-reinstall --no-deps " in done.stderr
        (site / "launch" / "__init__.py").unlink(missing_ok=True)
