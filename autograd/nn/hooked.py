"""Hooks of a module: before and after its forward, and on the gradients that enter and leave it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from ..function import Function
from ..graph import RemovableHandle
from ..tensor import Tensor

KINDS = ("pre", "post", "backward_pre", "backward", "state_pre", "state", "load_pre", "load")


class Hook(NamedTuple):
    """A forward hook, and how it wants to be called."""

    call: Callable[..., Any]
    with_kwargs: bool
    always: bool = False


class Hooked:
    """The part of Module that knows hooks. Those of all kinds live in one dict, which few modules have."""

    def _hook_dict(self, kind: str) -> OrderedDict[int, Any]:
        """The hooks of one kind, by number, in the order in which they are called."""
        kinds = self.__dict__.setdefault("_hooks", {k: OrderedDict() for k in KINDS})
        return kinds[kind]                           # type: ignore[no-any-return]

    def _hooks_of(self, kind: str) -> list[Any]:
        """The hooks of one kind; a copy, since a hook may remove itself."""
        kinds = self.__dict__.get("_hooks")
        return [] if kinds is None else list(kinds[kind].values())

    def _add_hook(self, kind: str, hook: Any, prepend: bool) -> RemovableHandle:
        hooks = self._hook_dict(kind)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call hook(module, args) before forward, hook(module, args, kwargs) if with_kwargs; what it returns replaces
        the arguments.
        """
        return self._add_hook("pre", Hook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call hook(module, args, output) after forward, hook(module, args, kwargs, output) if with_kwargs; what it
        returns replaces the output. always_call: also when forward raised, with None as output.
        """
        return self._add_hook("post", Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the outputs are there; what it returns replaces them."""
        return self._add_hook("backward_pre", hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients of the inputs are there; what it returns
        replaces grad_input. One entry per positional argument, None for what is no tensor.
        """
        return self._add_hook("backward", hook, prepend)

    register_backward_hook = register_full_backward_hook

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output. Overridden by every module."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_hooks" in self.__dict__:
            return self._call_hooked(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """forward with all hooks; after an error those that are always called."""
        called: set[int] = set()
        try:
            for pre in self._hooks_of("pre"):
                args, kwargs = _replaced_arguments(pre, self, args, kwargs)
            watched = self._hooks_of("backward") or self._hooks_of("backward_pre")
            crossing = Crossing(self) if watched else None
            if crossing is not None:
                args = crossing.enter(args)
            output = self.forward(*args, **kwargs)
            for number, post in list(self._hook_dict("post").items()):
                called.add(number)
                changed = post.call(self, args, kwargs, output) if post.with_kwargs else post.call(self, args, output)
                output = output if changed is None else changed
            return output if crossing is None else crossing.leave(output)
        except Exception:
            for number, post in list(self._hook_dict("post").items()):
                if post.always and number not in called:
                    _call_after_error(post, self, args, kwargs)
            raise


def _replaced_arguments(pre: Hook, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments after one forward pre-hook."""
    if not pre.with_kwargs:
        changed = pre.call(module, args)
        return args if changed is None else changed if isinstance(changed, tuple) else (changed,), kwargs
    changed = pre.call(module, args, kwargs)
    if changed is None:
        return args, kwargs
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
    return changed


def _call_after_error(post: Hook, module: Any, args: Any, kwargs: Any) -> None:
    """A hook that is always called; its own error must not hide forward's."""
    try:
        if post.with_kwargs:
            post.call(module, args, kwargs, None)
        else:
            post.call(module, args, None)
    except Exception as error:
        warnings.warn(f"module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                      f"error was raised in forward: {error}", stacklevel=2)


class Crossing:
    """One call of a module that has backward hooks: identities at its doors see the gradients pass."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.grad_output: tuple[Any, ...] = ()
        self.places: list[int] = []                  # which arguments are tensors
        self.count = 0
        self.has_input_node = False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the tensors among the arguments through the inner door."""
        self.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        self.count = len(args)
        if not any(args[i].requires_grad for i in self.places):
            return args
        self.has_input_node = True
        passed = as_tuple(Door.apply(self.inputs_done, *[args[i] for i in self.places]))
        replaced = dict(zip(self.places, passed, strict=True))
        return tuple(replaced.get(i, a) for i, a in enumerate(args))

    def leave(self, output: Any) -> Any:
        """Pass the tensors of the output through the outer door."""
        single = isinstance(output, Tensor)
        outs = (output,) if single else output
        if not isinstance(outs, (tuple, list)) or not all(isinstance(o, Tensor) for o in outs):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                          f"received {type(output)}", stacklevel=3)
            return output
        if not any(o.requires_grad for o in outs):
            return output
        passed = as_tuple(Door.apply(self.outputs_arrived, *outs))
        return passed[0] if single else type(outs)(passed)

    def outputs_arrived(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the outputs: hooks may replace them; if no input needs one, that is all there is."""
        for hook in self.module._hooks_of("backward_pre"):
            changed = hook(self.module, grads)
            grads = grads if changed is None else as_tuple(changed)
        self.grad_output = grads
        if not self.has_input_node:
            self.inputs_done((None,) * len(self.places))
        return grads

    def inputs_done(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the inputs: hooks may replace them."""
        every: list[Any] = [None] * self.count
        for place, g in zip(self.places, grads, strict=True):
            every[place] = g
        for hook in self.module._hooks_of("backward"):
            changed = hook(self.module, tuple(every), self.grad_output)
            if changed is not None:
                changed = as_tuple(changed)
                if len(changed) != len(every):
                    raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but "
                                       f"expected {len(every)}")
                every = list(changed)
        return tuple(every[place] for place in self.places)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A tuple, of one element if it was none."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class Door(Function):
    """Identity of any number of tensors that shows their gradients to a function as they come back."""

    @staticmethod
    def forward(ctx: Any, see: Callable[..., Any], *xs: Tensor) -> Any:
        """The tensors themselves."""
        ctx.see = see
        ctx.set_materialize_grads(False)
        return xs if len(xs) > 1 else xs[0]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """What the function makes of the gradients."""
        return (None, *ctx.see(grads))
