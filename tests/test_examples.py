"""The examples run: alone, on local devices, under dprun; and the digits give the same curve everywhere."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from launch.mpirun import find, survives

pytestmark = pytest.mark.commands
ROOT = Path(__file__).parent.parent
LARGE = runpy.run_path(str(ROOT / "tests" / "examples" / "large_examples.py"))
datasets = pytest.importorskip("sklearn.datasets")
pytest.importorskip("tqdm")


SKLEARN = """
import os
import numpy as np

def load(name):
    arrays = dict(np.load(f"{os.path.dirname(__file__)}/{name}.npz"))
    return (lambda return_X_y=False: (arrays["data"], arrays["target"]) if return_X_y else type("Bunch", (), arrays)())

load_digits, load_diabetes, load_sample_images = load("digits"), load("diabetes"), load("sample_images")
"""


@pytest.fixture(scope="session")
def data_alone(tmp_path_factory):
    """The environment for a run with sklearn's data but without sklearn, which takes 2 s to import in each process. The run
    of digits.py without MPI is with sklearn itself."""
    folder = tmp_path_factory.mktemp("data")
    package = folder / "sklearn" / "datasets"
    package.mkdir(parents=True)
    (folder / "sklearn" / "__init__.py").write_text("")
    (package / "__init__.py").write_text(SKLEARN)
    for name in ("digits", "diabetes", "sample_images"):
        found = getattr(datasets, f"load_{name}")()
        np.savez(package / f"{name}.npz", **{key: value for key, value in found.items() if key in ("data", "target", "images")})
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


def test_digits_under_dprun_reach_97_percent_with_a_picture_and_equal_weights(tmp_path, data_alone):
    text = run(*DPRUN, 2, "examples/digits.py", "--plot", tmp_path / "curve.png", **data_alone)
    accuracy = float(re.search(r"accuracy on 360 held-out images: ([\d.]+)%", text)[1])
    assert accuracy >= 97
    assert "samples per second on 2 ranks (mpi)" in text
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
        assert re.search("continues after step (20|10)", text) and len(again) == 40, text
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
    assert re.search(f"continues after step 2[67], on {left} ranks", text) and "rank 2 died; the others have finished" in text, text
    assert len(curves[0]) == 40
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-9)


def test_the_large_examples_on_two_ranks_are_those_of_one_process(tmp_path, data_alone):
    """That weights are the same on both ranks, and that a run goes on bitwise, is asserted where they run."""
    pytest.importorskip("networkx")
    alone, ranks = (tmp_path / name for name in ("alone", "ranks"))
    ranks.mkdir()
    run(*DPRUN, 2, "tests/examples/large_examples.py", ranks, **data_alone)
    found = json.loads((ranks / "results.json").read_text())
    expected = LARGE["results"](alone)
    assert found.keys() == expected.keys()
    for whole, rest in (found.pop("goes on"), expected.pop("goes on")):
        assert len(whole) == 4 and rest == whole[2:]
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-3, err_msg=name)
    assert expected["club"][-1] == 33, expected["club"]


def test_char_gpt_learns(tmp_path):
    text, _ = LARGE["said"](LARGE["char_gpt"], *LARGE["GPT"], "--steps", 80, "--out", tmp_path)
    first, *_, last = LARGE["losses"](text)
    assert first > 3.5 and last < 3.1 and len(text.splitlines()[-1]) > 20
    assert json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])["test_loss"] == pytest.approx(last, rel=1e-5)


def test_char_gpt_on_arguments_at_the_edge(tmp_path, capsys):
    small, text = ("--steps", "2", "--width", "8", "--heads", "2", "--layers", "1", "--context", "8", "--length", "3"), tmp_path / "text"
    text.write_text("to be or not to be " * 9)
    with pytest.raises(SystemExit):
        LARGE["char_gpt"].main(["--width", "30"])
    assert "--width 30: a multiple of --heads, 4" in capsys.readouterr().err
    with pytest.raises(ValueError, match="text: a tenth of the text has to be longer than --context 64"):
        LARGE["char_gpt"].main(["--data", str(text), "--out", str(tmp_path / "none")])
    LARGE["said"](LARGE["char_gpt"], *small, "--warmup", 0, "--data", text, "--out", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["step"] == 2 and [line["test_loss"] < 4 for line in lines if "test_loss" in line] == [True]
    assert not (tmp_path / "none").exists()


def test_cifar_resnet_recognises_digits():
    text, _ = LARGE["said"](LARGE["cifar_resnet"], "--width", 8, "--batch", 32, "--rows", 800, "--epochs", 3)
    assert float(re.search(r"on 360 held-out images: ([\d.]+)%", text)[1]) > 50
    first, *_, last = LARGE["losses"](text)
    assert first > 2 and last < 1.6


def test_cifar_resnet_reads_cifar_10(tmp_path):
    """Of 25 images to a file, whose class is which colour is bright, and how bright."""
    rng, binary, rows = np.random.default_rng(0), tmp_path / "binary", []
    binary.mkdir()
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        y, x = rng.integers(0, 6, 25), rng.integers(0, 60, (25, 3, 32, 32)).astype(np.uint8)
        for image, which in zip(x, y):
            image[which % 3] += np.uint8(90 + 90 * (which // 3))
        rows.append(np.concatenate([y[:, None].astype(np.uint8), x.reshape(25, 3072)], 1))
        rows[-1].tofile(binary / f"{name}.bin")
    trained, held_out = LARGE["cifar_resnet"].cifar10(binary)
    for (x, y), wanted in ((trained, np.concatenate(rows[:5])), (held_out, rows[5])):
        assert np.array_equal(y, wanted[:, 0]) and np.array_equal(x.reshape(-1, 3072), wanted[:, 1:]) and x.dtype == np.uint8
    text, _ = LARGE["said"](LARGE["cifar_resnet"], "--data", binary, "--width", 4, "--batch", 25, "--epochs", 4, "--log", tmp_path / "log")
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert lines[0]["images"] == 125 and lines[-2]["loss"] < 0.8 * lines[0]["loss"], text


def test_graph_net_recognises_digits():
    text, _ = LARGE["said"](LARGE["graph_net"], "digits", "--width", 32, "--batch", 24, "--epochs", 5, "--lr", 1e-2)
    assert float(re.search(r"digits: ([\d.]+)% of 360", text)[1]) > 45


SAID = {"vae": r"evidence lower bound: (\d+)", "wgan_gp": r"critic sees: (-?\d)", "cartpole": r"mean of the last rounds: (\d+)", "lbfgs": r"mean squared error (0\.48)",
        "contrastive": r"nearest neighbour is the same digit: (\d+)"}


@pytest.fixture(scope="module", params=[(), (*DPRUN, 2)], ids=["alone", "dprun"])
def short_runs(request, tmp_path_factory, data_alone):
    """What the examples print, one after the other, and the folder of their pictures: one job, as importing takes longest."""
    folder = tmp_path_factory.mktemp("pictures")
    return run(*request.param, "tests/examples/short_runs.py", folder, **data_alone), folder


@pytest.mark.parametrize("name", SAID)
def test_short_runs(name, short_runs):
    text, folder = short_runs
    assert re.search(SAID[name], text), text
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
