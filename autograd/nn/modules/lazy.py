"""Lazy layers: the number of input features or channels is read off the first input.

Such a layer starts with parameters that have no shape (UninitializedParameter). Its first forward, or load_state_dict(),
gives them one; the first forward also turns the layer into the ordinary class."""

from __future__ import annotations

from typing import Any

from ...base.types import DeviceLike, DTypeLike, SizeLike
from ...core.modes import no_grad
from ...core.tensor import Tensor
from ...ops.creation.fill import zeros
from ..module import Module
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, NormBase
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .linear import Linear


class LazyModuleMixin(Module):
    """Base that makes a module lazy; it precedes the ordinary class among the bases.

    A subclass overrides initialize_parameters(), which receives the arguments of the first forward and materializes all
    parameters and buffers. Afterwards the module is a `cls_to_become`, if that is set."""

    cls_to_become: type[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize parameters and buffers, for the arguments of the first forward, and set their values. A state may have
        been loaded before: then they have shapes and values already."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a direct parameter or buffer has no shape yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        """The forward pre-hook: initialize, and become the ordinary class."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
                        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Before a state is loaded: give parameters without shape the shapes of the state."""
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and is_lazy(value) and not is_lazy(given):
                value.materialize(given.shape)       # type: ignore[attr-defined]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Save parameters without shape as such."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward "
                           "pass to correctly initialize the modules")


# --- linear -----------------------------------------------------------------------------------------------------------

class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose `in_features` is inferred from the first input."""

    cls_to_become: type[Module] = Linear

    def __init__(self, out_features: int, bias: bool = True, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__(0, 0, False)                # without bias: no memory for what is replaced at once
        self.weight: UninitializedParameter = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias: Any = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Initialise as Linear does, once the parameters have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:  # type: ignore[override]
        """Shapes and first values for inputs like this one."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:                    # a state was loaded before the first forward
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features "
                                     f"from self.weight: {self.weight.shape[-1]}")
            self.in_features: int = input.shape[-1]


# --- convolutions -----------------------------------------------------------------------------------------------------

class _LazyConvNd(LazyModuleMixin):
    """Base of lazy convolutions, beside the ordinary class: infers `in_channels` from the first input."""

    weight: Any
    bias: Any
    out_channels: int
    groups: int
    transposed: bool
    kernel_size: tuple[int, ...]

    def _defer(self, out_channels: int, bias: bool, device: DeviceLike, dtype: DTypeLike) -> None:
        """Replace the parameters of 0 channels that the constructor made by parameters without shape."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Initialise as the ordinary convolution does, once the parameters have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()               # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Shapes and first values for inputs like `input`, (n, in_channels, ...) or without n; further arguments are
        ignored. ValueError unless groups divides in_channels, RuntimeError for another number of dimensions."""
        self.in_channels: int = self._get_in_channels(input)   # also where a state was loaded before
        if self.has_uninitialized_params():
            if self.in_channels % self.groups:
                raise ValueError("in_channels must be divisible by groups")
            channels = ((self.in_channels, self.out_channels // self.groups) if self.transposed
                        else (self.out_channels, self.in_channels // self.groups))
            self.weight.materialize((*channels, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        """The channels of an input with or without a batch dimension."""
        unbatched = self._get_num_spatial_dims() + 1
        if input.ndim not in (unbatched, unbatched + 1):
            raise RuntimeError(f"Expected {unbatched}D (unbatched) or {unbatched + 1}D (batched) input to "
                               f"{type(self).__name__}, but got input of size: {input.shape}")
        return int(input.shape[input.ndim - unbatched])

    def _get_num_spatial_dims(self) -> int:
        return len(self.kernel_size)


class _LazyConv(_LazyConvNd):
    """The constructor of LazyConv1d, 2d and 3d."""

    def __init__(self, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1, padding: SizeLike = 0,
                 dilation: SizeLike = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._defer(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvNd):
    """The constructor of LazyConvTranspose1d, 2d and 3d."""

    def __init__(self, out_channels: int, kernel_size: SizeLike, stride: SizeLike = 1, padding: SizeLike = 0,
                 output_padding: SizeLike = 0, groups: int = 1, bias: bool = True, dilation: SizeLike = 1,
                 padding_mode: str = "zeros", device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device,
                         dtype)
        self._defer(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """Conv1d whose `in_channels` is inferred from the first input."""

    cls_to_become: type[Module] = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """Conv2d whose `in_channels` is inferred from the first input."""

    cls_to_become: type[Module] = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """Conv3d whose `in_channels` is inferred from the first input."""

    cls_to_become: type[Module] = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """ConvTranspose1d whose `in_channels` is inferred from the first input."""

    cls_to_become: type[Module] = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """ConvTranspose2d whose `in_channels` is inferred from the first input."""

    cls_to_become: type[Module] = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """ConvTranspose3d whose `in_channels` is inferred from the first input."""

    cls_to_become: type[Module] = ConvTranspose3d


# --- normalisation ----------------------------------------------------------------------------------------------------

class _LazyNormBase(LazyModuleMixin, NormBase):
    """Base of lazy normalizations: infers `num_features` from the first input."""

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: DeviceLike = None, dtype: DTypeLike = None, *,
                 bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine: bool = affine
        self.track_running_stats: bool = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = zeros((), dtype="int64")

    def reset_parameters(self) -> None:
        """Initialise as the ordinary layer does, once the parameters have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:  # type: ignore[override]
        """Shapes and first values for inputs like `input`, (n, num_features, ...)."""
        self.num_features: int = input.shape[1]      # also where a state was loaded before
        if self.has_uninitialized_params():
            for value in (self.weight, self.bias, self.running_mean, self.running_var):
                if value is not None:
                    value.materialize((self.num_features,))              # type: ignore[attr-defined]
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """BatchNorm1d whose `num_features` is inferred from the first input."""

    cls_to_become: type[Module] = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """BatchNorm2d whose `num_features` is inferred from the first input."""

    cls_to_become: type[Module] = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """BatchNorm3d whose `num_features` is inferred from the first input."""

    cls_to_become: type[Module] = BatchNorm3d


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):
    """InstanceNorm1d whose `num_features` is inferred from the first input, which must have a batch dimension."""

    cls_to_become: type[Module] = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):
    """InstanceNorm2d whose `num_features` is inferred from the first input, which must have a batch dimension."""

    cls_to_become: type[Module] = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):
    """InstanceNorm3d whose `num_features` is inferred from the first input, which must have a batch dimension."""

    cls_to_become: type[Module] = InstanceNorm3d


__all__ = ["LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
           "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
           "LazyInstanceNorm3d", "LazyLinear"]
