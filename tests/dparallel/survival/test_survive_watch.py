"""What run.keep() and run.step() find in a training loop without a death (survival/watch.py): mistakes, and nothing else."""

import contextlib
import copy
import functools
import sys
import warnings

import numpy as np
import pytest

import autograd as ag
from autograd import nn, optim
from autograd.amp import GradScaler
from autograd.optim.lr_scheduler import (
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    LinearLR,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)
from autograd.optim.swa_utils import AveragedModel
from autograd.utils.data import BatchSampler, DataLoader, IterableDataset, Subset, TensorDataset
from dparallel import DataParallel, Devices, DistributedSampler, GlobalBatchSampler, run_ranks
from dparallel.checkpoint.checkpointer import parts_of
from dparallel.survival.watch import Earlier, Watch, misplaced, shares, untrained

DATA = TensorDataset(ag.ones(12, 2))


class Loop:
    """A usual training: each method is a loop of 9 steps in passes of 3, kept by all names but `without`."""

    def __init__(self, without=()):
        self.model = nn.Linear(2, 2)
        self.optimizer = optim.Adam(self.model.parameters(), lr=0.1)
        self.scheduler = StepLR(self.optimizer, 2)
        self.loader, self.validation = DataLoader(DATA, batch_size=4), DataLoader(DATA, batch_size=3)
        self.scaler = GradScaler("cpu")
        self.ema = AveragedModel(self.model)
        self.kept = {name: getattr(self, name) for name in ("model", "optimizer", "scheduler", "loader", "scaler", "ema") if name not in without}
        self.steps = 0

    def backward(self, x, optimizer=None):
        optimizer = optimizer or self.optimizer
        optimizer.zero_grad()
        self.model(x).square().mean().backward()
        optimizer.step()

    def begin(self):
        self.watch = Watch(parts_of(self.kept), 0)

    def step(self):
        self.watch.finish_step()
        self.steps += 1

    def run(self, kind):
        self.begin()
        try:
            getattr(self, kind)()
            self.watch.finish()
        finally:
            self.watch.end()

    # --- right -----------------------------------------------------------------------------------------------------------

    def usual(self):
        for _ in range(3):
            for (x,) in self.loader:
                self.backward(x)
                self.scheduler.step()
                self.ema.update_parameters(self.model)
                self.step()
            for (x,) in self.validation:
                self.model(x)

    def schedule_by_epoch(self):
        for _ in range(3):
            for (x,) in self.loader:
                self.backward(x)
                self.step()
            self.scheduler.step()

    def schedule_by_epoch_from_memory(self):
        batches = list(self.loader)
        for _ in range(3):
            for (x,) in batches:
                self.backward(x)
                self.step()
            self.scheduler.step()

    def schedule_before_the_optimizer(self):
        """PyTorch's order before 1.1, on synthetic data."""
        self.optimizer._opt_called = True            # of a run before
        for _ in range(9):
            self.scheduler.step()
            self.backward(ag.ones(4, 2))
            self.step()

    def skipped_steps(self):
        for _ in range(3):
            for (x,) in self.loader:
                self.scaler.scale(self.model(x).sum() * (np.inf if self.steps % 3 else 1.0)).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.scheduler.step()
                self.step()
                self.optimizer.zero_grad()

    def critic_steps(self):
        for _ in range(3):
            batches = iter(self.loader)
            for (x,) in batches:
                self.backward(x)
                self.backward(next(batches, (x,))[0])
                self.step()

    def adversarial_examples(self):
        for (x,) in self.loader:
            delta = ag.zeros(4, 2, requires_grad=True)
            attack = optim.SGD([delta], lr=0.1)
            for _ in range(2):
                (-self.model(x + delta).sum()).backward()
                attack.step()
            self.backward(x)
            self.step()

    def fine_tuned_copy(self):
        for (x,) in self.loader:
            self.backward(x)
            self.step()
            probe = copy.deepcopy(self.model)
            inner = optim.SGD(probe.parameters(), lr=0.1)
            probe(x).sum().backward()
            StepLR(inner, 1)
            inner.step()

    def accumulation(self):
        for _ in range(3):
            for number, (x,) in enumerate(self.loader):
                self.model(x).sum().backward()
                if number == 2:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    self.step()

    def validation_batches_now_and_then(self):
        batches = iter(self.validation)
        for _ in range(3):
            for (x,) in self.loader:
                self.backward(x)
                self.step()
                if self.steps % 3 == 0:
                    next(batches)

    # --- wrong -----------------------------------------------------------------------------------------------------------

    def schedule_after_the_step(self):
        for _ in range(3):
            for (x,) in self.loader:
                self.backward(x)
                self.step()
                self.scheduler.step()

    def plateau_after_the_step(self):
        plateau = ReduceLROnPlateau(self.optimizer)
        self.watch.end()
        self.kept["scheduler"] = plateau
        self.begin()
        for (x,) in self.loader:
            self.backward(x)
            self.step()
            plateau.step(1.0)

    def no_step(self):
        for (x,) in self.loader:
            self.backward(x)

    def no_step_in_a_long_pass(self):
        self.loader = self.kept["loader"] = DataLoader(TensorDataset(ag.ones(20, 2)))
        self.watch.end()
        self.begin()
        for number, (x,) in enumerate(self.loader):
            self.backward(x)
            if number == 16:
                raise SystemExit

    def no_step_in_two_passes(self):
        for number in range(2):
            for (x,) in self.loader:
                if number == 1:
                    raise SystemExit
                self.backward(x)

    def one_step_and_no_step(self):
        self.backward(ag.ones(4, 2))

    def second_optimizer(self):
        other = optim.SGD(self.model.parameters(), lr=0.1)
        for (x,) in self.loader:
            self.backward(x, other)
            self.backward(x)
            self.step()

    def second_model(self):
        other = nn.Linear(2, 2)
        of_other = optim.SGD(other.parameters(), lr=0.1)
        for (x,) in self.loader:
            self.backward(x)
            other(x).sum().backward()
            of_other.step()
            self.step()

    def scaled(self):
        for (x,) in self.loader:
            self.scaler.scale(self.model(x).sum()).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.step()


RIGHT = ["usual", "schedule_before_the_optimizer", "schedule_by_epoch", "schedule_by_epoch_from_memory", "skipped_steps", "critic_steps", "adversarial_examples", "fine_tuned_copy",
         "accumulation", "validation_batches_now_and_then"]
WRONG = [
    ("usual", "scheduler", RuntimeError, "StepLR sets the learning rate of a kept optimizer, and run.keep() did not get it", 1),
    ("schedule_by_epoch", "scheduler", RuntimeError, "StepLR sets", 4), ("usual", "optimizer", RuntimeError, "Adam takes steps on parameters of a kept model", 1),
    ("usual", "loader", UserWarning, "run.step() was called within a pass over a DataLoader of a TensorDataset", 9),
    ("usual", "ema", UserWarning, "AveragedModel averages weights", 9), ("scaled", "scaler", RuntimeError, "GradScaler scales losses", 1),
    ("schedule_after_the_step", "", RuntimeError, "StepLR.step() was called after run.step()", 2),
    ("schedule_after_the_step", "loader", UserWarning, "StepLR.step() was called after run.step()", 9),
    ("plateau_after_the_step", "", RuntimeError, "ReduceLROnPlateau.step() was called after", 2),
    ("no_step", "", UserWarning, "Adam has taken 3 steps, and run.step() was not called", 0),
    ("no_step_in_two_passes", "", UserWarning, "Adam has taken 3 steps", 0), ("no_step_in_a_long_pass", "", UserWarning, "Adam has taken 16 steps", 0),
    ("one_step_and_no_step", "", UserWarning, "Adam has taken 1 steps, and run.step() was not called", 0),
    ("second_optimizer", "", RuntimeError, "SGD takes steps on parameters", 1),
    ("second_model", "", UserWarning, "SGD trains a parameter of shape [2, 2] that is in no model", 3),
]


@pytest.mark.parametrize("kind", RIGHT)
def test_right_loops_are_silent(kind):
    loop = Loop(without=["loader"] * (kind == "schedule_before_the_optimizer"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        loop.run(kind)


@pytest.mark.parametrize("kind, without, error, text, steps", WRONG)
def test_mistakes_are_found_at_the_first_step_that_shows_them(kind, without, error, text, steps):
    """steps: how many finished before it was an error; of a warning, all."""
    loop = Loop(without=[without])
    if error is RuntimeError:
        with pytest.raises(RuntimeError) as raised:
            loop.run(kind)
        assert text in str(raised.value) and loop.steps == steps - 1
        return
    with pytest.warns(UserWarning) as found, contextlib.suppress(SystemExit):        # which a loop raises at once
        loop.run(kind)
    assert any(text in str(one.message) for one in found), [str(one.message) for one in found]
    assert loop.steps == steps


@pytest.mark.parametrize("compound", [
    lambda o: SequentialLR(o, [LinearLR(o), ConstantLR(o)], [2]), lambda o: ChainedScheduler([StepLR(o, 1), CosineAnnealingLR(o, 5)])])
def test_schedules_within_a_kept_one(compound):
    loop = Loop()
    loop.kept["scheduler"] = loop.scheduler = compound(loop.optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        loop.run("usual")


def test_parameters_that_nothing_keeps():
    loop, margin = Loop(), nn.Parameter(ag.ones(3))
    loop.optimizer.add_param_group({"params": [margin]})
    assert "Adam trains a parameter of shape [3]" in untrained(parts_of(loop.kept))
    assert not untrained(parts_of(loop.kept | {"margins": [margin]}))
    assert "Adam trains" in untrained(parts_of({"optimizer": loop.optimizer}))


class Shared(IterableDataset):
    def __init__(self, rank, world_size):
        self.rank, self.world_size = rank, world_size

    def __iter__(self):
        yield from range(self.rank, 12, self.world_size)


class Wrapper:
    """A batch sampler of the user's, around another one."""

    def __init__(self, inner):
        self.inner = inner

    def __iter__(self):
        return iter(self.inner)


MADE = {
    "GlobalBatchSampler": lambda comm: DataLoader(DATA, batch_sampler=GlobalBatchSampler(DATA, 4, comm=comm)),
    "DistributedSampler": lambda comm: DataLoader(DATA, batch_size=2, sampler=DistributedSampler(DATA, comm=comm)),
    "Shared": lambda comm: DataLoader(Shared(comm.rank, comm.size), batch_size=2),
    "a wrapper": lambda comm: DataLoader(DATA, batch_sampler=Wrapper(GlobalBatchSampler(DATA, 4, comm=comm))),
    "the sampler itself": lambda comm: GlobalBatchSampler(DATA, 4, comm=comm),
    "DataParallel": lambda comm: DataParallel(nn.Linear(2, 2), comm=comm),
}


class Config:
    """A place where a script keeps things."""


PLACES = {
    "a variable": lambda thing: thing, "a class": lambda thing: setattr(Config, "loader", thing), "a default": lambda thing: lambda run, loader=thing: loader,
    "a closure of a closure": lambda thing: functools.partial(lambda made: made(), lambda: thing), "a method": lambda thing: [thing].__len__,
    "a slot": lambda thing: Slotted(thing), "a generator": lambda thing: (one for one in [thing]), "a long list": lambda thing: [*range(500), thing],
    "a cache": lambda thing: functools.lru_cache(lambda: thing), "a module": lambda thing: setattr(sys.modules[__name__], "KEPT_HERE", thing),
}


class Slotted:
    """A batch sampler of the user's without a __dict__."""

    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner

    def __iter__(self):
        return iter(self.inner)


class WithCommunicator(TensorDataset):
    def __init__(self, comm):
        super().__init__(ag.ones(12, 2))
        self.comm, self.more = comm, [[[[number]] for number in range(60)] for _ in range(60)]       # more than is looked into


@pytest.mark.parametrize("kind", MADE)
def test_what_was_made_for_other_ranks(kind):
    def check(comm):
        nothing = Earlier()
        thing = MADE[kind](comm)
        parts = parts_of({"loader" if "Par" not in kind else "model": thing})
        assert not misplaced(parts, nothing, comm, None)
        found = misplaced(parts, Earlier(), comm, None)
        assert "was made before the function under survive(), for the 2 ranks of then" in found and kind.split()[-1] in found + "wrapper itself", found
        if kind in ("DistributedSampler", "Shared"):                             # the rank of a membership that is no more
            later = Devices(1)
            assert not misplaced(parts, nothing, later, (comm.rank, 2))
            comm.barrier()
        return found

    run_ranks(2, check)
    assert not misplaced(parts_of({"loader": MADE[kind](Devices(1))}) if "Par" not in kind else {}, Earlier(), Devices(1), None)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.threads(2)
def test_what_was_made_before_is_found_wherever_it_is(comm, place):
    sampler = GlobalBatchSampler(DATA, 4, comm=comm)
    kept = PLACES[place](sampler)
    there = Earlier()
    for loader in (DataLoader(DATA, batch_sampler=sampler), DataLoader(WithCommunicator(comm), batch_sampler=sampler),
                   DataLoader(DATA, batch_sampler=Wrapper(sampler)), DataLoader(DATA, batch_sampler=Slotted(sampler))):
        assert "the GlobalBatchSampler in loader= was made before" in misplaced(parts_of({"loader": loader}), there, comm, None)
    return kept is None


class ByHand:
    """A sampler of the user's: every size-th row, from the rank on."""

    def __init__(self, comm):
        self.first, self.stride = comm.rank, comm.size

    def __iter__(self):
        return iter(range(self.first, 12, self.stride))

    def __len__(self):
        return 12 // self.stride


ALIKE = {
    "plain": lambda comm: DataLoader(DATA, batch_size=4, shuffle=True), "GlobalBatchSampler": MADE["GlobalBatchSampler"],
    "DistributedSampler": MADE["DistributedSampler"], "a wrapper": MADE["a wrapper"], "seeds": lambda comm: DataLoader(Seeded(comm.rank), batch_size=4),
    "a wrapped loader": lambda comm: Resumed(MADE["DistributedSampler"](comm)),
}
APART = {
    "sampler": lambda comm: DataLoader(DATA, batch_size=2, sampler=ByHand(comm)), "list": lambda comm: DataLoader(DATA, sampler=list(range(comm.rank, 12, 2))),
    "batches": lambda comm: DataLoader(DATA, batch_sampler=[[i, i + 1] for i in range(2 * comm.rank, 12, 4)]),
    "subset": lambda comm: DataLoader(Subset(DATA, range(comm.rank, 12, 2))), "rows": lambda comm: DataLoader(TensorDataset(ag.arange(12)[comm.rank::2])),
    "a wrapper": lambda comm: DataLoader(DATA, batch_sampler=Wrapper(BatchSampler(DistributedSampler(DATA, comm=comm), 2, False))),
    "a wrapped loader": lambda comm: Resumed(DataLoader(Subset(DATA, range(comm.rank, 12, 2)))),
}


class Seeded(TensorDataset):
    """A dataset that changes its rows by random numbers of each rank's own."""

    def __init__(self, rank):
        super().__init__(ag.ones(12, 2))
        self.seed = rank


class Resumed(Wrapper):
    """A loader of the user's around another one, with its state."""

    def state_dict(self):
        return self.inner.state_dict()

    def load_state_dict(self, state):
        self.inner.load_state_dict(state)


@pytest.mark.parametrize("kind", [*(("alike", name) for name in ALIKE), *(("apart", name) for name in APART)], ids=" ".join)
def test_shares_that_can_not_be_divided_anew(kind):
    """Ranks with other samples, whose loader does not count those of all ranks."""
    prints = run_ranks(2, lambda comm: shares(parts_of({"loader": {"alike": ALIKE, "apart": APART}[kind[0]][kind[1]](comm)})))
    assert (prints[0] != prints[1]) == (kind[0] == "apart")
