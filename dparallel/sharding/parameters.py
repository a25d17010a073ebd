"""The parameters of a sharded model: ParameterSlice, which optimisers get, and LazyParameter, which stage 3 computes with.

A ParameterSlice is this rank's elements of one parameter. In stages 1 and 2 the module computes with the user's Parameters,
whose memory is that of their Unit. In stage 3 their values are on this rank only while they are needed, and the first read
of a value gathers them. A read of a value has three places where it can be noticed: the class of the Parameter (a property),
the class of its array, and the code that reads. So the Parameter becomes a LazyParameter, in place, as an uninitialised one
changes its class in PyTorch. What was weighed against it:

- gathering before the forward of the module that holds the parameter, as FSDP does: another module may read it, as attention
  reads out_proj.weight and a tied output layer the embedding's, and would find no values;
- another object in the module's place, as FSDP's: references from before wrapping (a list of the user's, a closure, tied
  weights that are no attributes) would keep stale values, without an error;
- an array of another class in the Parameter: kernels choose by type(array) and read its address, so the first product of
  each pass would take another kernel, with other last bits, or read memory that is not there.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograd import Tensor
from autograd.base.size import Size
from autograd.core.graph import shared_counter
from autograd.core.modes import GRAD
from autograd.core.tensor import TensorBase, result
from autograd.nn import Parameter

from ..clipping import norm_over_ranks
from ..comm import Communicator

array_slot: Any = TensorBase.__dict__["array"]       # where a Tensor holds its array; in a LazyParameter under a property


class StepListener(Protocol):
    """What a slice tells of the optimisers that take it."""

    def stepped_by(self, optimizer: Any) -> None:
        """An optimiser has taken the slice."""


class LazyValues(Protocol):
    """What a LazyParameter asks its unit."""

    names: list[str]
    shapes: list[tuple[int, ...]]
    dtype: np.dtype[Any]
    comm: Communicator
    flat: np.ndarray[Any, Any] | None

    def value(self, number: int) -> np.ndarray[Any, Any]:
        """The values of one parameter, gathered if they are not on this rank."""

    def gradient(self, number: int) -> np.ndarray[Any, Any]:
        """The memory of one parameter's gradient."""


class Shard(NamedTuple):
    """What a ParameterSlice is: elements start to stop of the flattened parameter `name`, whose shape is `shape`.

    Whatever is computed over a whole parameter or model (a norm, say) must be summed over the ranks of `comm`.
    """

    name: str
    shape: tuple[int, ...]
    start: int
    stop: int
    comm: Communicator


class ParameterSlice(Parameter):
    """This rank's elements of a parameter, maybe none, of shape (elements, 1, ...): as many dimensions as the parameter.

    `shard` says which; clearing .grad clears what the whole parameter has collected on this rank, too.
    """

    __slots__ = ()

    shard: Shard
    whole: Parameter
    owner: StepListener
    gradient: Tensor | None = None

    def __init__(self, array: Any, shard: Shard, whole: Parameter, owner: StepListener) -> None:
        super().__init__(array.reshape(len(array), *(1,) * (len(shard.shape) - 1)), whole.requires_grad)
        self.shard, self.whole, self.owner = shard, whole, owner

    @property
    def _grad(self) -> Any:
        return self.gradient

    @_grad.setter
    def _grad(self, value: Any) -> None:
        self.gradient = value
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
        """Whether the parameter is trained: fixed when it was sharded."""
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
        self.owner.stepped_by(optimizer)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        return memo.setdefault(id(self), Parameter(self.array.copy(), self.requires_grad))

    def __reduce__(self) -> Any:
        return Parameter, (self.array, self.requires_grad)


def _gathering(method: Any) -> Any:
    """The method of a LazyParameter, after its values have been gathered."""
    @functools.wraps(method)
    def gathered(self: LazyParameter, *args: Any, **kwargs: Any) -> Any:
        assert self.array is not None                # gathers, or raises
        return method(self, *args, **kwargs)

    return gathered


class LazyParameter(Parameter):
    """A parameter of a module in stage 3: reading its values in forward or backward brings them together from all ranks. Its
    `unit` has them, at position `number`."""

    __slots__ = ()

    unit: LazyValues
    number: int

    @property
    def array(self) -> Any:                          # type: ignore[override]
        """The values. RuntimeError outside of forward, backward and summon_full_params()."""
        return self.unit.value(self.number)

    @array.setter
    def array(self, value: Any) -> None:
        raise RuntimeError(f"the memory of {self.unit.names[self.number]!r} can't be replaced: it lies in slices over "
                           "ranks. Change it in place, inside summon_full_params()")

    def accumulate_grad(self, g: Any, create: bool, owned: bool = False) -> None:
        """Add g to .grad, which begins in the unit's memory: values, which are not on this rank, are not asked for."""
        if self._grad is not None or create:
            super().accumulate_grad(g, create, owned)
            return
        memory = self.unit.gradient(self.number)
        np.copyto(memory, g, casting="same_kind")
        self._grad = result(memory)

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

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

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

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        return memo.setdefault(id(self), Parameter(self.array.copy(), self.requires_grad))

    def __reduce__(self) -> Any:
        return Parameter, (self.array, self.requires_grad)

    def __repr__(self) -> str:
        if self.unit.flat is not None:
            return super().__repr__()
        return f"Parameter in slices over {self.unit.comm.size} ranks, of shape {list(self.shape)} and dtype {self.dtype}"

    # a compiled Tensor's methods read the slot, not the property
    numpy, tolist, item = map(_gathering, (Parameter.numpy, Parameter.tolist, Parameter.item))
    detach, __array__ = map(_gathering, (Parameter.detach, Parameter.__array__))
    __float__, __int__, __bool__ = map(_gathering, (Parameter.__float__, Parameter.__int__, Parameter.__bool__))


def make_lazy(p: Parameter, unit: LazyValues, number: int) -> None:
    """Let the unit have the values of a plain Parameter."""
    lazy: Any = p
    lazy.unit, lazy.number = unit, number
    lazy.__class__ = LazyParameter
    set_values(lazy, None)


def set_values(p: LazyParameter, values: Any) -> None:
    """Let compiled code, which reads the slot, find these values (None: it asks the property)."""
    array_slot.__set__(p, values)


def refuse_optimizer(name: str, optimizer: Any) -> None:
    """RuntimeError: an optimiser was given a parameter of the module, whose gradients are in the slices."""
    raise RuntimeError(f"{type(optimizer).__name__} was given {name!r} of the module inside a sharded DataParallel; give it "
                       "model.parameters() of the DataParallel, this rank's slices")


__all__ = ["LazyParameter", "ParameterSlice", "Shard", "StepListener", "make_lazy", "refuse_optimizer", "set_values"]
