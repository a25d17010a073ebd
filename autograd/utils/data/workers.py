"""Workers: what one does with its tasks, and a crew of them in threads.

A worker gets messages: ("begin", state) for a pass over the dataset, ("fetch", numbers) for a batch, which it answers by an
Answer, and None to end. A crew has send(), receive() and stop(): threads here, processes in processes.py."""

from __future__ import annotations

import copy
import functools
import os
import random
import sys
import threading
import time
import types
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...base.environment import usable_cores
from ...core.modes import modes
from ...core.tensor import Tensor
from ...modes.random import default_generator
from .dataset import Dataset
from .failure import Failure
from .fetch import Recipe, reopen
from .streams import KINDS, restore, shared_streams, states
from .thread_streams import ThreadStreams, numpy_seed, own_streams

if TYPE_CHECKING:
    from threading import Event, Thread

ENOUGH = 3.0                              # seconds of waiting that are worth a warning
GRACE = 2.0                               # seconds that workers have to end their batch when they are not needed any more


@dataclass(frozen=True)
class WorkerInfo:
    """The result of get_worker_info(): the worker's number, how many there are, its seed, and its copy of the dataset.

    `rng` holds the random streams of a worker thread; None in a process."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: ThreadStreams | None = None
    worker_method: str = "multiprocessing"


_worker_info: ContextVar[WorkerInfo | None] = ContextVar("worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader: which one. Elsewhere None."""
    return _worker_info.get()


class Job(NamedTuple):
    """What all workers of a crew have in common."""

    dataset: Any
    recipe: Recipe
    base_seed: int
    num_workers: int
    init_fn: Any
    recording: int                        # the mode of the thread that iterates


class Answer(NamedTuple):
    """A batch, or the reason why there is none, and the worker's state after it."""

    value: Any = None
    failure: Failure | None = None
    ended: bool = False                   # the worker's share of a stream is at its end
    state: Any = None


class Worker:
    """Fetches batches in a thread or process of its own, of a job that no other worker uses (see thread_job)."""

    done: int

    def __init__(self, job: Job, number: int, rng: ThreadStreams | None) -> None:
        modes.recording = job.recording
        seed = job.base_seed + number
        kind = "process" if rng is None else "thread"
        self.location: str = f"in DataLoader worker {kind} {number}"
        self.recipe: Recipe = job.recipe
        self.dataset: Any = job.dataset
        self.streams: dict[str, Any] = shared_streams() if rng is None else {
            "default": rng.torch_generator, "random": rng.random_generator, "own numpy": rng.numpy_generator,
            "numpy": rng.numpy_state}
        self.failed: Failure | None = None
        _worker_info.set(WorkerInfo(number, job.num_workers, seed, self.dataset, rng,
                             "multiprocessing" if rng is None else "thread"))
        try:
            if job.init_fn is not None:
                job.init_fn(number)
        except Exception as error:
            self.failed = Failure.caught(error, self.location)

    def run(self, receive: Callable[[], Any], send: Callable[[Answer], object]) -> None:
        """Answer messages until there is none."""
        while (message := receive()) is not None:
            what, content = message
            if what == "begin":
                self.begin(content)
            else:
                send(self.answer(content))

    def begin(self, saved: dict[str, Any] | None) -> None:
        """Begin a pass, or resume the one that `saved` (a state from an Answer) is of."""
        self.done = 0
        if self.failed is not None:
            return
        try:
            if saved is None or saved["own"] is not None or not self.recipe.iterable:
                if saved is not None:
                    restore(self.streams, saved["streams"])
                self.start = states(self.streams)
                self.fetcher = reopen(self.recipe, self.dataset, None if saved is None else saved["own"])
            else:
                self.replay(saved)
        except Exception as error:
            self.failed = Failure.caught(error, self.location)

    def replay(self, saved: dict[str, Any]) -> None:
        """Bring a stream without a state to its saved position by reading it again."""
        restore(self.streams, saved["start"])
        self.start = states(self.streams)
        self.fetcher = reopen(self.recipe, self.dataset, None)
        for _ in range(saved["done"]):
            self.answer(self.recipe.blank)

    def answer(self, index: Any) -> Answer:
        """The batch of these numbers."""
        if self.failed is not None:
            return Answer(failure=self.failed)
        value, failure, ended = None, None, False
        try:
            value = self.fetcher.fetch(index)
        except StopIteration:
            ended = True
        except Exception as error:
            failure = Failure.caught(error, self.location)
        self.done += 1
        return Answer(value, failure, ended, self.state())

    def state(self) -> dict[str, Any]:
        """The position of this worker: `done` batches after its streams had the states `start`."""
        return {"done": self.done, "start": self.start, "streams": states(self.streams),
                "own": copy.deepcopy(self.fetcher.state())}


class Crew:
    """Workers in threads. Nothing here refers to the iterator, so that dropping that ends the crew."""

    threads: list[Thread]

    def __init__(self, job: Job, in_order: bool) -> None:
        self.job: Job = job
        self.maker: int = os.getpid()
        self.stopping: Event = threading.Event()
        numbers = range(job.num_workers)
        common: Any = SimpleQueue()
        self.inboxes: list[Any] = [SimpleQueue() for _ in numbers]
        self.outboxes: list[Any] = [SimpleQueue() if in_order else common for _ in numbers]
        self.computed: list[float] = [0.0 for _ in numbers]  # seconds of each thread
        self.jobs: list[Job] = [thread_job(job) for _ in numbers]        # before the caller changes the dataset
        self.threads = [threading.Thread(target=self.serve, args=(i,), name=f"DataLoader worker {i}", daemon=True)
                        for i in numbers]
        for thread in self.threads:
            thread.start()

    def serve(self, number: int) -> None:
        """The life of one worker."""
        rng = ThreadStreams.seeded(self.job.base_seed, number)
        try:
            with own_streams(rng):
                Worker(self.jobs[number], number, rng).run(functools.partial(self.next_message, number),
                                                           functools.partial(self.deliver, number))
        except BaseException as error:          # SystemExit, say: this worker will not answer any more
            self.report_lost(number, f"DataLoader worker thread {number} exited unexpectedly: {error!r}", error)

    def send(self, number: int, message: Any) -> None:
        """Send a message to a worker."""
        self.inboxes[number].put(message)

    def receive(self, numbers: Sequence[int], timeout: float | None) -> tuple[int, Answer]:
        """Wait for an answer of one of these workers: of one, or without in_order of any. queue.Empty after the timeout."""
        answer: tuple[int, Answer] = self.outboxes[numbers[0]].get(timeout=timeout)
        return answer

    def deliver(self, number: int, answer: Answer) -> None:
        """Pass a worker's answer on."""
        self.computed[number] = time.thread_time()
        self.outboxes[number].put((number, answer))

    def next_message(self, number: int) -> Any:
        """The next message to a worker; None when it should end."""
        message = self.inboxes[number].get()
        return None if self.stopping.is_set() else message

    def report_lost(self, number: int, text: str, error: BaseException | None = None) -> None:
        """Answer every task of a worker that has ended with this failure, until the crew is stopped."""
        answer = Answer(failure=Failure(LostWorker, text, error))
        self.outboxes[number].put((number, answer))
        while self.next_message(number) is not None:
            self.outboxes[number].put((number, answer))

    def stop(self) -> None:
        """End all workers: each may finish the batch that it is at."""
        if os.getpid() != self.maker:           # a forked copy of this object: the threads are not here
            return
        self.dismiss()
        self.join(GRACE)

    def dismiss(self) -> None:
        """Send every worker the message to end."""
        self.stopping.set()
        for inbox in self.inboxes:
            inbox.put(None)

    def join(self, seconds: float) -> bool:
        """Wait for the threads; whether all have ended. The collector may have called this in one of them."""
        deadline = time.monotonic() + seconds
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)


def take_turns(computed: float, waited: float, elapsed: float, workers: int) -> bool:
    """Whether worker threads computed for `computed` seconds one at a time, as Python code does, while the loop over the
    loader waited for most of the time that it took: worker processes would be faster."""
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    return locked and min(workers, usable_cores()) > 1 and waited > max(ENOUGH, elapsed / 2) \
        and 0.8 * elapsed < computed < 1.1 * elapsed


class LostWorker(RuntimeError):
    """A worker that is gone: the loader stops its crew and raises a RuntimeError."""


def thread_job(job: Job) -> Job:
    """A job with a copy of the dataset for one worker thread, and a collate_fn and worker_init_fn that refer to that
    copy."""
    twins: dict[int, Any] = {}
    dataset = _twin(job.dataset, twins) if _is_plain(job.dataset) else thread_copy(job.dataset, twins)
    return job._replace(dataset=dataset, init_fn=thread_function(job.init_fn, twins),
                        recipe=job.recipe._replace(collate_fn=thread_function(job.recipe.collate_fn, twins)))


def thread_copy(value: Any, twins: dict[int, Any]) -> Any:
    """A worker thread's copy of a dataset: it may set attributes; what they refer to is shared by all threads.

    Datasets and random streams found inside datasets are copied too, as each worker process would have its own. twins: the
    copies made so far, by the identity of what they are copies of."""
    if id(value) in twins:
        return twins[id(value)]
    if isinstance(value, KINDS):
        return twins.setdefault(id(value), copy.deepcopy(value))
    if isinstance(value, Dataset):
        return _twin(value, twins)
    first = next(iter(value.values() if isinstance(value, dict) else value), None) if type(value) in HOLDERS else None
    if isinstance(first, (Dataset, *KINDS)):
        return {key: thread_copy(part, twins) for key, part in value.items()} if isinstance(value, dict) \
            else type(value)(thread_copy(part, twins) for part in value)
    return value


def _twin(value: Any, twins: dict[int, Any]) -> Any:
    """A copy of an object with attributes of its own; the object itself if it can't be copied."""
    if id(value) in twins:
        return twins[id(value)]
    try:
        twin = copy.copy(value)
    except Exception:
        return twins.setdefault(id(value), value)
    twins[id(value)] = twin
    for name, part in list(getattr(twin, "__dict__", {}).items()):
        twin.__dict__[name] = thread_copy(part, twins)
    return twin


def _is_plain(value: Any) -> bool:
    """Whether this is an object that keeps its attributes in a __dict__ of its own: no class, module or function."""
    return hasattr(value, "__dict__") and not isinstance(
        value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Tensor))


def thread_function(function: Any, twins: dict[int, Any]) -> Callable[..., Any]:
    """A function that a worker thread calls, on that thread's copies where it is a method, a partial or a closure of
    originals. What it reaches by global names is shared: get_worker_info().dataset is the worker's own."""
    if isinstance(function, types.MethodType) and _is_plain(function.__self__):
        return types.MethodType(function.__func__, _twin(function.__self__, twins))
    if isinstance(function, functools.partial):
        return functools.partial(thread_function(function.func, twins), *[thread_copy(a, twins) for a in function.args],
                                 **{key: thread_copy(a, twins) for key, a in function.keywords.items()})
    if isinstance(function, types.FunctionType):
        return _thread_closure(function, twins)
    return _twin(function, twins) if _is_plain(function) else function


def _thread_closure(function: types.FunctionType, twins: dict[int, Any]) -> types.FunctionType:
    """The function with this thread's copies of what it closes over and has as default values."""
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append((cell, cell.cell_contents))
        except ValueError:                          # not assigned yet
            cells.append((cell, None))
    contents = [thread_function(value, twins) if isinstance(value, types.MethodType) else thread_copy(value, twins)
            for _, value in cells]
    defaults = tuple([thread_copy(value, twins) for value in function.__defaults__ or ()])
    if all(a is b for a, (_, b) in zip(contents, cells, strict=True)) and all(
            a is b for a, b in zip(defaults, function.__defaults__ or (), strict=True)):
        return function
    twin = types.FunctionType(function.__code__, function.__globals__, function.__name__, defaults or None, tuple(
        [cell if value is before else types.CellType(value) for value, (cell, before) in zip(contents, cells, strict=True)]))
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__dict__.update(function.__dict__)
    return twin


HOLDERS = (list, tuple, dict)


def seed_process(base_seed: int, number: int) -> None:
    """Seed the streams that functions of this process, worker `number`, draw from."""
    random.seed(base_seed + number)
    np.random.seed(numpy_seed(base_seed, number))
    default_generator().manual_seed(base_seed + number)
