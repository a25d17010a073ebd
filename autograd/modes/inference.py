"""inference_mode: nothing is recorded, and tensors made in it keep no version: they may not enter a graph later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from ..core.modes import GRAD, Modal, modes
from ..core.tensor import Tensor
from ..core.versions import InferenceCounter, count_blocks

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..core.modes import F


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

    What was made outside stays what it is, and so do views of it. inference_mode(False) inside one leaves it."""

    def __init__(self, mode: bool | Callable[..., Any] = True) -> None:
        self.mode: Any = mode
        self._before: list[tuple[int, bool]] = []

    if TYPE_CHECKING:
        @overload
        def __new__(cls, mode: bool = True) -> Self: ...
        @overload
        def __new__(cls, mode: F) -> F: ...          # type: ignore[misc]
        def __new__(cls, mode: Any = True) -> Any: ...
    else:
        def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
            """`@inference_mode` without parentheses decorates too."""
            return super().__new__(cls) if not callable(mode) else inference_mode()(mode)

    def clone(self) -> inference_mode:
        """Another block that sets the same."""
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._before.append((modes.recording, modes.inference))
        modes.recording, modes.inference = 0 if self.mode else GRAD, bool(self.mode)
        count_blocks(1)

    def __exit__(self, *exception: object) -> None:
        modes.recording, modes.inference = self._before.pop()
        count_blocks(-1)
