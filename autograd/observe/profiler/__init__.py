"""The profiler: the time of operations, modules, backward and the optimizer, as a table and as a trace. The names are those
of torch.profiler and torch.autograd.profiler.

Read first: profile.py."""

from ...spans.spans import record_function
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
from .memory_prediction import MemoryPrediction, predict_memory
from .memory_summary import (
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
)
from .profile import profile

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "MemoryPrediction", "ProfilerAction",
           "ProfilerActivity", "kineto_available", "max_memory_allocated", "max_memory_reserved", "mem_get_info",
           "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats", "memory_summary", "predict_memory",
           "profile", "record_function", "reset_peak_memory_stats", "schedule", "supported_activities",
           "tensorboard_trace_handler"]
