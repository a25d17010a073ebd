"""Rounding errors in float32 beside PyTorch's, the cases of tests/bench/accuracy.py: at most twice, of batch norm 1.5 times."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import accuracy

pytestmark = pytest.mark.processor


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", accuracy.CASES, ids=lambda case: f"{case.title} {case.shapes[0]}")
def test_the_error_is_of_pytorchs_size(case, monkeypatch):
    monkeypatch.setattr(accuracy, "STEPS", 200)      # the page has 1,000; the ratios are of the same size
    for name, (ours, theirs) in accuracy.errors(case).items():
        assert accuracy.ratio(ours, theirs) <= case.bound, (name, ours, theirs)


def test_the_measure_sees_a_lost_digit():
    lost = accuracy.reduction("a sum", lambda lib, x: x.sum(-1) * (1 if lib.__name__ == "torch" else np.float32(1 + 2e-6)), (4, 64))
    (ours, theirs), _ = accuracy.errors(lost).values()
    assert accuracy.ratio(ours, theirs) > 10
