"""dprun's part of --timeline and --report. dparallel.observe.timeline records, reads and reports."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys

from . import private
from .mpirun import LaunchError, module, outer, remote

STALLED = "stalled"                                  # the mark of a rank that has reported a stall


class Recorded:
    """The timeline of one job: the folder of its parts, and the file written from them at the end, or earlier on request.

    restart: how many jobs ran before it under --restarts; their files are kept.
    """

    def __init__(self, options: argparse.Namespace, folder: str, restart: int) -> None:
        self.options, self.temporary = options, not options.timeline
        shared = f".dprun-{private.token()}"         # in the script's folder, which all hosts see
        somewhere = shared if remote(options) else os.path.join(folder, "timeline")
        named = os.path.abspath(options.timeline or somewhere + ".json.gz")
        stem, ending = split(named)
        self.path = f"{stem}.{restart}{ending}" if restart else named
        self.parts = self.path + ".parts"
        self.asked = False                           # by SIGUSR2
        self._stalls = 0
        self._dump: subprocess.Popen[bytes] | None = None
        try:
            shutil.rmtree(self.parts, ignore_errors=True)
            os.makedirs(self.parts, mode=0o700)
        except OSError as error:
            raise LaunchError(f"--timeline {self.path}: its folder is not writable ({error.strerror or error}); pass a "
                              "file in a writable folder that all hosts share") from error

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables for the ranks."""
        steps = {"DPARALLEL_TIMELINE_STEPS": self.options.steps} if self.options.steps else {}
        return {"DPARALLEL_TIMELINE_PARTS": self.parts, **steps}

    def look(self, folder: str) -> None:
        """Called while the job runs: write the file if a rank has reported a stall, or on SIGUSR2."""
        stalls = sum(name.endswith("." + STALLED) for name in os.listdir(folder)) if not self.temporary else 0
        if not (self.asked or stalls > self._stalls) or (self._dump is not None and self._dump.poll() is None):
            return
        self.asked, self._stalls = False, stalls
        self._dump = subprocess.Popen(tracing("finish", self.parts, self.path, "--keep"), env=outer())
        print(f"dprun: the timeline up to now is written to {self.path}", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """Called when the job has ended: write the file, and with --report print the report."""
        if self._dump is not None:
            self._dump.wait()
        if not any(name.endswith(".json") for name in os.listdir(self.parts)):
            print("dprun: no rank has recorded a timeline: is dparallel installed where the script runs?", file=sys.stderr)
            shutil.rmtree(self.parts, ignore_errors=True)
            return
        options = self.options
        subprocess.run(tracing("finish", self.parts, self.path, *outputs(options)), env=outer(), check=False)
        if self.temporary:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        elif os.path.exists(self.path) and not options.quiet:
            print(f"dprun: timeline in {os.path.relpath(self.path)}: open it at https://ui.perfetto.dev, or see "
                  f"dprun --report {os.path.relpath(self.path)}", file=sys.stderr, flush=True)


def is_report(options: argparse.Namespace) -> bool:
    """Whether dprun only reports on a timeline, and starts no job."""
    if not options.report:
        if options.report_json or options.report_html:
            raise LaunchError("--json and --html require --report")
    elif options.script.endswith((".json", ".json.gz", ".json.parts", ".json.gz.parts")):
        return True
    if options.steps and not (options.timeline or options.report):
        raise LaunchError("--steps requires --timeline")
    if options.timeline and not options.timeline.endswith((".json", ".json.gz")):
        raise LaunchError(f"--timeline {options.timeline}: the file's name must end in .json.gz or .json")
    return False


def report(path: str, options: argparse.Namespace) -> int:
    """Report on a finished timeline, or on the folder of a running one."""
    return subprocess.run(tracing("report", path, *outputs(options)), env=outer(), check=False).returncode


def outputs(options: argparse.Namespace) -> list[str]:
    """The arguments of dparallel.observe.timeline that define what is shown and written."""
    out = ["--text"] if options.report else []
    out += ["--json", os.path.abspath(options.report_json)] if options.report_json else []
    return out + (["--html", os.path.abspath(options.report_html)] if options.report_html else [])


def tracing(*arguments: str) -> list[str]:
    """The command that reads timelines; it imports NumPy, which dprun itself does without."""
    return module("dparallel.observe.timeline", *arguments)


def split(path: str) -> tuple[str, str]:
    """A path's stem, and .json or .json.gz."""
    ending = ".json.gz" if path.endswith(".json.gz") else ".json"
    return path.removesuffix(ending), ending
