"""The command dprun, and the folder launch beside this file by a second name: dprun.job is launch/job.py.

ROS 2 has a package `launch` too. Where its setup script has put that on PYTHONPATH, Python finds it first: so this command,
dparallel and pytest's entry point import dprun.job and the others, and a process can have both. Where the other one was
installed over ours, one error says so. `python -m launch` is the same command without that.
"""

import importlib
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch")
__path__ = [FOLDER]                                  # so this is a package: of launch's modules, without its __init__.py
MSG = ("dprun: {file} is not dparallel's{why}: another package of this name, such as ROS 2's, was installed over it or "
       "uninstalled. To have dparallel's: `pip install --force-reinstall --no-deps {source}`, and give the other one an "
       "environment of its own: both cannot be in one folder")


def fault() -> str:
    """What is wrong with our package launch; "" if nothing is."""
    file = os.path.join(FOLDER, "__init__.py")
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            if '__distribution__ = "dparallel"' in text.read():
                return ""
    except OSError as error:
        return MSG.format(file=file, why=f" ({error.strerror})", source=source())
    metadata = importlib.import_module("importlib.metadata")         # 10 ms, and dparallel imports this file
    owners = sorted(set(metadata.packages_distributions().get("launch", ())) - {"dparallel"})
    return MSG.format(file=file, why=f" but of {', '.join(owners)}" if owners else "", source=source())


def source() -> str:
    """Where pip had dparallel from, as autograd/base/name_collision.py knows; its name if that is not there either."""
    try:
        return str(importlib.import_module("dprun.installation").namesake().source("dparallel"))
    except (ImportError, AttributeError):
        return "dparallel"


def main() -> int:
    """launch/cli.py's main(); 2 where it was overwritten."""
    if text := fault():
        print(text, file=sys.stderr)
        return 2
    return int(importlib.import_module("dprun.cli").main())


if __name__ == "__main__":
    sys.exit(main())
