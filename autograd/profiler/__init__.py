"""The profiler: what operations, modules, backward and the optimiser take, as a table and as a trace. PyTorch's names, of
torch.profiler and torch.autograd.profiler.

May import: base, core. Read first: profile.py.
"""

from ..core.spans import record_function
from .actions import (
    DeviceType,
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from .events import EventList, FunctionEvent, FunctionEventAvg
from .profile import profile

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerAction", "ProfilerActivity",
           "kineto_available", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]
