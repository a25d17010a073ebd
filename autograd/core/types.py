"""Type aliases with Tensor in them, for type checkers only; the others are in base/types.py.

Rules of operations run on arrays in an ordinary backward pass and on Tensors in a recorded one, so they accept and return
TensorOrArray. A function that returns the kind of its argument is annotated with the variable Operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union

from ..base.types import Array, Number
from .operation import OperationNode
from .tensor import Tensor

TensorOrArray = Union[Tensor, Array]                            # noqa: UP007
TensorOrNumber = Union[Tensor, Number]                          # noqa: UP007
Gradients = Union[TensorOrArray, Sequence[Union[TensorOrArray, None]], None]     # noqa: UP007 (of the inputs: what a rule returns)
Operand = TypeVar("Operand", bound=TensorOrArray)
Declared = Callable[..., Any]                                   # what declare.py makes: arrays or Tensors -> the same kind

if TYPE_CHECKING:
    class Context(OperationNode):
        """The ctx of an Operation: its node, which also holds the attributes that forward sets for backward."""

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: object) -> None: ...
else:
    Context = OperationNode

__all__ = ["Context", "Declared", "Gradients", "Operand", "TensorOrArray", "TensorOrNumber"]
