"""The command dprun: launch/cli.py, of the folder beside this file.

ROS 2 has a package `launch` too. Where its setup script has put that on PYTHONPATH, Python finds it first, so the folder is
taken by its path; where it was installed over ours, one error says so. `python -m launch` is the same command without that.
"""

import importlib
import importlib.metadata
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch")
MSG = ("dprun: {file} is not dparallel's{why}: another package of this name, such as ROS 2's, was installed over it or "
       "uninstalled. To have dparallel's: `pip install --force-reinstall --no-deps dparallel`, and give the other one an "
       "environment of its own: both cannot be in one folder")


def fault() -> str:
    """What is wrong with our package launch; "" if nothing is."""
    file = os.path.join(FOLDER, "__init__.py")
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            if '__distribution__ = "dparallel"' in text.read():
                return ""
    except OSError as error:
        return MSG.format(file=file, why=f" ({error.strerror})")
    owners = sorted(set(importlib.metadata.packages_distributions().get("launch", ())) - {"dparallel"})
    return MSG.format(file=file, why=f" but of {', '.join(owners)}" if owners else "")


def main() -> int:
    """launch.cli.main(); 2 where it was overwritten."""
    if text := fault():
        print(text, file=sys.stderr)
        return 2
    found = sys.modules.get("launch")
    if found is None or FOLDER not in getattr(found, "__path__", ()):
        spec = spec_from_file_location("launch", os.path.join(FOLDER, "__init__.py"), submodule_search_locations=[FOLDER])
        assert spec is not None and spec.loader is not None
        sys.modules["launch"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["launch"])
    return int(importlib.import_module("launch.cli").main())


if __name__ == "__main__":
    sys.exit(main())
