"""NanWatch: finds the module that produced the first nan of a pass, in forward or backward, for
DataParallel(find_nan=True).
"""

from __future__ import annotations

import functools
from typing import Any

from autograd.nn import Module

from ..autograd import Tensor
from ..pytree.tree import tensor_leaves
from ..reduction.weights import ForwardCall

Call = ForwardCall | None


class NanWatch:
    """Checks the outputs of all modules, their gradients, and those of parameters, from begin() on. A nan is stored as a
    problem of the call, which backward raises on all ranks; without a call it is raised at once.
    """

    def __init__(self, module: Module) -> None:
        self.call: Call = None
        self._found = False
        self._last = ""                              # the module whose output had the last gradient without nan
        for name, part in module.named_modules():
            part.register_forward_hook(functools.partial(self._computed, shown(name, part)), with_kwargs=True)
        self.watch_parameters(module)

    def watch_parameters(self, module: Module) -> None:
        """Look at the gradients of parameters; copies of parameters have no hooks."""
        for name, p in module.named_parameters():
            if p.requires_grad:
                p.register_hook(functools.partial(self._parameter_gradient, name))

    def __getstate__(self) -> Any:
        return {**vars(self), "call": None}

    def begin(self, call: Call, looks: bool = True) -> None:
        """A forward pass begins. looks: False in an evaluation, which is not checked."""
        self.call, self._found, self._last = call, not looks, ""

    def _computed(self, name: str, module: Module, args: Any, kwargs: Any, output: Any) -> None:
        if self._found:
            return
        outputs = tensor_leaves(output)
        if any(map(has_nan, outputs)):
            broken = [key for key, p in module.named_parameters() if has_nan(p)]
            if broken:
                self._report(f"parameter {broken[0]} of {name} has nan before the step")
            elif any(map(has_nan, tensor_leaves((args, kwargs)))):
                self._report(f"the input of {name} has nan, from the batch or from an operation outside modules")
            else:
                self._report(f"the output of {name} has nan, and its input has none")
            return
        for y in outputs:
            if y.requires_grad and not y.is_leaf:
                y.register_hook(functools.partial(self._output_gradient, name))

    def _output_gradient(self, name: str, g: Any) -> None:
        if g is None or self._found:
            return
        if has_nan(g):
            made = f", and that of {self._last} has none: the backward of {self._last} made it" if self._last else (
                ": the loss, or what follows the module, made it")
            self._report(f"the gradient of the output of {name} has nan{made}")
        else:
            self._last = name

    def _parameter_gradient(self, name: str, g: Any) -> None:
        if g is not None and not self._found and has_nan(g):
            self._report(f"the gradient of parameter {name} has nan" + (
                f", and that of the output of {self._last} has none" if self._last else ""))

    def _report(self, text: str) -> None:
        self._found = True
        if self.call is None:
            raise FloatingPointError(f"find_nan: {text}")
        self.call.problem = self.call.problem or f"find_nan: {text}"


def shown(name: str, module: Module) -> str:
    """A module, for messages."""
    return f"module {name} ({type(module).__name__})" if name else f"the model ({type(module).__name__})"


def has_nan(x: Tensor) -> bool:
    """Whether an element is nan."""
    array: Any = x.array
    return array.dtype.kind in "fcV" and bool((array != array).any())
