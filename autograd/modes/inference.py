"""inference_mode: nothing is recorded; tensors created in it have no version and may not enter a graph later."""

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
    """Whether the tensor, or its base, was created in inference mode."""
    if not isinstance(input, Tensor):
        raise TypeError(f"is_inference(): argument 'input' must be Tensor, not {type(input).__name__}")
    return isinstance(input.counter, InferenceCounter)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return modes.inference


class inference_mode(Modal):
    """Context manager and decorator: like no_grad, but tensors created inside can't enter a graph or be written to outside.

    Tensors created outside, and views of them, stay normal tensors. A nested inference_mode(False) leaves the mode."""

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
            """`@inference_mode` without parentheses is a decorator too."""
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
