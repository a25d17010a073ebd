"""What more ranks would bring: a recorded step is replayed with other networks, numbers of ranks and options.

predict() records a StepTrace (recording.py), measures or takes a Network, and plays the step's graph of tasks (replay.py)
for each number of ranks and each choice of buckets, comm hook and sharding. `dprun --predict` does it for a script
(script.py).

May import: comm, consistency, hooks, model, pytree, reduction, sharding, sync_batch_norm. Read first: replay.py, then
network.py.
"""

from .hook_programs import HookProgram
from .measuring import measure_network
from .network import Network
from .predict import Point, Prediction, predict
from .replay import Option
from .steps import StepTrace

__all__ = ["HookProgram", "Network", "Option", "Point", "Prediction", "StepTrace", "measure_network", "predict"]
