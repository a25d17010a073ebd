"""autocast and GradScaler of the CPU by their older names; amp.autocast("cpu") and amp.GradScaler("cpu") are the same."""

from __future__ import annotations

from ..amp.by_device import DeviceAutocast, DeviceGradScaler


class autocast(DeviceAutocast):
    """The deprecated spelling of amp.autocast("cpu", ...).

    Args:
        enabled (bool): Whether it is on. Default: True.
        dtype (dtype): bfloat16 or float16. Default: bfloat16.
        cache_enabled (bool): Whether converted parameters are kept until the end of the outermost block. Default: True.

    Example:
        >>> with ag.cpu.amp.autocast():
        ...     ag.ones(2, 2).mm(ag.ones(2, 2)).dtype
        torch.bfloat16
    """

    spelled_for = "cpu"


class GradScaler(DeviceGradScaler):
    """The deprecated spelling of amp.GradScaler("cpu", ...).

    Args:
        init_scale (float): The first scale. Default: 65536.0.
        growth_factor (float): What the scale grows by, above 1. Default: 2.0.
        backoff_factor (float): What it shrinks by, below 1. Default: 0.5.
        growth_interval (int): After how many steps in a row it grows. Default: 2000.
        enabled (bool): False: losses and gradients stay as they are. Default: True.

    Raises:
        AssertionError: growth_factor is not above 1, or backoff_factor not below 1.

    Example:
        >>> scaler = ag.cpu.amp.GradScaler(init_scale=8.0)
        >>> scaler.scale(ag.tensor(2.0))
        tensor(16.)
    """

    spelled_for = "cpu"


__all__ = ["GradScaler", "autocast"]
