"""Runs a training script on one rank until enough steps are recorded, then ends it: what `dprun --predict` starts.

    python -m dparallel.observe.prediction.script FOLDER NETWORK [-m] SCRIPT ARGS...

NETWORK is a description, or "". A hook on all modules finds the script's first DataParallel. trace.json and network.json are
written to FOLDER, and the script ends by SystemExit in its next forward, on all ranks.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from autograd.nn.module_hooks import register_module_forward_pre_hook

from ...autograd import is_grad_enabled
from ...comm.environment import environment
from ...model.data_parallel import DataParallel
from .measure_step import StepRecorder
from .measuring import measure_network
from .network import Network

if TYPE_CHECKING:
    from autograd.core.graph import RemovableHandle

LEAST, MOST = 1 << 16, 64 << 20      # bytes up to which the network is measured: those of the gradients, within these limits


class Recorded(SystemExit):
    """Raised when enough steps are recorded: the script ends with exit code 0."""


class ScriptRecorder:
    """Attaches a StepRecorder to the first DataParallel that is trained."""

    def __init__(self, folder: Path, network: str) -> None:
        self.folder: Path = folder
        self.network: Network | None = Network.parse(network) if network else None
        self.recorder: StepRecorder | None = None
        self.handle: RemovableHandle = register_module_forward_pre_hook(self._called)

    def _called(self, module: Any, args: Any) -> None:
        """Called when a module is called."""
        if isinstance(module, DataParallel) and is_grad_enabled():
            self.handle.remove()
            self.recorder = StepRecorder(module, on_done=self._done)

    def _done(self) -> NoReturn:
        """Called when enough steps are recorded, on all ranks."""
        self.write()
        raise Recorded(0)

    def write(self) -> None:
        """Write the trace and the network. Collective. RuntimeError if too few steps were recorded."""
        recorder = self.recorder
        if recorder is None:
            raise RuntimeError("dprun --predict: the script made no training step with a dparallel.DataParallel (or "
                               "DistributedDataParallel)")
        trace = recorder.trace()
        recorder.stop()
        network = measure_network(recorder.comm, max(LEAST, min(MOST, trace.gradient_bytes)), self.network)
        if recorder.comm.held[0] == 0:
            trace.save(self.folder / "trace.json")
            (self.folder / "network.json").write_text(json.dumps(network.as_dict()))


def main() -> None:
    """Run the script named by the arguments."""
    folder, network, *rest = sys.argv[1:]
    as_module = rest[0] == "-m"
    sys.argv = rest[1:] if as_module else rest
    recorder = ScriptRecorder(Path(folder), network)
    if as_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))
        runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")
    try:
        recorder.write()                             # the script ended before enough steps were recorded
    except RuntimeError as error:                    # too few of them, on all ranks
        if environment.text("DPRUN_RANK") in ("", "0"):
            print(f"dprun: --predict: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
