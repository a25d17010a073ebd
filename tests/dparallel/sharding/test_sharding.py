"""Sharded training equals plain DataParallel: weights, buffers and the optimiser's state, in all stages."""

import copy
import pickle

import numpy as np
import pytest
from sharded_models import (
    FEATURES,
    SEED,
    STAGES,
    adamw,
    batches,
    make_mlp,
    make_net,
    same,
    same_state,
    sgd,
    share,
    train,
    values,
    wrap,
)

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.utils.checkpoint import checkpoint
from dparallel import DataParallel, Devices, run_ranks


def results(comm, shard, optimizer, kind, make=make_net):
    model = wrap(make(), comm, shard)
    steps = optimizer(model.parameters())
    train(model, steps, comm, steps=3, kind=kind)
    return values(model.state_dict()), steps.state_dict()


@pytest.mark.parametrize(("optimizer", "kind"), [(sgd, "even"), (adamw, "empty")])
def test_equals_plain_data_parallel(comm, optimizer, kind):
    plain_weights, plain_state = results(comm, None, optimizer, kind)
    for shard in STAGES:
        weights, state = results(comm, shard, optimizer, kind)
        same(weights, plain_weights)
        same_state(state, plain_state)


def test_equals_one_process(comm, shard):
    one = make_mlp()
    train(one, optimizer := adamw(one.parameters()), comm, steps=3, whole=True)
    weights, state = results(comm, shard, adamw, "uneven", make_mlp)
    same(weights, values(one.state_dict()))
    same_state(state, optimizer.state_dict())


def test_a_script_without_ranks(shard):
    """world() of one process is Devices(1): one slice, and the batch is its own."""
    found = []
    for stage in (None, shard):
        model = DataParallel(make_mlp(), comm=Devices(1), shard=stage)
        train(model, adamw(model.parameters()), Devices(1), steps=2)
        found.append(values(model.state_dict()))
    same(*found)
    with pytest.raises(NotImplementedError, match=r"local devices; use batch='own'"):
        DataParallel(make_mlp(), comm=Devices(2), shard=shard)


def test_groups_by_name_and_by_dimensions(comm):
    def groups(model):
        named = list(model.named_parameters())
        return [{"params": [p for _, p in named if p.ndim >= 2], "weight_decay": 0.3},
                {"params": [p for name, p in named if p.dim() < 2 and "bias" in name], "weight_decay": 0.0, "lr": 0.05},
                {"params": [p for name, p in named if p.dim() < 2 and "bias" not in name], "weight_decay": 0.0}]

    def run(comm, kind):
        model = wrap(make_net(), comm, kind)
        optimizer = optim.AdamW(groups(model), lr=0.01)
        train(model, optimizer, comm, steps=2)
        return model, optimizer

    plain, plain_optimizer = run(comm, None)
    for shard in STAGES:
        model, optimizer = run(comm, shard)
        same(values(model.state_dict()), values(plain.state_dict()))
        same_state(optimizer.state_dict(), plain_optimizer.state_dict())
        assert [n for n, _ in model.named_parameters()] == [n for n, _ in plain.named_parameters()]


def test_slices_are_a_partition(comm, shard):
    net = make_net()
    whole = [(name, p.detach().numpy().copy()) for name, p in net.named_parameters()]
    model = wrap(net, comm, shard)
    for (name, w), (sliced, p) in zip(whole, model.named_parameters(), strict=True):
        assert name == sliced
        if comm.size == 1:
            continue
        assert p.shard.name == name and p.shard.shape == w.shape and p.ndim == max(w.ndim, 1)
        np.testing.assert_array_equal(p.detach().numpy().reshape(-1), w.reshape(-1)[p.shard.start:p.shard.stop])
    total = comm.total(sum(p.numel() for p in model.parameters()))
    assert total == sum(w.size for _, w in whole) * (comm.size if comm.size == 1 else 1)


def test_accumulation(on_ranks, shard):
    """Under no_sync, over synchronised passes, and with gradients zeroed in place."""
    def run(comm, kind):
        model = wrap(make_mlp(), comm, kind)
        optimizer = sgd(model.parameters())
        rows = share(comm, "uneven")
        for number, (x, t) in enumerate(batches(8)):
            with model.no_sync(when=number % 4 == 1):
                F.cross_entropy(model(ag.from_numpy(x[rows])), ag.from_numpy(t[rows])).backward()
            if number % 4 == 3:
                optimizer.step()
                optimizer.zero_grad(set_to_none=number == 7)
        train(model, optimizer, comm, steps=1)
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


@pytest.mark.parametrize("average", ["ranks", "sum"])
def test_other_averages_and_parameters_used_on_some_ranks_only(on_ranks, shard, average):
    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.always, self.sometimes, self.never = (nn.Linear(3, 3).double() for _ in range(3))

        def forward(self, x, extra):
            y = self.always(x)
            return y + self.sometimes(x) if extra else y + self.sometimes(x).detach()

    def run(comm, kind):
        net = Parts()
        with ag.no_grad():
            for number, p in enumerate(net.parameters()):
                p.copy_(ag.arange(p.numel(), dtype=ag.float64).reshape(*p.shape) * 0.1 + number)
        model = wrap(net, comm, kind, average=average, bucket_cap_mb=1)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(ag.ones(2, 3, dtype=ag.float64) * (comm.rank + 1), comm.rank == 0).sum().backward()
            for name, p in model.named_parameters():
                assert (p.grad is None) == name.startswith("never")
            optimizer.step()
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


def test_state_moves_between_numbers_of_ranks(shard):
    def first(comm):
        model = wrap(make_net(), comm, shard)
        optimizer = adamw(model.parameters())
        train(model, optimizer, comm, kind="even", steps=2)
        return model.state_dict(), optimizer.state_dict()

    def rest(comm, stage, saved, seed):
        model = wrap(make_net(), comm, stage)
        optimizer = adamw(model.parameters())
        model.load_state_dict(saved[0])
        optimizer.load_state_dict(saved[1])
        same_state(optimizer.state_dict(), saved[1], exact=True)
        model.eval()                                 # BatchNorm's batches depend on the number of ranks
        train(model, optimizer, comm, kind="even", steps=2, seed=seed)
        return values(model.state_dict()), optimizer.state_dict()

    saved = run_ranks(3, first)[0]
    expected, expected_state = rest(Devices(1), None, saved, 5)
    for size in (1, 2, 5):
        weights, state = run_ranks(size, rest, shard, saved, 5)[-1]
        same(weights, expected)
        same_state(state, expected_state)


def test_saved_to_a_file_and_loaded_again(comm, shard, tmp_path_factory):
    path = comm.broadcast_object(str(tmp_path_factory.mktemp("state") / "state.safetensors") if comm.rank == 0 else None)
    model = wrap(make_mlp(), comm, shard)
    optimizer = adamw(model.parameters())
    train(model, optimizer, comm)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    if comm.rank == 0:
        ag.save(state, path)
    comm.barrier()
    other = wrap(make_mlp(), comm, None)
    other_optimizer = adamw(other.parameters())
    loaded = ag.load(path)
    other.load_state_dict(loaded["model"])
    other_optimizer.load_state_dict(loaded["optimizer"])
    train(model, optimizer, comm)
    train(other, other_optimizer, comm)
    same(values(model.state_dict()), values(other.state_dict()))


def test_whole_right_after_the_step(comm, shard):
    model = wrap(make_mlp(), comm, shard)
    optimizer = sgd(model.parameters())
    train(model, optimizer, comm, steps=2)
    plain = wrap(make_mlp(), comm, None)
    train(plain, sgd(plain.parameters()), comm, steps=2)
    with model.summon_full_params():
        same({n: p.detach().numpy() for n, p in model.module.named_parameters()},
             {n: p.detach().numpy() for n, p in plain.named_parameters()})
    x = ag.from_numpy(batches(1)[0][0])
    model.eval(), plain.eval()
    with ag.no_grad():
        np.testing.assert_allclose(model(x).numpy(), plain(x).numpy(), rtol=1e-12)


def test_changes_by_hand_are_seen_by_all(comm, shard):
    model = wrap(make_mlp(), comm, shard)
    with ag.no_grad():
        for p in model.parameters():
            p.fill_(0.5)
    model(ag.ones(1, FEATURES, dtype=ag.float64))
    assert all((v == 0.5).all() for v in values(model.state_dict()).values())
    with model.summon_full_params(), ag.no_grad():
        for p in model.module.parameters():
            p.fill_(2.0)
    assert all((v == 2).all() for v in values(model.state_dict()).values())
    assert all((p == 2).all() for p in model.parameters())


@pytest.mark.threads(2)
def test_stage_3_holds_few_units_and_saves_no_values(comm):
    """While a pass runs, at most the unit in use and the next one are here; between forward and backward, the last one."""
    model = wrap(make_mlp(32), comm, 3)
    gathering = model._sum.reducer.gathering
    sizes = sorted(unit.total * 8 for unit in gathering.units)
    assert len(sizes) == 3
    x, t = batches(1)[0]
    for _ in range(3):
        loss = F.cross_entropy(model(ag.from_numpy(x)), ag.from_numpy(t))
        assert [unit.fetched is not None for unit in gathering.units] == [False, False, True]
        loss.backward()
        assert not gathering._flights and all(unit.flat is None and unit.fetched is None for unit in gathering.units)
    with ag.no_grad():
        model(ag.from_numpy(x))
    assert not gathering._flights and all(unit.flat is None and unit.fetched is None for unit in gathering.units)
    assert gathering.peak <= sizes[-1] + sizes[-2]


def test_messages_give_the_same_bits_as_shared_memory(comm, monkeypatch):
    shared, _ = results(comm, 3, adamw, "uneven")
    monkeypatch.setattr(type(comm), "shared_memory", lambda self, nbytes: None)
    model = wrap(make_net(), comm, 3)
    assert comm.size == 1 or not any(unit.pieces for unit in model._sum.reducer.units)
    train(model, adamw(model.parameters()), comm, steps=3)
    same(values(model.state_dict()), shared, exact=True)


def test_second_derivatives(on_ranks, shard):
    def run(comm, kind):
        model = wrap(make_mlp(), comm, kind)
        optimizer = sgd(model.parameters())
        for x, t in batches(3):
            rows = share(comm, "uneven")
            optimizer.zero_grad()
            x = ag.from_numpy(x[rows]).requires_grad_()
            y = model(x)
            (g,) = ag.grad((y * y).sum(), x, create_graph=True)
            (F.cross_entropy(y, ag.from_numpy(t[rows])) + (g * g).sum() / max(len(x), 1)).backward()
            optimizer.step()
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


def test_dtypes(comm, shard):
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide, self.narrow = nn.Linear(FEATURES, 3).double(), nn.Linear(3, 2)

        def forward(self, x):
            return self.narrow(self.wide(x).float())

    def run(comm, kind):
        net = Mixed()
        with ag.no_grad():
            for p in net.parameters():
                p.copy_(ag.arange(p.numel()).reshape(*p.shape) * 0.01)
        model = wrap(net, comm, kind)
        optimizer = adamw(model.parameters())
        for x, _ in batches(3):
            optimizer.zero_grad()
            model(ag.from_numpy(x[share(comm, "even")])).pow(2).mean().backward()
            optimizer.step()
        return values(model.state_dict())

    ours, plain = run(comm, shard), run(comm, None)
    for name in plain:
        assert ours[name].dtype == plain[name].dtype
        np.testing.assert_allclose(ours[name], plain[name], rtol=1e-5, atol=1e-7)


def test_more_ranks_than_elements(shard):
    def check(comm):
        net = nn.Linear(2, 1).double()
        with ag.no_grad():
            for p in net.parameters():
                p.fill_(0.5)
        model = wrap(net, comm, shard)
        optimizer = adamw(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(ag.ones(1, 2, dtype=ag.float64) * (comm.rank + 1)).pow(2).sum().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return values(model.state_dict()), optimizer.state_dict()

    for (weights, state), (first, first_state) in zip(run_ranks(8, check), [run_ranks(8, check)[0]] * 8, strict=True):
        same(weights, first, exact=True)
        same_state(state, first_state, exact=True)
        assert not (weights["weight"] == 0.5).any()


@pytest.mark.threads(2)
def test_copies_and_pickles_of_slices_are_plain_parameters(comm):
    model = wrap(make_mlp(), comm, 1)
    for p in [*model.parameters(), *model.module.parameters()]:
        for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
            assert type(other) is nn.Parameter and (other == p).all() and other.requires_grad


class Tied(nn.Module):
    """Reads its embedding's weight itself, its own parameters last, and one by a reference from before wrapping."""

    def __init__(self):
        super().__init__()
        self.embedding, self.hidden = nn.Embedding(5, 4), nn.Linear(4, 4)
        self.scale, self.bias = nn.Parameter(ag.ones(4)), nn.Parameter(ag.zeros(5))
        self.references = (self.hidden.bias,)

    def forward(self, x):
        y = self.hidden(self.embedding(x)).tanh() * self.scale + 2 * self.references[0]
        return F.linear(y, self.embedding.weight) + self.bias


@pytest.mark.parametrize("dtype", [np.float32, ag.bfloat16], ids=str)
def test_parameters_that_other_modules_read_stay_plain_parameters(on_ranks, dtype):
    def run(comm, kind):
        with SEED:
            ag.manual_seed(0)
            net = Tied().to(dtype)
        model = wrap(net, comm, kind)
        optimizer = adamw(model.parameters())
        for step in range(3):
            assert all(type(p) is nn.Parameter for p in net.parameters())
            optimizer.zero_grad()
            x = ag.from_numpy(np.arange(6) % 5 if step else np.array([comm.rank % 5]))
            F.cross_entropy(model(x), x).backward()
            optimizer.step()
        with model.summon_full_params():
            copies = copy.deepcopy(net), pickle.loads(pickle.dumps(net.hidden))
        assert all(type(p) is nn.Parameter for c in copies for p in c.parameters())
        assert copies[0](x).shape == (6, 5) and copies[1].weight.shape == (4, 4)         # no rank is asked for anything
        return {name: v.float().numpy() for name, v in model.state_dict().items()}

    on_ranks(lambda comm: [same(run(comm, shard), run(comm, None), exact=comm.size == 1) if dtype is not ag.bfloat16
                           else run(comm, shard) for shard in STAGES])


def test_memory_is_the_formulas():
    """Bytes that a rank holds after a step: (4, 4, 8) per float32 parameter with Adam, divided as the stage says."""
    def held(comm, shard):
        model = wrap(make_mlp(64, np.float32), comm, shard)
        optimizer = optim.Adam(model.parameters())
        x, t = batches(1)[0]
        F.cross_entropy(model(ag.from_numpy(x).float()), ag.from_numpy(t)).backward()
        optimizer.step()
        units = model._sum.reducer.units
        params = sum(p.array.nbytes for p in model.parameters())
        grads = sum(p.grad.array.nbytes for p in model.parameters())
        state = sum(v.array.nbytes for s in optimizer.state.values() for v in s.values() if v.ndim)
        if any(unit.flat is not None for unit in units):
            params = sum(unit.flat.nbytes for unit in units)                    # slices are views of it
        if any(unit.grads is not None for unit in units):
            grads = sum(unit.grads.nbytes for unit in units)
        return np.array([params, grads, state]) / sum(unit.total for unit in units)

    size = 3
    for shard, formula in (("optimizer", (4, 4, 8 / size)), ("gradients", (4, 4 / size, 8 / size)),
                           ("parameters", (4 / size, 4 / size, 8 / size))):
        ranks = run_ranks(size, held, shard)
        assert all(abs(rank - formula).max() < 0.02 for rank in ranks), (shard, ranks)
        np.testing.assert_allclose(np.mean(ranks, axis=0), formula, rtol=1e-12)


def test_checkpointed_blocks(on_ranks, shard):
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(FEATURES, FEATURES), nn.Tanh()) for _ in range(3)])

        def forward(self, x):
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False)
            return x

    def run(comm, kind):
        with SEED:
            ag.manual_seed(0)
            net = Deep().double()
        model = wrap(net, comm, kind)
        optimizer = sgd(model.parameters())
        for x, _ in batches(3):
            optimizer.zero_grad()
            model(ag.from_numpy(x[share(comm, "uneven")]).requires_grad_()).pow(2).sum(1).mean().backward()
            optimizer.step()
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))
