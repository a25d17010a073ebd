"""Install this checkout into the Python that runs this, with extras: `python -m tools.install [--only] [EXTRA ...]`.

First the packages, what the build needs among them; then the build, without an environment of its own, which would need NumPy
a second time. What pip and the build say arrives at once, and no 8 s pass without a line. --only: the packages, no build.
"""

import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

try:
    import tomllib
except ImportError:                                  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PIP = [sys.executable, "-m", "pip", "install"]
SILENCE = 8.0                                        # seconds
SHOWN = re.compile(r"Downloading |Installing |Building |ERROR")      # of what pip says
BUILD = re.compile(r"dparallel: |Installing |ERROR")                 # of what pip -v says, setup.py's among it


def requirements(extras):
    """What pyproject.toml names for the build, for running, and in the extras."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [about["build-system"]["requires"], about["project"]["dependencies"],
             *(about["project"]["optional-dependencies"][extra] for extra in extras)]
    return list(dict.fromkeys(requirement for part in parts for requirement in part))


def follow(title, command, shown):
    """Run a command; show the lines that match, and while it is silent the last one with the time. SystemExit if it fails."""
    print(f"-- {title}", flush=True)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    lines, said, last, start = queue.SimpleQueue(), [], title, time.monotonic()

    def read():
        for line in process.stdout:
            lines.put(line.rstrip())
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    until = start + SILENCE
    while True:
        try:
            line = lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            line = f"   {time.monotonic() - start:.0f} s: {last}"
        else:
            if line is None:
                break
            said.append(line)
            line = line.strip()[:100]
            if not shown.match(line):
                continue
            last = line
        print(line, flush=True)
        until = time.monotonic() + SILENCE
    if process.wait():
        print(*said[-60:], f"exit code {process.returncode}: {' '.join(command)}", sep="\n", flush=True)
        sys.exit(process.returncode)


def main():
    only = "--only" in sys.argv
    extras = [word for word in sys.argv[1:] if word != "--only"]
    # byte code: made by the Makefile on all cores, or at the first import
    follow("looking for packages", [*PIP, "--no-compile", *requirements(extras)], SHOWN)
    if not only:
        follow("building and installing dparallel", [*PIP, "-v", "--no-deps", "--no-build-isolation", "-e", "."], BUILD)


if __name__ == "__main__":
    main()
