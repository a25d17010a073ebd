"""DataLoader.state_dict() and load_state_dict(): what follows is bitwise what would have followed."""

import itertools
import json
import pickle
import random

import numpy as np
import pytest

import autograd as ag
from autograd.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
)

pytestmark = [pytest.mark.young,
              pytest.mark.filterwarnings("ignore:This DataLoader will create", "ignore:.*fork", "ignore:This process")]
N = 23


def plain(batch):
    return [plain(part) for part in batch] if isinstance(batch, (list, tuple)) else batch.tolist() if isinstance(batch, ag.Tensor) else batch


class Noisy(Dataset):
    """Items with numbers drawn from every stream that a worker may draw from."""

    def __len__(self):
        return N

    def __getitem__(self, index):
        info = get_worker_info()
        if info is not None and info.rng is not None:
            return index, ag.rand(()), info.rng.random_generator.random(), info.rng.numpy_generator.random()
        return index, ag.rand(()), random.random() if info else 0, np.random.random() if info else 0


class Share(IterableDataset):
    """A stream without state; `noise` adds random numbers."""

    def __init__(self, noise=True):
        self.noise = noise

    def __iter__(self):
        info = get_worker_info()
        number, of = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(number, N, of):
            yield i, ag.rand(()).item() if self.noise and info else 0.0


class Stateful(Share):
    """A stream that says itself where it stands, in its dataset."""

    def __init__(self):
        self.next, self.passes, self.opened = 0, 0, 0

    def __iter__(self):
        info = get_worker_info()
        number, of = (0, 1) if info is None else (info.id, info.num_workers)
        while self.next * of + number < N:
            self.next += 1
            self.opened += 1
            yield (self.next - 1) * of + number, self.passes
        self.next = 0
        self.passes += 1

    def state_dict(self):
        return {"next": self.next, "passes": self.passes}

    def load_state_dict(self, state):
        self.next, self.passes = state["next"], state["passes"]


class Walk:
    """An iterator with a state."""

    def __init__(self, number, of):
        self.at, self.of = number, of

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= N:
            raise StopIteration
        self.at += self.of
        return self.at - self.of

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


class Walked(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return Walk(0, 1) if info is None else Walk(info.id, info.num_workers)


class Remembering(Dataset):
    """A dataset by number with a state of its own."""

    def __init__(self):
        self.calls = 0

    def __len__(self):
        return N

    def __getitem__(self, index):
        self.calls += 1
        return index, self.calls

    def state_dict(self):
        return {"calls": self.calls}

    def load_state_dict(self, state):
        self.calls = state["calls"]


class OwnOrder(Sampler):
    """A sampler that cannot be replayed: it says where it stands."""

    def __init__(self, seed):
        self.rng, self.order, self.at = random.Random(seed), [], 0

    def __iter__(self):
        if not self.order:
            self.order = self.rng.sample(range(N), N)
        while self.at < N:
            self.at += 1
            yield self.order[self.at - 1]
        self.order, self.at = [], 0

    def __len__(self):
        return N

    def state_dict(self):
        return {"order": self.order, "at": self.at}

    def load_state_dict(self, state):
        self.order, self.at = list(state["order"]), state["at"]


class NumpyOrder(Sampler):
    """A sampler with a stream of NumPy's."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        return iter(self.rng.permutation(N).tolist())

    def __len__(self):
        return N


class GlobalOrder(NumpyOrder):
    def __iter__(self):
        return iter(np.random.permutation(N).tolist())


def generator(seed):
    return ag.Generator().manual_seed(seed)


# Each makes a loader from a seed (which must not matter once a state is loaded) and worker options.
LOADERS = {
    "sequential": lambda s, **o: DataLoader(range(N), 4, **o),
    "shuffled": lambda s, **o: DataLoader(TensorDataset(ag.arange(N)), 4, shuffle=True, generator=generator(s), **o),
    "shuffled by the default generator": lambda s, **o: DataLoader(range(N), 4, shuffle=True, drop_last=True, **o),
    "items": lambda s, **o: DataLoader(range(N), None, shuffle=True, generator=generator(s), **o),
    "noisy": lambda s, **o: DataLoader(Noisy(), 3, shuffle=True, **o),
    "replacement": lambda s, **o: DataLoader(range(N), 100, sampler=RandomSampler(range(N), True, 3000, generator(s)), **o),
    "twice": lambda s, **o: DataLoader(range(N), 5, sampler=RandomSampler(range(N), num_samples=40), generator=generator(s), **o),
    "weights": lambda s, **o: DataLoader(range(N), 3, sampler=WeightedRandomSampler([1.0] * N, 30, generator=generator(s)), **o),
    "weights by default": lambda s, **o: DataLoader(range(N), 3, sampler=WeightedRandomSampler([1.0] * N, 30), **o),
    "subset": lambda s, **o: DataLoader(ConcatDataset([range(9), Subset(range(9), [4, 5])]), 2, sampler=SubsetRandomSampler(range(11)), **o),
    "batch sampler": lambda s, **o: DataLoader(range(N), batch_sampler=BatchSampler(RandomSampler(range(N), generator=generator(s)), 6, False), **o),
    "ranks": lambda s, **o: DataLoader(range(N), 3, sampler=DistributedSampler(range(N), 2, 1, seed=7), **o),
    "list": lambda s, **o: DataLoader(range(N), 2, sampler=[5, 4, 3, 2, 1], **o),
    "own order": lambda s, **o: DataLoader(range(N), 4, sampler=OwnOrder(s), **o),
    "NumPy's order": lambda s, **o: DataLoader(range(N), 4, sampler=NumpyOrder(s), **o),
    "stream": lambda s, **o: DataLoader(Share(), 3, **o),
    "stream of items": lambda s, **o: DataLoader(Share(), None, generator=generator(s), **o),
    "stream, drop_last": lambda s, **o: DataLoader(Share(), 4, drop_last=True, **o),
    "stateful stream": lambda s, **o: DataLoader(Stateful(), 3, **o),
    "stateful stream, drop_last": lambda s, **o: DataLoader(Stateful(), 4, drop_last=True, **o),
    "stateful iterator": lambda s, **o: DataLoader(Walked(), 2, **o),
    "stateful dataset": lambda s, **o: DataLoader(Remembering(), 4, shuffle=True, generator=generator(s), **o),
}
WORKERS = {"alone": {}, "threads": {"num_workers": 2}, "persistent threads": {"num_workers": 3, "persistent_workers": True, "prefetch_factor": 3},
           "processes": {"num_workers": 2, "multiprocessing_context": "fork"},
           "persistent processes": {"num_workers": 2, "multiprocessing_context": "fork", "persistent_workers": True}}
# Processes take long to start: those cases in which they differ from threads.
CASES = [(name, workers) for workers in WORKERS for name in LOADERS
         if "processes" not in workers or name in ("noisy", "stream", "stateful stream", "stateful iterator", "stateful dataset")]


def cut(make, at, options, passes=3, carry=lambda state: state):
    """Batches after the `at`-th of the second pass (and of passes after that), without interruption, and resumed."""
    ag.manual_seed(11)
    np.random.seed(11)
    loader = make(1, **options)
    list(loader)
    it = iter(loader)
    for _ in range(at):
        next(it)
    state = carry(loader.state_dict())
    wanted = [plain(list(it)), *(plain(list(loader)) for _ in range(passes - 2))]
    del it, loader
    ag.manual_seed(99)
    np.random.seed(99)
    again = make(2, **options)
    again.load_state_dict(state)
    return wanted, [plain(list(again)) for _ in range(passes - 1)]


@pytest.mark.parametrize("name, workers", CASES)
def test_resuming_in_the_middle(name, workers):
    whole = name != "own order"                        # its next pass draws from a stream that its state leaves out
    for at in (0, 1, 3) if "processes" not in workers else (1, 3):
        wanted, resumed = cut(LOADERS[name], at, WORKERS[workers], 3 if whole else 2)
        assert wanted == resumed and any(wanted), at


def at_the_end(make, options):
    ag.manual_seed(11)
    loader = make(1, **options)
    list(loader)
    state = loader.state_dict()
    wanted = plain(list(loader))
    ag.manual_seed(99)
    again = make(2, **options)
    again.load_state_dict(state)
    return wanted, plain(list(again))


@pytest.mark.parametrize("name, workers", CASES)
def test_resuming_between_passes(name, workers):
    if name == "own order":
        pytest.skip("its next pass draws from a stream that its state leaves out")
    wanted, resumed = at_the_end(LOADERS[name], WORKERS[workers])
    assert wanted == resumed and wanted


@pytest.mark.parametrize("name", ["noisy", "shuffled", "stateful stream", "stream", "own order"])
@pytest.mark.parametrize("workers", ["alone", "threads", "processes"])
def test_states_are_plain_values(name, workers):
    def through_json(state):
        tensors = []

        def out(value):
            assert isinstance(value, (ag.Tensor, dict, list, int, float, str, bool, type(None))), value
            tensors.append(value)
            return {"tensor": len(tensors) - 1}

        def back(value):
            return tensors[value["tensor"]] if value.keys() == {"tensor"} else value

        return pickle.loads(pickle.dumps(json.loads(json.dumps(state, default=out), object_hook=back)))

    wanted, resumed = cut(LOADERS[name], 2, WORKERS[workers], 2, through_json)
    assert wanted == resumed


@pytest.mark.parametrize("name", ["shuffled", "weights", "batch sampler", "NumPy's order", "own order"])
def test_the_number_of_workers_may_change_where_it_does_not_matter(name):
    for before, after in itertools.permutations(["alone", "threads", "processes"], 2):
        loader = LOADERS[name](1, **WORKERS[before])
        it = iter(loader)
        next(it), next(it)
        state = loader.state_dict()
        again = LOADERS[name](2, **WORKERS[after])
        again.load_state_dict(state)
        assert plain(list(it)) == plain(list(again))


def test_states_after_leaving_the_loop_and_again_after_resuming():
    loader = LOADERS["shuffled"](1, num_workers=2)
    whole = plain(list(loader))
    loader = LOADERS["shuffled"](1, num_workers=2)
    seen = []
    for cuts in (1, 2, 1):
        for number, batch in enumerate(loader, 1):
            seen.append(plain(batch))
            if number == cuts:
                break
        state = loader.state_dict()
        loader = LOADERS["shuffled"](3)
        loader.load_state_dict(state)
        assert loader.state_dict()["batches"] == len(seen)
    assert seen + plain(list(loader)) == whole


def test_a_stateful_stream_is_not_read_again():
    loader = DataLoader(Stateful(), 1)
    next(it := iter(loader)), next(it)
    again = DataLoader(Stateful(), 1)
    again.load_state_dict(loader.state_dict())
    assert plain(next(iter(again)))[0] == [2] and again.dataset.opened == 1


def test_a_sampler_drawing_from_a_global_stream_is_replayed_without_disturbing_it():
    loader = DataLoader(range(N), 4, sampler=GlobalOrder(0))
    it = iter(loader)
    next(it)
    state, wanted = loader.state_dict(), plain(list(it))
    again = DataLoader(range(N), 4, sampler=GlobalOrder(0), num_workers=1)
    again.load_state_dict(state)
    np.random.seed(5)
    assert plain(list(again)) == wanted
    first = np.random.random()
    np.random.seed(5)
    assert first == np.random.random()


def test_the_default_generator_belongs_to_loaders_without_one():
    loader = DataLoader(range(4), generator=generator(0))
    state = loader.state_dict()
    ag.manual_seed(1)
    loader.load_state_dict(state)
    list(loader)
    assert ag.rand(()).item() == (ag.manual_seed(1), ag.rand(()).item())[1]
    ag.manual_seed(2)
    state = DataLoader(range(4)).state_dict()
    wanted = ag.rand(()).item()
    DataLoader(range(4)).load_state_dict(state)
    assert ag.rand(()).item() == wanted


def test_the_epoch_of_a_distributed_sampler_is_kept():
    def make():
        return DataLoader(range(N), 4, sampler=DistributedSampler(range(N), 2, 0))

    loader = make()
    loader.sampler.set_epoch(5)
    it = iter(loader)
    next(it)
    again = make()
    again.load_state_dict(loader.state_dict())
    assert again.sampler.epoch == 5 and plain(list(again)) == plain(list(it))


def test_wrong_states():
    loader = DataLoader(range(N), 4)
    with pytest.raises(ValueError, match="the result of DataLoader.state_dict"):
        loader.load_state_dict({"batches": 3})
    with pytest.raises(ValueError, match="version 7"):
        loader.load_state_dict({**loader.state_dict(), "version": 7})
    stream = DataLoader(Share(), 2, num_workers=2)
    next(iter(stream))
    with pytest.raises(ValueError, match=r"num_workers=2.*num_workers=0"):
        DataLoader(Share(), 2).load_state_dict(stream.state_dict())
    for _ in zip(range(3), loader, strict=False):
        pass
    shorter = DataLoader(range(5), 4, sampler=SequentialSampler(range(5)))
    shorter.load_state_dict(loader.state_dict())
    with pytest.raises(RuntimeError, match="3 batches into an epoch, which has only 2"):
        iter(shorter)
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(loader))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_distributed_sampler_counts_what_all_ranks_have_seen(workers):
    """So a pass goes on at another number of ranks; a broken one begins again, a finished one is followed by a new one."""
    def loader(rank, size, batch):
        return DataLoader(range(23), batch, sampler=DistributedSampler(range(23), size, rank, uneven=True), num_workers=workers)

    for before, after, batches in [(1, 3, 2), (2, 1, 1), (3, 2, 2), (5, 8, 1), (3, 1, 3), (2, 2, 0)]:
        seen, states = [], []
        for rank in range(before):
            part = loader(rank, before, 3)
            seen += [n for _, batch in zip(range(batches), part, strict=False) for n in batch.tolist()]
            states.append(part.state_dict())
        for rank in range(after):
            part = loader(rank, after, 2)
            part.load_state_dict(states[0])
            seen += [n for batch in part for n in batch.tolist()]
            assert sum(len(batch) for batch in part) == part.sampler.num_samples
        assert sorted(seen) == list(range(23))


def test_a_sampler_with_an_order_of_its_own_is_replayed():
    class Backwards(DistributedSampler):
        def __iter__(self):
            return iter(list(super().__iter__())[::-1])

    first, again = (DataLoader(range(9), 2, sampler=Backwards(range(9), 2, 0)) for _ in range(2))
    next(iter(first))
    again.load_state_dict(first.state_dict())
    order = list(Backwards(range(9), 2, 0))
    assert [n for batch in again for n in batch.tolist()] == order[2:]


def test_an_empty_batch_has_the_form_of_the_others():
    class Pairs:
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return {"x": np.ones((2, 3)), "y": i}

    loader = DataLoader(Pairs(), batch_sampler=[[0, 1], []])
    full, empty = list(loader)
    assert full["x"].shape == (2, 2, 3) and empty["x"].shape == (0, 2, 3) and empty["y"].shape == (0,)
    assert empty["y"].dtype == full["y"].dtype
