"""DistributedTrial: a trial of Optuna on several ranks that train together. Rank 0 alone talks to the study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.base.docstrings import attach_to_modules

from ..comm import CollectiveError, Communicator, communicator

LOCAL = ("report", "set_user_attr")                  # what rank 0 does alone while the others wait
MSG_FAILED = "DistributedTrial.{name}: {text} on rank 0"


class DistributedTrial:
    """Optuna's trial on all ranks: rank 0 calls the study, and every rank gets the result. Each method is collective.

    Methods and the properties number, params, distributions, user_attrs, system_attrs, datetime_start are optuna.Trial's. An
    error on rank 0 is the same exception there and a CollectiveError on the others.
    """

    def __init__(self, trial: Any = None, comm: Communicator | None = None) -> None:
        self.comm = communicator(comm)
        self.main = 0 in self.comm.held
        self.trial = trial if self.main else None
        if not self._answer("trial", lambda: trial is not None):
            raise TypeError("DistributedTrial: rank 0 passes Optuna's trial, the others None")

    def _answer(self, name: str, ask: Callable[[], Any]) -> Any:
        """The result of a call on rank 0, on all ranks."""
        answer, error = None, None
        if self.main:
            try:
                answer = ask()
            except Exception as raised:
                error = raised
        if self.comm.alone:
            text = ""
        else:
            answer, text = self.comm.broadcast_object((answer, f"{type(error).__name__}: {error}" if error else ""), 0)
        if error is not None:
            raise error
        if text:
            raise CollectiveError(MSG_FAILED.format(name=name, text=text))
        return answer

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._answer(name, lambda: getattr(self.trial, name)(*args, **kwargs))

    def suggest_float(self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False) -> float:
        """A number between low and high, the same on all ranks."""
        return self._call("suggest_float", name, low, high, step=step, log=log)

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """An integer between low and high, the same on all ranks."""
        return self._call("suggest_int", name, low, high, step=step, log=log)

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        """One of the choices, the same on all ranks."""
        return self._call("suggest_categorical", name, choices)

    def report(self, value: float, step: int) -> None:
        """Report an intermediate value to the study, rank 0's. If values differ, pass the mean over ranks
        (metrics.Mean)."""
        self._call("report", float(value), int(step))

    def should_prune(self) -> bool:
        """Whether to stop this trial; all ranks then raise optuna.TrialPruned."""
        return self._call("should_prune")

    def set_user_attr(self, key: str, value: Any) -> None:
        """Set a user attribute of the trial, with rank 0's value."""
        self._call("set_user_attr", key, value)

    def __getattr__(self, name: str) -> Any:
        if name in ("number", "params", "distributions", "user_attrs", "system_attrs", "datetime_start"):
            return self._answer(name, lambda: getattr(self.trial, name))
        raise AttributeError(f"DistributedTrial has no {name!r}; it has Optuna's suggest_float(), suggest_int(), "
                             "suggest_categorical(), report(), should_prune(), set_user_attr() and number, params")

    @staticmethod
    def optimize(study: Any, objective: Callable[[Any], Any], n_trials: int | None = None, timeout: float | None = None, *,
                 catch: Any = (), comm: Communicator | None = None) -> None:
        """study.optimize() of an objective that runs on all ranks. Collective; pruned trials count."""
        comm = communicator(comm)
        if n_trials is None and timeout is None:
            raise ValueError("DistributedTrial.optimize: pass n_trials, timeout or both: ranks stop together")
        caught = tuple(catch) if isinstance(catch, (list, tuple, set)) else (catch,)
        trials = _Trials(objective, caught, comm)
        if comm.alone:
            study.optimize(lambda trial: objective(DistributedTrial(trial, comm)), n_trials, timeout, catch=caught)
        elif 0 in comm.held:
            try:
                study.optimize(trials.begin, n_trials, timeout, catch=caught)
            finally:
                if not trials.over:
                    comm.broadcast_object("end", 0)
        else:
            while comm.broadcast_object(None, 0) == "trial":
                try:
                    trials.run(None)
                except Exception:
                    if trials.over:
                        raise


class _Trials:
    """The trials of one optimize(). Each ends on all ranks with an exchange of failures."""

    def __init__(self, objective: Callable[[Any], Any], caught: tuple[type[BaseException], ...], comm: Communicator) -> None:
        self.objective, self.caught, self.comm = objective, caught, comm
        self.over = False                            # rank 0's exception leaves study.optimize(): all ranks know it

    def begin(self, trial: Any) -> Any:
        """Start a trial on rank 0; the others start it too."""
        self.comm.broadcast_object("trial", 0)
        return self.run(trial)

    def run(self, trial: Any) -> Any:
        """Run one trial. Raises the objective's exception, or a CollectiveError if only other ranks raised one."""
        value, error = None, None
        try:
            value = self.objective(DistributedTrial(trial, self.comm))
        except Exception as raised:
            error = raised
        goes_on = isinstance(error, self.caught) or type(error).__name__ == "TrialPruned"    # Optuna's, not imported here
        told = self._exchange(f"{type(error).__name__}: {error}" if error else "", goes_on)
        failed = [rank for rank, (text, _) in enumerate(told) if text]
        if failed:
            self.over = not (told[0][1] if failed[0] == 0 else issubclass(CollectiveError, self.caught))
            if error is None:
                raise CollectiveError(f"DistributedTrial: the objective failed on rank {failed[0]}: {told[failed[0]][0]}")
        if error is not None:
            raise error
        return value

    def _exchange(self, text: str, goes_on: bool) -> list[tuple[str, bool]]:
        """The failures of all ranks. A failed rank takes part in the collectives of the others, and lets them fail too."""
        while True:
            try:
                return self.comm.allgather_object([(text, goes_on)])
            except CollectiveError:
                if not text:
                    raise


attach_to_modules("dparallel.integrations")
