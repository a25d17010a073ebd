"""PyTorch's samples of each operation as a compiled step: values and gradients against eager, and which steps are native.

    python tests/autograd/compile/test_operations.py --write         # write native_operations.txt, a line an operation

An operation in the list whose step needs calls of Python fails. The list may only grow.
"""

import itertools
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "helpers")]
pytest.importorskip("torch")

import opinfo
import torch

import autograd as ag
from autograd.compile.checks.state import Snapshot
from autograd.compile.errors import TraceError
from autograd.compile.lowering.lower import NotNative
from autograd.compile.native import available
from autograd.compile.programs.engines import NATIVE
from autograd.compile.recorded import Recorded
from autograd.compile.recording.nests import Nest

pytestmark = pytest.mark.skipif(bool(available()), reason=available())
LIST = Path(__file__).with_name("native_operations.txt")
TOLERANCES = {torch.float32: (2e-3, 1e-3), torch.float64: (1e-7, 1e-8)}


def operations(dtype):
    """(name, our function, first sample) of each operation with a derivative whose values are not random."""
    for op in opinfo.PLAIN:
        form = next(iter(opinfo.forms(op)), None)
        if (op.name in opinfo.UNKNOWN_VALUES or any(d in op.name for d in opinfo.DRAWN) or dtype not in op.dtypes
                or not op.supports_autograd or form is None or form[2] is None):
            continue
        opinfo.seed(0)
        try:
            for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=True), 1):
                args, kwargs = opinfo.ours((sample.input, *sample.args)), opinfo.ours(sample.kwargs)
                yield f"{op.name} {op.variant_test_name}".strip(), form[2], args, kwargs
        except Exception:                            # PyTorch can't make its sample, or it has what we lack
            continue


def step_of(function, args, kwargs):
    """A step with forward and backward, and the leaves whose gradients it sets."""
    leaves = [t for t in opinfo.flat([args, list(kwargs.values())], ag.Tensor) if t.requires_grad]

    def step():
        for t in leaves:
            t.grad = None
        outs = [o for o in opinfo.flat(function(*args, **kwargs), ag.Tensor) if o.requires_grad and o.dtype.kind == "f"]
        total = sum([(o * o).sum() for o in outs])
        total.backward()
        return total

    return step, leaves


def gradients(leaves):
    """Copies of .grad, or None."""
    return [None if t.grad is None else t.grad.array.copy() for t in leaves]


def outcome(step, leaves, tolerance):
    """"native", "python" (it calls Python) or "refused"; AssertionError where a run of the program differs from the step."""
    step()
    try:
        recorded = Recorded(step, Nest(()), Snapshot([step]), [step], NATIVE).make()
    except (TraceError, NotNative):
        return "refused"
    for t in (*leaves, None):
        wanted = [step().array.copy(), *gradients(leaves)]
        for x in leaves:
            x.grad = None
        try:
            got = [recorded.program.run()[0], *gradients(leaves)]
        except TraceError:                           # a branch on values goes another way
            return "refused"
        for number, (a, b) in enumerate(zip(got, wanted)):
            assert (a is None) == (b is None), f"gradient {number - 1}: {a} for {b}"
            if a is not None:
                np.testing.assert_allclose(a, b, *tolerance, equal_nan=True)
        if t is not None:                            # other values of one leaf: nothing of the recording may be left
            t.array[...] = t.array * t.array.dtype.type(0.97)
    return "native" if not recorded.program.python else "python"


def run(dtype, every=1):
    """{operation: outcome}; a failure is its text."""
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, function, args, kwargs in itertools.islice(operations(dtype), 0, None, every):
            step, leaves = step_of(function, args, kwargs)
            try:
                step()
            except Exception:                        # no derivative of this sample
                continue
            try:
                found[name] = outcome(step, leaves, TOLERANCES[dtype])
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found


@pytest.mark.parametrize("dtype, every", [(torch.float32, 1), (torch.float64, 10)], ids=["float32", "float64"])
def test_operations(dtype, every):
    """No sample has other values; what the list says is native."""
    found = run(dtype, every)
    wrong = {name: text for name, text in found.items() if text not in ("native", "python", "refused")}
    assert not wrong, "\n".join(f"{name}: {text[:300]}" for name, text in wrong.items())
    listed = LIST.read_text().split("\n")
    if dtype is torch.float64:                       # which oneDNN does not know
        listed = [name for name in listed if not name.startswith(("nn.functional.conv", "nn.functional.max_pool"))]
    no_longer = {name: found[name] for name in listed if found.get(name, "native") != "native"}
    assert not no_longer
    print({kind: list(found.values()).count(kind) for kind in ("native", "python", "refused")},
          "not in the list:", [name for name, kind in found.items() if kind == "native" and name not in listed])


if __name__ == "__main__":
    results = run(torch.float32)
    for name, kind in results.items():
        if kind not in ("native", "python", "refused"):
            print(name, kind[:600])
    native = sorted(name for name, kind in results.items() if kind == "native")
    print(len(results), {kind: list(results.values()).count(kind) for kind in ("native", "python", "refused")})
    if "--write" in sys.argv:
        LIST.write_text("\n".join(native) + "\n")
