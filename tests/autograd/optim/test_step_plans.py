"""Steps that a compiler makes of rates and update(), beside those of step()."""

import copy

import numpy as np
import pytest
from optimizers import CASES, IDS, SHAPES, give_gradients, ours

import autograd as ag
from autograd import nn, optim
from autograd.compile.lowering.ir import ELEMENTWISE
from autograd.kernels.loops import loops
from autograd.optim.elementwise import Elementwise
from autograd.optim.optimizer import register_optimizer_step_post_hook
from autograd.optim.step_plan import StepPlan, refusal

pytestmark = pytest.mark.quick
COMPILED = [(case, name) for case, name in zip(CASES, IDS, strict=True) if issubclass(getattr(optim, case[0]), Elementwise)]


class Watched(np.ndarray):
    """An array of which nothing is known but dtype and shape, as a compiler watches them. Kernels decline it."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **settings):
        assert method == "__call__" and ufunc.__name__ in ELEMENTWISE and not settings
        assert not any(isinstance(x, float) for x in inputs), "a rate that is read only once"
        made = ufunc(*map(plain, inputs), **({} if out is None else {"out": (plain(out[0]),)}))
        assert made.dtype in (self.dtype, bool)
        return np.asarray(made).view(Watched) if out is None else out[0]

    def __array_function__(self, function, types, args, kwargs):
        assert function in (np.where, np.copyto) and not kwargs
        made = function(*map(plain, args))
        return None if made is None else made.view(Watched)

    def refuse(self, *args):
        raise AssertionError("a value is read")

    __bool__ = __float__ = __int__ = __iter__ = __getitem__ = __setitem__ = item = tolist = copy = refuse


def plain(x):
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def run(plan):
    """What a compiled step does after read_rates()."""
    for part in plan.parts:
        g = np.concatenate([p.grad.array.reshape(-1) for p in part.params])
        arguments = {name: x.view(Watched) if isinstance(x, np.ndarray) else x for name, x in part.arguments.items()}
        plan.optimizer.update(part.values.view(Watched), g.view(Watched), *(a.view(Watched) for a in part.arrays), **arguments)


@pytest.mark.parametrize("name, options", [case for case, _ in COMPILED], ids=[name for _, name in COMPILED])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernels", [False, True])
def test_rates_and_update_make_the_step(name, options, dtype, kernels, monkeypatch):
    """Bitwise where NumPy makes both; the rates follow the learning rate, and the numbers of the state those of step()."""
    if not kernels:
        monkeypatch.setattr(loops, "library", None)
    (p, mine), (q, other) = (ours(name, SHAPES, 2, dtype, **options) for _ in range(2))
    plan, called = None, 0
    for step in range(10):
        give_gradients(step, p, q, dtype=dtype, missing=False)
        p[1].grad = q[1].grad = None
        for optimizer in (mine, other):
            for group in optimizer.param_groups:
                group["lr"] = ag.tensor(0.1 / (step + 1), dtype=ag.float64)
        mine.step()
        if plan is not None and plan.read_rates():
            run(plan)
            continue
        other.step()
        called += 1
        assert refusal(other) == ""
        plan = StepPlan(other)
    assert called == (2 if "t0" in options else 1)        # ASGD has another update once it averages
    compare = np.testing.assert_array_equal if not kernels else (
        lambda a, b: np.testing.assert_allclose(a, b, 1e-6 if dtype == np.float64 else 1e-5, 1e-6))
    for a, b in zip(p, q, strict=True):
        compare(a.array, b.array)
        assert list(mine.state[a]) == list(other.state[b])
        for key, value in mine.state[a].items():
            compare(value.array, other.state[b][key].array)
    assert mine.steps_taken == other.steps_taken and other.state_dict()["state"].keys() == mine.state_dict()["state"].keys()


def stepped(name="Adam", params=None, **options):
    params = params or [nn.Parameter(ag.ones(3)), nn.Parameter(ag.ones(2, 2))]
    optimizer = getattr(optim, name)(params, **options)
    for p in params:
        p.grad = ag.ones_like(p)
    optimizer.step()
    return params, optimizer


def numbers(optimizer):
    return [state["step"].item() for state in optimizer.state.values()]


def test_a_step_that_is_refused():
    class Own(optim.Adam):
        def step(self, closure=None):
            return super().step(closure)

    recorded = stepped()[1]
    recorded.param_groups[0]["differentiable"] = True
    half, turned = nn.Parameter(ag.ones(3, dtype=ag.float16)), nn.Parameter(ag.ones(2, 3))
    turned.data = ag.tensor(np.asfortranarray(np.ones((2, 3), np.float32)))
    alias = turned.detach()                                   # keeps it where it is
    for optimizer, reason in ((stepped("LAMB")[1], "LAMB has its own step"), (Own([turned]), "Own has its own"),
                              (stepped(params=[half])[1], "ndarray of float16"), (stepped(params=[turned])[1], "not contiguous"),
                              (recorded, "differentiable"), (optim.SGD([turned], momentum=0.9), "no state")):
        assert reason in refusal(optimizer)
    p, optimizer = stepped()
    assert alias.shape == turned.shape and refusal(stepped("SGD")[1]) == refusal(optim.Adagrad(p)) == ""
    assert "closure" in refusal(optimizer, lambda: 0.0)
    for register in (optimizer.register_step_pre_hook, register_optimizer_step_post_hook):
        handle = register(lambda *args: None)
        assert "hook" in refusal(optimizer)
        handle.remove()
    assert refusal(optimizer) == ""


@pytest.mark.parametrize("change, lasting", [
    (lambda p, o: o.param_groups[0].update(weight_decay=0.1), True), (lambda p, o: o.param_groups[0].update(maximize=True), True),
    (lambda p, o: o.param_groups[0].update(amsgrad=True), True),
    (lambda p, o: setattr(p[0], "data", ag.zeros(3)), False), (lambda p, o: o.load_state_dict(copy.deepcopy(o.state_dict())), False),
    (lambda p, o: o.state[p[0]]["step"].add_(5), True), (lambda p, o: o.state.clear(), False),
    (lambda p, o: o.add_param_group({"params": [nn.Parameter(ag.ones(1))]}), True), (lambda p, o: o.register_step_pre_hook(print), True)])
def test_a_plan_notices_changes(change, lasting, capsys):
    """Then nothing is advanced. Arrays that the next step() moves back to where they were are no change any more."""
    p, optimizer = stepped()
    plan = StepPlan(optimizer)
    assert plan.read_rates() and numbers(optimizer) == [2, 2]
    change(p, optimizer)
    before, rates = numbers(optimizer), [part.rates.tolist() for part in plan.parts]
    assert not plan.read_rates()
    assert numbers(optimizer) == before and [part.rates.tolist() for part in plan.parts] == rates
    optimizer.step()
    assert plan.read_rates() is not lasting
