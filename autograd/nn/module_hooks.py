"""Hooks of all modules, and how a call of a module makes backward call the hooks on its gradients."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.function import Function
from ..core.graph import Node, RemovableHandle
from ..core.modes import GRAD, modes
from ..core.tensor import Tensor, result
from ..core.types import Gradients

if TYPE_CHECKING:
    from typing import ParamSpec, Protocol, TypeVar

    from .module import Module

    Arguments = ParamSpec("Arguments")
    Output = TypeVar("Output", covariant=True)

    class Forward(Protocol[Arguments, Output]):
        """A module, as its call sees it."""

        @property
        def forward(self) -> Callable[Arguments, Output]: ...

    PreHook = Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]                      # the longer ones with_kwargs
    PostHook = Callable[[Any, Any, Any], Any] | Callable[[Any, Any, Any, Any], Any]

MSG_MIXED = "Cannot use both regular backward hooks and full backward hooks {where}. Please use only one of them."

# --- hooks of all modules ---------------------------------------------------------------------------------------------

global_hooks: dict[str, dict[int, Any]] = {kind: {} for kind in (
    "_forward_pre_hooks", "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
    "_backward_pre_hooks", "_backward_hooks", "_parameters", "_buffers", "_modules")}      # the last three: of registrations
any_global: dict[int, bool] = {}                     # the numbers of all hooks on calls, which __call__ tests
is_full_backward_hook: bool | None = None            # None: there has been no backward hook of all modules


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(module, args), called before every module's forward and before the module's own hooks."""
    return RemovableHandle(global_hooks["_forward_pre_hooks"], hook, any_global)


def register_module_forward_hook(hook: Callable[..., Any], *, with_kwargs: bool = False,
                                 always_call: bool = False) -> RemovableHandle:
    """Register hook(module, args, output), called after every module's forward: see Module.register_forward_hook()."""
    return RemovableHandle(global_hooks["_forward_hooks"], hook, any_global,
                           *[global_hooks["_forward_hooks_with_kwargs"]] * bool(with_kwargs),
                           *[global_hooks["_forward_hooks_always_called"]] * bool(always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(module, grad_output), called before the backward of every module."""
    return RemovableHandle(global_hooks["_backward_pre_hooks"], hook, any_global)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(module, grad_input, grad_output), called after the backward of every module."""
    return _add_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Older form: see Module.register_backward_hook()."""
    return _add_backward(hook, False)


def _add_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    global is_full_backward_hook
    if is_full_backward_hook is (not full):
        raise RuntimeError(MSG_MIXED.format(where="as a global Module hook"))
    is_full_backward_hook = full
    return RemovableHandle(global_hooks["_backward_hooks"], hook, any_global)


def register_module_parameter_registration_hook(hook: Callable[[Any, str, Any], Any]) -> RemovableHandle:
    """Register hook(module, name, parameter) for every new parameter, which its result, if not None, replaces."""
    return RemovableHandle(global_hooks["_parameters"], hook)


def register_module_buffer_registration_hook(hook: Callable[[Any, str, Any], Any]) -> RemovableHandle:
    """Register hook(module, name, tensor) for every new buffer, which its result, if not None, replaces."""
    return RemovableHandle(global_hooks["_buffers"], hook)


def register_module_module_registration_hook(hook: Callable[[Any, str, Any], Any]) -> RemovableHandle:
    """Register hook(module, name, submodule) for every new submodule, which its result, if not None, replaces."""
    return RemovableHandle(global_hooks["_modules"], hook)


# --- hooks on gradients -----------------------------------------------------------------------------------------------

def backward_hooks(module: Module) -> tuple[list[Any], list[Any]]:
    """The full backward hooks of a module and of all modules, and the older ones."""
    full: list[Any] = []
    old: list[Any] = []
    (full if is_full_backward_hook else old).extend(global_hooks["_backward_hooks"].values())
    (full if module._is_full_backward_hook else old).extend(module._backward_hooks.values())
    return full, old


def hook_output(module: Any, hooks: list[Any], args: tuple[Any, ...], output: Any) -> None:
    """Register the older backward hooks with the node of the output, or of its first tensor."""
    first = output
    while not isinstance(first, Tensor):
        first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(functools.partial(hook, module))
    plain = isinstance(output, Tensor) or (isinstance(output, tuple) and all(isinstance(o, Tensor) for o in output))
    missing = [] if plain else ["the output is not a single Tensor or a tuple of Tensors: some of grad_output"]
    if not all(isinstance(a, Tensor) for a in args):
        missing.append("not all arguments are Tensors: some of grad_input")
    inner: set[Node] = {edge for edge, _ in node.next_functions if edge is not None}
    if plain and not missing and inner != {a.grad_fn for a in args if a.grad_fn is not None}:
        missing.append("forward makes several nodes: some of grad_input")
    if missing:
        warnings.warn(f"Using a non-full backward hook ({'; '.join(missing)} is missing) is deprecated. Please use "
                      "register_full_backward_hook to get the documented behavior.", FutureWarning, stacklevel=4)


class BackwardHook:
    """One call of a module that has full backward hooks: identities around forward, with hooks on their nodes, see the
    gradients pass. In a second derivative gradients pass the inner identity without the outer one: no hook is called then.
    """

    count: int
    out_count: int

    def __init__(self, module: Any, hooks: list[Any], before: list[Any]) -> None:
        self.module: Module = module
        self.hooks: list[Any] = hooks
        self.before: list[Any] = before
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs: list[int] | None = None         # which arguments are tensors, if a gradient reaches one of them
        self.outputs: list[int] = []
        self.likes: list[Any] = []                   # (shape, dtype) of each tensor argument
        self.count = self.out_count = 0

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the tensors among the arguments through the inner identity."""
        self.count = len(args)
        passed, self.inputs = passed_on(args, self.inputs_done)
        self.likes = [(a.array.shape, a.array.dtype) for a in args if isinstance(a, Tensor)]
        return passed

    def leave(self, output: Any) -> Any:
        """Pass the tensors of the output through the outer identity."""
        if not isinstance(output, (Tensor, tuple)):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                          f"received {type(output)}", stacklevel=4)
            return output
        outs = (output,) if isinstance(output, Tensor) else output
        self.out_count = len(outs)
        passed, places = passed_on(outs, self.outputs_arrived)
        self.outputs = places or []
        if places is None or isinstance(output, Tensor):
            return passed[0] if isinstance(output, Tensor) else output
        return passed if type(output) is tuple else type(output)(*passed)

    def outputs_arrived(self, _: Sequence[Tensor], grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the outputs: hooks may replace them; if no input needs one, that is all there is."""
        found = spread(grads, self.outputs, self.out_count)
        for hook in self.before:
            changed = hook(self.module, found)
            if changed is None:
                continue
            changed = as_tuple(changed)
            if len(changed) != self.out_count:
                raise RuntimeError(f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but "
                                   f"expected {self.out_count}")
            found = changed
        self.grad_output = found
        if self.inputs is None:
            if self.hooks:
                warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs "
                              "since no inputs require gradients.", stacklevel=2)
            for hook in self.hooks:
                changed = hook(self.module, (None,) * self.count, found)
                if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                    raise RuntimeError("Backward hook for Modules where no input requires gradient should always return "
                                       "None or None for all gradients.")
            self.grad_output = None
        return tuple(found[place] for place in self.outputs)

    def inputs_done(self, grads: tuple[Any, ...], _: Sequence[Tensor | None]) -> tuple[Any, ...] | None:
        """The gradients of the inputs, zeros for tensors that need none: hooks may replace them."""
        if self.grad_output is None or self.inputs is None:
            return None
        zeros = [result(np.zeros(*like)) if g is None else g for g, like in zip(grads, self.likes, strict=True)]
        every = spread(tuple(zeros), self.inputs, self.count)
        for hook in self.hooks:
            changed = hook(self.module, every, self.grad_output)
            if changed is not None:
                changed = as_tuple(changed)
                if len(changed) != len(every):
                    raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but "
                                       f"expected {len(every)}")
                every = changed
        self.grad_output = None
        return tuple(None if g is None else every[place] for g, place in zip(grads, self.inputs, strict=True))


def spread(values: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    """A tuple of length `count`, with the values at `places` and None elsewhere."""
    out: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        out[place] = value
    return tuple(out)


def passed_on(values: tuple[Any, ...], hook: Callable[..., Any]) -> tuple[tuple[Any, ...], list[int] | None]:
    """The values, their tensors passed through an identity whose node has the hook, and which ones are tensors; the values
    as they are, and None, where no gradient will come."""
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
    if not modes.recording & GRAD or not any(values[place].requires_grad for place in places):
        return values, None
    passed = BackwardHookFunction.apply(*[values[place] for place in places])
    next(t.grad_fn for t in passed if t.grad_fn is not None).register_hook(hook)
    out = list(values)
    for place, value in zip(places, passed, strict=True):
        out[place] = value
    return tuple(out), places


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A tuple, of one element if it was none."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class BackwardHookFunction(Function):
    """Identity of any number of tensors, whose node has a module's backward hooks."""

    @staticmethod
    def forward(ctx: Any, *xs: Tensor) -> tuple[Tensor, ...]:
        """The tensors themselves; those that need no gradient stay so."""
        ctx.mark_non_differentiable(*[x for x in xs if not x.requires_grad])
        return xs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Gradients:
        """The gradients themselves."""
        return grads


__all__ = ["BackwardHook", "backward_hooks", "hook_output", "register_module_backward_hook",
           "register_module_buffer_registration_hook", "register_module_forward_hook", "register_module_forward_pre_hook",
           "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
           "register_module_module_registration_hook", "register_module_parameter_registration_hook"]
