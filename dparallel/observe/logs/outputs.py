"""Outputs of a log. Only rank 0 opens them; each writes a line with write(step, time, values)."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

Values = Mapping[str, float]


class Output(Protocol):
    """An output of a Logger: one of these classes, or a user's object with these methods."""

    def write(self, step: int, time: float, values: Values) -> None:
        """Write the values of a step; time is in seconds, as time.time() gives it."""

    def close(self) -> None:
        """Close the output; called once, after the last write()."""


class Console:
    """Lines on standard output, above tqdm's bars. A sum is also shown as a rate since the last line that had it."""

    def __init__(self, sums: frozenset[str] = frozenset()) -> None:
        self.sums: frozenset[str] = sums
        self._before: dict[str, float] = {}          # when each sum was last written

    def write(self, step: int, time: float, values: Values) -> None:
        """Write a line."""
        seconds = {name: time - self._before.get(name, time) for name in self.sums & values.keys()}
        self._before.update(dict.fromkeys(seconds, time))
        parts = [f"{name} {value:.6g}" + (f" ({value / seconds[name]:.4g}/s)" if seconds.get(name, 0) > 0 else "")
                 for name, value in values.items()]
        text, stream = "  ".join([f"step {step}", *parts]), sys.stdout
        bars = getattr(sys.modules.get("tqdm"), "tqdm", None)
        if bars is not None:
            bars.write(text, file=stream)
        else:
            stream.write(text + "\n")
        stream.flush()

    def close(self) -> None:
        """Nothing to do."""


class JsonLines:
    """A file with one object per line: "step", "time" and the values. NaN and infinities are "nan", "inf" and "-inf".

    A line is whole when write() returns. A partial last line, left by a crash of the machine, is removed when the file is
    opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        self._path: str = os.fspath(path)
        self._file = open(path, "a+b", buffering=0)          # noqa: SIM115
        size = self._file.tell()
        at = size
        while at:                                    # backwards to the last line end
            start = max(0, at - 4096)
            self._file.seek(start)
            found = self._file.read(at - start).rfind(b"\n")
            if found >= 0:
                at = start + found + 1
                break
            at = start
        if at < size:
            self._file.truncate(at)

    def write(self, step: int, time: float, values: Values) -> None:
        """Append a line."""
        shown = {name: value if math.isfinite(value) else str(value) for name, value in values.items()}
        line = (json.dumps({"step": step, "time": round(time, 3), **shown}) + "\n").encode()
        try:
            if self._file.write(line) < len(line):   # a full disk writes a part first
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            error.filename = self._path
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoard:
    """A run for TensorBoard, by SummaryWriter."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.writer: Any = needed("autograd.utils.tensorboard", "tensorboard").SummaryWriter(directory)
        self.writer.enabled = True                   # also on ranks other than the launcher's rank 0

    def write(self, step: int, time: float, values: Values) -> None:
        """Write a scalar for each value."""
        for name, value in values.items():
            self.writer.add_scalar(name, value, step, time)

    def close(self) -> None:
        """End the file."""
        self.writer.close()


class WandB:
    """A run of Weights & Biases: the active one (wandb.run), or one started by wandb.init(**settings)."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        wandb = needed("wandb", "wandb")
        self._owned = wandb.run is None
        self.run: Any = wandb.init(**settings) if self._owned else wandb.run

    def write(self, step: int, time: float, values: Values) -> None:
        """Log the values."""
        self.run.log(dict(values), step=step)

    def close(self) -> None:
        """Finish the run if it was started here."""
        if self._owned:
            self.run.finish()


class MLflow:
    """A run of MLflow: the active one, or one started by mlflow.start_run(**settings)."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.mlflow: Any = needed("mlflow", "mlflow")
        active = self.mlflow.active_run()
        self._owned = active is None
        self.run: Any = self.mlflow.start_run(**settings) if self._owned else active

    def write(self, step: int, time: float, values: Values) -> None:
        """Log the values."""
        self.mlflow.log_metrics(dict(values), step=step, run_id=self.run.info.run_id)

    def close(self) -> None:
        """End the run if it was started here."""
        if self._owned:
            self.mlflow.end_run()


def needed(module: str, package: str) -> Any:
    """An optional package's module; ImportError with the remedy if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"Logger({package}=...) requires a package that is not installed ({error}). Run: "
                          f"pip install {package}") from error
