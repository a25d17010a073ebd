"""Datasets, samplers and collation, beside PyTorch's where that is installed."""

import collections
import pickle
import warnings

import numpy as np
import pytest

import autograd as ag
from autograd.utils import data as ours
from autograd.utils.data.collate import collate, default_collate_fn_map

pytestmark = pytest.mark.quick

try:
    import torch
    from torch.utils import data as theirs
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
Point = collections.namedtuple("Point", "x y")


def plain(value):
    """Nested values with tensors as (dtype, list), so that those of both libraries compare."""
    if isinstance(value, ag.Tensor) or (torch and isinstance(value, torch.Tensor)):
        return "tensor", str(value.dtype).replace("torch.", ""), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__, [plain(v) for v in value]
    return (type(value).__name__, value.tolist()) if isinstance(value, (np.ndarray, np.generic)) else value


def outcome(make, *libraries):
    try:
        return "gives", plain(make(*libraries))
    except Exception as error:
        return "raises", type(error).__name__


def same(make):
    """make(data, lib) gives the same with both libraries, or raises an error of the same class."""
    assert outcome(make, ours, ag) == outcome(make, theirs, torch)


def stream(d, n, length=None):
    class Stream(d.IterableDataset):
        def __iter__(self):
            return iter(range(n))

        if length is not None:
            def __len__(self):
                return length
    return Stream()


def rows(lib, n=7):
    return lib.arange(n * 2.0).reshape(n, 2), lib.arange(n)


DATASETS = {
    "tensors": lambda d, t: [d.TensorDataset(*rows(t))[i] for i in (0, -1, slice(1, 3))],
    "tensors of two lengths": lambda d, t: d.TensorDataset(t.zeros(3), t.zeros(4)),
    "no tensors": lambda d, t: len(d.TensorDataset()),
    "sum": lambda d, t: [(len(s), s[0], s[4], s[-1], s[-5]) for s in [d.Subset(range(9), [1, 2]) + d.Subset(range(9), [7, 8, 5])]],
    "concat": lambda d, t: list(d.DataLoader(d.ConcatDataset([[1, 2], [], [3]]), batch_size=2)),
    "concat sizes": lambda d, t: d.ConcatDataset([[1, 2], [], [3]]).cumulative_sizes,
    "concat of nothing": lambda d, t: d.ConcatDataset([]),
    "concat of a stream": lambda d, t: d.ConcatDataset([stream(d, 2)]),
    "concat too far": lambda d, t: d.ConcatDataset([[1, 2], [3]])[-4],
    "concat beyond": lambda d, t: d.ConcatDataset([[1, 2], [3]])[3],
    "chain": lambda d, t: list(stream(d, 2) + stream(d, 3)),
    "chain length": lambda d, t: len(d.ChainDataset([stream(d, 2, 2), stream(d, 3, 3)])),
    "chain of lists": lambda d, t: list(d.ChainDataset([[1]])),
    "subset": lambda d, t: [d.Subset(range(10, 20), [3, 4, 5])[1], d.Subset(range(10, 20), [3, 4])[-1]],
    "subset of list index": lambda d, t: d.Subset(t.arange(9), [3, 4, 5])[[0, 2]],
    "stack": lambda d, t: [d.StackDataset([1, 2], "ab")[1], d.StackDataset(a=[1, 2], b="ab")[0]],
    "stack batches": lambda d, t: list(d.DataLoader(d.StackDataset(a=[1, 2], b=d.Subset([5, 6, 7], [2, 0])), 2)),
    "stack of both": lambda d, t: d.StackDataset([1], a=[1]),
    "stack of nothing": lambda d, t: d.StackDataset(),
    "stack of two lengths": lambda d, t: d.StackDataset([1], [1, 2]),
    "split": lambda d, t: [len(s) for s in d.random_split(range(10), [3, 7])],
    "split by fractions": lambda d, t: [len(s) for s in d.random_split(range(10), [0.3, 0.3, 0.4])],
    "split with a rest": lambda d, t: [len(s) for s in d.random_split(range(11), [0.25, 0.25, 0.5])],
    "split wrongly": lambda d, t: d.random_split(range(10), [3, 8]),
    "split by a wrong fraction": lambda d, t: d.random_split(range(10), [1.5, -0.5]),
    "no item": lambda d, t: d.Dataset()[0],
    "half a subset": lambda d, t: type("S", (d.Subset,), {"__getitem__": lambda self, i: 0})([1], [0]),
    "stream without iter": lambda d, t: d.IterableDataset(),
}


@needs_torch
@pytest.mark.parametrize("name", DATASETS)
def test_datasets(name):
    same(DATASETS[name])


def test_random_split_is_disjoint_and_repeats():
    parts = ours.random_split(range(100), [20, 80], ag.Generator().manual_seed(3))
    again = ours.random_split(range(100), [0.2, 0.8], ag.Generator().manual_seed(3))
    assert sorted([*parts[0], *parts[1]]) == list(range(100)) and list(parts[0]) == list(again[0]) != list(range(20))
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        ours.random_split(range(2), [0.5, 0.0, 0.5])


SAMPLERS = {
    "sequential": lambda d, t: list(d.SequentialSampler(range(5))),
    "batches": lambda d, t: list(d.BatchSampler(d.SequentialSampler(range(10)), 3, False)),
    "whole batches": lambda d, t: list(d.BatchSampler(range(10), batch_size=3, drop_last=True)),
    "lengths": lambda d, t: [len(d.BatchSampler(range(n), 3, drop)) for n in (0, 1, 3, 10) for drop in (True, False)],
    "batch size 0": lambda d, t: d.BatchSampler(range(10), 0, False),
    "batch size True": lambda d, t: d.BatchSampler(range(10), True, False),
    "drop_last 1": lambda d, t: d.BatchSampler(range(10), 2, 1),
    "random": lambda d, t: [sorted(d.RandomSampler(range(5))), len(d.RandomSampler(range(5), num_samples=12))],
    "more than all": lambda d, t: [len(list(s)) == len(s) == 12 and set(list(s)[:5]) == set(range(5)) for s in [d.RandomSampler(range(5), num_samples=12)]] and 1,
    "replacement": lambda d, t: len(list(d.RandomSampler(range(5), True, 70))),
    "replacement 1": lambda d, t: d.RandomSampler(range(5), 1),
    "num_samples 0": lambda d, t: d.RandomSampler(range(5), num_samples=0),
    "of nothing": lambda d, t: d.RandomSampler([]),
    "subset": lambda d, t: [sorted(d.SubsetRandomSampler([3, 5, 9])), len(d.SubsetRandomSampler([3, 5]))],
    "weights": lambda d, t: list(d.WeightedRandomSampler([0.0, 1.0, 0.0], 4)),
    "weights once": lambda d, t: sorted(d.WeightedRandomSampler([0.5, 1.0, 0.0], 2, replacement=False)),
    "weights of a matrix": lambda d, t: d.WeightedRandomSampler([[1.0]], 1),
    "weights, none drawn": lambda d, t: d.WeightedRandomSampler([1.0], 0),
    "weights, replacement": lambda d, t: d.WeightedRandomSampler([1.0], 1, replacement=1),
    "no length": lambda d, t: len(d.Sampler()),
    "ranks": lambda d, t: [list(d.DistributedSampler(range(11), 3, r, shuffle=False, drop_last=x)) for r in range(3) for x in (True, False)],
    "ranks, lengths": lambda d, t: [(s.num_samples, s.total_size, len(s)) for s in [d.DistributedSampler(range(n), 3, 1) for n in (1, 3, 11)]],
    "more ranks than items": lambda d, t: [list(d.DistributedSampler(range(2), 5, r, shuffle=False)) for r in range(5)],
    "wrong rank": lambda d, t: d.DistributedSampler(range(2), 5, 5),
}


@needs_torch
@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers(name):
    same(SAMPLERS[name])


def test_random_samplers_repeat_with_their_generator_and_change_without():
    for make in (lambda g: ours.RandomSampler(range(50), generator=g), lambda g: ours.SubsetRandomSampler(range(50), g),
                 lambda g: ours.RandomSampler(range(50), True, 99, g), lambda g: ours.WeightedRandomSampler([1.0] * 50, 50, generator=g)):
        first = list(make(ag.Generator().manual_seed(1)))
        assert first == list(make(ag.Generator().manual_seed(1))) != list(make(ag.Generator().manual_seed(2)))
        ag.manual_seed(5)
        drawn = [list(make(None)), list(make(None))]
        ag.manual_seed(5)
        assert drawn[0] == list(make(None)) != drawn[1]
    counts = np.bincount(list(ours.WeightedRandomSampler([1.0, 3.0], 4000, generator=ag.Generator().manual_seed(0))))
    assert abs(counts[1] / 4000 - 0.75) < 0.03


def test_ranks_share_all_items_with_and_without_padding():
    data = list(range(10))
    for size in (1, 2, 3, 4, 7):
        uneven = [list(ours.DistributedSampler(data, size, r, uneven=True)) for r in range(size)]
        assert sorted(sum(uneven, [])) == data
        padded = [list(ours.DistributedSampler(data, size, r)) for r in range(size)]
        assert len({len(p) for p in padded}) == 1 and set(sum(padded, [])) == set(data)
        dropped = [list(ours.DistributedSampler(data, size, r, drop_last=True)) for r in range(size)]
        assert len({len(d) for d in dropped}) == 1 and len(set(sum(dropped, []))) == size * (10 // size)
        assert [len(ours.DistributedSampler(data, size, r, uneven=True)) for r in range(size)] == [len(u) for u in uneven]
    s = ours.DistributedSampler(data, 2, 0)
    first = list(s)
    s.set_epoch(1)
    assert list(s) != first and list(ours.DistributedSampler([], 3, 1)) == []


def test_paths_of_pytorch():
    from autograd.utils.data.dataloader import DataLoader, default_collate, default_convert, get_worker_info  # noqa: F401
    from autograd.utils.data.dataset import Dataset, random_split  # noqa: F401
    from autograd.utils.data.distributed import DistributedSampler
    from autograd.utils.data.sampler import Sampler, SubsetRandomSampler  # noqa: F401
    assert DistributedSampler is ours.DistributedSampler and ag.utils.data.DataLoader is DataLoader is ours.DataLoader

    class Pairs(Dataset[tuple[int, int]]):
        def __getitem__(self, index):
            return index, -index

    class Evens(Sampler[int]):
        def __iter__(self):
            return iter((0, 2, 4))

    assert plain(next(iter(DataLoader(Pairs(), 3, sampler=Evens()))))[1][1][2] == [0, -2, -4]


BATCHES = {
    "floats": lambda t: [1.5, 2.5], "ints": lambda t: [1, 2], "bools": lambda t: [True, False], "strings": lambda t: ["a", "b"],
    "bytes": lambda t: [b"a", b"b"], "tensors": lambda t: [t.ones(2), t.zeros(2)], "0-d": lambda t: [t.tensor(1), t.tensor(2)],
    "shapes": lambda t: [t.ones(2), t.ones(3)], "arrays": lambda t: [np.ones(2, np.float16), np.zeros(2, np.float16)],
    "0-d arrays": lambda t: [np.array(3), np.array(4)], "array of text": lambda t: [np.array(["a"])],
    "float32": lambda t: [np.float32(1), np.float32(2)], "float64": lambda t: [np.float64(1), np.float64(2)],
    "int32": lambda t: [np.int32(1)], "bool_": lambda t: [np.bool_(True)], "None": lambda t: [None],
    "tuples": lambda t: [(1, "a", 2.0), (3, "b", 4.0)], "lists": lambda t: [[1, t.ones(2)], [2, t.ones(2)]],
    "nested": lambda t: [{"a": (1, [2.0, {"b": t.ones(1)}])}] * 3, "namedtuples": lambda t: [Point(1, "p"), Point(2, "q")],
    "ranges": lambda t: [range(2), range(2, 4)], "sizes": lambda t: [[1, 2], [1]], "ordered": lambda t: [collections.OrderedDict(a=1)] * 2,
    "default dict": lambda t: [collections.defaultdict(list, a=1)] * 2, "deque": lambda t: [collections.deque([1, 2])] * 2,
    "missing key": lambda t: [{"a": 1}, {"b": 1}], "objects": lambda t: [object()], "empty": lambda t: [],
}


@needs_torch
@pytest.mark.parametrize("name", BATCHES)
def test_default_collate(name):
    same(lambda d, t: d.default_collate(BATCHES[name](t)))


@needs_torch
@pytest.mark.parametrize("item", [np.array([1, 2]), np.float64(3), np.array(["a"]), np.str_("x"), 3, 2.5, "s", b"s", None, range(3), (1, np.array(2)),
                                  [np.array(1.0)], Point(np.array(1), 2), {"a": np.array([1])}, collections.OrderedDict(a=[np.ones(2)])], ids=repr)
def test_default_convert(item):
    same(lambda d, t: d.default_convert(item))


def test_collate_fn_map():
    class Box:
        def __init__(self, value):
            self.value = value

    def boxes(batch, *, collate_fn_map=None):
        return [b.value for b in batch]

    assert plain(collate([(Box(1), 2), (Box(3), 4)], collate_fn_map={Box: boxes, int: default_collate_fn_map[int]})) == \
        ("list", [("list", [1, 3]), ("tensor", "int64", [2, 4])])
    data = ours.TensorDataset(ag.ones(4, 2))
    default_collate_fn_map[ag.Tensor] = lambda batch, *, collate_fn_map=None: len(batch)
    try:
        assert list(ours.DataLoader(data, 3)) == [[3], [1]]
    finally:
        default_collate_fn_map[ag.Tensor] = ours.default_collate.__globals__["_initial_map"][ag.Tensor]
    assert plain(list(ours.DataLoader(data, 4)))[1][0][1][0][2] == [[1, 1]] * 4


def test_rows_are_picked_at_once_with_the_same_result():
    class Slow(ours.TensorDataset):
        def __getitem__(self, index):
            return super().__getitem__(index)

    w = ag.ones(9, 2, requires_grad=True)
    columns = (ag.randn(9, 3), ag.arange(9), np.arange(9, dtype=np.float32), ag.randn(9) > 0, w * 2, np.ones((9, 2)))
    for wrap in (lambda d: d, lambda d: ours.Subset(d, [8, 3, 3, -1]), lambda d: ours.Subset(ours.Subset(d, range(1, 8)), np.array([2, 0]))):
        fast, slow = (ours.DataLoader(wrap(kind(*columns)), 2) for kind in (ours.TensorDataset, Slow))
        assert plain(list(fast)) == plain(list(slow))
    batch = next(iter(ours.DataLoader(ours.TensorDataset(*columns), 4)))
    batch[4].sum().backward()
    assert w.grad.tolist() == [[2, 2]] * 4 + [[0, 0]] * 5
    batch[0].zero_()
    assert columns[0].abs().sum() > 0                                    # a batch never shares the dataset's memory
    with pytest.raises(IndexError):
        list(ours.DataLoader(ours.TensorDataset(*columns), sampler=[9]))


LOADERS = {
    "batches": lambda d, t: list(d.DataLoader(d.TensorDataset(*rows(t)), 3)),
    "drop_last": lambda d, t: list(d.DataLoader(d.TensorDataset(*rows(t)), 3, drop_last=True)),
    "single items": lambda d, t: list(d.DataLoader(np.arange(6).reshape(3, 2), batch_size=None)),
    "single tensors": lambda d, t: list(d.DataLoader(d.TensorDataset(*rows(t)), batch_size=None, sampler=[2, 0])),
    "sampler": lambda d, t: list(d.DataLoader([5, 6, 7, 8], 2, sampler=[3, 1, 0])),
    "batch_sampler": lambda d, t: list(d.DataLoader([5, 6, 7, 8], batch_sampler=[[3], [1, 0]])),
    "keys": lambda d, t: list(d.DataLoader({"a": 1, "b": 2}, sampler=["b", "a"])),
    "stream": lambda d, t: list(d.DataLoader(stream(d, 5), 2)),
    "stream, drop_last": lambda d, t: list(d.DataLoader(stream(d, 5), 2, drop_last=True)),
    "stream of items": lambda d, t: list(d.DataLoader(stream(d, 3), batch_size=None)),
    "collate_fn": lambda d, t: list(d.DataLoader(range(5), 2, collate_fn=tuple)),
    "collate_fn of items": lambda d, t: list(d.DataLoader(range(5), None, collate_fn=str)),
    "empty": lambda d, t: list(d.DataLoader([], 2)),
    "at_once": lambda d, t: list(d.DataLoader(type("D", (d.Dataset,), {"__getitems__": lambda s, i: [v * 2 for v in i], "__len__": lambda s: 3})(), 2)),
    "lengths": lambda d, t: [len(d.DataLoader(range(n), 4, drop_last=x)) for n in (3, 4, 9) for x in (True, False)],
    "length of items": lambda d, t: [len(d.DataLoader(range(9), None)), len(d.DataLoader(range(9), batch_sampler=[[1], [2]])), len(d.DataLoader(range(9), sampler=[4, 5]))],
    "length of streams": lambda d, t: [len(d.DataLoader(stream(d, 9, 9), b, drop_last=x)) for b, x in ((2, True), (2, False), (None, False))],
    "length of a pass": lambda d, t: len(iter(d.DataLoader(range(9), 2))),
    "stream without length": lambda d, t: len(d.DataLoader(stream(d, 9))),
    "attributes": lambda d, t: [(x.batch_size, x.drop_last, x.num_workers, x.timeout, x.prefetch_factor, x.pin_memory, x.in_order) for x in [d.DataLoader(range(3)), d.DataLoader(range(3), 2, num_workers=1), d.DataLoader(range(3), batch_sampler=[[0]])]],
    "generator by position": lambda d, t: d.DataLoader(range(3), 1, False, None, None, 0, None, False, False, 0, None, None, t.Generator()).batch_size,
    "timeout without workers": lambda d, t: list(d.DataLoader(range(3), timeout=1)),
    "prefetch_factor 0": lambda d, t: list(d.DataLoader(range(3), num_workers=1, prefetch_factor=0)),
    "a copy": lambda d, t: [list(x) and list(pickle.loads(pickle.dumps(x))) for x in [d.DataLoader(t.arange(9), 2)]],
    "shuffle": lambda d, t: sorted(v for batch in d.DataLoader(range(10), 3, shuffle=True) for v in batch.tolist()),
    "shuffle of items": lambda d, t: sorted(d.DataLoader(range(4), batch_size=None, shuffle=True)),
}
WRONG = [{"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": -1}, {"persistent_workers": True},
         {"sampler": [0], "shuffle": True}, {"batch_sampler": [[0]], "batch_size": 2}, {"batch_sampler": [[0]], "shuffle": True},
         {"batch_sampler": [[0]], "sampler": [0]}, {"batch_sampler": [[0]], "drop_last": True}, {"batch_size": None, "drop_last": True},
         {"batch_size": 0}, {"batch_size": 1.5}, {"multiprocessing_context": "fork"}, {"num_workers": 1, "multiprocessing_context": "x"},
         {"num_workers": 1, "multiprocessing_context": 3}]


@needs_torch
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")      # PyTorch's, for prefetch_factor=0
@pytest.mark.parametrize("name", LOADERS)
def test_loader(name):
    same(LOADERS[name])


@needs_torch
@pytest.mark.parametrize("options", WRONG, ids=repr)
def test_wrong_options(options):
    same(lambda d, t: d.DataLoader(range(4), **options) and 1)
    for name in ("shuffle", "sampler", "batch_sampler"):
        same(lambda d, t: d.DataLoader(stream(d, 3), **{name: True}) and 1)


@needs_torch
@pytest.mark.parametrize("name", ["batch_size", "sampler", "dataset", "drop_last", "persistent_workers"])
def test_fixed_attributes(name):
    same(lambda d, t: setattr(d.DataLoader(range(4)), name, 1))


def test_a_stream_longer_than_it_says_warns():
    loader = ours.DataLoader(stream(ours, 5, 3), 1)
    list(loader)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="was reported to be 3 .* but [45] samples have been fetched"):
        list(loader)


def test_a_dataset_that_raises_stopiteration_is_an_error():
    data = type("D", (ours.Dataset,), {"__getitem__": lambda self, i: next(iter(())), "__len__": lambda self: 2})()
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        list(ours.DataLoader(data))


def test_nested_loops_over_one_loader():
    loader = ours.DataLoader(range(4), 2)
    assert [(a.tolist(), b.tolist()) for a in loader for b in loader] == [(a, b) for a in ([0, 1], [2, 3]) for b in ([0, 1], [2, 3])]


def passes(sampler, count=3, before=lambda sampler, number: None):
    """The texts of the warnings of some passes of a loader."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for number in range(count):
            before(sampler, number)
            for _ in ours.DataLoader(range(10), sampler=sampler, batch_size=3):
                pass
    return [str(warning.message) for warning in seen]


def test_a_distributed_sampler_whose_epoch_is_never_set_warns_once():
    (text,) = passes(ours.DistributedSampler(range(10), 2, 0))
    assert "set_epoch() was never called" in text and "sampler.set_epoch(epoch) before each epoch" in text
    (text,) = passes(pickle.loads(pickle.dumps(ours.DistributedSampler(range(10), 2, 0, uneven=True))))


def test_right_uses_of_a_distributed_sampler_do_not_warn():
    new = lambda rank=0, **given: ours.DistributedSampler(range(10), 2, rank, **given)
    assert passes(new(shuffle=False)) == passes(new(rank=1)) == passes(new(), 1) == []     # rank 0 warns
    assert passes(new(), before=lambda s, number: s.set_epoch(number)) == []
    assert passes(new(), before=lambda s, number: setattr(s, "epoch", number)) == []
    assert passes(new(), before=lambda s, number: s.set_epoch(0)) == []                    # on purpose
    with ag.no_grad():                                                                      # evaluation
        assert passes(new()) == []
    assert passes(new(), 1, before=lambda s, number: next(iter(s))) == []                  # a look at one sample
