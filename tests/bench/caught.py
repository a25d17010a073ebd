"""Catches the calls of matrix products and convolutions that a piece of code makes, to repeat them alone.

Products inside a compiled kernel, one for each step of an LSTM's or GRU's sequence, are noted as products of their shapes.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from autograd.kernels.products import product

NAMES = {"product", "conv", "conv_input", "conv_weight"}     # functions of autograd.kernels that are products inside
RECURRENT = {"lstm_forward", "lstm_backward", "gru_forward", "gru_backward"}       # of autograd.kernels.recurrent_fused


class Call(NamedTuple):
    """A kernel and what it was called with."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    flops: int

    def repeat(self) -> None:
        """Once more."""
        self.function(*self.args, **self.kwargs)


class Caught:
    """The outermost calls so far."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._inside = False

    def taken(self) -> list[Call]:
        """The calls since this was last asked."""
        calls, self.calls = self.calls, []
        return calls

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that does the same and is noted; what it calls itself is part of it."""
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return function(*args, **kwargs)
            self._inside = True
            try:
                result = function(*args, **kwargs)
            finally:
                self._inside = False
            if name in RECURRENT:
                self.calls.extend(products_of_steps(name, args))
            elif result is not None:                 # else it left the work to another
                self.calls.append(Call(function, *without_out(name, args, kwargs), arithmetic(name, args, result)))
            return result

        return call


def products_of_steps(name: str, args: tuple[Any, ...]) -> Iterator[Call]:
    """The products of the state, or of the gates' gradients, with the weight, which both kinds of kernels make at each
    step."""
    steps, weight = args[-1], next(a for a in reversed(args[:-1]) if getattr(a, "ndim", 0) == 2)
    if name == "gru_forward":                        # its bias is a vector, or None
        weight = args[2]
    right = np.ascontiguousarray(weight.T if name.endswith("forward") else weight)
    for start, stop in steps:
        left = np.zeros((stop - start, len(right)), right.dtype)
        out = np.empty((stop - start, right.shape[1]), right.dtype)
        yield Call(product, (left, right, out), {}, 2 * left.shape[0] * right.size)


def without_out(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with an array of their own to write into: the real one may be in use."""
    if name in ("product", "matmul") and len(args) > 2 and args[2] is not None:
        args = (*args[:2], np.empty_like(args[2]), *args[3:])
    if kwargs.get("out") is not None:
        kwargs = {**kwargs, "out": np.empty_like(kwargs["out"])}
    return args, kwargs


def arithmetic(name: str, args: tuple[Any, ...], result: Any) -> int:
    """Multiplications and additions: of a product's result by its inner size, of a convolution's patches."""
    if name in ("product", "matmul"):
        return 2 * result.size * args[0].shape[-1]
    result = result[0] if isinstance(result, tuple) else result      # without the bias's gradient
    images, kernel = {"conv": (result, args[1]), "conv_input": (args[0], args[1]), "conv_weight": (args[0], result)}[name]
    return 2 * images.size * math.prod(kernel.shape[1:])


@contextlib.contextmanager
def catching() -> Iterator[Caught]:
    """Inside, NumPy's matmul and these kernels are noted, under whatever name a module of autograd knows them."""
    caught = Caught()
    wrappers: dict[int, Any] = {id(np.matmul): caught.watched("matmul", np.matmul)}
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "autograd" and module is not None]
    for module in modules:
        if module.__name__.startswith("autograd.kernels."):
            names = RECURRENT if module.__name__.endswith(".recurrent_fused") else NAMES
            wrappers |= {id(value): caught.watched(name, value) for name, value in vars(module).items()
                         if name in names and getattr(value, "__module__", "") == module.__name__}
    places = [(module, name, value) for module in [np, *modules] for name, value in list(vars(module).items())
              if id(value) in wrappers]
    for module, name, value in places:
        setattr(module, name, wrappers[id(value)])
    try:
        yield caught
    finally:
        for module, name, value in places:
            setattr(module, name, value)
