"""compile(), the one door to compiled steps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..core.modes import process

F = TypeVar("F", bound=Callable[..., Any])


if TYPE_CHECKING:
    @overload
    def compile(model: F, *, fullgraph: bool = False, dynamic: bool | None = None,
                backend: str | Callable[..., Any] = "inductor", mode: str | None = None,
                options: dict[str, Any] | None = None, disable: bool = False) -> F: ...
    @overload
    def compile(model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
                backend: str | Callable[..., Any] = "inductor", mode: str | None = None,
                options: dict[str, Any] | None = None, disable: bool = False) -> Callable[[F], F]: ...


def compile(model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: str | Callable[..., Any] = "inductor", mode: str | None = None, options: dict[str, Any] | None = None,
            disable: bool = False) -> Callable[..., Any]:
    """Compile a training step, a function of tensors, a model, or an optimizer's step: what repeats runs without Python.

    The first call with arguments of a form (shapes, dtypes, numbers) and the caller's modes (no_grad, autocast) runs the
    function, records it twice, and compares a run of the program with the recorded one; the state is then that of one call.
    Later calls run the program. It is checked against what the function reads: memory of parameters, hooks, `training` and
    settings of modules, variables. If they have changed, another program is made, at most 8 in all.

    What can't be compiled runs eagerly, after one warning with the reason and the line: values read in Python (item(),
    print, `if loss > 1`), Python state that the function changes, writes to its arguments, and what trace_step() refuses.
    So results are the function's, except that tensors are copies, and without a graph once backward() ran inside.

    The results of a function without backward() have a node, whose backward pass is a program too. On several ranks all of
    them must call the function alike, and compile in its calls 1, 2, 4, 8, ... only.

    Args:
        model (Callable[..., Any] or Module, optional): What is compiled. A module's forward is: the result is a module with
            the same __dict__, so parameters, hooks and names in state_dict() are the module's. Without it a decorator.
        fullgraph (bool): Raise the reason in place of running eagerly; the state is then as before the call. Default: False.
        dynamic (bool, optional): None or False. A program has fixed shapes.
        backend (str): "inductor": native code, which rounds differently, where llvmlite is installed; else "python": a
            program of NumPy's functions and kernels. "eager": no compilation.
        mode (str, optional): "default", "reduce-overhead", "max-autotune" or "max-autotune-no-cudagraphs": all the same.
        options (dict[str, Any], optional): {"bitwise": True} is backend="python". Default: None.
        disable (bool): Return the model itself. Default: False.

    Returns:
        A function, or a module, that is called like `model`. The function's program() is its programs as text.

    Raises:
        TraceError: with fullgraph=True, in a call: {name} can't be compiled as a whole: {reason}.
        NotImplementedError: dynamic=True; a backend that is a callable.
        ValueError: {backend} or {mode} is none of those above.
        RuntimeError: unknown option {name}; options and mode are both given.

    Example:
        >>> w = ag.ones(2, requires_grad=True)
        >>> optimizer = ag.optim.SGD([w], lr=0.1)
        >>> @ag.compile
        ... def step(x):
        ...     optimizer.zero_grad()
        ...     loss = (w * x).sum()
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss.detach()
        >>> [step(ag.tensor([1.0, 2.0])).item() for _ in range(2)]
        [3.0, 2.5]
    """
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
                                 disable=disable)
    given = import_module(".settings", __package__).checked(fullgraph, dynamic, backend, mode, options)
    if disable or backend == "eager" or hasattr(type(model), "eager_calls"):
        return model
    if hasattr(type(model), "_call_hooked"):
        return import_module(".optimized", __package__).optimized(model, given)     # type: ignore[no-any-return]
    return import_module(".compiled", __package__).Compiled(model, given)           # type: ignore[no-any-return]


process.compile = compile


def reset() -> None:
    """Drop the programs of all compiled functions: the next call of each compiles it again."""
    for compiled in list(import_module(".compiled", __package__).everything):
        compiled.reset()
