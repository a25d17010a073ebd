"""The parameters of a sharded model: ParameterSlice for optimizers, and ShardedArray, a whole parameter's array in stage 3.

A ParameterSlice is this rank's elements of one parameter. The module computes with the user's own Parameters, whose memory
is that of their Unit; in stage 3 only while the values are needed, and otherwise their `array` is a ShardedArray, which
gathers them when it is used. Alternatives that were tried: docs/design/sharding.md.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograd.base.placeholder_array import AbsentArray
from autograd.core.grad_buffers import set_grad
from autograd.core.graph import shared_counter
from autograd.core.modes import GRAD
from autograd.core.tensor import result
from autograd.nn import Parameter

from ..autograd import Tensor
from ..comm import Communicator
from ..reduction.clipping import norm_over_ranks
from .gradients import SliceArray, plain


class StepListener(Protocol):
    """The interface that a slice notifies of its optimizers."""

    def stepped_by(self, optimizer: Any) -> None:
        """An optimizer was created with the slice."""


class ValueSource(Protocol):
    """The interface of a ShardedArray's unit."""

    shapes: list[tuple[int, ...]]
    dtype: np.dtype[Any]
    comm: Communicator
    flat: np.ndarray[Any, Any] | None

    def value(self, number: int) -> np.ndarray[Any, Any]:
        """The values of one parameter, gathered if they are not on this rank."""


class Shard(NamedTuple):
    """The elements of a ParameterSlice: start to stop of the flattened parameter `name`; sums are over `comm`'s ranks."""

    name: str
    shape: tuple[int, ...]
    start: int
    stop: int
    comm: Communicator


class ParameterSlice(Parameter):
    """This rank's elements of a parameter, maybe none, of shape (elements, 1, ...): as many dimensions as the parameter.

    Clearing .grad also clears the whole parameter's gradient on this rank.
    """

    __slots__ = ()

    shard: Shard
    whole: Parameter
    owner: StepListener
    gradient: Tensor | None = None
    shown: tuple[Tensor, Tensor] | None = None       # the gradient, and the Tensor that p.grad is

    def __init__(self, array: Any, shard: Shard, whole: Parameter, owner: StepListener) -> None:
        super().__init__(array.reshape(len(array), *(1,) * (len(shard.shape) - 1)), whole.requires_grad)
        self.shard, self.whole, self.owner = shard, whole, owner

    @property
    def _grad(self) -> Any:
        return self.gradient

    @_grad.setter
    def _grad(self, value: Any) -> None:
        self.gradient = value if value is None or type(value.array) is not SliceArray else result(plain(value.array))
        self.shown = None
        if value is None:
            set_grad(self.whole, None)

    @property
    def grad(self) -> Tensor | None:
        """This rank's elements of the gradient. Operations that are not elementwise raise: see SliceArray."""
        found = self.gradient
        if found is None or self.shard.comm.size == 1 or found.edge is not None:
            return found
        if self.shown is None or self.shown[0] is not found:
            self.shown = found, result(found.array.view(SliceArray))
        return self.shown[1]

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        Tensor.grad.__set__(self, value)             # type: ignore[attr-defined]

    @property
    def data(self) -> Tensor:
        """The same memory as a leaf. Assigning copies values of the same shape and dtype; others raise."""
        return result(self.array)

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.array.shape != self.array.shape or value.array.dtype != self.array.dtype:
            raise RuntimeError(f"the slice of {self.shard.name!r} is {self.dtype} {list(self.shape)}; to change it, cast "
                               "a model, or load other shapes, before it is sharded")
        np.copyto(self.array, value.array)
        shared_counter(self).value += 1

    @property
    def requires_grad(self) -> bool:
        """Whether the parameter is trained: fixed when it was sharded."""
        return bool(self.tracked & GRAD)

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if "shard" in self.__dict__ and bool(flag) != self.requires_grad:
            raise NotImplementedError(f"requires_grad of {self.shard.name!r} can't change while it is sharded; freeze or "
                                      "unfreeze before wrapping")
        self.tracked: bool = bool(flag)

    def norm_over_ranks(self, here: float | None, order: float) -> float:
        """The norm of all ranks' elements, from that of this rank's. Collective."""
        return norm_over_ranks(here, order, self.shard.comm)

    def joins(self, optimizer: Any) -> None:
        """An optimizer was created with this slice."""
        self.owner.stepped_by(optimizer)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        return memo.setdefault(id(self), Parameter(self.array.copy(), self.requires_grad))

    def __reduce__(self) -> Any:
        return Parameter, (self.array, self.requires_grad)


class ShardedArray(AbsentArray):
    """The array of a stage-3 parameter in slices: `number` of `unit`, which gathers the values when they are used."""

    def __init__(self, unit: ValueSource, number: int) -> None:
        self.unit: ValueSource = unit
        self.number: int = number
        self.shape: tuple[int, ...] = unit.shapes[number]
        self.dtype: np.dtype[Any] = unit.dtype
        self.ndim: int = len(self.shape)
        self.size: int = math.prod(self.shape)
        self.itemsize: int = self.dtype.itemsize
        self.nbytes: int = self.size * self.dtype.itemsize

    def present(self, use: str) -> np.ndarray[Any, Any]:
        """The values. RuntimeError outside forward, backward and summon_full_params()."""
        return self.unit.value(self.number)

    def __repr__(self) -> str:
        return f"<in slices over {self.unit.comm.size} ranks>"


def refuse_optimizer(name: str, optimizer: Any) -> None:
    """RuntimeError: an optimizer was created with a parameter of the module, whose gradients are in the slices."""
    raise RuntimeError(f"{type(optimizer).__name__} got {name!r} of the module inside a sharded DataParallel; pass "
                       "model.parameters() of the DataParallel, this rank's slices")
