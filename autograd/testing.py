"""torch.testing: comparisons for tests."""

from .compat.testing import assert_close

__all__ = ["assert_close"]
