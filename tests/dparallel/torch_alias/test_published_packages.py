"""Published packages over torch, unmodified: the same results from PyTorch and from this library under the torch alias."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "published_packages.py"
MODULES = {"transformers": ("transformers",), "timm": ("timm", "torchvision"), "torchmetrics": ("torchmetrics",),
           "torchinfo": ("torchinfo",), "safetensors": ("safetensors",), "accelerate": ("accelerate",), "ignite": ("ignite",)}


def run(package, file, *alias):
    """The arrays that a package gives, in a process of its own."""
    done = subprocess.run([sys.executable, *alias, str(SCRIPT), package, str(file)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    with np.load(file) as found:
        return dict(found)


@pytest.mark.parametrize("package", MODULES)
def test_the_same_results_as_with_pytorch(package, tmp_path):
    for module in ("torch", *MODULES[package]):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    theirs = run(package, tmp_path / "theirs.npz")
    ours = run(package, tmp_path / "ours.npz", "-m", "dparallel.torch_alias")
    assert ours.keys() == theirs.keys() and len(ours) > 0
    for name, expected in theirs.items():
        if expected.dtype.kind != "f":
            assert np.array_equal(ours[name], expected), name
            continue
        scale = max(1e-3, float(np.abs(expected).max(initial=0)))        # gradients that are 0 but for rounding
        tolerance = 1e-4 if package == "transformers" else 1e-6         # Llama's norm computes in float32, whatever the dtype
        np.testing.assert_allclose(ours[name], expected, rtol=10 * tolerance, atol=tolerance * scale, err_msg=name)
