"""Mixed precision: autocast and GradScaler, on the CPU; see docs/mixed_precision.md.

May import: base, core, ops. Read first: autocast_mode.py."""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
