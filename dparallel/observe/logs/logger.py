"""Logger: values of each step, gathered on each rank, reduced over ranks every few steps, and written by rank 0.

An exchange is one non-blocking sum on the logger's own communicator. No rank waits for it: later calls test whether it is
complete, and rank 0 then writes the line. flush() and close() catch up. The sum is not part of a gradient bucket: float32
can't count tokens (16,777,217 is 16,777,216), and sharded models, comm hooks, no_sync and scripts without a model have no
bucket.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from autograd.base.arguments import whole_number

from ...autograd import Tensor
from ...comm import CollectiveError, Communicator, Handle, Hierarchical, communicator, on_all_ranks
from ...comm.watchdog.vitals import vitals
from ...model.join import Joinable, JoinHook
from .interval import KINDS, Array, Interval, common, digest, values_of
from .outputs import Console, JsonLines, MLflow, Output, TensorBoard, WandB

RESERVED = ("step", "time")                          # names used by every line
FAREWELL = 0.2                                       # seconds to wait for pending sums when the script fails
Value: TypeAlias = Tensor | Array | float


class Sent(NamedTuple):
    """A pending exchange: its step, its start time, the values sent by this rank, and the sum."""

    step: int
    time: float
    interval: Interval
    vector: Array
    handle: Handle


class Logger(Joinable):
    """Writes a line of values every `every` steps: console, JSON lines, TensorBoard, Weights & Biases, MLflow. Collective.

    log(loss=loss, rows=len(x)) is called once a step on each rank. Between two lines values are combined over steps and over
    ranks as `reduce` says: {"loss": "mean", "tokens": "sum", "lr": "last"}.

    mean   (what is not named there) sum(rows * value) / sum(rows): what one process with all rows has
    sum    over all calls of all ranks
    last   rank 0's latest value

    A rank without a batch calls log(), or log(loss=..., rows=0), whose values do not count. Sums are float64.
    """

    def __init__(self, *, every: int = 50, reduce: Mapping[str, str] | None = None, console: bool = True,
                 jsonl: str | os.PathLike[str] | None = None, tensorboard: str | os.PathLike[str] | None = None,
                 wandb: bool | Mapping[str, Any] = False, mlflow: bool | Mapping[str, Any] = False,
                 outputs: Sequence[Output] = (), step: int = 0, comm: Communicator | None = None) -> None:
        self.every: int = whole_number("Logger(every", every, 1)
        self.step: int = whole_number("Logger(step", step)
        for given, words in ((reduce or {}, "reduce"), (wandb, "wandb"), (mlflow, "mlflow")):
            if not isinstance(given, (Mapping, bool) if words != "reduce" else Mapping):
                raise TypeError(f"Logger({words}={given!r}): a dict" + ", True or False" * (words != "reduce"))
        self.reduce: dict[str, str] = dict(reduce or {})
        for name, kind in self.reduce.items():
            if kind not in KINDS:
                raise ValueError(f"Logger(reduce={{{name!r}: {kind!r}}}): one of {', '.join(map(repr, KINDS))}")
        for one in outputs:
            if not callable(getattr(one, "write", None)) or not callable(getattr(one, "close", None)):
                raise TypeError(f"Logger(outputs=...): objects with write(step, time, values) and close(), not {one!r}")
        self.comm: Communicator = communicator(comm)
        settings = [(self.every, self.step, sorted(self.reduce.items()))] * len(self.comm.held)
        for rank, other in enumerate(everywhere := self.comm.allgather_object(settings)):
            if other != everywhere[0]:
                raise CollectiveError(f"Logger(): rank {rank} has every, step, reduce = {other}, rank 0 {everywhere[0]}")
        flat: Any = self.comm.comm if isinstance(self.comm, Hierarchical) else self.comm     # its sums do not wait
        self._sums = flat.duplicate()
        if getattr(self._sums, "check", False):      # in check mode a sum first waits for all ranks
            self._sums.check = False
        self._interval, self._sent = Interval(), deque[Sent]()
        self._names: dict[float, list[str]] = {}             # names sent by this rank, in its order, by digest
        self._latest: dict[str, float] = {}                  # rank 0's values of kind "last"
        self._unnamed: list[tuple[int, float, float, list[float]]] = []    # lines of names that rank 0 has never logged
        self._mistake: CollectiveError | None = None         # other names on other ranks
        self._closed, self._process = False, os.getpid()
        self.outputs: list[Output] = []
        failure = self._open(console, jsonl, tensorboard, wandb, mlflow, outputs) if self.comm.rank == 0 else None
        said = self.comm.broadcast_object(repr(failure) if failure else "")
        if said:
            raise failure or CollectiveError(f"Logger(): rank 0 could not open an output: {said}")
        atexit.register(self._leave)

    def _open(self, console: bool, jsonl: Any, tensorboard: Any, wandb: Any, mlflow: Any,
              outputs: Sequence[Output]) -> Exception | None:
        """Open the outputs. If one cannot be opened, close the others and return its exception."""
        try:
            if console:
                self.outputs.append(Console(frozenset(name for name, kind in self.reduce.items() if kind == "sum")))
            if jsonl is not None:
                self.outputs.append(JsonLines(jsonl))
            if tensorboard is not None:
                self.outputs.append(TensorBoard(tensorboard))
            for given, kind in ((wandb, WandB), (mlflow, MLflow)):
                if given is not False:
                    self.outputs.append(kind({} if given is True else given))
        except Exception as error:
            for output in self.outputs:
                output.close()
            return error
        self.outputs += outputs
        return None

    # --- adding values --------------------------------------------------------------------------------------------------

    def __call__(self, values: Mapping[str, Value] | None = None, /, *, rows: float = 1, **named: Value) -> None:
        """End a step. Values are keywords or a dict; rows: the number of rows they average."""
        self.add(values, rows=rows, **named)
        self.step += 1
        if self.step % self.every == 0:
            self._send()
            self._raise_mistake()                    # by now the other ranks have found the mistake too, and raise here
        if self._sent:
            self._receive(wait=False)

    def add(self, values: Mapping[str, Value] | None = None, /, *, rows: float = 1, **named: Value) -> None:
        """Add values to the current step, which the next log() ends."""
        if self._closed:
            raise RuntimeError("this Logger is closed")
        named = merged(values, named)
        if named:
            self._put(self._interval, named, rows)

    def _put(self, interval: Interval, values: Mapping[str, Value], rows: float) -> None:
        """Add values to an interval."""
        weight = number("rows", rows)
        if not 0 <= weight < math.inf:
            raise ValueError(f"log(rows={rows}): rows must be a number of at least 0")
        numbers = []
        for name, value in values.items():           # all are checked before any is added
            if not isinstance(name, str) or not name or name in RESERVED:
                raise ValueError(f"log(): {name!r} cannot name a value; use a string other than {', '.join(RESERVED)}")
            numbers.append((name, number(name, value)))
        for name, x in numbers:
            kind = self.reduce.get(name, "mean")
            interval.add(name, kind, x, weight)
            if kind == "last":
                self._latest[name] = x
            if name.endswith("loss") and weight:
                vitals.loss = x

    # --- exchanging and writing them --------------------------------------------------------------------------------------

    def _send(self) -> None:
        """End the interval: start its sum over ranks."""
        interval, self._interval = self._interval, Interval()
        vector = interval.vector(self.comm.rank, self.comm.size)
        if interval.totals:
            self._names[digest(interval.totals)] = list(interval.totals)
        handle = Handle(None) if self.comm.alone else self._sums.start_sum_in_place([vector])
        interval.latest = dict(self._latest)
        self._sent.append(Sent(self.step, time.time(), interval, vector, handle))

    def _receive(self, wait: bool) -> None:
        """Write the lines whose sums are complete. wait: wait for all pending sums."""
        while self._sent and (wait or self._sent[0].handle.done()):
            sent = self._sent.popleft()
            sent.handle.wait()
            size, key = self.comm.size, 0.0
            try:
                key = common(sent.vector[:size].tolist(), list(sent.interval.totals))
            except CollectiveError as error:
                self._mistake = self._mistake or error
            if key and self.comm.rank == 0:
                numbers = sent.vector[size:].tolist()
                if key in self._names:
                    self._write(sent.step, sent.time, self._names[key], numbers, sent.interval.latest)
                else:                                # names of other ranks only: queried when all ranks are here
                    self._unnamed.append((sent.step, sent.time, key, numbers))

    def _write(self, step: int, when: float, names: Sequence[str], numbers: list[float],
               latest: Mapping[str, float]) -> None:
        """Write a line of totals in the order of sorted names."""
        at = {name: numbers[2 * i:2 * i + 2] for i, name in enumerate(sorted(names))}
        self._line(step, when, values_of({name: at[name] for name in names}, self.reduce, latest))

    def _line(self, step: int, when: float, values: dict[str, float]) -> None:
        for output in self.outputs:
            output.write(step, when, values)

    def _settle(self) -> None:
        """Bring all ranks to the same step, with the same exchanges, and wait for these. Collective."""
        if not self.comm.alone:
            steps = [np.array([self.step], np.int64)] * len(self.comm.held)
            last = int(self.comm.allreduce(steps, "max")[0][0])
            while self.step // self.every < last // self.every:
                self.step = (self.step // self.every + 1) * self.every
                self._send()
            self.step = last
        self._receive(wait=True)
        self._raise_mistake()
        if not self.comm.alone and self.comm.any(bool(self._unnamed)):
            for names in self.comm.allgather_object([self._names]):
                self._names.update(names)
            for step, when, key, numbers in self._unnamed:
                self._write(step, when, self._names[key], numbers, self._latest)
            self._unnamed.clear()

    def _raise_mistake(self) -> None:
        """Raise the recorded error, once."""
        mistake, self._mistake = self._mistake, None
        if mistake is not None:
            raise mistake

    def now(self, values: Mapping[str, Value] | None = None, /, *, rows: float = 1, **named: Value) -> dict[str, float]:
        """Reduce values over ranks, write them as a line of this step, and return them on every rank. Collective.

        For occasional values, such as the loss over a test set. What log() has gathered is unchanged.
        """
        if self._closed:
            raise RuntimeError("this Logger is closed")
        interval = Interval()
        with on_all_ranks(self.comm, f"log.now() failed on rank {self.comm.rank}"):
            self._put(interval, merged(values, named), rows)
        self._settle()
        mine = (interval.totals, interval.latest)
        everyone = self.comm.allgather_object([mine] + [({}, {})] * (len(self.comm.held) - 1))
        common([digest(totals) for totals, _ in everyone], list(interval.totals))
        given = [totals for totals, _ in everyone if totals]
        summed = {name: [math.fsum(column) if math.isfinite(sum(column)) else sum(column)
                         for column in zip(*(totals[name] for totals in given), strict=True)] for name in (given or [{}])[0]}
        result = values_of(summed, self.reduce, everyone[0][1])
        if result and self.comm.rank == 0:
            self._line(self.step, time.time(), result)
        return result

    def flush(self) -> None:
        """Write everything logged since the last line. Collective. A rank that has made fewer steps catches up."""
        if self._closed:
            raise RuntimeError("this Logger is closed")
        self._settle()
        self._send()
        self._receive(wait=True)
        self._settle()

    def close(self) -> None:
        """flush(), then close the outputs. Collective; a second call does nothing."""
        if not self._closed:
            self.flush()
            self._end()
            self._sums.free()

    def _end(self) -> None:
        """Close the outputs."""
        self._closed = True
        atexit.unregister(self._leave)
        for output in self.outputs:
            output.close()

    def _leave(self) -> None:
        """At the end of the script, or after an error, other ranks may not come: write the complete lines."""
        if not self._closed and os.getpid() == self._process:          # not a forked child's end
            mpi = sys.modules.get("mpi4py.MPI")
            with contextlib.suppress(Exception):     # another error is being raised, or the script has ended
                until = time.monotonic() + FAREWELL
                while self._sent and (mpi is None or not mpi.Is_finalized()) and time.monotonic() < until:
                    self._receive(wait=False)        # MPI makes progress with a sum only inside its calls
            self._end()

    def __enter__(self) -> Logger:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or getattr(error, "together", False):       # Preempted: all ranks leave here
            self.close()
        else:
            self._leave()

    # --- in Join([model, log]): a rank without further batches takes part in the others' steps -----------------------------

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return a hook that makes an empty step for each step of the others; Join calls this."""
        return EmptySteps(self)

    @property
    def join_device(self) -> str:
        """Always the CPU."""
        return "cpu"

    @property
    def join_process_group(self) -> Communicator:
        """The communicator of this Logger."""
        return self.comm


class EmptySteps(JoinHook):
    """The steps of a rank without batches."""

    def __init__(self, log: Logger) -> None:
        self.log = log

    def main_hook(self) -> None:
        """A step without values."""
        self.log()


def merged(values: Mapping[str, Value] | None, named: dict[str, Value]) -> dict[str, Value]:
    """The values of a dict and of keywords. TypeError if it is not a dict, or shares a name with the keywords."""
    if values is None:
        return named
    if not isinstance(values, Mapping):
        raise TypeError(f"log() takes values by keyword, or a dict of them, not {type(values).__name__}")
    if both := values.keys() & named.keys():
        raise TypeError(f"log(): {', '.join(sorted(both))} is both in the dict and a keyword")
    return {**values, **named}


def number(name: str, value: Any) -> float:
    """A value as a float; TypeError or ValueError if it is not one number."""
    array = value.array if isinstance(value, Tensor) else value
    shape = getattr(array, "shape", ())
    if math.prod(shape) != 1:
        raise ValueError(f"log({name}=...): one number, not {list(shape)}: take its mean, or its sum")
    if isinstance(array, (str, bytes, complex)) or getattr(getattr(array, "dtype", None), "kind", "f") in "cSUO":
        raise TypeError(f"log({name}=...): a number, not {type(value).__name__} {value!r}"[:200])
    try:
        return float(value.item() if isinstance(value, Tensor) else array.reshape(()) if shape else array)
    except (TypeError, ValueError) as error:
        raise TypeError(f"log({name}=...): a number, not {type(value).__name__}") from error
    except OverflowError as error:
        raise ValueError(f"log({name}=...): {error}") from error
