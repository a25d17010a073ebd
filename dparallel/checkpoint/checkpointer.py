"""Checkpointer: the whole state of a run on disk, and back.

save() runs in four steps. All collectives are in the training thread, in program order:

1. Every rank takes its state apart (parts.py, encoding.py). Arrays are not copied yet, but their checksums are computed.
2. Ranks compare the checksums: equal parts are written once, divided over ranks; each rank writes its other parts. So a
   state that differs between ranks (local SGD, buffers) is restored as it was.
3. What this rank writes is copied. From here on training may change its state.
4. A thread (writing.py) writes the rank's shard and list. Rank 0's waits for the other lists in the folder and writes the
   manifest. The next save(), wait() or close() reports the result to all ranks.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from autograd.nn import Module
from autograd.serialization.safetensors import checksums as checksums_of
from autograd.spans.spans import record_function

from ..comm import Communicator, communicator, report_progress
from ..comm.lost import is_loss
from . import files
from .encoding import Taken, stored
from .errors import CheckpointError, Ranks, joined, told
from .host_copies import MemoryCopies
from .keeping import Keep, Kept, keep_of
from .parts import Part, SharedStreams, part_of
from .plan import Plan, Staging, share_out
from .probe import identity, probe
from .reading import Saved
from .timing import Due
from .writing import Job, Writer

ON_ERROR = ("raise", "continue")


class Checkpointer:
    """The whole state of a run in `folder`, which all ranks share: weights, buffers, optimizers, schedulers, a GradScaler,
    the loader's position, every rank's random streams, and `extra` objects by name. All methods are collective.

    Resumed on as many ranks, a run is bitwise the one that was never stopped. On another number each sample of the epoch is
    still used once if the sampler is a GlobalBatchSampler or DistributedSampler, and weights agree to rounding (bitwise with
    reproducible=V). Sharding may differ, too.
    """

    parts: dict[str, Part]

    def __init__(self, folder: str | os.PathLike[str], model: Any = None, optimizer: Any = None, scheduler: Any = None,
                 loader: Any = None, scaler: Any = None, *, comm: Communicator | None = None, keep: Any = 2,
                 background: bool = True, memory: bool = False, on_error: str = "raise", **extra: Any) -> None:
        if on_error not in ON_ERROR:
            raise ValueError(f"on_error={on_error!r} must be one of {ON_ERROR}")
        self.folder: str = os.path.abspath(os.fsdecode(folder))
        self.keep: Keep | None = keep_of(keep)
        self.background: bool = background
        self.on_error = on_error
        self.parts = parts_of({"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler, **extra,
                             "loader": loader})
        found = comm if comm is not None else next((m.comm for m in _several(model) if hasattr(m, "comm")), None)
        self.ranks: Ranks = Ranks(communicator(found))
        weights = sum(p.numel() * p.dtype.itemsize for m in _several(model) if isinstance(m, Module) for p in m.parameters())
        probe(self.folder, self.ranks, weights)
        self._memory = MemoryCopies(identity(self.folder, self.ranks), self.ranks, self.folder) if memory else None
        self._writer: Writer | None = None           # the save that may still be running
        self._staging = Staging()
        self._complete: list[Kept] = []              # known to rank 0; others query it
        self._number = 0                             # of the newest save, complete or not; on rank 0
        with self.ranks.together(f"looking into {self.folder}"):
            if self.ranks.rank == 0:
                self._complete = files.complete(self.folder)
                self._number = max((one.number for one in self._complete), default=0)
        if self._memory is not None:
            self._number = max(self._number, self._memory.newest_number())
        self._due = Due(self.ranks)
        self.last_error: str = ""                    # of the last failed save, with on_error="continue"

    # --- saving ---------------------------------------------------------------------------------------------------------

    def save(self, step: int, *, metric: float | None = None, disk: bool = True) -> None:
        """Save the state after `step` steps, between two of them. Collective.

        In the background it returns when the state has been copied; the next save(), wait() or close() raises later errors.
        It waits for an earlier save that is still running.
        """
        check_step("save", step)
        if not disk and self._memory is None:
            raise ValueError("save(disk=False) needs Checkpointer(..., memory=True)")
        with record_function("Checkpointer.save"):
            self._save(step, metric, disk)

    def _save(self, step: int, metric: float | None, disk: bool) -> None:
        self.wait()
        try:
            self._start(step, None if metric is None or not math.isfinite(metric) else float(metric), disk)
        except CheckpointError as error:
            self._failed(error)
        if not self.background:
            self.wait()
        self._due.saved()

    def _start(self, step: int, metric: float | None, disk: bool) -> None:
        plan, flat = planned(self.parts, self.ranks)
        name = ""
        arrays: dict[str, Any] = {}
        with self.ranks.together(f"preparing {self.folder}"):
            arrays = self._staging.copies({name: flat[name] for name in plan.mine})
            if self.ranks.rank == 0:
                self._number += 1
                name = self._new_folder(step, disk)
                if disk:
                    files.check_space(self.folder, plan.total_bytes, "the checkpoint takes")
        number, name = self.ranks.from_first((self._number, name))
        self._number = number
        job = Job(files.head(number, step, self.ranks.size, metric), name, self.ranks.rank, arrays, plan.listed())
        neighbours = [] if self._memory is None else self._memory.exchanged(job)
        self._writer = Writer(self.folder if disk else None, job, self._memory, neighbours, self.keep, self._complete)
        self._writer.start(self.background)

    def _new_folder(self, step: int, disk: bool) -> str:
        """Create the folder of a checkpoint; it gets another name if there is a complete one of this step."""
        base = name = f"step-{step:08d}"
        again = 1
        taken = {one.name for one in self._complete}
        while name in taken:
            again += 1
            name = f"{base}.{again}"
        if disk:
            files.remove_unfinished(self.folder)
            os.makedirs(os.path.join(self.folder, name))
            files.sync_folder(self.folder)
        return name

    def every(self, step: int, *, steps: int | None = None, seconds: float | None = None,
              metric: float | None = None) -> bool:
        """save(step) if `step` is a multiple of `steps`, or `seconds` have passed since the last save on rank 0's clock;
        returns whether it saved. Called after each step. Ranks compare clocks rarely at first, and more often as the time
        comes near."""
        check_step("every", step)
        if (steps is None) == (seconds is None):
            raise ValueError("every(steps=n) or every(seconds=t): one of them")
        value = steps if seconds is None else seconds
        number = isinstance(value, int if seconds is None else (int, float)) and not isinstance(value, bool)
        if not number or not value > 0:              # type: ignore[operator]
            raise ValueError(f"every({'steps' if seconds is None else 'seconds'}={value!r}): more than 0")
        due = step % steps == 0 if steps is not None else self._due.now(float(seconds))      # type: ignore[arg-type]
        if due:
            self.save(step, metric=metric)
        return due

    def wait(self) -> None:
        """Wait until the newest save is complete; collective."""
        try:
            self._finish()
        except CheckpointError as error:
            self._failed(error)

    def close(self) -> None:
        """wait(), at the end of a run; copies in memory are deleted if the disk has the same state."""
        self.wait()
        if self._memory is not None:
            on_disk = self.ranks.from_first(max((one.number for one in self._complete), default=0))
            if on_disk >= self._memory.newest_number():
                self._memory.drop()

    def give_up(self) -> None:
        """Abandon a running save after a rank was lost: survive() calls it. This object is then unusable."""
        if self._writer is not None:
            self._writer.give_up()

    def __enter__(self) -> Checkpointer:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """close(), unless the block failed: then other ranks may not come here."""
        if error is None:
            self.close()
        elif self._writer is not None:
            self._writer.give_up(wait=not is_loss(error))

    def _finish(self) -> None:
        """Report the result of the running save to all ranks."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        problem = joined(self.ranks.gather(writer.shard_written()))
        if problem:
            writer.give_up()
        else:
            problem = self.ranks.from_first(writer.completed())
        if problem:
            raise CheckpointError(f"the checkpoint of step {writer.job.head['step']} was not saved: {problem}")
        report_progress(writer.job.head["step"])

    def _failed(self, error: CheckpointError) -> None:
        if self.on_error == "raise":
            raise error
        self.last_error = str(error)
        if self.ranks.rank == 0:
            warnings.warn(f"{error}; training continues with the complete checkpoints", stacklevel=4)

    # --- restoring ------------------------------------------------------------------------------------------------------

    def steps(self) -> list[int]:
        """The steps of the complete checkpoints on the disk, oldest first; collective."""
        self.wait()
        return [one.step for one in self.ranks.from_first(self._complete)]

    def restore(self, step: int | None = None) -> int:
        """Load the newest complete state, or the newest of that step; returns its step, 0 without one. Collective.

        With memory=True the state is read from memory if that is as new.
        """
        if step is not None:
            check_step("restore", step)
        self.wait()
        found = self.ranks.from_first(next((one for one in reversed(self._complete) if step in (None, one.step)), None))
        saved = None if self._memory is None else self._memory.newest(step, found)
        if saved is None:
            if found is None:
                if step is not None:
                    raise CheckpointError(f"{self.folder} has no complete checkpoint of step {step}: there are "
                                          f"{[one.step for one in self.ranks.from_first(self._complete)]}")
                return 0
            saved = self._on_disk(found)
        take_back(self.parts, saved, self.ranks)
        self._due.saved()
        return saved.step

    def _on_disk(self, found: Kept) -> Saved:
        path = os.path.join(self.folder, found.name)
        manifest: Any = None
        with self.ranks.together(f"reading {path}"):
            manifest = files.read_manifest(path) if self.ranks.rank == 0 else None
        return Saved(path, self.ranks.from_first(manifest), lambda file: os.path.join(path, file))


def planned(parts: Mapping[str, Part], ranks: Ranks) -> tuple[Plan, dict[str, Any]]:
    """The split state: which rank writes what, and this rank's arrays by name. Collective."""
    taken = Taken()
    own_names: set[str] = set()
    trees: dict[str, Any] = {}
    own_trees: dict[str, Any] = {}
    checksums: dict[str, int] = {}
    flat: dict[str, Any] = {}
    with ranks.together("taking the state"):
        for name, part in parts.items():
            before = set(taken.held)
            (own_trees if part.own else trees)[name] = taken.part(name, part.take())
            own_names |= taken.held.keys() - before if part.own else set()
        flat = {name: stored(held.array) for name, held in taken.held.items()}
        checksums = dict(zip(flat, checksums_of(flat.values()), strict=True))
    return share_out(ranks, taken.held, checksums, trees, own_trees, own_names), flat


def take_back(parts: Mapping[str, Part], saved: Saved, ranks: Ranks) -> None:
    """Read everything first, then change everything. Collective."""
    states: dict[str, Any] = {}
    with ranks.together(f"restoring {saved.title}"):
        saved.check(range(ranks.rank, saved.ranks, ranks.size))
        there = saved.parts()
        missing, unexpected = [n for n in parts if n not in there], [n for n in there if n not in parts]
        if missing or unexpected:
            raise CheckpointError(f"{saved.title} holds {', '.join(there)}; the Checkpointer was given "
                                  f"{', '.join(parts)}: give it the same")
        for name, part in parts.items():
            try:
                states[name] = part.choose(name, saved, ranks.rank, ranks.size)
            except Exception as error:               # a tree of another kind of part
                raise CheckpointError(told(error, f"{saved.title}: trees.{name} can't be read")) from error
    with ranks.together(f"restoring {saved.title}"):
        for name, part in parts.items():
            try:
                part.put(states.pop(name))
            except Exception as error:               # an object's own code
                raise CheckpointError(told(error, f"{saved.title}: {name} cannot restore its saved state")) from error
    for part in parts.values():
        part.finish()


def check_step(call: str, step: Any) -> None:
    """ValueError unless step is a number of steps: an integer of at least 0."""
    if isinstance(step, bool) or not isinstance(step, int) or step < 0:
        raise ValueError(f"{call}(step={step!r}): a number of steps, 0 or more")


def _several(thing: Any) -> Iterable[Any]:
    """One object, or the elements of a list, tuple or dict."""
    return thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else (
        () if thing is None else (thing,))


def parts_of(given: dict[str, Any]) -> dict[str, Part]:
    """The parts of the state by name; random streams last, since loaders draw from them."""
    parts: dict[str, Part] = {}
    for name, thing in given.items():
        if thing is None:
            continue
        if name in ("model", "optimizer", "scheduler", "scaler", "loader") and isinstance(thing, (list, tuple, dict)):
            pairs = thing.items() if isinstance(thing, dict) else enumerate(thing)
            parts.update({f"{name}.{key}": part_of(f"{name}.{key}", one) for key, one in pairs})
        else:
            parts[name] = part_of(name, thing)
    if "random" in parts:
        raise TypeError("Checkpointer: random= is the name under which random streams are saved; choose another")
    parts["random"] = SharedStreams()
    return parts
