"""torch._C: the few of its names that packages use when they are imported."""

from __future__ import annotations

from ..core.modes import set_grad_enabled


class DispatchKey(str):
    """The name of one of the layers by which PyTorch finds an operator's function: AutocastCPU."""


class DispatchKeySet(frozenset[DispatchKey]):
    """Several of them; none has a function here."""

    def __new__(cls, *keys: DispatchKey) -> DispatchKeySet:
        """A set of keys."""
        return super().__new__(cls, keys)

    def __or__(self, other: frozenset[DispatchKey]) -> DispatchKeySet:  # type: ignore[override]
        return DispatchKeySet(*self, *other)


for _name in ("CPU", "CUDA", "XPU", "Meta", "Autograd", "AutogradCPU", "AutocastCPU", "AutocastCUDA", "AutocastXPU"):
    setattr(DispatchKey, _name, DispatchKey(_name))


def _set_grad_enabled(mode: bool) -> None:
    """Switch recording for gradients on or off in this thread."""
    set_grad_enabled(mode)


def _log_api_usage_once(event: str) -> None:
    """Nothing: in PyTorch a hook of a company's own logs, empty everywhere else."""


def _cuda_getDeviceCount() -> int:
    """0, since there is no GPU."""
    return 0


def _get_privateuse1_backend_name() -> str:
    """The name of PyTorch's backend for devices of other vendors, which is not registered."""
    return "privateuseone"
