"""autocast and GradScaler by their older names, where the device is understood."""

from __future__ import annotations

import functools
from typing import Any

from .. import amp

custom_fwd = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")


class autocast(amp.autocast):
    """The deprecated spelling of amp.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """The deprecated spelling of amp.GradScaler("cuda", ...)."""

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
