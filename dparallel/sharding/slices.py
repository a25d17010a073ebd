"""What a sharded model's parameters are: Slice, which optimisers get; Whole and Gathered, which the module computes with.

A Slice is this rank's elements of one parameter. A Whole is the module's own parameter; its gradient goes into a buffer of
its unit. A Gathered is a Whole whose values are here only while they are needed.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from autograd import Tensor
from autograd.base.size import Size
from autograd.core.graph import shared_counter
from autograd.core.modes import GRAD
from autograd.core.tensor import TensorBase, result
from autograd.nn import Parameter

from ..clipping import norm_over_ranks
from ..comm import Communicator

slot: Any = TensorBase.__dict__["array"]             # what lies under a Gathered's `array`, which is a property


class Shard(NamedTuple):
    """Which part of which parameter a Slice is: elements start to stop of the flattened parameter `name` of `shape`.

    Whatever is computed over a whole parameter or model (a norm, say) must be summed over the ranks of `comm`.
    """

    name: str
    shape: tuple[int, ...]
    start: int
    stop: int
    comm: Communicator


class Slice(Parameter):
    """This rank's elements of a parameter, maybe none, of shape (elements, 1, ...): as many dimensions as the parameter.

    `shard` says which; clearing .grad clears what the whole parameter has collected on this rank, too.
    """

    __slots__ = ()

    shard: Shard
    whole: Any
    owner: Any                                       # has stepped_by(optimizer); None: nobody wants to know
    held: Any = None

    def __init__(self, array: Any, shard: Shard, whole: Any, owner: Any) -> None:
        super().__init__(array.reshape(len(array), *(1,) * (len(shard.shape) - 1)), whole.requires_grad)
        self.shard, self.whole, self.owner = shard, whole, owner

    @property
    def _grad(self) -> Any:
        return self.held

    @_grad.setter
    def _grad(self, value: Any) -> None:
        self.held = value
        if value is None:
            self.whole._grad = None

    @property
    def data(self) -> Tensor:
        """The same memory as a leaf. Assigning copies values of the same shape and dtype, and refuses others."""
        return result(self.array)

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.array.shape != self.array.shape or value.array.dtype != self.array.dtype:
            raise RuntimeError(f"the slice of {self.shard.name!r} is {self.dtype} {list(self.shape)}, and stays so; cast a "
                               "model, or load other shapes, before it is sharded")
        np.copyto(self.array, value.array)
        shared_counter(self).value += 1

    @property
    def requires_grad(self) -> bool:
        """Whether the parameter is trained: settled when it was sharded."""
        return bool(self.tracked & GRAD)

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if "shard" in self.__dict__ and bool(flag) != self.requires_grad:
            raise NotImplementedError(f"requires_grad of {self.shard.name!r} can't change while it is sharded; freeze or "
                                      "unfreeze before wrapping")
        self.tracked = bool(flag)

    def norm_over_ranks(self, here: float | None, order: float) -> float:
        """The norm of order `order` of all ranks' elements, from that of this rank's (None: it has none). Collective."""
        return norm_over_ranks(here, order, self.shard.comm)

    def joins(self, optimizer: Any) -> None:
        """An optimiser takes this slice."""
        if self.owner is not None:
            self.owner.stepped_by(optimizer)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        return memo.setdefault(id(self), Parameter(self.array.copy(), self.requires_grad))

    def __reduce__(self) -> Any:
        return Parameter, (self.array, self.requires_grad)


class Whole(Parameter):
    """A parameter of a sharded module: `unit` holds its values and gradient, at place `number`."""

    __slots__ = ()

    unit: Any
    number: int

    def accumulate_grad(self, g: Any, create: bool, owned: bool = False) -> None:
        """Add g to .grad, which lies in the unit's buffer."""
        if self._grad is not None or create:
            super().accumulate_grad(g, create)
            return
        view = self.unit.gradient(self.number)
        np.copyto(view, g, casting="same_kind")
        self._grad = result(view)

    def joins(self, optimizer: Any) -> None:
        """Refuse: gradients do not stay here."""
        raise RuntimeError(f"{type(optimizer).__name__} was given {self.unit.names[self.number]!r} of the module inside a "
                           "sharded DataParallel; give it model.parameters() of the DataParallel, this rank's slices")

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        return memo.setdefault(id(self), Parameter(self.array.copy(), self.requires_grad))

    def __reduce__(self) -> Any:
        return Parameter, (self.array, self.requires_grad)


class Gathered(Whole):
    """A Whole whose values are brought together from all ranks when they are read in forward or backward."""

    __slots__ = ()

    @property
    def array(self) -> Any:                          # type: ignore[override]
        """The values. RuntimeError outside of forward, backward and summon_full_params()."""
        return self.unit.value(self.number)

    @array.setter
    def array(self, value: Any) -> None:
        raise RuntimeError(f"the memory of {self.unit.names[self.number]!r} can't be replaced: it lies in slices over "
                           "ranks. Change it in place, inside summon_full_params()")

    @property
    def shape(self) -> Any:
        """Sizes of the dimensions of the whole parameter."""
        return Size(self.unit.shapes[self.number])

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.unit.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    dim = ndim.fget                                  # type: ignore[attr-defined, assignment]

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one dimension of it."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=int))

    def __len__(self) -> int:
        return int(self.shape[0])

    @property
    def data(self) -> Tensor:
        """The values as a leaf; they can't be replaced."""
        return result(self.array)

    @data.setter
    def data(self, value: Tensor) -> None:
        self.array = value.array

    def __repr__(self) -> str:
        if self.unit.flat is not None:
            return super().__repr__()
        return f"Parameter in slices over {self.unit.comm.size} ranks, of shape {list(self.shape)} and dtype {self.dtype}"


def _reading(name: str) -> Any:
    """A method of Whole that looks at the values: of a compiled core it would not ask the property."""
    inherited = getattr(Whole, name)

    @functools.wraps(inherited)
    def method(self: Gathered, *args: Any, **kwargs: Any) -> Any:
        assert self.array is not None                # brings them, or raises
        return inherited(self, *args, **kwargs)

    return method


for _name in ("numpy", "tolist", "item", "detach", "__array__", "__float__", "__int__", "__bool__"):
    setattr(Gathered, _name, _reading(_name))

__all__ = ["Gathered", "Shard", "Slice", "Whole", "slot"]
