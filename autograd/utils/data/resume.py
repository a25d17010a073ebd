"""DataLoader.state_dict() and load_state_dict(): the position in a pass over a loader, and how a pass is resumed there.

The order of the items is not saved: it is drawn again from the random state that the pass began with, and the batches that
were delivered are skipped. A sampler, dataset or iterator with a state_dict() is resumed by that instead."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

from ...base.arguments import whole_number
from ...modes.random import default_generator
from .fetch import stateful
from .sampler import draw_seed
from .streams import KINDS, as_of, portable, restore, shared_streams, states

if TYPE_CHECKING:
    from ...utils.data.dataloader import DataLoader

VERSION = 1
FIELDS = {"version", "num_workers", "batches", "finished", "start", "base_seed", "now", "place", "own", "workers", "turn",
          "epochs"}


class Progress:
    """The progress of one pass over a loader. `numbers` iterates over the batches of item numbers still to be loaded."""

    def __init__(self, loader: DataLoader[Any], saved: dict[str, Any] | None) -> None:
        self.sampler: Any = loader._index_sampler
        self.batches: int = 0
        self.turn: int = 0
        self.finished: bool = False
        self.fetcher: Any = None                       # of a pass without workers
        self.workers: list[Any] = [None] * loader.num_workers
        self.delivered_state: Any = None  # the place after the last batch handed out, if workers are ahead
        streams = {**shared_streams(), **owned_streams(loader)}
        if saved is not None and not saved["finished"]:
            self.resume(loader, saved, streams)
            return
        self.start: Any = portable(states(streams))
        self.base_seed: int = self.open(loader, None)
        self.delivered_state = self.sampler_state()
        self.fetcher_state: Any = None if saved is None else next_pass_state(saved["own"])
        if saved is not None and saved["workers"]:
            self.workers = [fresh(worker) for worker in saved["workers"]]

    def resume(self, loader: DataLoader[Any], saved: dict[str, Any], streams: dict[str, Any]) -> None:
        """Resume the pass that `saved` is of."""
        self.start, self.base_seed, self.fetcher_state = saved["start"], saved["base_seed"], saved["own"]
        self.batches, self.turn, sampler_state = saved["batches"], saved["turn"], saved["place"]
        if saved["workers"] and len(saved["workers"]) == loader.num_workers:
            self.workers = list(saved["workers"])
        with as_of(streams, self.start):
            self.load_sampler_state(sampler_state)
            self.open(loader, sampler_state)
            if sampler_state is None and not loader._recipe.iterable:
                skipped = sum(1 for _ in itertools.islice(self.numbers, self.batches))
                if skipped < self.batches:
                    raise RuntimeError(f"the saved state is {self.batches} batches into an epoch, which has only {skipped}")
        self.delivered_state = sampler_state

    def open(self, loader: DataLoader[Any], sampler_state: dict[str, Any] | None) -> int:
        """Begin to draw numbers; returns the base seed of workers.

        Samplers that are replayed are asked for the first batch at once: what they draw for the whole pass they draw now."""
        begin_pass(self.sampler)
        self.numbers: Any = iter(self.sampler)
        seed = draw_seed(loader.generator)
        if sampler_state is not None and "iterator" in sampler_state:
            self.numbers.load_state_dict(sampler_state["iterator"])
        elif self.sampler_state() is None and not loader._recipe.iterable:
            self.numbers = itertools.chain(list(itertools.islice(self.numbers, 1)), self.numbers)
        return seed

    def sampler_state(self) -> dict[str, Any] | None:
        """The state of the sampler's iterator, else of the outermost sampler that has one; None for one to replay."""
        if stateful(self.numbers):
            return {"iterator": own_copy(self.numbers.state_dict())}
        for depth, sampler in enumerate(chain(self.sampler)):
            if stateful(sampler):
                return {"depth": depth, "sampler": own_copy(sampler.state_dict())}
        return None

    def load_sampler_state(self, sampler_state: dict[str, Any] | None) -> None:
        """Restore the state of the sampler that Progress.sampler_state() took it from."""
        load_sampler_state(self.sampler, sampler_state)


def own_copy(state: Any) -> Any:
    """A copy that shares nothing that can change."""
    if type(state) is dict and all(type(value) in (int, float, str, bool) for value in state.values()):
        return state.copy()                          # most samplers' states: copy.deepcopy() takes 5 us for them
    return copy.deepcopy(state)


def begin_pass(sampler: Any) -> None:
    """Call begin_pass() of those samplers in the chain that have it."""
    for part in chain(sampler):
        if hasattr(part, "begin_pass"):
            part.begin_pass()


def load_sampler_state(sampler: Any, sampler_state: dict[str, Any] | None) -> None:
    """Restore the state of the sampler that Progress.sampler_state() took it from."""
    if sampler_state is not None and "sampler" in sampler_state:
        chain(sampler)[sampler_state["depth"]].load_state_dict(sampler_state["sampler"])


def save(loader: DataLoader[Any], progress: Progress | None) -> dict[str, Any]:
    """The state of `loader`, `progress` batches into a pass, as nested dicts and lists of numbers, strings and tensors."""
    streams = saved_streams(loader)
    saved = {"version": VERSION, "num_workers": loader.num_workers, "batches": 0, "finished": True, "start": None,
             "base_seed": None, "now": portable(states(streams)), "place": None, "own": None, "workers": None, "turn": 0,
             "epochs": [getattr(sampler, "epoch", None) for sampler in chain(loader._index_sampler)]}
    if progress is None:
        return saved
    done = progress.finished
    if done:
        begin_pass(progress.sampler)
    saved.update(batches=progress.batches, finished=done, base_seed=progress.base_seed, turn=progress.turn,
                 start=None if done else progress.start)
    if loader.num_workers == 0:
        saved.update(place=progress.sampler_state(), own=progress.fetcher and copy.deepcopy(progress.fetcher.state()))
    else:
        keep = not done or loader.persistent_workers
        # workers draw ahead of the batches handed out
        sampler_state = progress.sampler_state() if done else progress.delivered_state
        saved.update(place=sampler_state, workers=[_portable(w) for w in progress.workers] if keep else None)
    return saved


def check(loader: DataLoader[Any], saved: Any) -> None:
    """ValueError unless `saved` is the state of a loader, and of one with the same workers where its items depend on
    them."""
    if not isinstance(saved, dict) or not saved.keys() >= FIELDS:
        raise ValueError("load_state_dict() requires the result of DataLoader.state_dict()")
    if saved["version"] != VERSION:
        raise ValueError(f"a DataLoader state of version {saved['version']}, not {VERSION}")
    depends = loader._recipe.iterable or saved["own"] or any(w and w["own"] for w in saved["workers"] or ())
    if depends and saved["num_workers"] != loader.num_workers:
        raise ValueError(f"the state was saved with num_workers={saved['num_workers']}, and how this dataset's items are "
                         f"shared out depends on it: it cannot be loaded with num_workers={loader.num_workers}")
    for name in ("batches", "turn"):
        whole_number(f"DataLoader.load_state_dict({name}", saved[name])
    for name, kind in (("own", dict), ("place", dict), ("workers", list), ("epochs", list)):
        if saved[name] is not None and not isinstance(saved[name], kind):
            raise ValueError(f"a DataLoader state with {name}={saved[name]!r:.100}: a {kind.__name__} is needed")
    streams = {**shared_streams(), **owned_streams(loader)}
    for name in ("start", "now"):                    # what is wrong with these the next pass would find
        if saved[name] is not None:
            with as_of(streams, saved[name]):
                pass
    if saved["place"] is not None and "sampler" in saved["place"]:
        found = chain(loader._index_sampler)
        depth = whole_number("DataLoader.load_state_dict(depth", saved["place"]["depth"])
        if depth >= len(found):
            raise ValueError(f"the state is of a sampler in {depth} others, and this loader has {len(found)} samplers")
        copy.copy(found[depth]).load_state_dict(saved["place"]["sampler"])


def apply(loader: DataLoader[Any], saved: dict[str, Any]) -> None:
    """Bring the random streams to where they stood, and samplers to their epoch."""
    streams = saved_streams(loader)
    restore(streams, saved["now"])
    for sampler, epoch in zip(chain(loader._index_sampler), saved["epochs"], strict=False):
        if epoch is not None and hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)
    if saved["finished"]:                              # of the next pass; set_epoch() may still choose another
        load_sampler_state(loader._index_sampler, saved["place"])


def chain(sampler: Any) -> list[Any]:
    """A sampler, the sampler that it draws from, and so on."""
    found: list[Any] = []
    while sampler is not None and not any(sampler is other for other in found):
        found.append(sampler)
        sampler = getattr(sampler, "sampler", None)
    return found


def owned_streams(loader: Any) -> dict[str, Any]:
    """The random streams that the loader and its samplers were given, or made."""
    found = {} if loader.generator is None else {"loader": loader.generator}
    for depth, sampler in enumerate(chain(loader._index_sampler)):
        for name, value in getattr(sampler, "__dict__", {}).items():
            if isinstance(value, KINDS):
                found[f"{depth}.{name}"] = value
    return found


def saved_streams(loader: DataLoader[Any]) -> dict[str, Any]:
    """The random streams in a state: those of owned_streams(), and the default generator if the loader or a sampler has no
    other."""
    users = [loader, *chain(loader._index_sampler)]
    by_default = any(getattr(user, "generator", user) is None for user in users)
    return {**owned_streams(loader), **({"default": default_generator()} if by_default else {})}


def next_pass_state(fetcher_state: dict[str, Any] | None) -> dict[str, Any] | None:
    """The part of a fetcher's state that the next pass begins with: the dataset's, not its iterator's."""
    return {"dataset": fetcher_state["dataset"], "ended": False} if fetcher_state and "dataset" in fetcher_state else None


def fresh(worker: dict[str, Any] | None) -> dict[str, Any] | None:
    """The state of a worker that begins a pass where it ended one."""
    return worker and {"done": 0, "start": worker["streams"], "streams": worker["streams"],
                       "own": next_pass_state(worker["own"])}


def _portable(worker: dict[str, Any] | None) -> dict[str, Any] | None:
    return worker and {**worker, "start": portable(worker["start"]), "streams": portable(worker["streams"])}
