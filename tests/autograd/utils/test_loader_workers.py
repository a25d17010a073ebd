"""DataLoader with workers in threads and in processes: order, seeds, failures, and nothing left behind."""

import functools
import gc
import multiprocessing
import os
import random
import threading
import time
import warnings

import numpy as np
import pytest

import autograd as ag
from autograd.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    get_worker_info,
    iteration,
    workers,
)

KINDS = [None, "fork"]
both = pytest.mark.parametrize("context", KINDS, ids=["threads", "fork"])
pytestmark = [pytest.mark.young,
              pytest.mark.filterwarnings("ignore:This DataLoader will create", "ignore:.*fork", "ignore:This process")]


def lists(loader):
    return [batch.tolist() for batch in loader]


def workers_alive():
    return [t.name for t in threading.enumerate() if t.name.startswith("DataLoader")] + multiprocessing.active_children()


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    gc.collect()
    end = time.monotonic() + 60
    while workers_alive() and time.monotonic() < end:
        time.sleep(0.01)
    assert not workers_alive()


class Uneven(Dataset):
    """Later items are ready sooner."""

    def __len__(self):
        return 20

    def __getitem__(self, index):
        time.sleep(0.001 * (20 - index) / 10)
        return index


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return ag.rand(2, dtype=ag.float64)


class Failing(Dataset):
    def __init__(self, fail):
        self.fail = fail

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 4:
            self.fail()
        return index


class Shares(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return iter(range(self.start, self.end))
        return iter(range(self.start + info.id, self.end, info.num_workers))

    def __len__(self):
        return self.end - self.start


@both
@pytest.mark.parametrize("workers", [1, 3])
def test_the_order_does_not_depend_on_the_workers(context, workers):
    g = ag.Generator()
    for options in ({}, {"shuffle": True}, {"prefetch_factor": 1}, {"drop_last": True}, {"persistent_workers": True, "shuffle": True}):
        loader = DataLoader(Uneven(), 3, num_workers=workers, multiprocessing_context=context, generator=g, **options)
        options = {k: v for k, v in options.items() if k in ("shuffle", "drop_last")}
        serial = DataLoader(Uneven(), 3, generator=g, **options)
        g.manual_seed(1)
        wanted = [lists(serial) for _ in range(2)]
        g.manual_seed(1)
        assert [lists(loader) for _ in range(2)] == wanted and len(loader) == len(wanted[0])


@both
def test_streams_are_shared_out_and_taken_in_turn(context):
    loader = DataLoader(Shares(0, 11), 2, num_workers=3, multiprocessing_context=context)
    assert lists(loader) == lists(loader) == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8]]
    assert lists(DataLoader(Shares(0, 11), 2, num_workers=3, drop_last=True, multiprocessing_context=context)) == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10]]
    chained = ChainDataset([Shares(0, 3), Shares(3, 5)])
    assert list(DataLoader(chained, None, num_workers=2, multiprocessing_context=context)) == [0, 1, 2, 4, 3]
    assert lists(DataLoader(Shares(0, 3), 1, num_workers=7, multiprocessing_context=context)) == [[0], [1], [2]]      # some have none
    whole = DataLoader(type("All", (Shares,), {"__iter__": lambda self: iter(range(3))})(0, 3), None, num_workers=2, multiprocessing_context=context)
    assert list(whole) == [0, 0, 1, 1, 2, 2]
    len(whole)
    with pytest.warns(UserWarning, match="reported to be 3 .* asks get_worker_info"):
        list(whole)


def configure(number):
    data = get_worker_info().dataset
    share = -(-(data.end - data.start) // get_worker_info().num_workers)
    data.start += number * share
    data.end = min(data.end, data.start + share)


class Whole(Shares):
    def __iter__(self):
        return iter(range(self.start, self.end))


@both
def test_worker_init_fn_configures_its_own_copy(context):
    data = Whole(3, 7)
    assert list(DataLoader(data, None, num_workers=2, worker_init_fn=configure, multiprocessing_context=context)) == [3, 5, 4, 6]
    assert (data.start, data.end) == (3, 7) and get_worker_info() is None


class Bound(Dataset):
    """Its worker_init_fn and collate_fn are its own methods, and set attributes."""

    def __init__(self):
        self.worker, self.batches = -1, 0
        self.me = self                                   # a circle

    def __len__(self):
        return 8

    def __getitem__(self, index):
        time.sleep(0.002)
        assert self.me is self is get_worker_info().dataset
        return self.worker

    def init(self, number, scale=1):
        self.worker = number * scale
        time.sleep(0.01)                                 # while another worker's runs

    def collate(self, items):
        self.batches += 1
        time.sleep(0.002)
        return [*items, self.worker, self.batches]


class Init:
    """An object that is called, with a method of its own that is given as well."""

    def __init__(self, data):
        self.data, self.count = data, 0

    def __call__(self, number):
        self.data.init(number)

    def collate(self, items):
        self.count += 1
        time.sleep(0.002)
        return [*items, self.data.worker, self.count]


def closures(data):
    bound = data.init
    return [(lambda number: data.init(number), lambda items: data.collate(items)), (lambda number: bound(number), data.collate),
            (lambda number, it=data: it.init(number), lambda items, it=data: it.collate(items))]


@both
@pytest.mark.parametrize("form", ["methods", "partial", "object", "closure", "bound closure", "default", "no Dataset"])
def test_functions_of_the_dataset_are_those_of_the_workers_own(context, form):
    """In threads as in processes: each worker's worker_init_fn and collate_fn see its own dataset, and nobody else's."""
    data = Bound() if form != "no Dataset" else type("Plain", (), {k: v for k, v in vars(Bound).items() if k != "__dict__"})()
    init, collate = data.init, data.collate
    if form == "partial":
        init, collate = functools.partial(data.init, scale=1), functools.partial(Bound.collate, data)
    elif form == "object":
        init = Init(data)
        collate = init.collate
    elif form in ("closure", "bound closure", "default"):
        init, collate = closures(data)[["closure", "bound closure", "default"].index(form)]
    if form == "no Dataset":
        data.me = data
    found = list(DataLoader(data, 2, num_workers=2, worker_init_fn=init, collate_fn=collate, multiprocessing_context=context))
    assert found == [[0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 2], [1, 1, 1, 2]]
    assert (data.worker, data.batches) == (-1, 0) and getattr(init, "count", 0) == 0


def test_a_threads_copy_shares_arrays_but_not_datasets_or_streams():
    class Counting(Dataset):
        def __init__(self, inner=None):
            self.array, self.inner, self.rng, self.opened = np.ones(3), inner, np.random.default_rng(0), False

        def __len__(self):
            return 4

        def __getitem__(self, index):
            assert (get_worker_info().dataset is not data) and not isinstance(get_worker_info().rng, type(None))
            self.opened = True
            return id(self.array) == id(array), self.rng.random(), self.inner is not inner

    inner = Counting()
    data = Counting(inner)
    array = data.array
    shares, drawn, inners = next(iter(DataLoader(data, 4, num_workers=1)))
    assert shares.all() and inners.all() and drawn.tolist() == np.random.default_rng(0).random(4).tolist() and not data.opened
    deep = DataLoader(ConcatDataset([Subset(Whole_(), [0, 1]), Whole_()]), 3, num_workers=2, worker_init_fn=None)
    assert lists(deep) == [[0, 1, 0], [1, 2]]


class Whole_(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index


class Seeds(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        yield info.id, info.seed, ag.initial_seed(), ag.rand(()).item()


@both
def test_seeds_are_the_base_seed_and_the_number(context):
    def draw(seed):
        loader = DataLoader(Seeds(), None, num_workers=3, multiprocessing_context=context, generator=ag.Generator().manual_seed(seed))
        return list(loader), list(loader)

    first, second = draw(1)
    assert [s[0] for s in first] == [0, 1, 2] and all(a[1] == a[2] == first[0][1] + a[0] for a in first)
    assert (first, second) == draw(1) and first[0][1] != second[0][1] and len({s[3] for s in first}) == 3


@both
def test_random_items_repeat_with_the_seed_and_leave_the_caller_alone(context):
    loader = DataLoader(Noise(), 2, num_workers=2, multiprocessing_context=context)
    ag.manual_seed(3)
    drawn = [lists(loader), ag.rand(3).tolist()]
    ag.manual_seed(3)
    assert [lists(loader), ag.rand(3).tolist()] == drawn
    assert len(np.unique(drawn[0])) == 16


class Draws(Dataset):
    """What functions of `random` and `numpy.random` draw in a worker, in every way that reaches its stream."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        time.sleep(0.001)
        if index == 4:                               # of worker 0, its last item
            np.random.seed(7)
            random.seed(7)
        order = [0, 1, 2, 3]
        random.shuffle(order)
        return [get_worker_info().seed, random.random(), random.gauss(0, 1), *order, np.random.rand(), np.random.randn(),
                *np.random.choice(9, 2)]


def drawn_by_hand(seed, base, numbers):
    """The same numbers from streams seeded as PyTorch's workers seed them."""
    python = random.Random(seed)
    legacy = np.random.RandomState(np.random.SeedSequence([seed - base, base & 0xFFFFFFFF, base >> 32, 0]).generate_state(4))
    rows = []
    for number in numbers:
        if number == 4:
            python, legacy = random.Random(7), np.random.RandomState(7)
        order = [0, 1, 2, 3]
        python.shuffle(order)
        rows.append([seed, python.random(), python.gauss(0, 1), *order, legacy.rand(), legacy.randn(), *legacy.choice(9, 2)])
    return rows


@both
@pytest.mark.parametrize("persistent", [False, True])
def test_each_worker_draws_from_its_own_streams_of_python_and_numpy(context, persistent):
    """pytorch#5059, #41329: workers drew the same numbers as each other, or in threads from the caller's streams."""
    functions = random.random, np.random.randint, np.random.seed
    random.seed(3)
    np.random.seed(3)
    np.random.randn()                                # half of a pair is left over
    before = random.getstate(), np.random.get_state()
    loader = DataLoader(Draws(), None, num_workers=2, collate_fn=list, multiprocessing_context=context,
                        persistent_workers=persistent)
    rows = list(loader)
    base = rows[0][0]
    expected = [row for pair in zip(drawn_by_hand(base, base, [0, 2, 4]), drawn_by_hand(base + 1, base, [1, 3, 5]), strict=True)
                for row in pair]
    assert rows == expected
    assert random.getstate() == before[0]
    np.testing.assert_equal(np.random.get_state(), before[1])
    loader._iterator = None
    gc.collect()
    end = time.monotonic() + 20
    while workers_alive() and time.monotonic() < end:
        time.sleep(0.01)
    assert (random.random, np.random.randint, np.random.seed) == functions


def raise_value_error():
    raise ValueError("bad item")


def raise_key_error():
    raise KeyError("bad\nkey")


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def raise_odd():
    raise Odd(1, 2)


@both
def test_exceptions_come_back_with_class_and_traceback(context):
    kind = "process" if context else "thread"
    loader = DataLoader(Failing(raise_value_error), 2, num_workers=2, multiprocessing_context=context)
    it = iter(loader)
    assert [next(it).tolist(), next(it).tolist()] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match=rf"Caught ValueError in DataLoader worker {kind} 0.\nOriginal Traceback[\s\S]*raise_value_error[\s\S]*bad item"):
        next(it)
    assert lists(it) == [[6, 7]]                                     # as in PyTorch the pass may go on
    with pytest.raises(KeyError, match=r"Original Traceback[\s\S]*\n"):
        list(DataLoader(Failing(raise_key_error), 2, num_workers=1, multiprocessing_context=context))
    with pytest.raises(RuntimeError, match="Caught Odd in DataLoader worker") as caught:
        list(DataLoader(Failing(raise_odd), 2, num_workers=1, multiprocessing_context=context))
    assert context or isinstance(caught.value.__cause__, Odd)


def fail_init(number):
    raise OSError("no disk")


@both
def test_failures_before_the_first_batch(context):
    with pytest.raises(OSError, match="no disk"):
        list(DataLoader(range(4), num_workers=2, worker_init_fn=fail_init, multiprocessing_context=context))

    class NoStart(IterableDataset):
        def __iter__(self):
            raise ValueError("no stream")

    with pytest.raises(ValueError, match="no stream"):
        list(DataLoader(NoStart(), num_workers=2, multiprocessing_context=context))
    with pytest.raises(ValueError, match="bad sampler"):
        list(DataLoader(range(4), num_workers=1, sampler=(raise_bad() for _ in range(1)), multiprocessing_context=context))


def raise_bad():
    raise ValueError("bad sampler")


@pytest.mark.parametrize("end, code", [(lambda: os._exit(3), 3), (lambda: os.kill(os.getpid(), 9), -9), (lambda: exit(5), 5)], ids=["_exit", "kill", "exit"])
def test_a_dead_process_is_an_error(end, code):
    began = time.monotonic()
    it = iter(DataLoader(Failing(end), 2, num_workers=2, multiprocessing_context="fork", persistent_workers=True))
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid \d+\) exited unexpectedly with exit code {code}"):
        list(it)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(it)
    assert time.monotonic() - began < 30


def test_persistent_workers_start_again_after_one_was_lost():
    flag = []
    data = Failing(lambda: None if flag else os._exit(1))
    loader = DataLoader(data, 2, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)
    flag.append(1)
    assert lists(loader) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_a_thread_that_exits_is_an_error():
    with pytest.raises(RuntimeError, match="DataLoader worker thread 0 exited unexpectedly: SystemExit"):
        list(DataLoader(Failing(lambda: exit(2)), 4, num_workers=2, sampler=[4, 4, 4, 4, 1]))


@both
def test_timeouts(context):
    it = iter(DataLoader(Failing(lambda: time.sleep(2)), 2, num_workers=1, timeout=0.3, multiprocessing_context=context))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.3 seconds"):
        list(it)
    del it


def test_a_stuck_process_is_killed():
    it = iter(DataLoader(Failing(lambda: time.sleep(60)), 2, num_workers=1, timeout=0.2, multiprocessing_context="fork"))
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out"):
        list(it)
    del it
    gc.collect()
    assert not workers_alive() and time.monotonic() - began < 30


def test_what_cannot_be_sent_is_an_error():
    with pytest.raises(RuntimeError, match=r"sending a batch in DataLoader worker process 0[\s\S]*pickle"):
        list(DataLoader(range(3), num_workers=1, multiprocessing_context="fork", collate_fn=lambda batch: lambda: 0))

    class Local(Exception):
        pass

    def fail():
        raise Local("inside")

    with pytest.raises(RuntimeError, match="Caught Local in DataLoader worker process 0"):
        list(DataLoader(Failing(fail), num_workers=1, multiprocessing_context="fork"))
    with pytest.raises(Local, match="inside"):
        list(DataLoader(Failing(fail), num_workers=1))


@both
@pytest.mark.parametrize("persistent", [False, True])
def test_leaving_early_leaves_nothing(context, persistent):
    loader = DataLoader(Uneven(), 2, num_workers=2, multiprocessing_context=context, persistent_workers=persistent)
    for _ in loader:
        break
    assert bool(workers_alive()) == persistent
    assert lists(loader) == lists(DataLoader(Uneven(), 2))
    assert bool(workers_alive()) == persistent
    it = iter(loader)
    next(it)
    del it, loader
    assert not workers_alive()                                       # by reference counts, without the collector


@both
def test_persistent_workers_stay(context):
    class Who(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return f"{os.getpid()} {threading.get_ident()}"

    loader = DataLoader(Who(), None, num_workers=2, multiprocessing_context=context, persistent_workers=True)
    assert list(loader) == list(loader)
    fresh = DataLoader(Who(), None, num_workers=2, multiprocessing_context="fork")
    assert set(fresh).isdisjoint(fresh)
    assert next(iter(loader)).startswith(f"{os.getpid()} ") == (context is None)


@both
def test_in_order_false_gives_what_is_ready(context, tmp_path):
    class ZeroWaitsForThree(Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            while index == 0 and not (tmp_path / "three").exists():
                time.sleep(0.005)
            if index == 3:
                (tmp_path / "three").touch()
            return index

    loader = DataLoader(ZeroWaitsForThree(), None, num_workers=2, in_order=False, multiprocessing_context=context)
    seen = list(loader)
    assert sorted(seen) == list(range(12)) and seen[0] == 1
    assert sorted(DataLoader(Shares(0, 9), None, num_workers=2, in_order=False, multiprocessing_context=context)) == list(range(9))
    with pytest.raises(NotImplementedError, match="in_order=False"):
        loader.state_dict()


def test_spawn():
    context = multiprocessing.get_context("spawn")
    data = TensorDataset(ag.arange(6), ag.randn(6, 2))
    batches = [b for b, _ in DataLoader(data, 4, num_workers=1, multiprocessing_context=context, timeout=200)]
    assert [b.tolist() for b in batches] == [[0, 1, 2, 3], [4, 5]] and batches[0].dtype == ag.int64
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local"):
        iter(DataLoader(data, collate_fn=lambda b: b, num_workers=1, multiprocessing_context="spawn"))


@both
def test_loaders_inside_loaders(context):
    class Inner(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return sum(b.item() for b in DataLoader(range(index + 1), num_workers=1))

    assert lists(DataLoader(Inner(), 2, num_workers=2, multiprocessing_context=context)) == [[0, 1], [3, 6]]
    loader = DataLoader(range(4), 2, num_workers=1, multiprocessing_context=context)
    assert [(a.tolist(), b.tolist()) for a in loader for b in loader] == [(a, b) for a in ([0, 1], [2, 3]) for b in ([0, 1], [2, 3])]


def test_threads_keep_the_callers_gradient_mode():
    w = ag.ones(4, 2, requires_grad=True)
    loader = DataLoader(list(w), 2, num_workers=1)
    assert next(iter(loader)).requires_grad
    with ag.no_grad():
        assert not next(iter(loader)).requires_grad


def test_interpreter_exit_with_workers_alive(tmp_path):
    import subprocess
    import sys
    script = "import autograd\nfrom autograd.utils.data import DataLoader\n" \
             "for context in (None, 'fork'):\n    loader = DataLoader(range(99), num_workers=2, persistent_workers=True, multiprocessing_context=context)\n" \
             "    it = iter(loader); next(it); keep = globals().setdefault('keep', []); keep.append(it)\nprint('end')"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=200)
    assert done.stdout == "end\n" and done.stderr == "" and done.returncode == 0


@pytest.mark.parametrize("computed, waited, elapsed, count, cores, turns", [
    (9.9, 9, 10, 2, 2, True), (10, 9, 10, 8, 4, True),
    (17, 9, 10, 2, 2, False),                                        # NumPy: in parallel
    (2, 9, 10, 2, 2, False),                                         # waits for files
    (10, 3, 10, 2, 2, False), (1, 0.9, 1, 2, 2, False),              # the loop computes; a short pass
    (10, 9, 10, 1, 2, False), (10, 9, 10, 2, 1, False)])
def test_threads_that_take_turns(monkeypatch, computed, waited, elapsed, count, cores, turns):
    monkeypatch.setattr(workers, "usable_cores", lambda: cores)
    assert workers.take_turns(computed, waited, elapsed, count) is turns
    monkeypatch.setattr(iteration, "take_turns", lambda seconds, waited, elapsed, count: turns and seconds > 0 < waited < elapsed and count == 2)
    loader = DataLoader(Noise(), 2, num_workers=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lists(loader)
    assert [bool("took turns" in str(w.message)) for w in caught] == [True] * turns
    assert all(w.filename == __file__ for w in caught)


def test_more_processes_than_processors_warn():
    with pytest.warns(UserWarning, match="This DataLoader will create 99 worker processes"):
        DataLoader(range(3), num_workers=99, multiprocessing_context="fork").check_worker_number_rationality()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lists(DataLoader(range(3), num_workers=9, pin_memory=True)) == [[0], [1], [2]]
    assert random.random() < 1
