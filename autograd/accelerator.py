"""Accelerators, by the names of torch.accelerator: there are none."""

from .compat.accelerator import current_accelerator, device_count, is_available

__all__ = ["current_accelerator", "device_count", "is_available"]
