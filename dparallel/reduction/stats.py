"""Stats: times of the phases of steps, and bytes sent."""

from __future__ import annotations

from time import perf_counter_ns

from autograd.core.primitive import primitive
from autograd.spans.spans import PASS, begin, end, number_of, recorders

from ..comm.waiting import waiting

FIRST_STEPS = 10                     # all timed; later only every SAMPLE_RATE-th step is (PyTorch's defaults)
SAMPLE_RATE = 100
PHASES = ("forward_compute", "forward_wait", "backward_compute", "backward_wait", "backward_comm",
          "backward_compute_comm_overlap")
FORWARD, BACKWARD = (number_of(f"DataParallel.{name}", PASS) for name in ("forward", "backward"))


class Stats:
    """Times of the sampled steps, in ns, and the bytes sent in all steps. A timeline's spans DataParallel.forward and
    DataParallel.backward are measured at the same moments.

    A rank's waiting for others in a phase (comm/waiting.py, in all collectives: buffers and the statistics of batch norms
    are exchanged in forward) is not computation. The clock of forward starts before the first of these waits.
    """

    iteration: int
    sampled: int
    passes: int
    bytes_sent: int
    last_bytes: int

    def __init__(self) -> None:
        self.sampling: bool = True
        self.rate = SAMPLE_RATE
        self.iteration = self.sampled = self.passes = 0
        self.rebuilt = False
        self.bytes_sent = self.last_bytes = self.skipped = 0
        self.sums: dict[str, int] = dict.fromkeys(PHASES, 0)
        self.last: dict[str, int] = dict.fromkeys(PHASES, 0)
        self._communication = 0                      # when it began
        self._forward = self._backward = self._computed = (0, 0)     # now, and how long this thread has waited
        self._span = 0                               # of the phase that is open

    def forward_begins(self, rows: float = 0) -> None:
        """A forward pass of some rows begins, and with it a step."""
        if recorders:
            self._begin(FORWARD, int(rows))
        self.iteration += 1
        self.sampling = self.iteration <= FIRST_STEPS or self.iteration % self.rate == 0
        if self.sampling:
            self._communication, self._computed = 0, (0, 0)
            self._forward = perf_counter_ns(), waiting.ns

    @primitive
    def forward_ends(self) -> None:
        """The module has returned its output."""
        if self._span:
            self._end()
        if self.sampling:
            self.last["forward_compute"], self.last["forward_wait"] = elapsed(self._forward, (perf_counter_ns(), waiting.ns))

    def backward_begins(self) -> None:
        """A backward pass has reached the module."""
        if recorders:
            self._begin(BACKWARD)
        if self.sampling:
            self._backward = perf_counter_ns(), waiting.ns

    def communication_begins(self) -> None:
        """The first bucket is launched."""
        if self.sampling:
            self._communication = perf_counter_ns()

    def backward_computed(self) -> None:
        """All gradients of this rank are computed."""
        if self.sampling:
            self._computed = perf_counter_ns(), waiting.ns

    def summed(self, sent: int, timed: bool = True) -> None:
        """A pass has ended, in which this rank has sent so many bytes. timed: its buckets were summed while it ran."""
        if self._span:
            self._end()
        self.passes += 1
        self.last_bytes = sent
        self.bytes_sent += sent
        if not self.sampling or not timed:
            return
        now = perf_counter_ns(), waiting.ns
        start, computed, last = self._communication or self._computed[0], self._computed[0], self.last
        began, waited = self._backward               # below 0: a pass on another thread, see elapsed()
        last["backward_compute"] = computed - began - max(0, self._computed[1] - waited)
        last["backward_wait"] = max(0, now[1] - waited)
        last["backward_comm"], last["backward_compute_comm_overlap"] = now[0] - start, max(0, computed - start)
        self.sampled += 1
        for phase in PHASES:
            self.sums[phase] += last[phase]

    def _begin(self, phase: int, rows: int = 0) -> None:
        """Begin the span of a phase, after one that an exception has left open."""
        self._end()
        self._span = begin(phase, rows)

    def _end(self) -> None:
        """End the open span, once only: a second call would end a later span."""
        span, self._span = self._span, 0
        end(span)

    def times(self) -> dict[str, int]:
        """The last and the average times of the phases, in ns, under PyTorch's names."""
        out = {f"{phase}_time": self.last[phase] for phase in PHASES}
        return out | {f"avg_{phase}_time": self.sums[phase] // max(self.sampled, 1) for phase in PHASES}


def elapsed(since: tuple[int, int], until: tuple[int, int]) -> tuple[int, int]:
    """The time between two moments without waiting, and the time of waiting."""
    waiting = max(0, until[1] - since[1])            # below 0: a pass on another thread (on_fresh_stack)
    return until[0] - since[0] - waiting, waiting
