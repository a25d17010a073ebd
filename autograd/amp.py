"""Mixed precision as scripts for accelerators ask for it: off here, in PyTorch's way for a machine without one."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .devices import device


class autocast:
    """A block, or a function decorated, whose operations would run in a lower precision on an accelerator.

    For a device that is not here it warns that it is off, as PyTorch; on the CPU only enabled=False is possible.
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if enabled and device(device_type).type == "cpu":
            raise NotImplementedError("autocast('cpu'): operations run in the dtype of their tensors; pass enabled=False")
        if enabled:
            warnings.warn(f"User provided device_type of '{device_type}', but {device_type.upper()} is not available. "
                          "Disabling", UserWarning, stacklevel=2)

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing was changed."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


def is_autocast_available(device_type: str) -> bool:
    """False: no device has it."""
    device(device_type)
    return False


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """False."""
    return False


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """A Function's forward as it is: there is no autocast that it could meet."""
    return functools.partial(custom_fwd, device_type=device_type) if fwd is None else fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """A Function's backward as it is."""
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


class GradScaler:
    """Losses scaled against the underflow of half precision: off without an accelerator, so that all passes unscaled."""

    def __init__(self, device: str = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        if enabled and device == "cpu":
            raise NotImplementedError("GradScaler('cpu'): there is no autocast on the CPU; pass enabled=False")
        if enabled:
            warnings.warn(f"GradScaler is enabled, but {device.upper()} is not available. Disabling.", UserWarning,
                          stacklevel=2)

    def scale(self, outputs: Any) -> Any:
        """The outputs."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """The gradients are not scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step()."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """No scale to update."""

    def is_enabled(self) -> bool:
        """False."""
        return False

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing to take."""
