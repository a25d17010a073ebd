"""inference_mode: nothing is recorded, and tensors made in it keep no version: they may not enter a graph later."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .graph import Counter
from .mode import GRAD, Modal, modes
from .slots import Watch
from .tensor import Tensor

MSG_VERSION = "Inference tensors do not track version counter."
MSG_SAVED = ("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
             "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
             "in autograd, or use `no_grad()` instead of `inference_mode()`.")
MSG_IN_PLACE = ("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
                "normal tensor before doing inplace update.")
SAVERS = ("autograd.saved", "autograd.operation", "autograd.ops._declare")


class InferenceCounter(Counter):
    """Stands where a tensor's memory has its count of writes: nobody may ask for it, outside inference mode."""

    __slots__ = ()

    @property
    def value(self) -> int:  # type: ignore[override]
        """0 in inference mode, where writes are not counted."""
        asker = sys._getframe(1)
        if asker.f_code.co_name == "_version":
            raise RuntimeError(MSG_VERSION)
        if modes.inference:
            return 0
        name = asker.f_globals.get("__name__", "")
        raise RuntimeError(MSG_SAVED if name in SAVERS else MSG_IN_PLACE)

    @value.setter
    def value(self, count: int) -> None:
        pass

    def refuse_write(self) -> None:
        """RuntimeError unless in inference mode."""
        if not modes.inference:
            raise RuntimeError(MSG_IN_PLACE)


def _on_counter(tensor: Tensor, counter: Any) -> Any:
    """A tensor without a counter is new: in inference mode it gets one that says so. Views share their base's."""
    return InferenceCounter() if counter is None and modes.inference else counter


_watch = Watch(Tensor, "counter", _on_counter)


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode (or is a view of one that was)."""
    if not isinstance(input, Tensor):
        raise TypeError(f"is_inference(): argument 'input' must be Tensor, not {type(input).__name__}")
    return isinstance(input.counter, InferenceCounter)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return modes.inference


class inference_mode(Modal):
    """Context manager and decorator: like no_grad, and tensors made inside can't enter a graph or be written to outside.

    What was made outside stays what it is, and so do views of it. inference_mode(False) inside one leaves it.
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: list[tuple[int, bool]] = []

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """`@inference_mode` without parentheses decorates too."""
        return super().__new__(cls) if not callable(mode) else inference_mode()(mode)

    def clone(self) -> inference_mode:
        """Another block that sets the same."""
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._before.append((modes.recording, modes.inference))
        modes.recording, modes.inference = 0 if self.mode else GRAD, bool(self.mode)
        _watch.hold()

    def __exit__(self, *exception: object) -> None:
        modes.recording, modes.inference = self._before.pop()
        _watch.release()


__all__ = ["inference_mode", "is_inference", "is_inference_mode_enabled"]
