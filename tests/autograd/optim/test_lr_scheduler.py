"""Every scheduler's rates (and momenta) over 30 epochs beside PyTorch's, straight through and resumed from a state dict."""

import pickle
import warnings

import pytest
from both import needs_torch, torch

import autograd as ag
from autograd import nn, optim

pytestmark = pytest.mark.quick

EPOCHS = 30


class Warmup:
    """A callable object: its attributes belong to the state."""

    def __init__(self, over):
        self.over = over

    def __call__(self, epoch):
        return min(1.0, (epoch + 1) / self.over)


def sequential(s, o, milestones, *makers):
    return s.SequentialLR(o, [make(s, o) for make in makers], milestones=milestones)


CASES = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda e: 0.9 ** e), "lambdas": lambda s, o: s.LambdaLR(o, [lambda e: 1 / (e + 1), Warmup(4)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95 if e % 2 else 1.02),
    "step": lambda s, o: s.StepLR(o, 7, gamma=0.3), "step-default": lambda s, o: s.StepLR(o, 3),
    "multistep": lambda s, o: s.MultiStepLR(o, [4, 9, 9, 20], gamma=0.5),
    "constant": lambda s, o: s.ConstantLR(o), "constant-long": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=13),
    "linear": lambda s, o: s.LinearLR(o), "linear-down": lambda s, o: s.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=20),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=8), "cosine-min": lambda s, o: s.CosineAnnealingLR(o, T_max=30, eta_min=1e-3),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=20), "polynomial-2": lambda s, o: s.PolynomialLR(o, total_iters=40, power=2.0),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=4), "cyclic-2": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, 6, mode="triangular2"),
    "cyclic-exp": lambda s, o: s.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 5, mode="exp_range", gamma=0.95, base_momentum=0.7, max_momentum=0.99),
    "cyclic-fn": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, scale_fn=lambda x: 1 / x, cycle_momentum=False),
    "cyclic-fn-batches": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, scale_fn=lambda x: 0.9 ** x, scale_mode="iterations"),
    "onecycle": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=40), "onecycle-3": lambda s, o: s.OneCycleLR(o, [0.3, 0.1], epochs=5, steps_per_epoch=8, three_phase=True),
    "onecycle-linear": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=31, anneal_strategy="linear", pct_start=0.4, div_factor=10, final_div_factor=100,
                                                 base_momentum=0.5, max_momentum=[0.8, 0.9]),
    "onecycle-fixed": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=40, cycle_momentum=False, three_phase=True, anneal_strategy="linear"),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=5), "restarts-2": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=1e-3),
    "sequential": lambda s, o: sequential(s, o, [5], lambda s, o: s.LinearLR(o, 0.1, total_iters=5), lambda s, o: s.CosineAnnealingLR(o, 20)),
    "sequential-3": lambda s, o: sequential(s, o, [4, 15], lambda s, o: s.ConstantLR(o, 0.1, 4), lambda s, o: s.ExponentialLR(o, 0.9),
                                            lambda s, o: s.StepLR(o, 3, 0.5)),
    "sequential-restarts": lambda s, o: sequential(s, o, [6], lambda s, o: s.LinearLR(o), lambda s, o: s.CosineAnnealingWarmRestarts(o, 4)),
    "sequential-zero": lambda s, o: sequential(s, o, [0], lambda s, o: s.StepLR(o, 2), lambda s, o: s.ExponentialLR(o, 0.9)),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, factor=0.1, total_iters=4), s.ExponentialLR(o, gamma=0.9)], optimizer=o),
    "nested": lambda s, o: s.ChainedScheduler([sequential(s, o, [3], lambda s, o: s.LinearLR(o, total_iters=3), lambda s, o: s.StepLR(o, 4)),
                                               s.ExponentialLR(o, 0.99)]),
}


def optimizer(lib, kind):
    make = nn.Parameter if lib is ag else torch.nn.Parameter
    params = [make(lib.ones(2)), make(lib.ones(3))]
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.05}]
    return lib.optim.SGD(groups, lr=0.1, momentum=0.9) if kind == "SGD" else lib.optim.Adam(groups, lr=0.02)


def read(o, scheduler):
    return [(float(g["lr"]), g.get("momentum", g.get("betas"))) for g in o.param_groups], [float(lr) for lr in scheduler.get_last_lr()]


def walk(lib, name, kind, resume_at=None):
    o = optimizer(lib, kind)
    scheduler = CASES[name](lib.optim.lr_scheduler, o)
    seen = [read(o, scheduler)]
    for epoch in range(EPOCHS):
        if epoch == resume_at:
            held, state = o.state_dict(), scheduler.state_dict()
            o = optimizer(lib, kind)
            scheduler = CASES[name](lib.optim.lr_scheduler, o)
            o.load_state_dict(held)
            scheduler.load_state_dict(state)
        o.step()
        scheduler.step()
        seen.append(read(o, scheduler))
    return seen


def close(a, b):
    for (groups, last), (other_groups, other_last) in zip(a, b, strict=True):
        assert last == pytest.approx(other_last, rel=1e-12, abs=1e-18)
        for (lr, momentum), (other_lr, other_momentum) in zip(groups, other_groups, strict=True):
            assert lr == pytest.approx(other_lr, rel=1e-12, abs=1e-18) and momentum == pytest.approx(other_momentum, rel=1e-12)


@needs_torch
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", CASES)
def test_rates_like_pytorch(name, kind):
    theirs = walk(torch, name, kind)
    close(walk(ag, name, kind), theirs)
    for resume_at in (1, 12):
        close(walk(ag, name, kind, resume_at), theirs)


@needs_torch
@pytest.mark.parametrize("name", CASES)
def test_state_has_pytorchs_keys_and_pickles(name):
    a, b = (CASES[name](lib.optim.lr_scheduler, optimizer(lib, "SGD")).state_dict() for lib in (ag, torch))
    drop = {"_get_lr_called_within_step", "_is_initial", "_scale_fn_ref"}
    assert set(a) - drop == set(b) - drop
    if name not in ("lambdas",):
        pickle.dumps(a)


@needs_torch
@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith(("sequential", "chained", "nested", "multiplicative"))])
def test_given_epochs_and_late_starts(name):
    """step(epoch) goes by the closed form; last_epoch continues from groups that have an initial_lr."""
    pairs = []
    for lib in (ag, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            o = optimizer(lib, "SGD")
            scheduler = CASES[name](lib.optim.lr_scheduler, o)
            seen = []
            for epoch in (3, 8, 2, 15, 16):
                scheduler.step(epoch)
                seen.append(read(o, scheduler))
        pairs.append(seen)
    close(*pairs)


LATE = {
    "step": lambda s, o, e: s.StepLR(o, 3, last_epoch=e), "multistep": lambda s, o, e: s.MultiStepLR(o, [5, 6, 6], last_epoch=e),
    "exponential": lambda s, o, e: s.ExponentialLR(o, 0.9, last_epoch=e), "constant": lambda s, o, e: s.ConstantLR(o, last_epoch=e),
    "linear": lambda s, o, e: s.LinearLR(o, 0.1, total_iters=7, last_epoch=e), "polynomial": lambda s, o, e: s.PolynomialLR(o, 9, 2.0, last_epoch=e),
    "cosine": lambda s, o, e: s.CosineAnnealingLR(o, 9, 1e-3, last_epoch=e), "lambda": lambda s, o, e: s.LambdaLR(o, lambda e: 1 / (e + 1), last_epoch=e),
    "multiplicative": lambda s, o, e: s.MultiplicativeLR(o, lambda e: 0.95 if e % 2 else 1.02, last_epoch=e),
    "restarts": lambda s, o, e: s.CosineAnnealingWarmRestarts(o, 3, last_epoch=e), "restarts-2": lambda s, o, e: s.CosineAnnealingWarmRestarts(o, 2, 2, last_epoch=e),
    "cyclic": lambda s, o, e: s.CyclicLR(o, 0.1, 0.3, 4, last_epoch=e), "onecycle": lambda s, o, e: s.OneCycleLR(o, 2.5, 40, last_epoch=e),
    "sequential": lambda s, o, e: s.SequentialLR(o, [s.LinearLR(o, total_iters=4), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 9)], [4, 7], last_epoch=e),
    "chained": lambda s, o, e: s.ChainedScheduler([s.ConstantLR(o, factor=0.1, total_iters=6, last_epoch=e), s.ExponentialLR(o, gamma=0.9, last_epoch=e)]),
    "chained-cosine": lambda s, o, e: s.ChainedScheduler([s.LinearLR(o, last_epoch=e), s.CosineAnnealingLR(o, 9, 1e-3, last_epoch=e)]),
}


@pytest.mark.parametrize("held", ["a new optimiser", "the rate of the last epoch", "the rate of this epoch"])
@pytest.mark.parametrize("last_epoch", [0, 2, 3, 4, 6, 13])
@pytest.mark.parametrize("name", LATE)
def test_a_late_last_epoch_continues_the_schedule(name, last_epoch, held):
    """As without the interruption, whatever rate the groups have. PyTorch steps on from that rate, which is right for some
    schedulers in some cases."""
    def run(scheduler, o, seen, steps):
        seen.append(read(o, scheduler))
        for _ in range(steps):
            o.step()
            scheduler.step()
            seen.append(read(o, scheduler))

    o, s = optimizer(ag, "SGD"), ag.optim.lr_scheduler
    straight, resumed = [], []
    run(LATE[name](s, o, -1), o, straight, 20)
    later = optimizer(ag, "SGD")
    if name != "onecycle":                           # whose arguments say all
        with pytest.raises(KeyError, match="initial_lr"):
            LATE[name](s, later, last_epoch) if name != "sequential" else s.StepLR(later, 3, last_epoch=last_epoch)
    for group, other in zip(later.param_groups, o.param_groups, strict=True):
        group["initial_lr"] = other["initial_lr"]
    if held != "a new optimiser":
        rates = straight[last_epoch + (held == "the rate of this epoch")][0]
        for group, (lr, _) in zip(later.param_groups, rates, strict=True):
            group["lr"] = lr
    run(LATE[name](s, later, last_epoch), later, resumed, 19 - last_epoch)
    close(resumed, straight[last_epoch + 1:])


def test_warm_restarts_begin_at_the_first_epoch_of_a_cycle():
    """By logarithms, as PyTorch has it, epoch 242 of cycles of 2, 6, 18, ... belongs to the cycle before."""
    for first, mult in ((1, 3), (2, 3), (3, 5), (10, 7)):
        scheduler = ag.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer(ag, "SGD"), first, mult)
        for cycles in range(9):
            scheduler.step(first * (mult ** cycles - 1) // (mult - 1))
            assert scheduler.T_cur == 0 and scheduler.T_i == first * mult ** cycles and scheduler.get_last_lr()[0] == 0.1


@needs_torch
@pytest.mark.parametrize("options", [{}, {"patience": 2}, {"mode": "max", "patience": 1, "factor": 0.5}, {"threshold_mode": "abs", "threshold": 0.3, "patience": 0},
                                     {"mode": "max", "threshold_mode": "abs", "threshold": 0.1, "cooldown": 3, "patience": 1},
                                     {"patience": 0, "min_lr": [0.01, 0.02]}, {"patience": 0, "cooldown": 2, "min_lr": 1e-4, "eps": 1e-3}])
def test_plateau(options):
    metrics = [5, 4, 3, 3, 3, 3.2, 2.9, 2.9, 3, 3, 3, 1, 1, 1, 1, 1, 1.1, 1, 1, 0.5, 0.5, 0.5, 2, 2, 2, 2, 2, 2, 2, 2]
    runs = []
    for lib in (ag, torch):
        o = optimizer(lib, "SGD")
        scheduler, seen = lib.optim.lr_scheduler.ReduceLROnPlateau(o, **options), []
        for epoch, metric in enumerate(metrics):
            scheduler.step(lib.tensor(metric) if epoch % 2 else metric)
            seen.append((read(o, scheduler), scheduler.num_bad_epochs, scheduler.best, scheduler.in_cooldown))
            if epoch == 10:
                state, scheduler = scheduler.state_dict(), lib.optim.lr_scheduler.ReduceLROnPlateau(o)
                scheduler.load_state_dict(state)
        runs.append(seen)
    for a, b in zip(*runs, strict=True):
        close([a[0]], [b[0]])
        assert a[1:] == b[1:]


BAD = [lambda s, o: s.LambdaLR(o, [lambda e: 1]), lambda s, o: s.MultiplicativeLR(o, 3), lambda s, o: s.ConstantLR(o, 2.0), lambda s, o: s.LinearLR(o, 0.0),
       lambda s, o: s.LinearLR(o, 0.5, 1.5), lambda s, o: s.CyclicLR(o, 0.1, 0.2, mode="x"), lambda s, o: s.CyclicLR(o, [0.1], 0.2),
       lambda s, o: s.OneCycleLR(o, 0.1), lambda s, o: s.OneCycleLR(o, 0.1, total_steps=-1), lambda s, o: s.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=3),
       lambda s, o: s.OneCycleLR(o, 0.1, 9, pct_start=2.0), lambda s, o: s.OneCycleLR(o, 0.1, 9, anneal_strategy="x"),
       lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 0), lambda s, o: s.ReduceLROnPlateau(o, "x"),
       lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0]), lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"),
       lambda s, o: s.SequentialLR(o, [], []), lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [3]), lambda s, o: s.ChainedScheduler([]),
       lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), lambda s, o: s.StepLR(3, 1),
       lambda s, o: (lambda x: [x.step() for _ in range(9)])(s.OneCycleLR(o, 0.1, total_steps=3))]


@needs_torch
@pytest.mark.parametrize("make", BAD)
def test_bad_arguments(make):
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for lib in (ag, torch):
            with pytest.raises((ValueError, TypeError, KeyError)) as caught:
                make(lib.optim.lr_scheduler, optimizer(lib, "SGD"))
            said.append(caught)
    assert said[0].type is said[1].type and str(said[0].value)[:30] == str(said[1].value)[:30]


def test_order_of_calls_is_warned_of():
    o = optimizer(ag, "SGD")
    scheduler = optim.lr_scheduler.StepLR(o, 1)
    with pytest.warns(UserWarning, match=r"lr_scheduler.step\(\)` before `optimizer.step"):
        scheduler.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()
    o = optimizer(ag, "SGD")
    scheduler = optim.lr_scheduler.StepLR(o, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            o.step()
            scheduler.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(7)


def test_tensor_rates_stay_the_same_tensor_and_own_schedulers_work():
    lr = ag.tensor(0.5)
    o = optim.SGD([nn.Parameter(ag.ones(2))], lr=lr)
    scheduler = optim.lr_scheduler.ExponentialLR(o, 0.5)
    for _ in range(2):
        o.step()
        scheduler.step()
    assert o.param_groups[0]["lr"] is lr and lr.item() == 0.125 and o.param_groups[0]["initial_lr"].item() == 0.5

    class Half(optim.lr_scheduler._LRScheduler):
        def __init__(self, optimizer, last_epoch=-1):
            self.floor = 0.1
            super().__init__(optimizer, last_epoch)

        def get_lr(self):
            return [max(self.floor, base * 0.5 ** self.last_epoch) for base in self.base_lrs]

    o = optim.SGD([nn.Parameter(ag.ones(2))], lr=1.0)
    own, rates = Half(o), []
    for _ in range(5):
        o.step()
        own.step()
        rates.append(own.get_last_lr()[0])
    assert rates == [0.5, 0.25, 0.125, 0.1, 0.1]


def test_factors_of_no_epochs_and_of_zero():
    """PyTorch keeps the first factor for good, and divides by the factor 0."""
    s = ag.optim.lr_scheduler
    for make, rates in ((lambda o: s.ConstantLR(o, 0.5, total_iters=0), [0.1, 0.1]), (lambda o: s.ConstantLR(o, 0.0, total_iters=1), [0.0, 0.1]),
                        (lambda o: s.LinearLR(o, 0.5, 0.8, total_iters=0), [0.08, 0.08])):
        o = optimizer(ag, "SGD")
        scheduler = make(o)
        seen = list(scheduler.get_last_lr()[:1])
        o.step()
        scheduler.step()
        assert [*seen, scheduler.get_last_lr()[0]] == pytest.approx(rates)
