"""Collective, the base class of all collective Functions, and conversions between ranks' tensors and arrays."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from autograd.core.modes import DUAL, GRAD, modes

from ..autograd import Function, Tensor, as_tensor
from ..comm import CollectiveError, Communicator, communicator, on_all_ranks, world
from ..comm.issuing import MSG_ONE
from .pending_messages import close_dropped_messages
from .wait_order import reserve_numbers

PerRank: TypeAlias = Tensor | tuple[Tensor, ...]   # bare for one local rank, else one for each local rank
NO_PART = np.empty(0, np.float32)                    # the array of a tensor that stands for None
NO_PART.flags.writeable = False
NO_GRAD, NO_LEVEL = 4, 8                             # bits that ranks agree on, next to GRAD and DUAL
MSG_MODES = ("{name} is called in different modes: some ranks' inputs {have}, while other ranks are {are}. Call it "
             "in the same modes on all ranks.")


class Collective(Function):
    """Base class of Functions that all ranks call together.

    A call is recorded on all ranks or on none: on all if any rank's input requires grad (or has a tangent, in forward mode).
    Its backward runs on every rank whose backward pass reaches it, whether or not that rank needs the gradient.
    """

    always_runs = True
    asks = True
    _accepted: ClassVar[set[tuple[int, tuple[str, ...]]]]    # valid calls: the number and names of arguments
    reserves_numbers = True                          # for started collectives that are not waited for, see wait_order.py

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Agree with all ranks whether to record: a rank that did not would let the others wait for it in backward."""
        comm, recording = settings.get("comm") or world(), modes.recording
        bits = tracked & recording & (GRAD | DUAL)
        if not comm.alone:
            bits |= (0 if recording & GRAD else NO_GRAD) | (0 if recording & DUAL else NO_LEVEL)
            bits = comm.agree(bits, cls.__name__)
            if bits & GRAD and bits & NO_GRAD:
                raise CollectiveError(MSG_MODES.format(name=cls.__name__, have="require grad", are="in no_grad()"))
            if bits & DUAL and bits & NO_LEVEL:
                raise CollectiveError(MSG_MODES.format(name=cls.__name__, have="have tangents", are="outside a dual level"))
        node.agreed = bits & (GRAD | DUAL)
        if node.agreed:
            comm.recorded += 1
            node.number = comm.recorded              # the same on all ranks: agree() is collective
        return node.agreed

    @classmethod
    def apply(cls, *args: Any, comm: Communicator | None = None, **settings: Any) -> Any:
        """Call the Function, on every rank."""
        close_dropped_messages()
        if cls.reserves_numbers:
            reserve_numbers()
        comm = communicator(comm)
        cls._check_arguments(comm, args, settings)
        return super().apply(*[as_tensor(NO_PART) if x is None else x for x in args], comm=comm, **settings)

    @classmethod
    def _check_arguments(cls, comm: Communicator, args: tuple[Any, ...], settings: dict[str, Any]) -> None:
        """TypeError for arguments that forward() does not have. The other ranks raise CollectiveError, since they would
        match this rank's next collective with this one.
        """
        form = len(args), tuple(settings)
        if form in cls._accepted:
            return
        with on_all_ranks(comm, cls.__name__):
            try:
                inspect.signature(cls.forward).bind(*(() if cls._takes_context else (None,)), *args, comm=comm, **settings)
            except TypeError as error:
                raise TypeError(f"{cls.__name__}.forward() with {len(args)} arguments: {error}"
                                + (f"; {MSG_ONE}" if len(comm.held) > 1 else "")) from None
        cls._accepted.add(form)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls._accepted = set()


def per_rank(tensors: tuple[Tensor, ...]) -> PerRank:
    """The tensors of the local ranks: a Tensor for one rank, a tuple for several."""
    return tensors[0] if len(tensors) == 1 else tensors


def one_per_rank(arrays: Sequence[np.ndarray[Any, Any]]) -> PerRank:
    """The arrays of the local ranks as Tensors: a Tensor for one rank, a tuple for several."""
    return per_rank(tuple(as_tensor(array) for array in arrays))


def array_of(x: Any) -> Any:
    """x as an argument of a communicator: its array, or None for NO_PART, which is invalid on a root. An x that is no Tensor
    is returned unchanged; the communicator converts it, or rejects it on all ranks.
    """
    if not isinstance(x, Tensor):
        return x
    return None if x.array is NO_PART else x.array


def arrays_of(xs: Sequence[Any]) -> list[Any]:
    """The arrays of the ranks' tensors, some of which may have no part."""
    return [x.array if isinstance(x, Tensor) else x for x in xs]


def shapes_of(xs: Sequence[Any]) -> list[tuple[int, ...]]:
    """The shapes of the ranks' tensors, for reshaped_gradients()."""
    return [np.shape(x.array if isinstance(x, Tensor) else x) for x in xs]


def rows_of(x: Any, dim: int) -> int:
    """The number of rows of an array along dim; 1 for a 0-d array, any number for an array that the communicator rejects."""
    shape = x.shape if hasattr(x, "shape") else ()
    known = len(shape) > 1 and isinstance(dim, (int, np.integer)) and -len(shape) <= dim < len(shape)
    return int(shape[dim]) if known else int(np.prod(shape))


def row_counts(xs: Sequence[Any], comm: Communicator, dim: int) -> list[int]:
    """The number of rows of each rank along dim, on all ranks. Collective."""
    held = [rows_of(x, dim) for x in arrays_of(xs)]
    return held if comm.alone else comm.rows([np.empty((rows, 0)) for rows in held])


def as_tuple(value: PerRank) -> tuple[Any, ...]:
    """The tensors of the local ranks as a tuple, also if there is one."""
    return value if isinstance(value, tuple) else (value,)


def reshaped_gradients(grads: PerRank, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    """The gradients in the shapes of their inputs. A 0-d input was a row of one element.

    An input that was not used, because another rank is root, gets zeros that depend on the empty gradient: passes over this
    pass must reach the collective on all ranks.
    """
    return tuple(g if g.shape == shape else g.reshape(shape) if g.numel() == np.prod(shape, dtype=int)
                 else g.sum().expand(shape)
                 for g, shape in zip(as_tuple(grads), shapes, strict=True))
