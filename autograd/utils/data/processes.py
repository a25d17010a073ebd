"""ProcessCrew: workers in processes. A thread of this process passes each one's messages and answers on."""

from __future__ import annotations

import os
from typing import Any

from ...compat import multiprocessing as _multiprocessing  # noqa: F401  it says how Tensors are sent
from .failure import Failure
from .workers import GRACE, Answer, Crew, Job, Worker, seed_process

PARENT_CHECK = 2.0                       # seconds between checks that the parent is alive


class ProcessCrew(Crew):
    """Workers in processes of the given multiprocessing context. All start before the first thread does: a process
    forked while another's pipe is being made would keep that open."""

    shares_memory = False

    def __init__(self, job: Job, in_order: bool, context: Any) -> None:
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        try:
            for number in range(job.num_workers):
                parent_end, child_end = context.Pipe()
                self.pipes.append(parent_end)
                process = context.Process(target=work, args=(job, number, child_end), daemon=True)
                process.start()
                child_end.close()
                self.processes.append(process)
        except BaseException:                    # what cannot be pickled for "spawn", no more memory, ...
            for process in self.processes:
                process.kill()
            raise
        super().__init__(job, in_order)

    def serve(self, number: int) -> None:
        """Send messages to a process, and put its answers into the outbox."""
        pipe, process = self.pipes[number], self.processes[number]
        try:
            while (message := self.next_message(number)) is not None:
                pipe.send(message)
                if message[0] == "fetch":
                    self.outboxes[number].put((number, pipe.recv()))
            pipe.send(None)
            process.join(GRACE)
        except (EOFError, OSError):
            process.join(GRACE)
            if not self.stopping.is_set():
                self.report_lost(number, f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code "
                                   f"{process.exitcode}")
        except BaseException as error:           # an answer that cannot be unpickled here, say
            self.report_lost(number, f"DataLoader worker (pid {process.pid}): a message cannot be handed on: {error!r}",
                             error)
        finally:
            pipe.close()

    def stop(self) -> None:
        """End all workers; those that do not end within GRACE seconds are killed."""
        if os.getpid() != self.maker:
            return
        self.dismiss()
        if not self.join(GRACE):
            for process in self.processes:
                process.kill()
            self.join(GRACE)


def work(job: Job, number: int, pipe: Any) -> None:
    """The life of a worker process."""
    parent = os.getppid()
    seed_process(job.base_seed, number)
    try:
        worker = Worker(job, number, None)
        while (message := _next_message(pipe, parent)) is not None:
            what, content = message
            if what == "begin":
                worker.begin(content)
            else:
                _send(pipe, worker.answer(content), worker.location)
    except (KeyboardInterrupt, EOFError, BrokenPipeError):       # the parent gets its own interrupt, or is gone
        pass


def _next_message(pipe: Any, parent: int) -> Any:
    while not pipe.poll(PARENT_CHECK):
        if os.getppid() != parent:           # it died without a word; forked siblings may hold the pipe open
            return None
    return pipe.recv()


def _send(pipe: Any, answer: Answer, location: str) -> None:
    failure = answer.failure
    if failure is not None:
        answer = answer._replace(failure=failure._replace(original=None))
    try:
        pipe.send(answer)
    except (EOFError, BrokenPipeError):
        raise
    except Exception as error:               # the batch, or the class of what was raised, cannot be pickled
        failure = Failure(RuntimeError, failure.text, None) if failure else \
            Failure.caught(error, f"sending a batch {location}")._replace(kind=RuntimeError, original=None)
        pipe.send(answer._replace(value=None, failure=failure))
