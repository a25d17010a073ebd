"""Planted differences between ranks are found, and named with path, ranks and values, on all ranks."""

import collections
import contextlib
import dataclasses
import enum

import numpy as np
import pytest
from raised import raises
from sharded_models import FEATURES, adamw, make_mlp, make_net, train, wrap

import autograd as ag
from autograd import nn, optim
from autograd.optim.lr_scheduler import StepLR
from autograd.utils.data import DataLoader, DistributedSampler, RandomSampler, SequentialSampler
from dparallel import CollectiveError, DataParallel, Devices, assert_same_everywhere, hooks, run_ranks, verify

pytestmark = pytest.mark.quick
Point = collections.namedtuple("Point", "x y")
Kind = enum.Enum("Kind", "A B")


@dataclasses.dataclass
class Settings:
    rate: float
    names: list


def sampler(rank, **options):
    return DistributedSampler(range(100), num_replicas=8, rank=rank, **{"seed": 3, **options})


def linear(bias):
    layer = nn.Linear(2, 3, bias=bias)
    with ag.no_grad():
        for p in layer.parameters():
            p.fill_(1)
    return layer


# what the ranks hold (odd: whether this rank is the one that differs), and what the message says
PLANTED = {
    "number": (lambda odd: {"lr": 0.1 + odd}, r"lr differs between rank 0 and rank {r}: 0\.1 against 1\.1"),
    "nested": (lambda odd: {"a": [1, {"b": (2, 3 + odd)}]}, r"a\[1\]\['b'\]\[1\] differs .* rank {r}: 3 against 4"),
    "kind of number": (lambda odd: [1.0 if odd else 1], r"\[0\] is int on rank 0 and float on rank {r}"),
    "array": (lambda odd: {"w": np.arange(6.0).reshape(2, 3) + odd * np.array([0, 0, 1e-9])},
              r"w differs .* rank {r}: element \[0, 2\] is 2\.0 against 2\.000000001; 2 of 6 elements"),
    "transposed memory": (lambda odd: np.arange(4.0).reshape(2, 2).T if odd else np.array([[0, 2], [1, 4.0]]),
                          r"element \[1, 1\] is 4\.0 against 3\.0"),
    "negative zero": (lambda odd: np.array([0.0, -0.0 if odd else 0.0]), r"element \[1\] is 0\.0 against -0\.0"),
    "dtype": (lambda odd: [("w", ag.ones(2, dtype=ag.float64 if odd else ag.float32))],
              r"w is float32 \[2\] on rank 0 and float64 \[2\] on rank {r}"),
    "shape": (lambda odd: [("w", ag.ones(2 + odd))], r"w is float32 \[2\] on rank 0 and float32 \[3\] on rank {r}"),
    "requires_grad": (lambda odd: ag.ones(2).requires_grad_(odd), r"float32 \[2\] on rank 0 and float32 \[2\], requires_grad"),
    "keys": (lambda odd: {"b" if odd else "a": 1}, r"rank 0 has 'a' where rank {r} has 'b'"),
    "order of keys": (lambda odd: dict([("b", 2), ("a", 1)] if odd else [("a", 1), ("b", 2)]), "rank 0 has 'a' where"),
    "length": (lambda odd: [1] * (2 + odd), r"list of 2 on rank 0 and list of 3 on rank {r}"),
    "data order": (lambda odd: [*range(18), *((19, 18) if odd else (18, 19))], r"element \[18\] is 18 against 19; 2 of 20"),
    "text": (lambda odd: {"x": ["same", "odd" if odd else "even"]}, r"x\[1\] .*'even' against 'odd'"),
    "none": (lambda odd: (1 if odd else None,), r"\[0\] is NoneType on rank 0 and int"),
    "set": (lambda odd: {"s": {1, 2, 3 + odd}}, r"s differs .*\[1, 2, 3\] against \[1, 2, 4\]"),
    "namedtuple": (lambda odd: Point(1, 2 + odd), "y differs .*2 against 3"),
    "dataclass": (lambda odd: Settings(0.1, ["a", "b" if odd else "c"]), r"names\[1\] differs .*'c' against 'b'"),
    "enum, dtype, class": (lambda odd: [np.dtype("f4"), dict, Kind.B if odd else Kind.A], r"\[2\] differs .*Kind\.A"),
    "function": (lambda odd: {"f": np.asarray if odd else len}, "f differs"),
    "generator": (lambda odd: np.random.default_rng(5 + odd), r"state.* differs"),
    "our generator": (lambda odd: ag.Generator().manual_seed(5 + odd), "differs"),
    "iterator": (lambda odd: (i + odd for i in range(3)), r"\[0\] differs"),
    "scheduler": (lambda odd: StepLR(optim.SGD([nn.Parameter(ag.ones(1))], lr=0.1), 2 + odd), "step_size differs .*2 against 3"),
    "sampler's seed": (lambda odd: SequentialSampler(range(4 + odd)), "data_source differs .*of 4 items against of 5 items"),
    "generator of a sampler": (lambda odd: RandomSampler(range(4), generator=ag.Generator().manual_seed(odd)), "generator"),
    "loader": (lambda odd: DataLoader([1, 2, 3], batch_size=2 + odd), "batch_size differs"),
    "optimizer": (lambda odd: optim.AdamW(make_mlp().parameters(), lr=0.1, betas=(0.9, 0.99 if odd else 0.999)),
                  r"param_groups\[0\]\['betas'\]\[1\] differs .*0\.999 against 0\.99"),
    "class of an optimizer": (lambda odd: (optim.AdamW if odd else optim.Adam)(make_mlp().parameters(), lr=0.1), "Adam.*AdamW"),
    "module": (lambda odd: linear(bias=not odd), "rank {r} has 1 parameters and buffers, rank 0 has 2"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_differences(comm, name):
    make, words = PLANTED[name]
    for odd in {comm.size - 1, 1} if comm.size > 1 else ():
        raises(AssertionError, words.replace("{r}", str(odd)), lambda: assert_same_everywhere(make(comm.rank == odd), comm))
    assert_same_everywhere(make(False), comm)


def test_distributed_samplers_have_the_rank_of_their_process(comm):
    if comm.size == 1:
        return
    assert_same_everywhere(DistributedSampler(range(9), comm.size, comm.rank), comm)
    with pytest.raises(AssertionError, match=r"rank differs between rank 0 and rank 1: that of the process against 0, wh"):
        assert_same_everywhere(DistributedSampler(range(9), comm.size, 0), comm)
    with pytest.raises(AssertionError, match="seed differs between rank 0 and rank 1: 0 against 1"):
        assert_same_everywhere(DataLoader(range(9), sampler=DistributedSampler(range(9), comm.size, comm.rank,
                                                                               seed=comm.rank)), comm)


def test_what_can_not_be_compared_is_refused_on_all_ranks():
    class Odd:
        pass

    class Fails:
        def state_dict(self):
            raise KeyError("planted")

    def check(comm):
        raises(TypeError, r"x\[0\] is a Odd, which can't be compared", lambda: assert_same_everywhere({"x": [Odd()]}, comm))
        with pytest.raises(TypeError, match=r"rank 1: x\[0\] is a Odd"):
            assert_same_everywhere({"x": [Odd() if comm.rank == 1 else 1]}, comm)
        with pytest.raises(TypeError, match="rank 2: looking at the object raised KeyError: 'planted'"):
            assert_same_everywhere(Fails() if comm.rank == 2 else {}, comm)

    run_ranks(3, check)
    assert_same_everywhere(object(), Devices(4))     # one process: nothing to compare


@pytest.mark.parametrize("shard", [None, 1, 2, 3])
def test_models_and_optimisers_after_training(comm, shard):
    model = wrap(make_mlp(), comm, shard)
    optimizer = adamw(model.parameters())
    train(model, optimizer, comm)
    assert_same_everywhere(model, comm)
    assert_same_everywhere(optimizer, comm)
    verify(optimizer, comm)
    if comm.size > 1:
        optimizer.param_groups[0]["lr"] *= 1 + comm.rank
        raises(CollectiveError, r"\['lr'\] differs between rank 0 and rank 1: 0.02 against 0.04", verify, optimizer, comm)


@pytest.mark.parametrize("shard", [None, 1, 2])
def test_verify_every_finds_weights_that_drifted(comm, shard):
    model = wrap(make_mlp(), comm, shard, verify_every=2)
    x = ag.ones(2, FEATURES, dtype=ag.float64)
    for _ in range(4):
        model(x)
    if comm.rank == comm.size - 1:
        with ag.no_grad():
            model.module[2].bias[3] += 1e-15
    model(x)                                     # the fifth: not looked at
    if comm.size > 1:
        with pytest.raises(CollectiveError, match=rf"before forward 6: 2.bias differs between rank 0 and rank {comm.size - 1}: "
                                                  r"element \[3\]"):
            model(x)


def test_construction_names_what_differs(comm):
    if comm.size == 1:
        return
    with pytest.raises(CollectiveError, match=r"DataParallel expects the same model.*weight is float32 \[2, 3\], requires_grad "
                                              r"on rank 0 and float64 \[2, 3\], requires_grad on rank 1"):
        DataParallel(nn.Linear(3, 2).to(np.float64 if comm.rank else np.float32), comm=comm)
    net = nn.Linear(3, 2)
    net.bias.requires_grad = comm.rank == 0
    with pytest.raises(CollectiveError, match=r"bias is float32 \[2\], requires_grad on rank 0 and float32 \[2\] on rank 1"):
        DataParallel(net, comm=comm, shard=2)


@pytest.mark.parametrize("every", [-1, 0.5, "often"])
def test_bad_intervals(every):
    raises(ValueError, "verify_every", lambda: DataParallel(make_net(), verify_every=every))


FAULTS = {
    "a step is skipped": lambda net, optimizer, step: None,
    "a step is repeated": lambda net, optimizer, step: (step(), step()),
    "another optimizer": lambda net, optimizer, step: optim.Adam(net.parameters()).step(),
    "values are loaded": lambda net, optimizer, step: net.load_state_dict({k: v * 1.01 for k, v in net.state_dict().items()}),
    "one weight is written": lambda net, optimizer, step: (step(), np.add.at(net[2].weight.array, (3, 1), 1e-12)),
    "rows are exchanged": lambda net, optimizer, step: (step(), np.copyto(net[2].weight.array, net[2].weight.array[::-1].copy())),
    "a frozen weight is written": lambda net, optimizer, step: (step(), np.add.at(net[0].bias.array, 1, 1.0)),
}
WAYS = {
    "buckets": {}, "a small bucket": {"bucket_cap_mb": 1e-6}, "delayed": {"delayed": True}, "float32": {"dtype": np.float32},
    "float16": {"dtype": np.float16}, "bfloat16 on the wire": {"mixed_precision": ag.bfloat16},
    "half precision": {"hook": (None, hooks.fp16_compress_hook)}, "int8": {"hook": (hooks.QuantizationState(), hooks.quantization_hook)},
    "top k": {"hook": (hooks.TopKState(), hooks.topk_hook)}, "a graph": {"graph": True}, "reproducible": {"reproducible": 4},
    "accumulated": {"passes": 2},
}


def diverging(comm, fault, passes=1, hook=None, graph=False, dtype=np.float64, delayed=False, shard=None, steps=30, at=3, **options):
    """Train; the last rank makes a mistake after one step. The passes that were complete when it was found, and the error."""
    net = make_mlp().to(dtype)
    net[0].bias.requires_grad_(False)
    if delayed:
        options |= {"delay_all_reduce_named_params": [("2.weight", net[2].weight)], "param_to_hook_all_reduce": net[2].weight}
    model = wrap(net, comm, shard, **options)
    if hook:
        model.register_comm_hook(*hook)
    optimizer = optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
    x = np.random.default_rng(comm.rank).standard_normal((4, FEATURES)).astype(dtype)
    for number in range(steps):
        optimizer.zero_grad()
        try:
            for place in range(passes):
                with model.no_sync(place < passes - 1) if passes > 1 else contextlib.nullcontext():
                    model(ag.from_numpy(x)).square().mean().backward(create_graph=graph)
        except CollectiveError as error:
            return number, str(error)
        if number == at and comm.rank == comm.size - 1 and fault:
            FAULTS[fault](net, optimizer, optimizer.step)
        else:
            optimizer.step()
    return steps, ""


@pytest.mark.parametrize("fault", FAULTS)
def test_ranks_that_diverge_are_an_error_in_the_next_pass(fault):
    results = run_ranks(3, diverging, fault)
    assert len(set(results)) == 1, results
    number, text = results[0]
    assert number == 4, text
    assert ("0.bias" if "frozen" in fault else "2.weight") in text and "ranks that agree with each other: [0, 1] and [2]" in text


@pytest.mark.parametrize("way", WAYS)
def test_weights_are_compared_however_gradients_travel(way):
    ranks = 2 if way == "reproducible" else 3
    (number, text), *others = run_ranks(ranks, lambda comm: diverging(comm, "a step is skipped", **WAYS[way]))
    assert number == 4 and "the weights are not the same on all ranks in backward pass 5: " in text and others == [(number, text)] * (ranks - 1)
    assert run_ranks(ranks, lambda comm: diverging(comm, None, **WAYS[way])) == [(30, "")] * ranks


@pytest.mark.parametrize("shard", ["optimizer", "gradients"])
def test_whole_weights_of_a_sharded_model_are_compared(shard):
    def check(comm):
        model = wrap(make_mlp(), comm, shard)
        for number in range(3):
            if comm.rank == 1 and number == 2:
                model.module[2].weight.array[3, 1] += 1e-12
            model(ag.ones(2, FEATURES, dtype=ag.float64)).sum().backward()

    raises(CollectiveError, "2.weight differs between rank 0 and rank 1", run_ranks, 2, check)


def test_later_passes_are_compared_every_so_often():
    assert run_ranks(2, lambda comm: diverging(comm, "one weight is written", at=17, steps=40))[0][0] == 24


@pytest.mark.parametrize("options", [{"verify_every": 0}, {"hook": (None, hooks.noop_hook)}, {"parameters_to_ignore": ["2.weight", "0.bias"]}, {"init_sync": False}])
def test_ranks_may_differ_on_purpose(options):
    fault = "a step is skipped" if "hook" in options or "verify_every" in options else "a frozen weight is written" if "init_sync" not in options else None
    assert run_ranks(2, lambda comm: diverging(comm, fault, **options)) == [(30, "")] * 2


def test_ranks_that_have_run_out_are_not_compared():
    def check(comm):
        model = wrap(make_mlp(), comm, None)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        with model.join():
            for _ in range(3 + 2 * comm.rank):
                optimizer.zero_grad()
                model(ag.ones(2, FEATURES, dtype=ag.float64)).square().mean().backward()
                optimizer.step()
        return model._sum.reducer.check.passes

    assert run_ranks(3, check) == [7] * 3


@pytest.mark.parametrize("kind, parted", [(optim.SGD, False), (optim.Adam, True)])
def test_optimizers_part_after_join(kind, parted):
    def check(comm):
        model = wrap(make_mlp(), comm, None)
        optimizer = kind(model.parameters(), lr=0.1)
        for epoch in range(3):
            with model.join():
                for _ in range(3 + comm.rank * (epoch == 0)):
                    optimizer.zero_grad()
                    model(ag.ones(2, FEATURES, dtype=ag.float64)).square().mean().backward()
                    optimizer.step()
        return model._sum.reducer.check.on

    with pytest.warns(UserWarning, match="have diverged since join") if parted else contextlib.nullcontext():
        assert run_ranks(2, check) == [not parted] * 2


HOOKS = {
    "a parameter": lambda net, y: net[2].weight.register_hook(lambda g: g * 2), "an activation": lambda net, y: y.register_hook(lambda g: g * 2),
    "a node": lambda net, y: y.grad_fn.register_prehook(lambda gs: (gs[0] * 2,)),
    "it looks on": lambda net, y: net[2].weight.register_hook(lambda g: None), "it returns what it got": lambda net, y: y.register_hook(lambda g: g),
}


@pytest.mark.parametrize("kind", HOOKS)
@pytest.mark.parametrize("all_ranks", [False, True])
@pytest.mark.parametrize("shard", [None, "optimizer"])
def test_tensor_hooks_of_one_rank(kind, all_ranks, shard):
    def check(comm):
        net = make_mlp()
        model = wrap(net, comm, shard)
        optim.SGD(model.parameters(), lr=0.1)
        for number in range(4):
            y = model(ag.ones(2, FEATURES, dtype=ag.float64))
            handle = HOOKS[kind](net, y) if number == 2 and (comm.rank == 1 or all_ranks) else None
            try:
                y.sum().backward()
            except CollectiveError as error:
                return number, str(error)
            if handle:
                handle.remove()
        return 4, ""

    results = run_ranks(3, check)
    assert len(set(results)) == 1, results
    if all_ranks or kind.startswith("it"):
        assert results[0] == (4, "")
    else:
        number, text = results[0]
        what = "on 2.weight" if kind == "a parameter" else "on the output of"
        assert number == 2 and what in text and "tensor hooks replaced gradients on some ranks only (on rank 1: " in text and "none on: 0, 2)" in text


class Root(nn.Module):
    def forward(self, x):
        return x.sqrt()


class Plus(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.one, self.two, self.root = nn.Linear(2, 2), nn.Linear(2, 2), Root()
        self.calls = forward

    def forward(self, x):
        return self.calls(self, x)


NANS = {
    "forward": (lambda net, x, bad: net.two(net.root(net.one(x).abs() - (1000 if bad else 0))).sum(),
                "the output of module root (Root) has nan, and its input has none"),
    "backward": (lambda net, x, bad: net.two(net.root(net.one(x) * (0.0 if bad else 1.0) + (0.0 if bad else 9.0)) * 0.0).sum(),
                 "the gradient of the output of module one (Linear) has nan, and that of module root (Root) has none: the backward of module root "
                 "(Root) made it"),
    "batch": (lambda net, x, bad: net.two(net.one(x * (np.nan if bad else 1))).sum(), "the input of module one (Linear) has nan"),
    "loss": (lambda net, x, bad: net.two(net.one(x)).sum() * (np.nan if bad else 1), "the gradient of the output of module two (Linear) has nan: the loss, or"),
}


@pytest.mark.parametrize("kind", NANS)
@pytest.mark.parametrize("shard", [None, "gradients"])
def test_who_made_the_first_nan(kind, shard):
    compute, expected = NANS[kind]

    def check(comm):
        bad = [False]
        model = wrap(Plus((lambda net, x: net.two(net.one(x))) if kind == "loss" else (lambda net, x: compute(net, x, bad[0]))), comm, shard,
                     find_nan=True, average="ranks")
        optim.SGD(model.parameters(), lr=0.1)
        texts = []
        for number in range(3):
            bad[0] = number == 1 and comm.rank == 1
            y = model(ag.ones(1, 2))
            try:
                (y.sum() * (np.nan if bad[0] else 1) if kind == "loss" else y).backward()
            except RuntimeError as error:
                texts.append((number, str(error)))
        with ag.no_grad():
            model(ag.full((1, 2), np.nan))               # an evaluation
        return texts

    with np.errstate(all="ignore"):
        results = run_ranks(2, check)
    assert results[0] == results[1] and [number for number, _ in results[0]] == [1], results
    assert results[0][0][1].startswith(f"rank 1: find_nan: {expected}"), results[0]


def test_a_nan_on_one_process():
    model = DataParallel(Plus(lambda net, x: net.root(net.one(x) * 0 - 1)), comm=Devices(1), find_nan=True)
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="module root"):
        model(ag.ones(1, 2))
    raises(NotImplementedError, "find_nan=True", lambda: DataParallel(nn.Linear(1, 1), devices=2, find_nan=True))
