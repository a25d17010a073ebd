"""Ways of training that meet DataParallel: two models in one pass, checkpoints, shared layers; and mistakes on one rank."""

import subprocess
import sys

import numpy as np
import pytest
from filled_models import filled
from raised import raises

import autograd as ag
from autograd import nn
from autograd.utils.checkpoint import checkpoint
from dparallel import DataParallel, run_ranks

FEATURES = 4


def mlp(out=FEATURES):
    return filled(nn.Sequential(nn.Linear(FEATURES, 6), nn.Tanh(), nn.Linear(6, out)).double())


def piece(rank):
    return ag.from_numpy(np.random.default_rng(rank).standard_normal((rank + 1, FEATURES)))


def rows_of_all(size):
    return ag.cat([piece(r) for r in range(size)])


def same(model, one):
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_two_models_in_one_pass(comm):
    """A generator and a discriminator: the generator's step goes through both, the discriminator's through one."""
    g, d = (DataParallel(mlp(), comm=comm, batch="own", bucket_cap_mb=0.0002) for _ in range(2))
    g_one, d_one = mlp(), mlp()
    for net, other, x in ((g, d, piece(comm.rank)), (g_one, d_one, rows_of_all(comm.size))):
        (other(net(x)) ** 2).mean().backward()
    same(g, g_one)
    same(d, d_one)
    for net, other, x in ((g, d, piece(comm.rank)), (g_one, d_one, rows_of_all(comm.size))):
        net.zero_grad()
        other.zero_grad()
        (other(net(x).detach()) ** 2).mean().backward()
    same(d, d_one)
    assert all(p.grad is None for p in g.parameters())


def test_the_unwrapped_module(comm):
    """Its rows are not known: an error that says so on all ranks, or the weight that is given."""
    model, one = DataParallel(mlp(), comm=comm, batch="own"), mlp()
    if comm.size > 1:
        with pytest.raises(RuntimeError, match="none of its outputs.*model.weighted"):
            (model.module(piece(comm.rank)) ** 2).mean().backward()
    with model.weighted(comm.rank + 1):
        (model.module(piece(comm.rank)) ** 2).mean().backward()
    (one(rows_of_all(comm.size)) ** 2).mean().backward()
    same(model, one)
    alike, two = DataParallel(mlp(), comm=comm, batch="own", average="ranks"), mlp()
    (alike.module(piece(comm.rank)) ** 2).mean().backward()
    (sum((two(piece(r)) ** 2).mean() for r in range(comm.size)) / comm.size).backward()
    same(alike, two)


class Checkpointed(nn.Module):
    def __init__(self, reentrant, shared):
        self.first, self.a = nn.Linear(FEATURES, 4), nn.Linear(4, 4)
        self.b = self.a if shared else nn.Linear(4, 4)
        self.reentrant = reentrant
        filled(self.double())

    def forward(self, x):
        y = self.first(x)
        for layer in (self.a, self.b):
            y = (checkpoint(lambda t, f=layer: f(t).tanh(), y, use_reentrant=self.reentrant)
                 if self.reentrant is not None else layer(y).tanh())
        return y


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_checkpoints(comm, reentrant, shared):
    """A pass inside the pass brings gradients; a layer in two checkpoints brings them twice."""
    model = DataParallel(Checkpointed(reentrant, shared), comm=comm, batch="own", bucket_cap_mb=0.0001)
    one = Checkpointed(None, shared)
    for _ in range(2):
        model.zero_grad()
        (model(piece(comm.rank)) ** 2).mean().backward()
    (one(rows_of_all(comm.size)) ** 2).mean().backward()
    same(model, one)


class Tied(nn.Module):
    """A layer inside a checkpoint and outside: its gradient comes twice, in two passes."""

    def __init__(self, around):
        self.first, self.tied, self.last = nn.Linear(FEATURES, 4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.around = around
        filled(self.double())

    def forward(self, x):
        return self.last(self.tied(self.around(lambda t: self.tied(t).tanh(), self.first(x))))


class Reenters(ag.Function):
    reenters = True

    @staticmethod
    def forward(ctx, f, x):
        ctx.f, ctx.x = f, x
        with ag.no_grad():
            return f(x)

    @staticmethod
    def backward(ctx, g):
        x = ctx.x.detach().requires_grad_()
        with ag.enable_grad():
            ctx.f(x).backward(g)
        return None, x.grad


class Undeclared(Reenters):
    reenters = False


@pytest.mark.parametrize("around", [lambda f, x: checkpoint(f, x, use_reentrant=True), Reenters.apply])
@pytest.mark.parametrize("average", ["rows", "ranks"])
def test_a_layer_inside_and_outside_of_a_pass_inside_the_pass(comm, around, average):
    """Also with a penalty on the weights, whose gradients come before the outputs' own."""
    x = ag.ones(2, FEATURES, dtype=ag.float64) * (comm.rank + 1)
    everyone = ag.cat([ag.ones(2, FEATURES, dtype=ag.float64) * (r + 1) for r in range(comm.size)])
    model = DataParallel(Tied(around), comm=comm, batch="own", average=average, bucket_cap_mb=1e-6)
    one = Tied(lambda f, x: f(x))
    for _ in range(2):
        for net, rows in ((model, x), (one, everyone)):
            net.zero_grad()
            ((net(rows) ** 2).mean() + sum((p ** 2).sum() for p in net.parameters())).backward()
        same(model, one)


def test_an_undeclared_pass_inside_the_pass_is_named(comm):
    model = DataParallel(Tied(Undeclared.apply), comm=comm, batch="own", bucket_cap_mb=1e-6)
    if comm.size > 1:
        raises(RuntimeError, "tied.*reenters = True", lambda: model(piece(comm.rank)).sum().backward())


def test_a_reentrant_checkpoint_on_devices_inside_another(comm):
    """The threads of a pass know the passes that it is inside."""
    model = DataParallel(Checkpointed(True, True), comm=comm, devices=2, batch="own")
    one, x = Checkpointed(None, True), ag.ones(4, FEATURES, dtype=ag.float64).requires_grad_()
    for net, call in ((model, lambda t: checkpoint(model, t, use_reentrant=True)), (one, one)):
        ((call(x) ** 2).mean() + sum((p ** 2).sum() for p in net.parameters())).backward()
    same(model, one)


def test_several_outputs_of_which_one_is_used(comm):
    class Two(nn.Module):
        def __init__(self):
            self.a, self.b = mlp(), mlp()

        def forward(self, x, key="b"):
            return {"a": self.a(x), key: [self.b(x), None, "text"]}

    model, one = DataParallel(Two(), comm=comm, batch="own", find_unused_parameters=True), Two()
    for _ in range(2):
        model.zero_grad()
        (model(piece(comm.rank))["a"] ** 2).mean().backward()
    (one(rows_of_all(comm.size))["a"] ** 2).mean().backward()
    same(model.module.a, one.a)
    assert all(p.grad is None for p in model.module.b.parameters())
    model(piece(comm.rank))["b"][0].sum().backward(inputs=[model.module.b[2].weight])
    assert model.module.b[2].weight.grad is not None and model.module.b[2].bias.grad is None


@pytest.mark.parametrize("late", [True, False])
def test_a_pass_that_raised_leaves_nothing_behind(comm, late):
    """All ranks catch the same exception in the middle of backward, and go on."""
    model, one = DataParallel(mlp(), comm=comm, batch="own", bucket_cap_mb=0.0001), mlp()

    def fails(g):
        raise KeyError("planted")

    x = piece(comm.rank)
    y = model(x)
    handle = (model.module[0].weight if late else y).register_hook(fails)
    raises(KeyError, None, lambda: y.sum().backward())
    handle.remove()
    model.zero_grad()
    (model(x) ** 2).mean().backward()
    (one(rows_of_all(comm.size)) ** 2).mean().backward()
    same(model, one)


PLANTED = '''
import autograd as ag
from autograd import nn
from dparallel import DataParallel, world
comm, where = world(), {where!r}
bad = comm.rank == comm.size - 1

def hook(state, bucket):
    if bad:
        raise ValueError("planted in a hook")
    return comm.start_allreduce([bucket.array / comm.size]).then(lambda handle: handle.value()[0])

def raising(g):
    raise ValueError("planted in backward")

class Net(nn.Linear):
    def forward(self, x):
        if bad and where == "forward":
            raise ValueError("planted in forward")
        return super().forward(x)

model = DataParallel(Net(3, 2), comm=comm)
if where == "hook":
    model.register_comm_hook(None, hook)
y = model(ag.ones(2, 3))
if bad and where == "backward":
    y.register_hook(raising)
y.sum().backward()
print("went on")
'''


@pytest.mark.parametrize("where", ["forward", "backward", "hook"])
def test_an_exception_on_one_rank_ends_the_job(where, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(PLANTED.format(where=where))
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", "--threads", "1", str(script)], capture_output=True,
                          text=True, timeout=200)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and f"planted in {'a ' if where == 'hook' else ''}{where}" in text, text
    assert "went on" not in text


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_an_exception_on_one_thread_ends_all(where):
    def body(comm):
        model = DataParallel(mlp(), comm=comm)
        x = piece(comm.rank)
        if comm.rank == 1 and where == "forward":
            raise KeyError("planted")
        y = model(x)
        if comm.rank == 1:
            y.register_hook(lambda g: {}["planted"])
        y.sum().backward()

    raises(KeyError, "planted", run_ranks, 3, body)
