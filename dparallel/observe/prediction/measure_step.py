"""StepRecorder: watches a DataParallel through some steps and makes a StepTrace of the undisturbed ones.

Only computation is kept: communication inside backward and waiting for other ranks (comm/waiting.py) are subtracted. The
time of one gradient costs about 2 us, so every other step is recorded without them, and the times are scaled to these steps'
backward.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.base import system_memory
from autograd.nn import SyncBatchNorm
from autograd.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from autograd.optim.state_size import state_bytes

from ...autograd import Tensor, is_grad_enabled
from ...comm import Communicator
from ...comm.environment import host_identity
from ...comm.waiting import waiting
from ...model.data_parallel import DataParallel
from ...reduction.buckets import MOST_BYTES, default_capacity
from ...reduction.departure import Departure
from ...sharding.wrapping import by_module
from .quiet import FEWEST, quietest, stolen
from .simulate import STAGES
from .steps import ParameterTrace, StepTrace, SyncTrace

if TYPE_CHECKING:
    from ...reduction.reducer import Reducer

WARMUP, STEPS, MOST_STEPS = 4, 24, 200
ENOUGH = 1.0                         # seconds: short steps are recorded more often, up to MOST_STEPS
PATIENCE = 10.0                      # seconds after which recording ends, whether steps were disturbed or not


class TimedDeparture(Departure):
    """A reducer's Departure that counts the time it spends."""

    def __init__(self, other: Departure) -> None:
        self.__dict__.update(other.__dict__)
        self.spent: float = 0.0

    def launch(self, *args: Any) -> None:
        """Start sums, timed."""
        start, waited = time.perf_counter(), waiting.ns
        try:
            super().launch(*args)
        finally:                                     # waiting is counted elsewhere
            self.spent += time.perf_counter() - start - (waiting.ns - waited) / 1e9

    def progress(self) -> None:
        """Progress the sums, timed."""
        start, waited = time.perf_counter(), waiting.ns
        super().progress()
        self.spent += time.perf_counter() - start - (waiting.ns - waited) / 1e9


class Sample:
    """One recorded step, in seconds."""

    def __init__(self) -> None:
        self.start: float = time.perf_counter()
        self.waited_before: int = waiting.ns
        self.stolen: int = stolen()
        self.forward = self.backward = self.finish = self.after = self.optimizer = self.period = 0.0
        self.losses: dict[str, float] = {}           # see lose()
        self.passes = 0
        self.used: dict[int, float] = {}             # by number of the parameter
        self.ready: dict[int, float] = {}
        self.synced: list[tuple[int, int, float]] = []       # channels, bytes of a number, when: calls of SyncBatchNorm

    @property
    def compute(self) -> float:
        """The step without communication."""
        return self.forward + self.backward + self.finish + self.after

    @property
    def lost(self) -> float:
        """The time in which another process had the core while this rank had to compute."""
        return sum(self.losses.values())

    def lose(self, part: str) -> None:
        """Count the time lost since the last check towards a part of the step."""
        before, self.stolen = self.stolen, stolen()
        self.losses[part] = (self.stolen - before) / 1e9

    def without_loss(self) -> Sample:
        """The step without the time in which another process had the core, subtracted evenly from each part."""
        left = {part: max(0.1, 1 - lost / max(getattr(self, part), 1e-12)) for part, lost in self.losses.items()}
        out = copy.copy(self)
        for name, part in (("forward", "forward"), ("backward", "backward"), ("after", "after"), ("optimizer", "after")):
            setattr(out, name, getattr(self, name) * left.get(part, 1.0))
        out.used = {number: at * left.get("forward", 1.0) for number, at in self.used.items()}
        out.synced = [(channels, size, at * left.get("forward", 1.0)) for channels, size, at in self.synced]
        out.ready = {number: at * left.get("backward", 1.0) for number, at in self.ready.items()}
        return out


class StepRecorder:
    """Records `steps` steps of one model (more of short ones), then calls on_done, on all ranks at the same step."""

    def __init__(self, model: DataParallel, steps: int = STEPS, warmup: int = WARMUP,
                 on_done: Callable[[], object] | None = None) -> None:
        for name, count, least in (("steps", steps, 2), ("warmup", warmup, 2)):
            if isinstance(count, bool) or not isinstance(count, int) or count < least:
                raise ValueError(f"{name}={count!r} must be a whole number of at least {least}")
        refuse(model)
        reducer = model._sum.needed_reducer()
        assert reducer is not None
        self.model: DataParallel = model
        self.comm: Communicator = model.comm
        self.reducer: Reducer = reducer
        self.warmup: int = warmup
        self.limit: int = steps
        self.more: int = steps
        self.samples: list[Sample] = list[Sample]()
        self.numbers: dict[Tensor, int] = {p: number for number, (_, p) in enumerate(reducer.named)}
        self.each_gradient: bool = False
        self.optimizers: list[Any] = []
        self.count: int = 0
        self._on_done = on_done
        self._sample: Sample | None = None
        self._summed = False                         # the running step has had its summed pass
        self._begun = self._spent = self._waited = self._stepping = self._ended = self._collected = 0.0
        self._waited_end = 0
        self._departure = reducer.departure = TimedDeparture(reducer.departure)
        reducer.watch = self
        self._handles = [model.register_forward_pre_hook(self._called_outside, prepend=True),
                         register_optimizer_step_pre_hook(self._optimizer_begins),
                         register_optimizer_step_post_hook(self._optimizer_ends)]
        for child in model.module.modules():
            held = [self.numbers[p] for p in child._parameters.values() if p in self.numbers]
            synchronises = isinstance(child, SyncBatchNorm)
            if held or synchronises:
                self._handles.append(child.register_forward_pre_hook(self._use_of(held, synchronises), prepend=True))

    @property
    def stepped(self) -> bool:
        """Whether the running step has had its summed pass."""
        return self._summed

    @property
    def done(self) -> bool:
        """Whether enough steps are recorded."""
        return len(self.samples) >= self.limit

    def stop(self) -> None:
        """Restore the model as it was."""
        for handle in self._handles:
            handle.remove()
        departure = Departure(self._departure.buckets, self._departure.transport, self._departure.stats)
        departure.__dict__.update({k: v for k, v in self._departure.__dict__.items() if k != "spent"})
        self.reducer.watch, self.reducer.departure = None, departure

    # --- events ---------------------------------------------------------------------------------------------------------

    def _called_outside(self, module: Any, args: Any) -> None:
        """The DataParallel is called: a step begins if the last one has had its summed pass."""
        if not is_grad_enabled() or self.done:
            return
        if self._summed or self._sample is None:
            self._end_step()
        sample = self._sample
        assert sample is not None
        sample.passes += 1

    def _end_step(self) -> None:
        """Close a step and begin the next one."""
        now, sample = time.perf_counter(), self._sample
        if sample is not None:
            sample.after = now - self._ended - (waiting.ns - self._waited_end) / 1e9
            sample.period = now - sample.start
            sample.lose("after")
            self.count += 1
            if self.count > self.warmup:
                self.samples.append(sample)
            if self.count == self.warmup:            # the same number of steps on all ranks
                longest = self.comm.allreduce([np.array([sample.period])] * len(self.comm.held), op="max")[0].item()
                self.limit = int(max(self.limit, min(MOST_STEPS, ENOUGH / max(longest, 1e-9))))
            if len(self.samples) == self.limit < MOST_STEPS and not self._quiet_everywhere():
                self.limit = min(MOST_STEPS, self.limit + self.more)
        self.each_gradient = self.count % 2 == 0
        self._summed, self._sample = False, Sample()
        if self.done and self._on_done is not None:
            self._on_done()

    def _quiet_everywhere(self) -> bool:
        """Whether each rank has enough undisturbed steps of both kinds, or the time limit is reached. Collective."""
        samples = self.samples
        kept, quiet = quietest([s.compute for s in samples], [s.lost for s in samples])
        both = quiet and min(sum(bool(samples[i].ready) == fine for i in kept) for fine in (False, True)) >= FEWEST
        over = sum(s.period for s in samples) > PATIENCE
        return bool(self.comm.allreduce([np.array([float(both or over)])] * len(self.comm.held), op="min")[0].item())

    def _use_of(self, held: Sequence[int], synchronises: bool) -> Any:
        """A hook that records the first use of parameters, and each call of a SyncBatchNorm."""
        def hook(module: Any, args: Any) -> None:
            sample = self._sample
            if self.each_gradient and sample is not None and not self._summed:
                now = time.perf_counter() - sample.start - (waiting.ns - sample.waited_before) / 1e9
                for number in held:
                    sample.used.setdefault(number, now)
                if synchronises and module.training and args:
                    sample.synced.append((module.num_features, max(4, args[0].dtype.itemsize), now))

        return hook

    def begins(self, summed: bool) -> None:
        """Called when a backward pass begins."""
        if summed and self._sample is not None:
            now, self._spent, self._waited = time.perf_counter(), self._departure.spent, waiting.ns
            self._sample.forward = now - self._sample.start - (self._waited - self._sample.waited_before) / 1e9
            self._sample.lose("forward")
            self._begun = time.perf_counter()

    def arrived(self, p: Tensor) -> None:
        """Called when a gradient has arrived."""
        sample = self._sample
        if sample is not None and p in self.numbers:
            sample.ready[self.numbers[p]] = self._elapsed()

    def _elapsed(self) -> float:
        """Seconds of computation in this backward pass."""
        return (time.perf_counter() - self._begun - (self._departure.spent - self._spent)
                - (waiting.ns - self._waited) / 1e9)

    def computed(self) -> None:
        """Called when the last gradient has arrived."""
        if self._sample is not None:
            self._sample.backward = self._elapsed()
            self._sample.lose("backward")

    def collected(self) -> None:
        """Called when all sums are complete."""
        self._collected = time.perf_counter()

    def ends(self) -> None:
        """Called when the backward pass ends."""
        now = time.perf_counter()
        if self._sample is not None:
            self._sample.finish = now - self._collected
            self._sample.stolen = stolen()           # time lost while this rank waited for others does not count
            self._summed = True
        self._ended, self._waited_end = time.perf_counter(), waiting.ns

    def _optimizer_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._stepping = time.perf_counter()
        if self._concerns(optimizer) and not any(optimizer is other for other in self.optimizers):
            self.optimizers.append(optimizer)

    def _concerns(self, optimizer: Any) -> bool:
        """Whether an optimizer updates the model: its hook is called for every optimizer."""
        return bool(self._numbers_of(optimizer))

    def _numbers_of(self, optimizer: Any) -> set[int]:
        """The numbers of the model's parameters that an optimizer updates; for slices, of the whole parameters."""
        found = (getattr(p, "whole", p) for group in optimizer.param_groups for p in group["params"])
        return {self.numbers[p] for p in found if p in self.numbers}

    def _optimizer_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._sample is not None and self._summed and self._concerns(optimizer):
            self._sample.optimizer += time.perf_counter() - self._stepping

    # --- the result -----------------------------------------------------------------------------------------------------

    def trace(self) -> StepTrace:
        """The typical step over the model's ranks. Collective. RuntimeError if too few steps were recorded."""
        if len(self.samples) < 2:
            raise RuntimeError(f"{self.count} complete training steps were recorded, but a prediction needs "
                               f"{self.warmup + 2} are the least that a step is predicted from: train on more batches "
                               "(steps that trace_step() replays are not seen)")
        here = host_ranks(self.comm)
        traces = self.comm.allgather_object([self._own_trace(here)] * len(self.comm.held))
        return averaged(traces)

    def _own_trace(self, ranks_per_host: int) -> StepTrace:
        """This rank's typical step."""
        samples = [s.without_loss() for s in self.samples]
        kept, quiet = quietest([s.compute for s in samples], [s.lost for s in samples])
        chosen = [samples[i] for i in kept]
        coarse = [s for s in chosen if not s.ready] or chosen
        fine = [s for s in chosen if s.ready] or [s for s in samples if s.ready]

        def middle(which: Sequence[Sample], name: str) -> float:
            return float(np.median([getattr(s, name) for s in which])) if which else 0.0

        backward, forward = middle(coarse, "backward"), middle(coarse, "forward")
        slower = backward / middle(fine, "backward") if fine and middle(fine, "backward") else 1.0
        earlier = forward / middle(fine, "forward") if fine and middle(fine, "forward") else 1.0
        parameters = []
        for number, (name, p) in enumerate(self.reducer.named):
            ready, used = ([getattr(s, field)[number] for s in fine if number in getattr(s, field)]
                           for field in ("ready", "used"))
            parameters.append(ParameterTrace(name, tuple(p.shape), str(p.array.dtype),
                                             float(np.median(used)) * earlier if used else 0.0,
                                             min(float(np.median(ready)) * slower, backward) if ready else 0.0))
        computes = [s.compute for s in coarse]
        middle_compute = float(np.median(computes))
        low, high = np.percentile(computes, [25, 75])
        return StepTrace(
            ranks=self.comm.size, ranks_per_host=ranks_per_host, forward=forward, backward=backward,
            finish=middle(coarse, "finish"), after=middle(coarse, "after"), optimizer=middle(coarse, "optimizer"),
            measured=middle(coarse, "period"), spread=float(high - low) / 2 / middle_compute,
            jitter=float(middle_compute - low) / 0.6745 / middle_compute, quiet=len(kept) if quiet else 0,
            steps=len(samples), passes=int(np.median([s.passes for s in chosen])),
            parameters=parameters, units=self._units(), syncs=synchronised(fine, earlier),
            optimizers=[[self.reducer.named[i][0] for i in sorted(self._numbers_of(optimizer))]
                        for optimizer in self.optimizers],
            optimizer_bytes=sum(state_bytes(optimizer) for optimizer in self.optimizers),
            buffer_bytes=self.model.broadcast_buffers * sum(b.array.nbytes for b in self.model.synchronised_buffers()),
            other_bytes=self._other_bytes(), cap_mb=self._cap(),
            fixed=self.reducer.transport.fixed_buckets, hook=self.model.comm_hook.name if self.model.comm_hook else "",
            notes=self._notes(quiet))

    def _cap(self) -> float | None:
        """The model's bucket_cap_mb; None for the default of its gradients, sharded or not."""
        cap = self.model.bucket_cap_mb
        nbytes = sum(p.array.nbytes for _, p in self.reducer.named)
        return None if cap * 2**20 in (default_capacity(nbytes), default_capacity(math.inf)) else cap

    def _units(self) -> list[list[str]]:
        """The groups that stage 3 would gather."""
        known = {name for name, _ in self.reducer.named}
        groups = [[name for name, _ in group if name in known]
                  for group in by_module(self.model.module, MOST_BYTES, self.model.shard_units)]
        return [group for group in groups if group]

    def _other_bytes(self) -> int:
        """The largest resident memory so far, without parameters, gradients, optimizer state and buffers."""
        most = system_memory.peak() or 0
        known = sum(p.array.nbytes * (1 + p.requires_grad) for p in self.model.module.parameters())
        return int(max(0, most - known - sum(state_bytes(optimizer) for optimizer in self.optimizers)))

    def _notes(self, quiet: bool) -> list[str]:
        """Notes on what the trace lacks."""
        notes = [] if quiet else [f"other processes disturbed most steps: fewer than {FEWEST} of {len(self.samples)} were "
                                  "quiet; what others took of the core was subtracted from the quietest third"]
        if len(self.samples) < FEWEST:
            notes.append(f"only {len(self.samples)} steps were recorded")
        if self.comm.size == 1 and any(s.synced for s in self.samples):
            notes.append("SyncBatchNorm was traced on one rank, where it computes as BatchNorm does, and quicker: trace on "
                         "two for its own arithmetic")
        if self.model.comm_hook is not None:
            notes.append(f"the traced model has the comm hook {self.model.comm_hook.name}: rows without a hook differ "
                         "from its present behaviour")
        if not self.optimizers:
            notes.append("no optimizer of autograd.optim was found: its state is not counted in memory")
        return notes


def refuse(model: Any) -> None:
    """TypeError or NotImplementedError for models that cannot be traced."""
    if not isinstance(model, DataParallel):
        raise TypeError(f"predict() takes a DataParallel, a StepTrace or the path of one, not {type(model).__name__}")
    if model.batch != "own" or (model.devices is not None and model.devices.size > 1):
        raise NotImplementedError("predict() of local devices or batch='root': it replays ranks that have their own rows "
                                  "(batch='own') and gradients in buckets")
    if model.shard and model.comm.size > 1:
        raise NotImplementedError(f"predict() from a model that is sharded over {model.comm.size} ranks "
                                  f"(shard={STAGES[model.shard]!r}): trace it on one rank (dprun --predict ... -n 1), where "
                                  "it is whole, or with shard=None; all stages are predicted from that")
    if model._config.reproducible is not None:
        raise NotImplementedError("predict() with reproducible=V: its gradients are not summed in buckets")
    if not any(p.requires_grad for p in model.module.parameters()):
        raise ValueError("predict(): no parameter of the module requires a gradient")


def synchronised(samples: Sequence[Sample], factor: float) -> list[SyncTrace]:
    """The calls of SyncBatchNorm in a typical sample; times are medians over samples with the same calls."""
    if not samples:
        return []
    calls = [[call[:2] for call in sample.synced] for sample in samples]
    alike = [sample.synced for sample, own in zip(samples, calls, strict=True) if own == calls[-1]]
    return [SyncTrace(channels, size, float(np.median([synced[i][2] for synced in alike])) * factor)
            for i, (channels, size) in enumerate(calls[-1])]


def averaged(traces: Sequence[StepTrace]) -> StepTrace:
    """Times averaged over ranks, spreads as the largest over ranks."""
    first = traces[0]

    def mean(name: str) -> float:
        return float(np.mean([getattr(t, name) for t in traces]))

    parameters = [replace(p, used=float(np.mean([t.parameters[i].used for t in traces])),
                          ready=float(np.mean([t.parameters[i].ready for t in traces])))
                  for i, p in enumerate(first.parameters)]
    times = {name: mean(name) for name in ("forward", "backward", "finish", "after", "optimizer", "measured")}
    slowest, fastest = max(t.compute for t in traces), min(t.compute for t in traces)
    spread = max(max(t.spread for t in traces), (slowest - fastest) / max(slowest + fastest, 1e-12))
    values = {**vars(first), **times, "parameters": parameters, "spread": float(spread),
              "jitter": max(t.jitter for t in traces), "quiet": min(t.quiet for t in traces),
              "notes": list(dict.fromkeys(note for t in traces for note in t.notes)),
              "other_bytes": max(t.other_bytes for t in traces)}
    return StepTrace(**values)


def host_ranks(comm: Communicator) -> int:
    """The largest number of ranks on a host."""
    identities = comm.allgather_object([host_identity()] * len(comm.held))
    return max(map(identities.count, identities))
