"""GradScaler: losses scaled up against the underflow of float16 gradients; steps left out where a gradient overflowed."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from ..base import docstrings as _docstrings
from ..base.dtypes import float16, float32, int32
from ..base.training import reported
from ..core.modes import no_grad
from ..core.primitive import value_read
from ..core.tensor import Tensor
from ..ops.creation.fill import full

MSG_FIX = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
MSG_NEW_SCALE = "new_scale should be a float or a 1-element FloatTensor with requires_grad=False."


MSG_SCALES = ("GradScaler: the scale is {own} on this rank, and {low} to {high} over all ranks, so gradients of different "
              "scales were averaged. Give every rank's GradScaler the same init_scale, and load its state on every rank.")


class OptimizerLike(Protocol):
    """The part of an optimizer that the scaler uses: its parameters' gradients, and a step."""

    param_groups: list[dict[str, Any]]

    def step(self, *args: Any, **kwargs: Any) -> Any:
        """Update the parameters."""


class OptState(Enum):
    """The stage that an optimizer has reached in this iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses, unscales gradients before the step, and adapts the scale.

    A step whose gradients hold inf or nan is left out, and the scale multiplied by backoff_factor; after growth_interval
    steps in a row it is multiplied by growth_factor. Micikevicius et al., Mixed Precision Training, 2018 (arXiv:1710.03740).
    Where ranks hold different parts of the gradients, they decide together. Call unscale_(optimizer) between backward() and
    step() where gradients are looked at or clipped."""

    def __init__(self, device: str = "cuda", init_scale: float = 2.0 ** 16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device != "cpu":
            warnings.warn(f"GradScaler is enabled, but {str(device).upper()} is not available. Disabling.", UserWarning,
                          stacklevel=2 if type(self) is GradScaler else 3)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._scale: Tensor | None = None            # both are made by the first scale()
        self._growth_tracker: Tensor | None = None
        self._states: dict[int, _State] = {}         # by id() of the optimizer, from its first call to update()

    # --- the four calls of an iteration --------------------------------------------------------------------------------

    if TYPE_CHECKING:
        @overload
        def scale(self, outputs: Tensor) -> Tensor: ...
        @overload
        def scale(self, outputs: list[Tensor]) -> list[Tensor]: ...
        @overload
        def scale(self, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]: ...
        @overload
        def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...

    def scale(self, outputs: Any) -> Any:
        """A Tensor, or an iterable of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * (self._start() if self._scale is None else self._scale)
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled  # type: ignore[call-arg]

    def unscale_(self, optimizer: OptimizerLike) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, in place, and check them for inf and nan."""
        if not self._enabled:
            return
        scale, _ = self._checked("unscale_")
        state = self._state(optimizer)
        if state.stage is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        factor = full((), 1.0 / float(scale.array), dtype=float32)
        state.found_inf = _unscaled(optimizer, factor, False, float(scale.array))
        state.stage = OptState.UNSCALED

    def step(self, optimizer: OptimizerLike, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(*args, **kwargs), unless a gradient was inf or nan; unscale_() first if that was not done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        scale, _ = self._checked("step")
        state = self._state(optimizer)
        if state.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_of_its_own(optimizer, state, scale, args, kwargs)
        if state.stage is OptState.READY:
            self.unscale_(optimizer)
        if state.found_inf is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        out = None if state.found_inf.array else optimizer.step(*args, **kwargs)
        state.stage = OptState.STEPPED
        return out

    def _step_of_its_own(self, optimizer: Any, state: _State, scale: Tensor, args: Any, kwargs: Any) -> Any:
        """The step of an optimizer that unscales by itself: it reads attributes, or takes the argument `grad_scaler`."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn("GradScaler passes itself to this optimizer as `grad_scaler`, which is deprecated: its step() "
                          "should read the attributes grad_scale and found_inf instead", FutureWarning, stacklevel=3)
            out = optimizer.step(*args, **kwargs, grad_scaler=self)
        else:
            if state.stage is OptState.READY:
                self._check_inf_per_device(optimizer)
            own = getattr(optimizer, "grad_scale", None)
            optimizer.grad_scale = own if state.stage is OptState.UNSCALED else scale if own is None else scale * own
            optimizer.found_inf = state.found_inf
            try:
                out = optimizer.step(*args, **kwargs)
            finally:
                del optimizer.grad_scale, optimizer.found_inf
        state.stage = OptState.STEPPED
        return out

    @reported("scaler")
    def update(self, new_scale: float | Tensor | None = None) -> None:
        """End the iteration: adapt the scale, or set it."""
        if not self._enabled:
            return
        scale, tracker = self._checked("update")
        if isinstance(new_scale, Tensor):
            if new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(MSG_NEW_SCALE)
            scale.fill_(new_scale.item())
        elif new_scale is not None:
            if not isinstance(new_scale, float):
                raise AssertionError(MSG_NEW_SCALE)
            scale.fill_(new_scale)
        else:
            found = [state.found_inf for state in self._states.values() if state.found_inf is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(flag.array for flag in found):
                scale.fill_(float(scale.array) * self._backoff_factor)
                tracker.fill_(0)
            elif int(tracker.array) + 1 == self._growth_interval:
                grown = np.float32(float(scale.array) * self._growth_factor)
                if np.isfinite(grown):
                    scale.fill_(float(grown))
                tracker.fill_(0)
            else:
                tracker.fill_(int(tracker.array) + 1)
        self._states = {}

    # --- inside ------------------------------------------------------------------------------------------------------------

    def _start(self) -> Tensor:
        self._growth_tracker = full((), self._init_growth_tracker, dtype=int32)
        self._scale = full((), self._init_scale, dtype=float32)
        return self._scale

    def _checked(self, name: str) -> tuple[Tensor, Tensor]:
        """The scale and the growth tracker. AssertionError before the first scale()."""
        value_read(f"GradScaler.{name}()")           # whether gradients are finite
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  {MSG_FIX}")
        return self._scale, self._growth_tracker

    def _state(self, optimizer: OptimizerLike) -> _State:
        return self._states.setdefault(id(optimizer), _State())

    def _check_inf_per_device(self, optimizer: OptimizerLike) -> dict[str, Tensor]:
        """Check for inf and nan without unscaling, of any dtype; {device: found}, for optimizers that call it."""
        scale, _ = self._checked("_check_inf_per_device")
        self._state(optimizer).found_inf = _unscaled(optimizer, None, True, float(scale.array))
        return self._found_inf_per_device(optimizer)

    def _found_inf_per_device(self, optimizer: OptimizerLike) -> dict[str, Tensor]:
        found = self._state(optimizer).found_inf
        return {} if found is None else {"cpu": found}

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.array)

    # --- settings and state ------------------------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """The scale; 1 when off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.array)

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows after growth_interval steps without overflow."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows; not checked, as in PyTorch."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks after a gradient overflowed."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks after an overflow; not checked, as in PyTorch."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of consecutive steps without overflow after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of consecutive steps without overflow after which the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether scaling is on; an enabled=False scaler passes everything through."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors, interval and how many steps in a row there were; empty when off. Call it after update()."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what state_dict() returned. RuntimeError if that is empty: it came from a disabled scaler."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of "
                               "GradScaler.")
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._enabled:
            if self._states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or at the "
                                     "end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None,
                         _growth_tracker=None)
        return state


class _State:
    """The state of one optimizer in this iteration; found_inf is 1 if a gradient was inf or nan, None before the check and
    if there was no gradient."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: Tensor | None = None


def _unscaled(optimizer: OptimizerLike, factor: Tensor | None, half: bool, scale: float) -> Tensor | None:
    """Multiply all gradients by `factor`, in place; whether one was inf or nan before, on any rank that shares them; None if
    there is no gradient. ValueError for float16 gradients unless `half`, since what has underflowed there is lost.

    A parameter whose gradient is averaged over ranks, or this rank's slice of one, has an attribute `averaged_by`: a weak
    reference to a method that gives the largest value of each number over those ranks."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for p in parameters:
        if not isinstance(p, Tensor):
            raise AssertionError(f"expected param to be Tensor, got {type(p).__name__}")
    gradients = [p._grad for p in parameters if p._grad is not None]
    if not half and any(g.dtype == float16 for g in gradients):
        raise ValueError("Attempting to unscale FP16 gradients.")
    found = not all(bool(np.isfinite(g.array).all()) for g in gradients)
    if factor is not None:
        with no_grad():
            for g in gradients:
                g.mul_(factor)
    counted = bool(gradients)
    for reference in dict.fromkeys(p.averaged_by for p in parameters if hasattr(p, "averaged_by")):
        largest = reference()
        found, counted = _agreed(largest, found, counted, scale) if largest is not None else (found, counted)
    return full((), float(found), dtype=float32) if counted else None


def _agreed(largest: Callable[[list[float]], list[float] | None], found: bool, counted: bool,
            scale: float) -> tuple[bool, bool]:
    """Whether a gradient was not finite, and whether there was one, on any rank. RuntimeError on all if scales differ."""
    over_ranks = largest([float(found), float(counted), scale, -scale])
    if over_ranks is None:
        return found, counted
    any_found, any_counted, high, minus_low = over_ranks
    if high != -minus_low:
        raise RuntimeError(MSG_SCALES.format(own=scale, low=-minus_low, high=high))
    return any_found > 0, any_counted > 0


__all__ = ["GradScaler", "OptState"]

_docstrings.complete(globals(), "amp", "amp.grad_scaler.")
