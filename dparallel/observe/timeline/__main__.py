"""python -m dparallel.observe.timeline: assembles a timeline's file from its parts, and reports on one. `dprun` calls
it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .page import page
from .report import Report, finish
from .run import TimelineError, collector_off, read


def parser() -> argparse.ArgumentParser:
    """The arguments of both commands."""
    p = argparse.ArgumentParser(prog="python -m dparallel.observe.timeline", description=__doc__)
    commands = p.add_subparsers(dest="command", required=True)
    finish = commands.add_parser("finish", help="make the file of a folder of parts")
    finish.add_argument("parts", type=Path)
    finish.add_argument("path", type=Path)
    finish.add_argument("--keep", action="store_true", help="do not remove the parts: the run continues")
    report = commands.add_parser("report", help="report on a file, or on a folder of parts")
    report.add_argument("path", type=Path)
    for command in (finish, report):
        command.add_argument("--text", action="store_true", help="print the report")
        command.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
        command.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    options = parser().parse_args(argv)
    try:
        if options.command == "finish":
            report = finish(options.parts, options.path, options.keep)
        else:
            with collector_off():
                report = Report(read(options.path))
        if options.text:
            print(report.text(), flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(report.data, indent=1) + "\n", encoding="utf-8")
        if options.html is not None:
            options.html.write_text(page(report.data), encoding="utf-8")
    except TimelineError as error:
        print(f"dprun: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:                          # the reader has closed the pipe (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"dprun: {error.filename or ''}: {error.strerror or error}; the parts are kept", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
