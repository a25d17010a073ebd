"""dprun --predict: a job that ends when enough steps are recorded, then dparallel.prediction's arithmetic in a process."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from .mpirun import LaunchError, module, remote

RUNNER = "dparallel.observe.prediction.script"
ENDINGS = (".svg", ".html", ".json")


def sizes(text: str) -> str:
    """Comma-separated numbers of ranks, unparsed."""
    parts = text.split(",")
    if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers of ranks, such as 8,64,512")
    return ",".join(part.strip() for part in parts)


def check_prediction(options: argparse.Namespace) -> None:
    """LaunchError for options that conflict with --predict, or require it."""
    if not options.predict:
        for name in ("network", "plot", "keep"):
            if getattr(options, name):
                raise LaunchError(f"--{name} requires --predict")
        return
    for name in ("survive", "restarts", "requeue"):
        if getattr(options, name):
            raise LaunchError(f"--predict with --{name}: the job ends as soon as some steps are recorded")
    if options.plot and not options.plot.endswith(ENDINGS):
        raise LaunchError(f"--plot {options.plot}: the file must end in {', '.join(ENDINGS)}")


@contextlib.contextmanager
def recording(options: argparse.Namespace) -> Iterator[str]:
    """Record the script's steps into a folder, which is deleted unless --keep names it."""
    try:
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
            made: contextlib.AbstractContextManager[str] = contextlib.nullcontext(options.keep)
        else:                                        # over hosts the script's folder is shared, this machine's is not
            made = tempfile.TemporaryDirectory(prefix="dprun-predict-", dir=os.getcwd() if remote(options) else None)
    except OSError as error:
        raise LaunchError(f"--predict: no folder for the recording ({error})") from error
    with made as folder:
        options.args = [os.path.abspath(folder), options.network or "", *(["-m"] if options.module else []), options.script,
                        *options.args]
        options.module, options.script = True, RUNNER
        yield folder


def report(options: argparse.Namespace, folder: str) -> int:
    """Print the prediction. Returns the exit code."""
    if not os.path.exists(os.path.join(folder, "trace.json")):
        print("dprun: --predict: the job ended before a step was recorded", file=sys.stderr)
        return 1
    return subprocess.run(module("dparallel.prediction", folder, "--sizes", options.predict,
                                 *(["--plot", options.plot] if options.plot else []))).returncode
