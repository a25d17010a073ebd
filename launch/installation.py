"""What `dprun --check` reports about the installation: another package instead of autograd, a core that is not compiled."""

from __future__ import annotations

import importlib.util
import os
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

AUTOGRAD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "autograd")
NATIVE = os.path.join(AUTOGRAD, "native")
MSG_PURE = "autograd's core is not compiled{reason}: the sources are used, which is slower"


def faults() -> list[str]:
    """A line for each."""
    return [line for line in (other_package(), not_compiled()) if line]


def other_package() -> str:
    """The report of autograd/base/name_collision.py."""
    module = name_collision()
    return "" if module is None else str(module.fault() or module.behind())


def name_collision() -> Any:
    """That module, run by its path, since this file imports nothing of the packages that it starts; None if it is
    missing."""
    spec = importlib.util.spec_from_file_location("name_collision", os.path.join(AUTOGRAD, "base", "name_collision.py"))
    if spec is None or spec.loader is None or not os.path.exists(spec.origin or ""):
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def not_compiled() -> str:
    """Whether this Python has no compiled core, and why: the names of files are those of autograd/base/extensions.py."""
    suffix = EXTENSION_SUFFIXES[0]
    if not os.path.isdir(AUTOGRAD) or os.path.exists(os.path.join(NATIVE, f"sources{suffix}.txt")):
        return ""
    note = os.path.join(NATIVE, f"failed{suffix}.txt")
    if os.path.exists(note):
        with open(note, encoding="utf-8") as text:
            return MSG_PURE.format(reason=f" ({text.readline().strip()})")
    return MSG_PURE.format(reason="")
