"""torch.distributed's name: a plugin (see base/plugins.py) provides the module; without one, only the queries below exist.
"""

from __future__ import annotations

import sys
from typing import Any

from ..base.plugins import missing, provided


def is_available() -> bool:
    """False: no plugin provides process groups."""
    return False


def is_initialized() -> bool:
    """False: without a plugin there is no default group."""
    return False


def __getattr__(name: str) -> Any:
    raise AttributeError(missing(f"{__name__}.{name}"))


_module = provided(__name__)
if _module is not None:                              # its submodules too, or Python would import them a second time
    _stem = _module.__name__
    sys.modules.update({__name__ + full[len(_stem):]: module for full, module in list(sys.modules.items())
                        if full == _stem or full.startswith(_stem + ".")})
