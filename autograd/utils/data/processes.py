"""ProcessCrew: workers in processes, which get messages through a pipe each and share the memory of their batches."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from multiprocessing import connection, util
from queue import Empty, SimpleQueue
from typing import Any

from ...compat import multiprocessing as _multiprocessing  # noqa: F401  it says how Tensors are sent
from ...kernels.settings import set_num_threads
from . import collate
from .failure import Failure
from .shared import Blocks, Parcel, Received, SharedFile
from .workers import GRACE, Answer, Job, LostWorker, Worker, seed_process

PARENT_CHECK = 2.0                       # seconds between checks that the parent is alive
PRELOADED = ("autograd.utils.data.processes", "dparallel")   # imported once, by the fork server, if they are imported here
NAME = "DataLoader worker {}"            # of a process; dparallel.world() recognizes workers by it
MPI_START = "MPI4PY_RC_INITIALIZE"
starting = threading.Lock()              # MPI_START may be set
PREEMPTION = ("SIGINT", "SIGTERM", "SIGUSR1")        # schedulers and terminals send these to all processes of a job


class ProcessCrew:
    """Workers in processes of the given multiprocessing context."""

    def __init__(self, job: Job, context: Any) -> None:
        self.maker: int = os.getpid()
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        self.received: list[Received] = []
        self.answered: set[int] = set()
        self.at_exit: Any = util.Finalize(None, self.stop, exitpriority=100)     # before multiprocessing joins its children
        if context.get_start_method() == "forkserver" and not _preloads():
            context.set_forkserver_preload([name for name in PRELOADED if name in sys.modules])
        parcel = Parcel(job)
        try:
            with without_mpi():
                for number in range(job.num_workers):
                    self.start(context, parcel, number)
        except BaseException as error:           # what cannot be pickled, no more memory, ...
            self.stop()
            if isinstance(error, (AttributeError, TypeError, pickle.PicklingError)):
                raise type(error)(f"{error}. DataLoader: the dataset, collate_fn or worker_init_fn cannot be sent to worker "
                                  "processes. Define classes and functions at the top level of a module, or use worker "
                                  "threads (multiprocessing_context=None)") from error
            raise

    def start(self, context: Any, parcel: Parcel, number: int) -> None:
        """Start a worker."""
        try:
            file = SharedFile()
        except OSError as error:
            file = None
            warn_about_memory(str(error))
        ours, its = context.Pipe()
        self.pipes.append(ours)
        process = context.Process(target=work, args=(parcel, number, its, file), daemon=True,
                                  name=NAME.format(number))
        try:
            process.start()
        finally:
            its.close()
        self.processes.append(process)
        self.received.append(Received(file))

    def send(self, number: int, message: Any) -> None:
        """Send a message to a worker, with the blocks of its file that it may use again."""
        with contextlib.suppress(OSError):       # it has ended: receive() reports that
            self.pipes[number].send((message, self.received[number].take_released()))

    def receive(self, numbers: Sequence[int], timeout: float | None) -> tuple[int, Answer]:
        """Wait for an answer of one of these workers. queue.Empty after the timeout."""
        ends = {end: number for number in numbers for end in (self.pipes[number], self.processes[number].sentinel)}
        ready = connection.wait(list(ends), timeout)
        if not ready:
            raise Empty
        number = ends[ready[0]]
        pipe, process = self.pipes[number], self.processes[number]
        try:
            if not pipe.poll(0):                 # the process has ended, and others hold its end of the pipe
                raise EOFError
            packed = pipe.recv()
        except (EOFError, OSError):
            process.join(GRACE)
            return number, _lost(f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code "
                                 f"{process.exitcode}{self.advice(number, process.exitcode)}")
        self.answered.add(number)
        try:
            if packed.problem:
                warn_about_memory(packed.problem)
            return number, self.received[number].unpack(packed)
        except Exception as error:
            return number, _lost(f"DataLoader worker (pid {process.pid}): a message cannot be handed on: {error!r}", error)

    def advice(self, number: int, code: int | None) -> str:
        """What may have ended a worker."""
        if code == -9:
            return ": it was killed, as the system does when memory is short"
        if number in self.answered or code != 1:
            return ""
        return (" before its first batch; its error is printed above. A script that starts processes must run its main part "
                "under `if __name__ == \"__main__\":`")

    def stop(self) -> None:
        """End all workers; those that do not end within GRACE seconds are killed."""
        self.at_exit.cancel()
        if os.getpid() != self.maker:            # a forked copy of this object
            return
        for pipe in self.pipes:
            with contextlib.suppress(OSError):
                pipe.send(None)
            pipe.close()
        deadline = time.monotonic() + GRACE
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
        for process in self.processes:
            if process.exitcode is None:
                process.kill()
                process.join()


def _preloads() -> bool:
    """Whether the user has chosen what the fork server imports."""
    from multiprocessing import forkserver
    return getattr(getattr(forkserver, "_forkserver", None), "_preload_modules", ["__main__"]) != ["__main__"]


@contextlib.contextmanager
def without_mpi() -> Iterator[None]:
    """Processes started in this block do not start MPI when they import mpi4py.MPI, as a rank's script does."""
    with starting:
        before = os.environ.get(MPI_START)
        os.environ[MPI_START] = "0"
        try:
            yield
        finally:
            if before is None:
                del os.environ[MPI_START]
            else:
                os.environ[MPI_START] = before


def _lost(text: str, error: BaseException | None = None) -> Answer:
    return Answer(failure=Failure(LostWorker, text, error))


def warn_about_memory(reason: str) -> None:
    """Warn that batches are copied."""
    warnings.warn(f"DataLoader: worker processes send batches through pipes, which is slower than shared memory: {reason}",
                  stacklevel=2)


class Inbox:
    """What a worker process receives. Its thread reads at once, so that the parent never waits; it ends a process that is
    still busy GRACE seconds after its parent has gone."""

    def __init__(self, pipe: Any, blocks: Blocks) -> None:
        self.pipe: Any = pipe
        self.blocks: Blocks = blocks
        self.parent: int = os.getppid()
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.ended: bool = False
        threading.Thread(target=self.listen, name="DataLoader messages", daemon=True).start()

    def listen(self) -> None:
        """Read messages until the parent sends None, or is gone."""
        try:
            while True:
                while not self.pipe.poll(PARENT_CHECK):
                    if os.getppid() != self.parent:          # forked siblings may hold the parent's end of the pipe
                        raise EOFError
                if (message := self.pipe.recv()) is None:
                    break
                self.messages.put(message)
        except (EOFError, OSError):
            pass
        self.ended = True
        self.messages.put(None)
        time.sleep(GRACE)
        os._exit(1)

    def next(self) -> Any:
        """The next message; None when the worker should end."""
        received = self.messages.get()
        if received is None or self.ended:
            return None
        message, released = received
        self.blocks.release(released)
        return message


def work(parcel: Any, number: int, pipe: Any, file: SharedFile | None) -> None:
    """The life of a worker process."""
    for name in PREEMPTION:                      # the parent ends its workers when it has saved; SIG_IGN would be inherited
        if hasattr(signal, name):                # by programs that the dataset starts
            signal.signal(getattr(signal, name), lambda *_: None)
    set_num_threads(1)
    blocks = collate.worker_blocks = Blocks(file)
    inbox = Inbox(pipe, blocks)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):           # the parent is gone
        try:
            job: Job = parcel.open()
        except Exception as error:
            where = f"in DataLoader worker process {number}: the dataset cannot be unpickled there"
            pipe.send(blocks.pack(_lost(Failure.caught(error, where).text)))
            return
        seed_process(job.base_seed, number)
        worker = Worker(job, number, None)
        worker.run(inbox.next, lambda answer: pipe.send(_packed(blocks, answer, worker.location)))


def _packed(blocks: Blocks, answer: Answer, location: str) -> Any:
    """A sent answer; of one that cannot be sent the failure."""
    failure = answer.failure
    if failure is not None:
        answer = answer._replace(failure=failure._replace(original=None))
    try:
        return blocks.pack(answer)
    except Exception as error:                   # the batch, or the class of what was raised, cannot be pickled
        failure = Failure(RuntimeError, failure.text, None) if failure else \
            Failure.caught(error, f"sending a batch {location}")._replace(kind=RuntimeError, original=None)
        return blocks.pack(answer._replace(value=None, failure=failure))
