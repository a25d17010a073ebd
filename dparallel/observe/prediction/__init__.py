"""Predictions for more ranks: a recorded step is replayed with other networks, numbers of ranks and options.

predict() records a StepTrace (measure_step.py), measures or takes a Network, and plays the step's graph of tasks
(simulate.py) for each option. `dprun --predict` does it for a script (script.py). Read first: simulate.py, then network.py.
"""

from autograd.base.docstrings import attach_to_modules

from .hook_programs import HookProgram
from .measuring import measure_network
from .network import Network
from .predict import Point, Prediction, predict
from .simulate import Option
from .steps import StepTrace

attach_to_modules("dparallel.observe")
__all__ = ["HookProgram", "Network", "Option", "Point", "Prediction", "StepTrace", "measure_network", "predict"]
