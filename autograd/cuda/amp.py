"""autocast and GradScaler by their older names, where the device is understood."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import amp
from ..amp.by_device import DeviceAutocast, DeviceGradScaler

if TYPE_CHECKING:
    from collections.abc import Callable

custom_fwd: Callable[..., Any] = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd: Callable[..., Any] = functools.partial(amp.custom_bwd, device_type="cuda")


class autocast(DeviceAutocast):
    """The deprecated spelling of amp.autocast("cuda", ...). It warns, and does nothing: there is no such device here.

    Args:
        enabled (bool): Whether it is on. Default: True.
        dtype (dtype): What would be computed in. Default: float16.
        cache_enabled (bool): Whether converted parameters are kept until the end of the outermost block. Default: True.

    Example:
        >>> with ag.cuda.amp.autocast():
        ...     ag.ones(2, 2).mm(ag.ones(2, 2)).dtype
        torch.float32
    """

    spelled_for = "cuda"


class GradScaler(DeviceGradScaler):
    """The deprecated spelling of amp.GradScaler("cuda", ...). It warns, and does nothing: there is no such device here.

    Args:
        init_scale (float): The first scale. Default: 65536.0.
        growth_factor (float): What the scale grows by, above 1. Default: 2.0.
        backoff_factor (float): What it shrinks by, below 1. Default: 0.5.
        growth_interval (int): After how many steps in a row it grows. Default: 2000.
        enabled (bool): False: losses and gradients stay as they are. Default: True.

    Example:
        >>> scaler = ag.cuda.amp.GradScaler(init_scale=8.0)
        >>> scaler.scale(ag.tensor(2.0))
        tensor(2.)
    """

    spelled_for = "cuda"


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
