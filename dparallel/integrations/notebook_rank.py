"""On each rank: runs the function of notebook_launcher(). dprun runs this module, with the folder as argument."""

from __future__ import annotations

import io
import linecache
import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..comm.environment import environment

if TYPE_CHECKING:
    from launch.rank import folded
else:                                                # dprun.py: ROS 2 has a package launch too
    from dprun.rank import folded


def main(folder: Path) -> None:
    """Call the function; write rank 0's result, or this rank's exception, to the folder."""
    rank = max(0, environment.number("RANK"))
    file = io.BytesIO((folder / "call").read_bytes())
    paths, sources = pickle.load(file)
    sys.path[:] = [*sys.path, *(path for path in paths if path not in sys.path)]
    linecache.cache.update(sources)
    cloudpickle = import_module("cloudpickle")
    try:
        function, args, kwargs = pickle.load(file)
        result = function(*args, **kwargs)
        pickled = cloudpickle.dumps(result) if rank == 0 else b""
    except Exception as error:
        leave(folder / f"error-{rank}", error, cloudpickle)
        sys.exit(1)                                  # dprun ends the others
    if rank == 0:
        (folder / "result").write_bytes(pickled)


def leave(path: Path, error: Exception, cloudpickle: object) -> None:
    """Write an exception, and its traceback from the user's function on."""
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = folded(error.with_traceback(trace))
    try:
        pickled = cloudpickle.dumps(error)  # type: ignore[attr-defined]
    except Exception:
        pickled = b""
    part = path.with_name("part-" + path.name)
    part.write_bytes(pickle.dumps((text, pickled)))
    part.rename(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
