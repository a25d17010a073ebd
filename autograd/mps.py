"""Apple's GPUs, by the names of torch.mps: there are none; what scripts ask, and may call, before they use them."""

from .cuda import device_count, empty_cache, is_available, manual_seed

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed"]
