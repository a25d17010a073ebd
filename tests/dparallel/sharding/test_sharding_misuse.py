"""Mistakes with sharded modules end in clear errors on all ranks; ranks may differ where they can."""

import pytest
from raised import raises
from sharded_models import (
    FEATURES,
    SEED,
    make_mlp,
    same,
    sgd,
    train,
    values,
    wrap,
)

import autograd as ag
from autograd import nn, optim
from dparallel import CollectiveError, DataParallel, hooks, run_ranks


def test_ranks_that_go_different_ways(on_ranks, shard):
    """Each rank uses its own layers, in its own order and number, some of them twice, one of them none."""
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])
            self.last = nn.Linear(3, 3)

        def forward(self, x, way):
            for number in way:
                x = self.layers[number](x).tanh()
            return x if not way else self.last(x)

    ways = [[0, 1, 2, 3], [], [3, 0, 3], [2], [1, 1, 2]]

    def run(comm, kind):
        with SEED:
            ag.manual_seed(0)
            net = Branches().double()
        model = wrap(net, comm, kind, average="ranks")
        optimizer = sgd(model.parameters())
        for step in range(4):
            optimizer.zero_grad()
            y = model(ag.ones(2, 3, dtype=ag.float64).requires_grad_(), ways[(comm.rank + step) % len(ways)])
            y.pow(2).sum().backward()
            optimizer.step()
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


class Layers(nn.Module):
    """Uses its layers in the given order."""

    def __init__(self, number):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(FEATURES, FEATURES) for _ in range(number)])

    def forward(self, x, way):
        for number in way:
            x = self.layers[number](x).tanh()
        return x


def make_layers(number):
    with SEED:
        ag.manual_seed(0)
        return Layers(number).double()


def test_orders_that_change_on_all_ranks(on_ranks, shard):
    """Also evaluation, two forwards before a backward, and a forward that is not followed by one."""
    ways = [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [5, 3, 1], [0, 2, 2, 4, 0], [1], [0, 1, 2, 3, 4, 5]]

    def run(comm, kind):
        model = wrap(make_layers(6), comm, kind, average="ranks")
        optimizer = sgd(model.parameters())
        x = ag.full((2, FEATURES), 0.1 * (comm.rank + 1), dtype=ag.float64)
        for step, way in enumerate(ways):
            optimizer.zero_grad()
            if step == 3:
                model(x, [1, 0])
            with ag.no_grad():
                seen = model(x, way[::-1]).sum()
            y = model(x, way)
            ((y + model(x, way[:1])).pow(2).sum() * (seen.item() + 2)).backward()
            optimizer.step()
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


def test_failed_backwards_that_have_started_different_sums(on_ranks):
    """Each rank fails in another layer; after zero_grad(), or without it, training goes on."""
    def planted(g):
        raise KeyError("planted")

    def run(comm, kind, clear):
        model = wrap(make_layers(4), comm, kind, average="ranks")
        optimizer = sgd(model.parameters())
        x = ag.full((2, FEATURES), 0.1 * (comm.rank + 1), dtype=ag.float64)
        for step in range(4):
            optimizer.zero_grad()
            layer = model.module.layers[comm.rank % 3]
            watch = layer.register_forward_hook(lambda module, args, y: y.register_hook(planted) and None) \
                if kind == 3 and step == 2 else None
            loss = model(x, [0, 1, 2, 3]).pow(2).sum()
            if watch is not None:
                with pytest.raises(KeyError, match="planted"):
                    loss.backward()
                watch.remove()
                if clear:
                    optimizer.zero_grad()
                loss = model(x, [0, 1, 2, 3]).pow(2).sum()
                if not clear:
                    optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return values(model.state_dict())

    def check(comm):
        expected = run(comm, None, True)
        same(run(comm, 3, True), expected)
        same(run(comm, 3, False), expected)

    on_ranks(check)


def test_a_rank_that_skips_backward_is_an_error_on_all(on_ranks):
    """Also with a unit that is gathered ahead, and sums that the other ranks have started."""
    def check(comm):
        model = wrap(make_layers(6), comm, 3)
        x = ag.ones(2, FEATURES, dtype=ag.float64)
        for _ in range(2):
            model(x, range(6)).sum().backward()
        loss = model(x, range(6)).sum()
        if comm.size == 1:
            return
        with pytest.raises(CollectiveError, match="rank 0 is about to sum the weights.*rank 1 is about to end forward"):
            if comm.rank:
                model(x, range(6))
            else:
                loss.backward()
        model.zero_grad()                            # it goes on, without the sums that rank 0 has left
        train_layers(model, comm)
        plain = wrap(make_layers(6), comm, None)
        train_layers(plain, comm)
        same(values(model.state_dict()), values(plain.state_dict()))

    on_ranks(check)


def train_layers(model, comm):
    optimizer = sgd(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        model(ag.full((2, FEATURES), 0.1 * (comm.rank + 1), dtype=ag.float64), range(6)).pow(2).sum().backward()
        optimizer.step()


@pytest.mark.threads(3)
def test_stage_3_on_one_rank_only_is_an_error_on_all(comm):
    model = wrap(make_mlp(), comm, 3)
    with pytest.raises(CollectiveError, match="rank 0 is about to end summon_full_params.*rank 1 is about to end forward"):
        if comm.rank == 0:
            model.state_dict()
        else:
            with ag.no_grad():
                model(ag.ones(1, FEATURES, dtype=ag.float64))


@pytest.mark.threads(2)
def test_stage_3_reads_outside_of_a_pass_are_refused(comm):
    model = wrap(make_mlp(), comm, 3)
    weight = model.module[0].weight
    assert weight.shape == (8, FEATURES) and weight.ndim == 2 and weight.numel() == 48 and "slices" in repr(weight)
    for act in (lambda: weight.numpy(force=True), lambda: weight + 1, lambda: model.module(ag.ones(1, FEATURES))):
        raises(RuntimeError, "summon_full_params", act)


@pytest.mark.threads(2)
def test_stage_3_refuses_a_backward_through_old_weights(comm):
    model = wrap(make_mlp(), comm, 3)
    optimizer = sgd(model.parameters())
    old = model(ag.ones(2, FEATURES, dtype=ag.float64)).sum()
    train(model, optimizer, comm, steps=1)
    raises(RuntimeError, "modified by an optimizer step", old.backward)


@pytest.mark.threads(2)
def test_mistakes_are_named(comm, shard):
    net = make_mlp()
    model = wrap(net, comm, shard)
    with pytest.raises(RuntimeError, match=r"'0.weight' of the module inside.*model.parameters\(\)"):
        optim.SGD(net.parameters(), lr=0.1)
    raises(NotImplementedError, "LAMB requires norms", lambda: optim.LAMB(model.parameters(), lr=0.1))
    raises(NotImplementedError, "LBFGS", lambda: optim.LBFGS(model.parameters()))
    raises(NotImplementedError, "'0.weight' is already sharded|in slices", DataParallel, net, comm=comm, shard=shard)
    optimizer = sgd(model.parameters())
    with model.no_sync():
        model(ag.ones(1, FEATURES, dtype=ag.float64)).sum().backward()
    raises(RuntimeError, "gradient of '.*' is not summed", optimizer.step)
    optimizer.zero_grad()
    optimizer.step()
    raises(NotImplementedError, "assign=True", lambda: model.load_state_dict(model.state_dict(), assign=True))
    with pytest.raises(RuntimeError, match="replaced"):
        net[0].weight.data = ag.zeros(8, FEATURES, dtype=ag.float64)
        model(ag.ones(1, FEATURES, dtype=ag.float64))


@pytest.mark.threads(2)
def test_casts_and_freezing_after_wrapping_are_refused(comm, shard):
    model = wrap(make_mlp(), comm, shard)
    raises(RuntimeError, "cast a model", model.float)
    raises(NotImplementedError, "unfreeze before wrapping", model.requires_grad_, False)
    for p in model.parameters():
        p.data = p.data * 0 + 3
    model(ag.ones(1, FEATURES, dtype=ag.float64))
    assert all((v == 3).all() for v in values(model.state_dict()).values())


def test_an_optimiser_made_before_wrapping_is_noticed():
    def check(comm):
        net = make_mlp()
        optimizer = optim.SGD(net.parameters(), lr=0.1)
        model = wrap(net, comm, 2)
        with pytest.warns(UserWarning, match="no optimizer has model.parameters"):
            train(model, optimizer, comm, steps=3)

    results = run_ranks(2, lambda comm: check(comm) if comm.rank == 0 else train_quietly(comm))
    assert results == [None, None]


def train_quietly(comm):
    net = make_mlp()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    train(wrap(net, comm, 2), optimizer, comm, steps=3)


@pytest.mark.parametrize("options", [{"shard": "weights"}, {"shard": 4}, {"shard": True}, {"shard": [1]}])
def test_bad_stages(options):
    raises(ValueError, "shard=", lambda: DataParallel(make_mlp(), **options))


def test_arguments_that_do_not_go_together():
    raises(NotImplementedError, "batch='own'", lambda: DataParallel(make_mlp(), devices=2, shard=1))

    def check(comm):
        raises(ValueError, "shard_units", lambda: DataParallel(make_mlp(), comm=comm, shard=2, shard_units=nn.Linear))
        raises(ValueError, "shard_units=3", lambda: DataParallel(make_mlp(), comm=comm, shard=3, shard_units=3))
        by_class = DataParallel(make_mlp(), comm=comm, shard=3, shard_units=[nn.Sequential])
        assert len(by_class._sum.reducer.units) == 3     # no child is a Sequential: each that holds parameters
        by_rule = DataParallel(nn.Sequential(make_mlp(), make_mlp()), comm=comm, shard=3,
                               shard_units=lambda m: isinstance(m, nn.Sequential))
        assert len(by_rule._sum.reducer.units) == 2

    run_ranks(2, check)


@pytest.mark.threads(2)
def test_comm_hooks_are_refused(comm):
    model = wrap(make_mlp(), comm, 1)
    raises(NotImplementedError, "register_comm_hook with shard=", model.register_comm_hook, None, hooks.allreduce_hook)


def test_goes_on_after_an_exception_on_all_ranks(comm, shard):
    def planted(g):
        raise KeyError("planted")

    def run(kind):
        model = wrap(make_mlp(), comm, kind)
        optimizer = sgd(model.parameters())
        with pytest.raises(RuntimeError, match="mat1 and mat2"):             # in forward
            model(ag.ones(2, FEATURES + 1, dtype=ag.float64))
        watch = model.module[0].register_forward_hook(lambda module, args, y: y.register_hook(planted) and None)
        with pytest.raises(KeyError, match="planted"):                       # in backward, behind two layers
            model(ag.ones(2, FEATURES, dtype=ag.float64)).sum().backward()
        watch.remove()
        optimizer.zero_grad()
        train(model, optimizer, comm)
        return values(model.state_dict())

    same(run(shard), run(None))
