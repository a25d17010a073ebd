"""What runs on every rank: the script, as Python would run it; and if it fails, a report, and the end of the whole job."""

from __future__ import annotations

import os
import runpy
import sys
import traceback

from .report import write


def main() -> None:
    """Run the script or module that the arguments name."""
    args = sys.argv[1:]
    as_module = args[0] == "-m"
    sys.argv = args[1:] if as_module else args
    try:
        if as_module:
            sys.path[0] = os.getcwd()
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as error:
        if error.code is None or error.code == 0:
            raise
        code = error.code if isinstance(error.code, int) else 1
        end(code, "" if isinstance(error.code, int) else str(error.code))
    except KeyboardInterrupt:
        end(130, own_traceback())
    except BaseException:                            # whatever it is, the other ranks must not wait for this one
        end(1, own_traceback())


def own_traceback() -> str:
    """The current exception's traceback without the frames of this file and runpy."""
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    return "".join(traceback.format_exception(kind, error, trace))


def end(code: int, text: str) -> None:
    """Report, then end the job: by MPI_Abort if MPI runs (others may be waiting in it), else by the exit code."""
    sys.stdout.flush()
    if not write(code, text) and text:
        sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()
    mpi = sys.modules.get("mpi4py.MPI")              # only if the script imported it
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        mpi.COMM_WORLD.Abort(code)
    os._exit(code % 256 or 1)


if __name__ == "__main__":
    main()
