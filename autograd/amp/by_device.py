"""autocast and GradScaler without a device among their arguments: what torch.cpu.amp and torch.cuda.amp have of them."""

from __future__ import annotations

from ..base.types import DTypeLike
from .autocast_mode import autocast
from .grad_scaler import GradScaler


class DeviceAutocast(autocast):
    """autocast of the device that the subclass names."""

    spelled_for: str

    def __init__(self, enabled: bool = True, dtype: DTypeLike = None, cache_enabled: bool = True) -> None:
        super().__init__(self.spelled_for, dtype, enabled, cache_enabled)


class DeviceGradScaler(GradScaler):
    """GradScaler of the device that the subclass names."""

    spelled_for: str

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        super().__init__(self.spelled_for, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
