"""docs/gradients.md: our column against exact values, and PyTorch's by running it, where it is installed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "bench"))
import gradients_vs_torch as bench  # noqa: E402

sys.path.pop(0)
PAGE = (ROOT / "docs" / "gradients.md").read_text()


@pytest.mark.parametrize("case", bench.CASES, ids=lambda case: case.call)
def test_ours_are_exact(case):
    for mine, right in zip(bench.ours(case), bench.exact(case)):
        np.testing.assert_allclose(mine, right, atol=1e-6)


def test_the_page_lists_all_cases_with_their_exact_values():
    for case in bench.CASES:
        assert f"| `{case.call}` | {bench.shown(bench.exact(case))} |" in PAGE


def test_what_the_page_says_of_pytorch_is_what_it_does(tmp_path):
    torch = pytest.importorskip("torch")
    done = subprocess.run([sys.executable, str(ROOT / "tests" / "bench" / "gradients_vs_torch.py"), "--out", str(tmp_path / "table")],
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in (tmp_path / "table").read_text().splitlines()[2:]]
    assert len(rows) == len(bench.CASES) and all(row[3] == "right |" and row[2] for row in rows)
    if torch.__version__.startswith("2.13."):
        assert (tmp_path / "table").read_text() in PAGE
    else:                                                # another version may have put something right, or wrong
        assert any(row[2] == "right" for row in rows)
