"""The iterators of a DataLoader: SerialIterator loads in the caller's thread, ParallelIterator has a Crew of workers."""

from __future__ import annotations

import time
import warnings
import weakref
from collections import deque
from queue import Empty
from typing import TYPE_CHECKING, Any, NoReturn

from ...base.training import listeners, report
from ...core.modes import modes
from ...spans.spans import record_function
from .fetch import reopen
from .processes import ProcessCrew
from .resume import Progress, fresh
from .workers import Crew, Job, LostWorker, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...utils.data.dataloader import DataLoader


class LoaderIterator:
    """One pass over a loader."""

    waiting = ""                                     # PyTorch's name of the wait for a batch
    progress: Progress

    def __init__(self, loader: DataLoader[Any], saved: dict[str, Any] | None) -> None:
        self.begin(loader, saved)

    def begin(self, loader: DataLoader[Any], saved: dict[str, Any] | None) -> None:
        """Begin a pass, or go on with a saved one."""
        self.sampler: Any = loader._index_sampler
        self.dataset: Any = loader.dataset
        self.num_workers: int = loader.num_workers
        self.promised: Any = loader._promised
        self.progress = loader._progress = Progress(loader, saved)

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self) -> Any:
        with record_function(self.waiting):
            batch = self.next_batch()
        if listeners:
            report("batch", self)
        return batch

    def next_batch(self) -> Any:
        """The next batch; StopIteration where there is none."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.sampler)

    def __getstate__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled; DataLoader.state_dict() says where it stands")

    def count(self) -> None:
        """Count a delivered batch; warn if a stream has more of them than its length promised."""
        progress = self.progress
        progress.batches += 1
        if self.promised is not None and progress.batches > self.promised:
            advice = "" if self.num_workers == 0 else (
                " With workers, each iterates the whole dataset unless __iter__ asks get_worker_info() for its share.")
            warnings.warn(f"Length of IterableDataset {self.dataset} was reported to be {self.promised} (when accessing "
                          f"len(dataloader)), but {progress.batches} samples have been fetched.{advice}", stacklevel=3)


class SerialIterator(LoaderIterator):
    """A pass in which the caller's thread loads each batch."""

    waiting = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

    def begin(self, loader: DataLoader[Any], saved: dict[str, Any] | None) -> None:
        """Begin a pass; a stream without a state is read again up to the saved position."""
        super().begin(loader, saved)
        progress = self.progress
        fetcher = progress.fetcher = reopen(loader._recipe, loader.dataset, progress.fetcher_state)
        if loader._recipe.iterable and progress.batches and progress.fetcher_state is None:
            for _ in range(progress.batches):
                fetcher.fetch(loader._recipe.blank)
        self.numbers: Iterator[Any] = progress.numbers
        self.fetch: Callable[..., Any] = fetcher.fetch

    def next_batch(self) -> Any:
        """Load a batch in this thread."""
        try:
            batch = self.fetch(next(self.numbers))
        except StopIteration:
            self.progress.finished = True
            raise
        if self.promised is None:
            self.progress.batches += 1
        else:
            self.count()
        return batch


class ParallelIterator(LoaderIterator):
    """A pass with workers. Each has up to prefetch_factor tasks, and they take turns.

    A worker at the end of its share of a stream answers so to every task that it still has; its turns are passed over."""

    waiting = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    crew: Crew | ProcessCrew
    turn: int
    waited: float = 0.0                              # seconds in this pass

    def __init__(self, loader: Any, saved: dict[str, Any] | None) -> None:
        self.timeout: float | None = loader.timeout or None
        self.in_order: bool = loader.in_order
        self.ahead: int = loader.prefetch_factor * loader.num_workers
        self.persistent: bool = loader.persistent_workers
        self.lost: Any = None
        LoaderIterator.begin(self, loader, saved)
        job = Job(loader.dataset, loader._recipe, self.progress.base_seed, loader.num_workers, loader.worker_init_fn,
                  modes.recording)
        context = loader.multiprocessing_context
        self.crew = Crew(job, loader.in_order) if context is None else ProcessCrew(job, context)
        self.stop: weakref.finalize[[], ParallelIterator] = weakref.finalize(self, self.crew.stop)
        self.start_workers(saved)

    def begin(self, loader: DataLoader[Any], saved: dict[str, Any] | None) -> None:
        """Begin another pass with the same workers, after receiving the batches that they still load for the last one."""
        try:
            while self.pending:
                self.receive()
        except RuntimeError:                       # a worker is stuck
            self.shut_down()
            raise
        known = self.progress.workers
        super().begin(loader, saved)
        self.start_workers(saved)
        if saved is None:
            self.progress.workers = [fresh(worker) for worker in known]

    def start_workers(self, saved: dict[str, Any] | None) -> None:
        """Start the pass on all workers, and give each as many tasks as it may have."""
        self.began, self.waited = time.perf_counter(), 0.0
        self.computed: float = sum(self.crew.computed) if isinstance(self.crew, Crew) else 0.0
        self.numbers: Iterator[Any] = self.progress.numbers
        self.workers: list[Any] = list(self.progress.workers)
        self.turn = self.progress.turn
        self.live: list[bool] = [True] * self.num_workers
        self.load: list[int] = [0] * self.num_workers
        self.pending: deque[tuple[int, Any]] = deque()  # (worker, the sampler's state after it), in the order of the tasks
        self.has_sampler_state: bool = self.progress.sampler_state() is not None
        for worker, state in enumerate(self.progress.workers):
            self.crew.send(worker, ("begin", state if saved is not None else None))
        for _ in range(self.ahead):
            self.assign()

    def assign(self) -> None:
        """Send the next task, if there is one, to the worker whose turn it is; without in_order to the least busy one."""
        if not any(self.live):
            return
        try:
            index = next(self.numbers)
        except StopIteration:
            return
        if self.in_order:
            while not self.live[self.turn]:
                self.turn = (self.turn + 1) % self.num_workers
            worker, self.turn = self.turn, (self.turn + 1) % self.num_workers
        else:
            worker = min((w for w in range(self.num_workers) if self.live[w]), key=self.load.__getitem__)
        self.load[worker] += 1
        self.pending.append((worker, self.progress.sampler_state() if self.has_sampler_state else None))
        self.crew.send(worker, ("fetch", index))

    def receive(self) -> Any:
        """The next answer: of the oldest task, without in_order of any. Notes the state of its worker."""
        began = time.perf_counter()
        try:
            worker, answer = self.crew.receive([self.pending[0][0]] if self.in_order else
                                               [w for w in range(self.num_workers) if self.load[w]], self.timeout)
        except Empty:
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None
        self.waited += time.perf_counter() - began
        task = self.pending.popleft() if self.in_order else next(t for t in self.pending if t[0] == worker)
        if not self.in_order:
            self.pending.remove(task)
        self.load[worker] -= 1
        if answer.failure is not None and answer.failure.kind is LostWorker:
            self.lost = answer.failure
            self.shut_down()
        if answer.ended:
            self.live[worker] = False
        if answer.state is not None:
            self.progress.workers[worker] = answer.state
        if not answer.ended:
            self.progress.delivered_state = task[1]
        return answer

    def next_batch(self) -> Any:
        """Wait for the next batch of the workers."""
        while self.pending and self.lost is None:
            answer = self.receive()
            if self.lost is not None:
                break
            self.assign()
            self.progress.turn = self.pending[0][0] if self.pending else self.turn
            if answer.ended:
                continue
            self.count()
            if answer.failure is not None:
                try:
                    answer.failure.reraise()
                finally:
                    del answer              # see Failure.reraise
            return answer.value
        if self.lost is not None:
            raise RuntimeError(self.lost.text) from self.lost.original
        self.progress.finished = True
        crew, elapsed = self.crew, time.perf_counter() - self.began
        if isinstance(crew, Crew) and take_turns(sum(crew.computed) - self.computed, self.waited, elapsed, self.num_workers):
            warnings.warn(f"DataLoader: {self.num_workers} worker threads took turns, since this dataset's Python code "
                          "holds the interpreter's lock. multiprocessing_context=\"forkserver\" makes the workers "
                          "processes, which compute in parallel; the script then needs `if __name__ == \"__main__\":`",
                          stacklevel=3)
        if not self.persistent:
            self.stop()
        raise StopIteration

    def shut_down(self) -> None:
        """Stop the workers; no further pass can use them."""
        self.pending.clear()
        self.stop()

    @property
    def usable(self) -> bool:
        """Whether another pass may begin with these workers."""
        return bool(self.stop.alive)
