"""Parameter and Buffer, and their uninitialized forms, whose shape is not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base import dtypes
from ..base.placeholder_array import AbsentArray
from ..base.types import DeviceLike, DTypeLike
from ..core.tensor import Parameter, Tensor, result, start
from ..ops.creation.fill import empty

if TYPE_CHECKING:
    from ..nn.module import Module

MSG_USED = ("Attempted to use an uninitialized parameter in {what}. This error happens when you are using a `LazyModule` or "
            "explicitly manipulating `autograd.nn.parameter.UninitializedParameter` or `UninitializedBuffer` objects. Call "
            "`forward` with a dummy batch, which initializes the parameters of lazy modules.")
MSG_SHAPE = ("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
             "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` to "
             "initialize the parameters before accessing their attributes.")
MSG_SHARED = ("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
              "before calling `module.share_memory()`.")


class Buffer(Tensor):
    """A tensor that, assigned to a module's attribute, is one of its buffers. Without data it is empty.

    Args:
        data (Tensor or number or sequence): The values.
        persistent (bool): Whether it belongs to the state_dict. Default: True.

    Example:
        >>> ag.nn.Buffer(ag.tensor([1.0, 2.0]))
        tensor([1., 2.])
    """

    __slots__ = ()

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        if data is None:
            data = np.zeros(0, dtypes.default.dtype)
        start(self, data.array if isinstance(data, Tensor) else np.asarray(data))
        self.persistent = persistent


class Shapeless(AbsentArray):
    """The array of a tensor whose shape is not known yet: it tells the dtype, any other use is a ValueError."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    def present(self, use: str) -> NoReturn:
        """ValueError: there is no array yet."""
        refuse_use(use)


def refuse_use(what: str) -> NoReturn:
    """ValueError: an operation met a tensor without shape."""
    raise ValueError(MSG_USED.format(what=what))


class UninitializedTensorMixin:
    """A tensor with a dtype but no shape. materialize() makes it an ordinary tensor in place, so references stay valid.

    Example:
        >>> weight, buffer = ag.nn.UninitializedParameter(), ag.nn.UninitializedBuffer()
        >>> weight.materialize((2, 3))
        >>> type(weight).__name__, weight.shape
        ('Parameter', Size([2, 3]))
        >>> buffer.share_memory_()
        Traceback (most recent call last):
        RuntimeError: Can't share memory...
    """

    __slots__ = ()

    cls_to_become: type[Tensor]
    array: Any
    requires_grad: bool

    def materialize(self, shape: Sequence[int], device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        """Allocate the tensor with undefined values.

        Args:
            shape (tuple of ints): Shape.
            device (device): The CPU, under any of its names.
            dtype (dtype): dtype; unchanged if None. Default: None.
        """
        made = empty(shape, device=device, dtype=self.array.dtype if dtype is None else dtype)
        self.array = made.array
        self.__class__ = self.cls_to_become          # type: ignore[assignment]

    @property
    def shape(self) -> NoReturn:
        """Not available yet.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(MSG_SHAPE)

    @property
    def data(self) -> Tensor:
        """An empty tensor of the dtype. Assigning one takes over its dtype: that is how Module.to() casts."""
        return result(np.empty(0, self.array.dtype))

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.numel():
            raise ValueError(f"data of an uninitialized parameter can only be empty, but got shape {list(value.shape)}; "
                             "materialize() gives it a shape")
        self.array = Shapeless(value.dtype)

    def detach(self) -> NoReturn:
        """ValueError: there is nothing to share."""
        refuse_use("detach")

    def share_memory_(self) -> NoReturn:
        """Not available yet.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(MSG_SHARED)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            memo[id(self)] = rebuild(type(self), self.requires_grad, self.array.dtype)
        return memo[id(self)]

    def __reduce__(self) -> Any:
        return rebuild, (type(self), self.requires_grad, self.array.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def rebuild(cls: Any, requires_grad: bool, dtype: DTypeLike) -> Tensor:
    """An uninitialized parameter or buffer as it was when it was copied or pickled."""
    return cls(requires_grad=requires_grad, dtype=dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet; only its dtype can change until materialize().

    Args:
        requires_grad (bool): If True, autograd records operations on it. Default: True.
        device (device): The CPU, under any of its names.
        dtype (dtype): dtype; the default dtype if None.

    Example:
        >>> isinstance(ag.nn.UninitializedParameter(), ag.Tensor)
        True
    """

    __slots__ = ()

    cls_to_become: type[Tensor] = Parameter

    def __init__(self, requires_grad: bool = True, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        start(self, Shapeless(empty(0, device=device, dtype=dtype).dtype))
        self.requires_grad = requires_grad


class UninitializedBuffer(UninitializedTensorMixin, Buffer):  # type: ignore[misc]
    """A buffer whose shape is not known yet; only its dtype can change until materialize().

    Args:
        requires_grad (bool): If True, autograd records operations on it. Default: False.
        device (device): The CPU, under any of its names.
        dtype (dtype): dtype; the default dtype if None.
        persistent (bool): If True, state_dict() includes it. Default: True.

    Example:
        >>> isinstance(ag.nn.UninitializedBuffer(), ag.Tensor)
        True
    """

    __slots__ = ()

    cls_to_become = Tensor

    def __init__(self, requires_grad: bool = False, device: DeviceLike = None, dtype: DTypeLike = None,
                 persistent: bool = True) -> None:
        start(self, Shapeless(empty(0, device=device, dtype=dtype).dtype))
        self.requires_grad = requires_grad
        self.persistent = persistent


def is_lazy(value: Any) -> bool:
    """Whether a value is an uninitialized parameter or buffer.

    Args:
        value: Any object.

    Example:
        >>> ag.nn.parameter.is_lazy(ag.nn.UninitializedParameter()), ag.nn.parameter.is_lazy(ag.ones(2))
        (True, False)
    """
    return isinstance(value, UninitializedTensorMixin)


def refuse_lazy(module: Module, what: str, doing: str) -> None:
    """ValueError if the module has an uninitialized parameter, to which `what` cannot be applied."""
    if any(map(is_lazy, module._parameters.values())):
        raise ValueError(f"The module passed to `{what}` can't have uninitialized parameters. Make sure to run the dummy "
                         f"forward before applying {doing}")


__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]
