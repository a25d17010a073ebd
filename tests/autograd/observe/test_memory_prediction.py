"""predict_memory(): the peaks of larger batches from two small steps, and whether they fit."""

import json
from pathlib import Path

import numpy as np
import pytest
from memory_models import cnn, measured, mlp, run

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.base.system_memory import Limit
from autograd.kernels import blocks
from autograd.observe.profiler import heap, memory_prediction
from autograd.observe.profiler.heap import Move, heap_peak
from autograd.observe.profiler.inventory import USES
from autograd.profiler import predict_memory, profile

compiled = pytest.mark.skipif("not __import__('autograd').show_config()['compiled core']", reason="the core is not compiled")
pytestmark = [pytest.mark.young, compiled, pytest.mark.usefixtures("only_what_is_new")]
LIMITS = [Limit(1 << 40, "plenty", True)]


@pytest.fixture
def limits(monkeypatch):
    """A list of limits that the system is made to say."""
    found = list(LIMITS)
    monkeypatch.setattr(memory_prediction.system, "limits", lambda: sorted(found))
    return found


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system says nothing of memory")
@pytest.mark.parametrize(("kind", "rows"), [("wide", 64), ("cnn", 128), ("gpt", 8)])
def test_real_peaks(kind, rows):
    code = ("import sys; sys.path.insert(0, 'tests/autograd/helpers')\nfrom memory_models import *\nfrom autograd.profiler import predict_memory\n"
            f"model, x = MODELS[{kind!r}](4)\n"
            f"found = predict_memory(model, x, lambda y: y.pow(2).mean(), optim.Adam, batch_size={rows})\n"
            "print(json.dumps([found.nbytes, found.exact, sum(found.by_use.values())]))")
    nbytes, exact, parts = run("-c", code)
    peak = measured(kind, rows)["peak"]
    assert exact and abs(nbytes - peak) < 0.15 * peak
    assert parts == pytest.approx(nbytes, abs=100)


def test_arrays_are_those_of_a_real_step():
    model, x = mlp(8, 300)
    found = predict_memory(model, x, lambda y: y.pow(2).mean(), lambda p: optim.SGD(p, lr=0.1), batch_size=1500, sizes=(40, 80))
    big = ag.randn(1500, 784)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with profile(profile_memory=True) as prof:
        for _ in range(2):
            optimizer.zero_grad()
            model(big).pow(2).mean().backward()
            optimizer.step()
    peak = prof.memory_peak()
    assert found.by_use["activations"] + found.by_use["gradients of activations"] + found.by_use["temporary"] == pytest.approx(
        sum(peak.by_use.get(use, 0) for use in ("activations", "gradients of activations", "temporary")), rel=0.02)


def test_nothing_changes():
    model, x = cnn(4)
    optimizer = optim.Adam(model.parameters())
    model(x).sum().backward()
    optimizer.step()
    before = {name: value.numpy(force=True).copy() for name, value in model.state_dict().items()}
    grads = [p.grad.array.copy() for p in model.parameters()]
    state = json.dumps({str(k): sorted(v) for k, v in optimizer.state_dict()["state"].items()})
    random = ag.get_rng_state().tolist()
    predict_memory(nn.Sequential(model, nn.Dropout(0.5)), x, None, optimizer, batch_size=16)
    assert all(np.array_equal(value.numpy(force=True), before[name]) for name, value in model.state_dict().items())
    assert all(np.array_equal(p.grad.array, g) for p, g in zip(model.parameters(), grads, strict=True))
    assert random == ag.get_rng_state().tolist() and blocks.pool.watched == 0
    assert state == json.dumps({str(k): sorted(v) for k, v in optimizer.state_dict()["state"].items()})


def test_will_it_fit(limits):
    model, x = mlp(8, 200)
    ask = lambda rows, **more: predict_memory(model, (x, ag.randint(0, 10, (8,))), F.cross_entropy, optim.Adam,
                                              batch_size=rows, sizes=(16, 32), **more)
    limits[:] = [Limit(1 << 38, "plenty", True)]
    found, four = ask(10**6), ask(2 * 10**6, ranks_per_host=4)       # so many rows that this process's own memory is little
    assert found.fits and "It fits" in str(found) and "plenty" in str(found)
    need = int(found.nbytes * 1.1) - found.resident
    for left, fits in ((need + 1000, True), (need - 1000, False)):
        tight = found._replace(limits=[Limit(left, "control group", True), *limits])
        assert tight.fits == fits and ("does NOT fit" in str(tight)) != fits and "by control group" in str(tight)
    assert found._replace(limits=[]).fits and "does not tell" in str(found._replace(limits=[]))
    of_row = (four.nbytes - found.nbytes) / 10**6
    assert found.largest - four.largest == pytest.approx((1 << 38) * 3 / 4 / 1.1 / of_row, rel=0.02)      # four have a quarter each
    assert found.largest == pytest.approx((1 << 38) / 1.1 / of_row, rel=0.05)
    assert four.host_bytes == 4 * (four.nbytes - four.by_use["shared memory"])
    limits[:] = [Limit(0, "nothing", False)]
    none = ask(1000, held={"parameters": 10**12})
    assert none.largest is None and "No batch fits" in str(none)


def test_inputs_of_all_kinds(limits):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(10, 400), nn.Linear(10, 400)
            self.b.requires_grad_(False)

        def forward(self, x, y=None, scale=2.0):
            out = self.a(x) + (0 if y is None else self.b(y))
            return {"out": (out * scale, [out.argmax(1)])}

    x = ag.tensor(np.ones((3, 10), np.float32))
    both = [optim.SGD([net.a.weight], lr=0.1) for net in (Net(), Net())]
    ask = lambda batch, *args, **more: predict_memory(Net(), batch, *args, batch_size=10**5, sizes=(10, 20), **more)
    found = ask((x, x), None, both)
    assert found.exact and found.by_use["activations"] >= 400 * 10**5 * 4 / 2
    inference = ask(x, train=False)
    own = 4 * (10 * 400 + 400)                       # of a; other tests may have left some
    assert found.by_use["gradients"] - inference.by_use["gradients"] >= own and inference.nbytes < found.nbytes
    of_dict = ask({"x": x, "y": x, "scale": 3.0}, held={"parameters": 10**9})
    assert of_dict.by_use["parameters"] == 10**9 and of_dict.by_use["activations"] >= 400 * 10**5 * 4 / 2


def test_what_is_held_elsewhere_is_not_in_the_heap(limits, monkeypatch):
    monkeypatch.setattr(memory_prediction, "freed_memory_is_kept", False)           # of other tests, which could be used
    model, x = mlp(4, 1200)
    weights = sum(p.array.nbytes for p in model.parameters())

    def ask(**more):
        by_use = predict_memory(model, x, None, lambda p: optim.SGD(p, lr=0.1), batch_size=16, **more).by_use
        return sum(by_use[use] for use in (*USES, "freed memory"))       # libraries and the like may have grown meanwhile

    assert ask() - ask(held={"gradients": 0}) > 0.8 * weights


def test_two_steps_that_differ_are_said_to(limits):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(10, 100)

        def forward(self, x):
            out = self.a(x)
            return out if len(x) < 50 else out.exp()

    found = predict_memory(Net(), ag.ones(4, 10), batch_size=1000, sizes=(40, 80))
    assert not found.exact and "different operations" in str(found)
    assert found.by_use["activations"] > 1000 * 100 * 4 / 2


def test_what_is_refused():
    model, x = mlp(4, 10)
    for match, error, arguments in (
            ("batch_size=0", ValueError, {"batch_size": 0}), ("sizes=", ValueError, {"batch_size": 9, "sizes": (4, 4)}),
            ("held=", ValueError, {"batch_size": 9, "held": {"weights": 1}}),
            ("ranks_per_host=0", ValueError, {"batch_size": 9, "ranks_per_host": 0})):
        with pytest.raises(error, match=match):
            predict_memory(model, x, **arguments)
    with pytest.raises(ValueError, match="no tensor with rows"):
        predict_memory(model, 5, batch_size=9)
    with pytest.raises(ValueError, match="give a loss_fn"):
        predict_memory(nn.ReLU(), x, lambda y: memory_prediction.mean_of(3), batch_size=9)
    with pytest.raises(ValueError, match="train=False"):
        predict_memory(nn.Linear(784, 2).requires_grad_(False), x, batch_size=9)
    with ag.no_grad():
        assert predict_memory(nn.Linear(784, 2), x, batch_size=9).by_use["gradients"] > 0
    model.lock = __import__("threading").Lock()
    with pytest.raises(NotImplementedError, match="can't be copied"):
        predict_memory(model, x, batch_size=9)
    assert blocks.pool.watched == 0


# --- the heap -----------------------------------------------------------------------------------------------------------

def test_a_heap_of_moves(monkeypatch):
    monkeypatch.setattr(heap, "HEADER", 0)
    kb = 1024
    moves = [Move(0, 64 * kb, False), Move(1, 64 * kb, False), Move(2, 64 * kb, False), Move(0, 0, False), Move(1, 0, False)]
    assert heap_peak(moves) == 192 * kb
    assert heap_peak([*moves, Move(3, 128 * kb, False)]) == 192 * kb             # two that are free next to each other
    assert heap_peak([*moves, Move(3, 129 * kb, False)]) == 321 * kb             # too large for them
    assert heap_peak([*moves, Move(3, 65 * kb, False), Move(4, 63 * kb, False), Move(5, kb, False)]) == 193 * kb
    large = blocks.LARGE
    pooled = [Move(0, large, True), Move(1, kb, False), Move(0, 0, False)]
    assert heap_peak([*pooled, Move(2, large // 2, False)]) == large + kb + large // 2      # the block is kept
    assert heap_peak([*pooled, Move(2, large, True)]) == large + kb
    assert heap_peak([Move(0, heap.MAPPED, False), Move(0, 0, False), Move(1, 16, False)]) == heap.MAPPED + 0
    assert heap_peak([]) == 0


