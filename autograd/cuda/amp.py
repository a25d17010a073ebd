"""autocast and GradScaler by their older names, where the device is understood."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import amp
from ..amp.by_device import DeviceAutocast, DeviceGradScaler
from ..base import docstrings as _docstrings

if TYPE_CHECKING:
    from collections.abc import Callable

custom_fwd: Callable[..., Any] = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd: Callable[..., Any] = functools.partial(amp.custom_bwd, device_type="cuda")


class autocast(DeviceAutocast):
    """The deprecated spelling of amp.autocast("cuda", ...). It warns, and does nothing: there is no such device here."""

    spelled_for = "cuda"


class GradScaler(DeviceGradScaler):
    """The deprecated spelling of amp.GradScaler("cuda", ...). It warns, and does nothing: there is no such device here."""

    spelled_for = "cuda"


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

_docstrings.complete(globals(), "backends", "cuda.amp.")
