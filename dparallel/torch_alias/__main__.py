"""`python -m dparallel.torch_alias script.py args`, or `-m module args`: run it with this library as torch."""

import os
import runpy
import sys

USAGE = "usage: python -m dparallel.torch_alias (SCRIPT | -m MODULE) [ARGUMENT ...]"


def main() -> None:
    """Run the script or module that the arguments name."""
    arguments = sys.argv[1:]
    module = arguments[:1] == ["-m"]
    sys.argv = arguments[1:] if module else arguments
    if not sys.argv or sys.argv[0].startswith("-"):
        sys.exit(USAGE)
    if module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(sys.argv[0]):
        sys.exit(f"no script {sys.argv[0]!r} in {os.getcwd()}; {USAGE}")
    if not getattr(sys.flags, "safe_path", False):   # python -P: then there is no entry for the current folder
        sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
