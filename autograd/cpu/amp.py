"""autocast and GradScaler of the CPU by their older names; amp.autocast("cpu") and amp.GradScaler("cpu") are the same."""

from __future__ import annotations

from ..amp.by_device import DeviceAutocast, DeviceGradScaler
from ..base import docstrings as _docstrings


class autocast(DeviceAutocast):
    """The deprecated spelling of amp.autocast("cpu", ...)."""

    spelled_for = "cpu"


class GradScaler(DeviceGradScaler):
    """The deprecated spelling of amp.GradScaler("cpu", ...)."""

    spelled_for = "cpu"


__all__ = ["GradScaler", "autocast"]

_docstrings.complete(globals(), "backends", "cpu.amp.")
