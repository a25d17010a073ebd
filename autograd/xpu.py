"""Intel's GPUs, by the names of torch.xpu: there are none; what scripts ask, and may call, before they use them."""

from .cuda import device_count, empty_cache, is_available, manual_seed, manual_seed_all

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all"]
