"""Nests through scatter, broadcast and gather; coalesced messages; objects."""

import collections
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from raised import raises

import autograd as ag
import dparallel
from dparallel import (
    AllToAll,
    CollectiveError,
    Devices,
    broadcast,
    broadcast_coalesced,
    check_adjoint,
    gather,
    reduce_add,
    reduce_add_coalesced,
    scatter,
    scatter_kwargs,
)
from dparallel.pytree.scatter_gather import is_namedtuple

Pair = collections.namedtuple("Pair", "left right")


class Typed(NamedTuple):
    x: object
    note: str


@dataclasses.dataclass
class Batch:
    x: object
    y: object
    name: str = "batch"
    made: object = dataclasses.field(init=False, default=None)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


def nest_of(x, y):
    batch = Batch(x, {"y": y, "scale": ag.tensor(2.0, dtype=ag.float64)})
    batch.made = [x * 3]
    held = collections.defaultdict(list, {"z": Frozen(y)})
    return (batch, Pair(x, None), Typed(y, "note"), [1, "two", ()], held, collections.OrderedDict(a=x))


def numbers(rows, columns=2):
    return np.random.default_rng(rows).standard_normal((rows, columns))


@pytest.mark.devices
def test_scatter_of_every_container(comm):
    for root in range(comm.size):
        here = root in comm.held
        x, y = ag.tensor(numbers(7)), ag.tensor(numbers(7, 3))
        nests = scatter(nest_of(x, y) if here else None, comm, root=root)
        assert len(nests) == len(comm.held)
        for nest, rank in zip(nests, comm.held, strict=True):
            batch, pair, typed, plain, held, ordered = nest
            mine = np.array_split(numbers(7), comm.size)[rank]
            assert type(batch) is Batch and batch.name == "batch" and isinstance(batch.made, list)
            assert type(pair) is Pair and pair.right is None and type(typed) is Typed and typed.note == "note"
            assert plain == [1, "two", ()] and type(held) is collections.defaultdict and held.default_factory is list
            assert type(held["z"]) is Frozen and type(ordered) is collections.OrderedDict
            for got in (batch.x, pair.left, ordered["a"]):
                np.testing.assert_array_equal(got.numpy(), mine)
            np.testing.assert_array_equal(batch.made[0].numpy(), 3 * mine)
            np.testing.assert_array_equal(typed.x.numpy(), np.array_split(numbers(7, 3), comm.size)[rank])
            assert batch.y["scale"].item() == 2 and batch.y["scale"].shape == ()


@pytest.mark.devices
def test_gather_is_scatters_inverse_and_order_of_dicts_does_not_matter(comm):
    for root in range(comm.size):
        outputs = [{"a": Batch(ag.tensor(numbers(p + 1)), None), "b": ag.tensor(float(p))} for p in comm.held]
        outputs = [dict(reversed(o.items())) if p % 2 else o for o, p in zip(outputs, comm.held, strict=True)]
        joined = gather(outputs, comm, root=root)
        assert type(joined["a"]) is Batch and joined["a"].y is None
        if root in comm.held:
            np.testing.assert_array_equal(joined["a"].x.numpy(), np.concatenate([numbers(p + 1) for p in range(comm.size)]))
            assert joined["b"].tolist() == list(range(comm.size))
        else:
            assert joined["b"].shape == (0,)


@pytest.mark.devices
def test_scatter_and_broadcast_of_nests_have_adjoints(comm):
    rng = np.random.default_rng([4, comm.rank])

    def tensors_of(nests):
        return tuple(t for nest in nests for t in (nest["a"], nest["b"][0], nest["c"]))

    def xs(shape, *more):
        return [rng.standard_normal(s) if 0 in comm.held else np.empty(0) for s in (shape, *more)]

    for call in (scatter, broadcast):
        check_adjoint(lambda a, b, c, call=call: tensors_of(call({"a": a, "b": [b], "c": c}, comm)), xs((5, 2), (5,), ()), comm, rng)
    check_adjoint(lambda a: tuple(scatter({"a": a}, comm, dim=-1, sizes=list(range(comm.size)))[i]["a"] for i in range(len(comm.held))),
                  [rng.standard_normal((2, sum(range(comm.size)))) if 0 in comm.held else np.empty(0)], comm, rng)


@pytest.mark.devices
def test_scatter_kwargs(comm):
    x = ag.ones(comm.size * 2, 3)
    args, kwargs = scatter_kwargs((x, "a"), {"mask": x, "flag": True}, comm)
    assert len(args) == len(kwargs) == len(comm.held) and isinstance(args, tuple)
    assert args[0][0].shape == (2, 3) and args[0][1] == "a" and kwargs[0]["mask"].shape == (2, 3) and kwargs[0]["flag"] is True
    assert scatter_kwargs((), None, comm) == (((),) * len(comm.held), ({},) * len(comm.held))


def test_a_nest_that_cannot_be_pickled_is_each_ranks_own(comm):
    Local = collections.namedtuple("Local", "x f")
    nests = scatter(Local(ag.ones(comm.size, 2), len), comm)
    assert type(nests[0]) is Local and nests[0].x.shape == (1, 2) and nests[0].f is len
    if comm.size > 1:
        with pytest.raises(ValueError, match="can't be pickled"):
            scatter(Local(ag.ones(comm.size), lambda: 0) if comm.rank == 0 else None, comm)


@pytest.mark.devices
def test_mistakes_name_the_path_on_every_rank(comm):
    here = 0 in comm.held
    with pytest.raises(ValueError, match=r"\.x has 4 rows along dim 0, \.y\['b'\] has 3"):
        scatter(Batch(ag.ones(4), {"b": ag.ones(3)}) if here else None, comm)
    with pytest.raises(ValueError, match=r"dim 1 is out of range for \[1\], of shape \(4,\)"):
        scatter([ag.ones(4, 4), ag.ones(4)] if here else None, comm, dim=1)
    raises(TypeError, r"not object \(at \['n'\]\)", lambda: gather([{"n": object()}] * len(comm.held), comm))
    if comm.size > 1:
        with pytest.raises(ValueError, match=r"ranks 0 and 1 differ \(at \['b'\]\): nothing and"):
            gather([{"a": ag.ones(2), **({"b": None} if rank else {})} for rank in comm.held], comm)


def test_rows_over_local_devices_share_what_is_no_tensor():
    thing = object()
    assert [n[1] is thing for n in scatter((ag.ones(4), thing), Devices(2))] == [True, True]
    assert is_namedtuple(Pair(1, 2)) and not is_namedtuple((1, 2))


@pytest.mark.parametrize("buffer_size", [1, 50, 10 << 20])
@pytest.mark.devices
def test_coalesced(comm, buffer_size):
    root = comm.size - 1
    shapes = [(2, 3), (), (4,), (0, 2), (5, 1)]
    dtypes = [ag.float64, ag.float32, ag.float64, ag.float64, ag.int64]

    def make(rank):
        return [ag.tensor(np.full(s, rank + i), dtype=d, requires_grad=d != ag.int64) for i, (s, d) in enumerate(zip(shapes, dtypes, strict=True))]

    given = make(root if root in comm.held else 100)
    copies = broadcast_coalesced(given, comm, buffer_size, root=root)
    assert len(copies) == len(comm.held)
    for copy in copies:
        for i, (t, s, d) in enumerate(zip(copy, shapes, dtypes, strict=True)):
            assert t.shape == s and t.dtype == d and (t.detach().numpy() == root + i).all()
    ag.backward([(t * t).sum() for copy in copies for t in copy if t.requires_grad])
    if root in comm.held:
        np.testing.assert_array_equal(given[0].grad.numpy(), np.full((2, 3), 2.0 * root * comm.size))

    sums = reduce_add_coalesced([make(rank) for rank in comm.held], comm, buffer_size, root=root)
    for i, (t, s, d) in enumerate(zip(sums, shapes, dtypes, strict=True)):
        if root in comm.held:
            assert t.shape == s and t.dtype == d and (t.detach().numpy() == sum(p + i for p in range(comm.size))).all()
    total = reduce_add([make(rank)[0] for rank in comm.held], comm, root)
    assert root not in comm.held or total.tolist() == sums[0].tolist()
    if comm.size > 1 and len(comm.held) == 1:
        with pytest.raises(ValueError, match="differ between ranks 0 and 1, first at number 1"):
            broadcast_coalesced([ag.ones(2), ag.ones(3 if comm.rank else 2)], comm)


def test_wrong_lists_are_one_error_on_every_rank(comm):
    """Also where only the last rank's is wrong: no rank may wait for it."""
    last = comm.rank == comm.size - 1
    for wrong, size, error, text in ((None, 9, TypeError, "not NoneType"), ([ag.ones(2), 3], 9, TypeError, "one of int"),
                                     (ag.ones(2, 2), 9, TypeError, "not Tensor"), ([ag.ones(2)], 0, ValueError, "buffer_size=0")):
        with pytest.raises(error, match=text + rf".* \(on rank {comm.size - 1}\)"):
            broadcast_coalesced(wrong if last else [ag.ones(2)], comm, size if last else 9)
        if not isinstance(wrong, ag.Tensor):     # one in a list is the bare list of the one rank
            raises(error, text, lambda: reduce_add_coalesced([wrong] if last else [[ag.ones(2)]], comm, size if last else 9))
    objects = None if last else [0] * comm.size
    for call, given, text in ((dparallel.broadcast_object_list, 0, "not a list"),
                              (dparallel.all_gather_object, 1, "must be a list with an item for each of"),
                              (dparallel.scatter_object_list, [0] * comm.size, "at least one item")):
        raises(CollectiveError, text, call, objects, given, group=comm)


def test_generators_one_nest_and_numpys_numbers(comm):
    (copies,) = broadcast_coalesced((ag.ones(n) * comm.rank for n in (2, 3)), comm, root=comm.size - 1)
    assert [c.tolist() for c in copies] == [[comm.size - 1.0] * n for n in (2, 3)]
    x = ag.ones(1, 3)                            # one rank's nest may come without a list; it is no list of its rows
    assert gather(x, comm, root=0).shape == ((comm.size, 3) if comm.rank == 0 else (0,))
    assert gather({"x": x}, comm)["x"].shape == gather([x], comm).shape
    assert reduce_add(x, comm).shape == ((1, 3) if comm.rank == 0 else (0,))
    for bare in ([x, x[0]], (y for y in (x, x[0]))):       # of one rank
        sums = reduce_add_coalesced(bare, comm)
        assert [y.tolist() for y in sums] == ([[[comm.size] * 3], [comm.size] * 3] if comm.rank == 0 else [[], []])
    (mine,) = scatter(ag.ones(2, comm.size), comm, np.int64(1))
    assert mine.shape == (2, 1)
    ones = ag.ones(comm.size)
    assert AllToAll.apply(ones, comm=comm, sizes=ag.ones(comm.size, dtype=ag.int64)).shape == ones.shape
    raises(CollectiveError, "pass a Function's settings, such as comm, by keyword", AllToAll.apply, ones, comm)


@pytest.mark.devices
def test_objects_gathered_and_scattered(comm):
    for root in range(comm.size):
        found = comm.gather_object([{"from": rank, "data": "x" * rank} for rank in comm.held], root)
        wanted = [{"from": rank, "data": "x" * rank} for rank in range(comm.size)]
        assert found == (wanted if root in comm.held else None)
        objects = [("for", rank, [None] * rank) for rank in range(comm.size)]
        assert comm.scatter_object(objects if root in comm.held else None, root) == [objects[p] for p in comm.held]
        for wrong, text in (([1] * (comm.size + 1), "for each rank"), (None, "for each rank"), ([lambda: 0] * comm.size, "can't be pickled")):
            raises(CollectiveError, text, lambda: comm.scatter_object(wrong if root in comm.held else None, root))
    raises(CollectiveError, "pass a list of", comm.gather_object, 7)


def test_objects_under_pytorchs_names(comm):
    n, rank = comm.size, comm.rank
    objects = ["a", {"b": 1}] if rank == n - 1 else [None, None]
    dparallel.broadcast_object_list(objects, src=n - 1, group=comm)
    assert objects == ["a", {"b": 1}]
    found = [None] * n
    dparallel.all_gather_object(found, ("mine", rank), group=comm)
    assert found == [("mine", p) for p in range(n)]
    found = [None] * n if rank == 0 else None
    dparallel.gather_object(rank * 2, found, dst=0, group=comm)
    assert rank or found == [2 * p for p in range(n)]
    out = [None, "kept"]
    dparallel.scatter_object_list(out, [f"to {p}" for p in range(n)] if rank == 0 else None, src=0, group=comm)
    assert out == [f"to {rank}", "kept"]
    raises(CollectiveError, "must pass object_gather_list", dparallel.gather_object, 1, None, dst=0, group=comm)
    if n > 1:
        with pytest.raises(CollectiveError, match="object_list has 1 items here|must be a list with an item for each of"):
            dparallel.all_gather_object([None] * (1 if rank else n), 1, group=comm)


def same_as_torch(ours, theirs):
    if isinstance(ours, ag.Tensor):
        np.testing.assert_array_equal(ours.detach().numpy(), theirs)
    else:
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same_as_torch(a, b)


def test_calls_by_position_mean_what_they_mean_in_torch_nn_parallel():
    """scatter(inputs, devices, dim), gather(outputs, device, dim), scatter_kwargs(inputs, kwargs, devices, dim),
    replicate(network, devices, detach), parallel_apply(modules, inputs, kwargs, devices), data_parallel(module, inputs,
    devices, device, dim, kwargs), broadcast_coalesced(tensors, devices, size), reduce_add_coalesced(inputs, device, size)."""
    array = np.arange(12.0).reshape(2, 6)
    x = ag.tensor(array)
    parts = dparallel.scatter(x, [0, 1, 2], 1)
    same_as_torch(parts, [array[:, :2], array[:, 2:4], array[:, 4:]])
    same_as_torch(dparallel.gather(parts, 1, 1), array)
    same_as_torch(dparallel.gather(parts, 2), np.concatenate([array[:, :2], array[:, 2:4], array[:, 4:]]))
    args, kwargs = dparallel.scatter_kwargs((x,), {"y": x}, [0, 1], 1)
    same_as_torch(args, [[array[:, :3]], [array[:, 3:]]])
    assert [given["y"].shape for given in kwargs] == [(2, 3), (2, 3)]
    net = ag.nn.Linear(2, 1)
    assert all(p.requires_grad for one in dparallel.replicate(net, [0, 1]) for p in (one.weight, one.bias))
    detached = dparallel.replicate(net, [0, 1], True)
    assert not any(p.requires_grad for one in detached for p in (one.weight, one.bias))
    calls = dparallel.parallel_apply([lambda x, by=1: x * by, lambda x, by=1: x + by], [(x,), (x,)], ({"by": 2}, {}), [0, 1])
    same_as_torch(calls, [array * 2, array + 1])
    for target in (None, 0, 1):
        same_as_torch(dparallel.data_parallel(lambda_net(), (x,), [0, 1], target, 1, {"by": 2.0}), array * 2)
    assert [t.shape for t in dparallel.broadcast_coalesced([x, x], [0, 1], 8)[1]] == [(2, 6), (2, 6)]
    same_as_torch(dparallel.reduce_add_coalesced([[x, x], [x, x]], 0, 8), [array * 2, array * 2])
    same_as_torch(dparallel.reduce_add([x, x], 1), array * 2)
    with pytest.raises(TypeError):
        dparallel.scatter(x, 2, 0, 0)                # the root goes by its name


def lambda_net():
    class Times(ag.nn.Module):
        def forward(self, x, by=1.0):
            return x * by
    return Times()


def test_local_devices_by_number_or_list():
    """As torch.nn.parallel's: scatter(x, [0, 1, 2]), gather(outputs, 0)."""
    x = ag.randn(7, 2, requires_grad=True)
    for devices in (3, [0, 1, 2], dparallel.Devices(3)):
        parts = dparallel.scatter(x, devices)
        assert [p.shape[0] for p in parts] == [3, 2, 2]
        assert len(dparallel.broadcast(x, devices)) == 3
        assert [named["x"].shape[0] for named in dparallel.scatter_kwargs((), {"x": x}, devices)[1]] == [3, 2, 2]
    for target in range(3):
        y = dparallel.gather(parts, target)
        np.testing.assert_array_equal(y.detach().numpy(), x.detach().numpy())
    (y * y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy(), rtol=1e-6)
    assert len(dparallel.broadcast_coalesced([x, x], [0, 1])) == len(dparallel.broadcast_coalesced([x, x], 2)) == 2
    np.testing.assert_array_equal(dparallel.reduce_add([x, x], 1).detach().numpy(), 2 * x.detach().numpy())
    np.testing.assert_array_equal(dparallel.reduce_add_coalesced([[x], [x]], 1)[0].detach().numpy(), 2 * x.detach().numpy())
    np.testing.assert_array_equal(dparallel.reduce_add((x for _ in "ab"), 0).detach().numpy(), 2 * x.detach().numpy())
    for wrong in ([], [x]):
        raises(CollectiveError, "pass a list of 2 objects, one for each local rank", lambda: gather(wrong, Devices(2)))
    if dparallel.world().size == 1:                  # without a destination, as there
        np.testing.assert_array_equal(dparallel.reduce_add([x, x]).detach().numpy(), 2 * x.detach().numpy())
