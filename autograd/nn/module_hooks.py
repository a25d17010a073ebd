"""Hooks of a module: before and after its forward, and on the gradients of its inputs and outputs."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.function import Function
from ..core.graph import Node, RemovableHandle
from ..core.modes import GRAD, modes
from ..core.tensor import Tensor, result
from ..core.types import Gradients
from ..spans.spans import MODULE, profilers, record_function

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

KINDS = ("pre", "post", "backward_pre", "backward", "state_pre", "state", "load_pre", "load")


class Hook(NamedTuple):
    """A forward hook and its calling convention."""

    call: Callable[..., Any]
    with_kwargs: bool
    always: bool = False


class GlobalHooks:
    """The hooks of all modules of this process."""

    def __init__(self) -> None:
        self.by_kind: dict[str, OrderedDict[int, Any]] = {
            kind: OrderedDict() for kind in ("pre", "post", "backward_pre", "backward", "add_parameter", "add_buffer",
                                             "add_module")}
        self.full: bool | None = None                # whether the backward hooks are full ones; None: there are none
        self.any = False                             # whether there has been a hook: calls of modules ask

    def added(self, kind: str, module: Any, name: str, value: Any) -> Any:
        """The parameter, buffer or module that a module gets, after the registration hooks."""
        for hook in self.by_kind[f"add_{kind}"].values():
            given = hook(module, name, value)
            value = value if given is None else given
        return value


of_all_modules: GlobalHooks = GlobalHooks()

MSG_MIXED = ("Cannot use both regular backward hooks and full backward hooks {where}. Please use only one of them.")


class HooksByNumber(MutableMapping[int, Any]):
    """A module's hooks of one kind as the functions that were registered: PyTorch's `_forward_hooks` and others.

    With `flag`, the hooks (and True) that were registered with it: PyTorch's `_forward_hooks_with_kwargs`.
    """

    def __init__(self, module: Hooked, kind: str, flag: str = "") -> None:
        self.module: Hooked = module
        self.kind: str = kind
        self.flag: str = flag

    def _entries(self) -> dict[int, Any]:
        kinds = self.module.__dict__.get("_hooks")
        found = {} if kinds is None else kinds[self.kind]
        return {number: hook for number, hook in found.items() if getattr(hook, self.flag)} if self.flag else found

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._entries()))

    def __len__(self) -> int:
        return len(self._entries())

    def __getitem__(self, number: int) -> Any:
        hook = self._entries()[number]
        return True if self.flag else hook.call if isinstance(hook, Hook) else hook

    def __setitem__(self, number: int, hook: Any) -> None:
        if self.flag:
            raise TypeError(f"{self.flag} of a hook cannot be assigned: pass it when registering the hook")
        self.module._hook_dict(self.kind)[number] = Hook(hook, False) if self.kind in ("pre", "post") else hook

    def __delitem__(self, number: int) -> None:
        del self.module._hook_dict(self.kind)[number]

    def __repr__(self) -> str:
        return repr(OrderedDict(self))


def by_number(kind: str) -> property:
    """The attribute of a module that shows its hooks of one kind; assigning a mapping replaces them."""
    def replace(module: Hooked, hooks: Any) -> None:
        held = HooksByNumber(module, kind)
        held.clear()
        held.update(hooks)

    return property(lambda module: HooksByNumber(module, kind), replace, doc=f"Its hooks of the kind {kind}, by number.")


class Hooked:
    """The part of Module that implements hooks. Hooks of all kinds are in one dict, which few modules have."""

    _is_full_backward_hook: bool | None = None       # None: there are no backward hooks

    _forward_pre_hooks, _forward_hooks = by_number("pre"), by_number("post")
    _backward_pre_hooks, _backward_hooks = by_number("backward_pre"), by_number("backward")
    _forward_pre_hooks_with_kwargs = property(lambda module: HooksByNumber(module, "pre", "with_kwargs"))
    _forward_hooks_with_kwargs = property(lambda module: HooksByNumber(module, "post", "with_kwargs"))
    _forward_hooks_always_called = property(lambda module: HooksByNumber(module, "post", "always"))

    def _hook_dict(self, kind: str) -> OrderedDict[int, Any]:
        """The hooks of one kind, by number, in the order in which they are called."""
        kinds = self.__dict__.setdefault("_hooks", {k: OrderedDict() for k in KINDS})
        return kinds[kind]                           # type: ignore[no-any-return]

    def _hooks_of(self, kind: str) -> list[Any]:
        """The hooks of one kind; a copy, since a hook may remove itself."""
        kinds = self.__dict__.get("_hooks")
        return [] if kinds is None else list(kinds[kind].values())

    def _applying(self, kind: str) -> list[tuple[int, Any]]:
        """(number, hook) of one kind for a call: the hooks of all modules first, then the module's own."""
        own = self.__dict__.get("_hooks")
        return [*of_all_modules.by_kind[kind].items(), *(() if own is None else own[kind].items())]

    def _add_hook(self, kind: str, hook: Any, prepend: bool) -> RemovableHandle:
        hooks = self._hook_dict(kind)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook: PreHook, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Register a hook that is called before forward as hook(module, args); its result replaces the arguments.

        Args:
            hook (PreHook): Hook.
            prepend (bool): If True, the hook runs before those registered earlier. Default: False.
            with_kwargs (bool): If True, calls hook(module, args, kwargs). Default: False.

        Example:
            >>> layer = ag.nn.Identity()
            >>> handle = layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
            >>> layer(ag.tensor([1.0]))
            tensor([2.])
        """
        return self._add_hook("pre", Hook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook: PostHook, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Register a hook that is called after forward as hook(module, args, output); its result replaces the output.

        Args:
            hook (PostHook): Hook.
            prepend (bool): If True, the hook runs before those registered earlier. Default: False.
            with_kwargs (bool): If True, calls hook(module, args, kwargs, output). Default: False.
            always_call (bool): If True, also calls the hook after an error in forward, with None as output. Default: False.

        Example:
            >>> layer = ag.nn.Identity()
            >>> handle = layer.register_forward_hook(lambda module, args, output: output * 2)
            >>> layer(ag.tensor([1.0]))
            tensor([2.])
            >>> handle.remove()
        """
        return self._add_hook("post", Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[[Any, Any], Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(module, grad_output), called before backward; its result replaces the gradients of the outputs.

        Args:
            hook (callable): Hook.
            prepend (bool): If True, the hook runs before those registered earlier. Default: False.

        Example:
            >>> layer, x = ag.nn.Identity(), ag.ones(2, requires_grad=True)
            >>> handle = layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 3,))
            >>> layer(x * 1).sum().backward()
            >>> x.grad
            tensor([3., 3.])
        """
        return self._add_hook("backward_pre", hook, prepend)

    def register_full_backward_hook(self, hook: Callable[[Any, Any, Any], Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(module, grad_input, grad_output), called after backward; its result replaces grad_input.

        grad_input has one entry per positional argument, None for arguments that are not tensors.

        Args:
            hook (callable): Hook.
            prepend (bool): If True, the hook runs before those registered earlier. Default: False.

        Raises:
            RuntimeError: The module has a hook of register_backward_hook().

        Example:
            >>> layer, x = ag.nn.Linear(2, 1), ag.ones(2, requires_grad=True)
            >>> handle = layer.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_output))
            >>> layer(x).sum().backward()
            (tensor([1.]),)
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(MSG_MIXED.format(where="on a single Module"))
        self._is_full_backward_hook = True
        return self._add_hook("backward", hook, prepend)

    def register_backward_hook(self, hook: Callable[[Any, Any, Any], Any]) -> RemovableHandle:
        """Older form of register_full_backward_hook(): grad_input is that of the node that made the output.

        Args:
            hook (callable): Hook.

        Raises:
            RuntimeError: The module has a hook of register_full_backward_hook().

        Example:
            >>> layer = ag.nn.Linear(2, 1)
            >>> handle = layer.register_backward_hook(lambda module, grad_input, grad_output: print(grad_output))
            >>> layer(ag.ones(2)).sum().backward()
            (tensor([1.]),)
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(MSG_MIXED.format(where="on a single Module"))
        self._is_full_backward_hook = False
        return self._add_hook("backward", hook, False)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass overrides it.

        Raises:
            NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    if TYPE_CHECKING:                                # a call takes and gives what forward does
        def __call__(self: Forward[Arguments, Output], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Output: ...
    else:
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if profilers:
                with record_function(f"nn.Module: {type(self).__name__}", None, MODULE, id(self)):
                    return self._call_hooked(args, kwargs)
            if "_hooks" in self.__dict__ or of_all_modules.any:
                return self._call_hooked(args, kwargs)
            return self.forward(*args, **kwargs)

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """forward with all hooks; after an error those that are always called."""
        called: set[int] = set()
        output = None
        try:
            for _, pre in self._applying("pre"):
                args, kwargs = _replaced_arguments(pre, self, args, kwargs)
            full, old = self._backward_hooks_by_form()
            before = [hook for _, hook in self._applying("backward_pre")]
            crossing = Crossing(self, full, before) if full or before else None
            if crossing is not None:
                args = crossing.enter(args)
            output = self.forward(*args, **kwargs)
            for number, post in self._applying("post"):
                called.add(number)
                changed = post.call(self, args, kwargs, output) if post.with_kwargs else post.call(self, args, output)
                output = output if changed is None else changed
            if crossing is not None:
                output = crossing.leave(output)
            if old:
                _hook_output(self, old, args, output)
            return output
        except Exception:
            for number, post in self._applying("post"):
                if post.always and number not in called:
                    _call_after_error(post, self, args, kwargs, output)
            raise

    def _backward_hooks_by_form(self) -> tuple[list[Any], list[Any]]:
        """The full backward hooks and the older ones."""
        own = self._hooks_of("backward")
        everywhere = list(of_all_modules.by_kind["backward"].values())
        full = [*(everywhere if of_all_modules.full else ()), *(own if self._is_full_backward_hook else ())]
        return full, [*(() if of_all_modules.full else everywhere), *(() if self._is_full_backward_hook else own)]


def _hook_output(module: Any, hooks: list[Any], args: tuple[Any, ...], output: Any) -> None:
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


# --- hooks of all modules ------------------------------------------------------------------------------------------------

def _add_globally(kind: str, hook: Any) -> RemovableHandle:
    of_all_modules.any = True
    return RemovableHandle(of_all_modules.by_kind[kind], hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(module, args), called before every module's forward and before the module's own hooks."""
    return _add_globally("pre", Hook(hook, False))


def register_module_forward_hook(hook: Callable[..., Any], *, with_kwargs: bool = False,
                                 always_call: bool = False) -> RemovableHandle:
    """Register hook(module, args, output), called after every module's forward: see Module.register_forward_hook()."""
    return _add_globally("post", Hook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(module, grad_output), called before the backward of every module."""
    return _add_globally("backward_pre", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(module, grad_input, grad_output), called after the backward of every module."""
    return _add_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Older form: see Module.register_backward_hook()."""
    return _add_backward(hook, False)


def register_module_parameter_registration_hook(hook: Callable[[Any, str, Any], Any]) -> RemovableHandle:
    """Register hook(module, name, parameter) for every new parameter, which its result, if not None, replaces."""
    return RemovableHandle(of_all_modules.by_kind["add_parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[[Any, str, Any], Any]) -> RemovableHandle:
    """Register hook(module, name, tensor) for every new buffer, which its result, if not None, replaces."""
    return RemovableHandle(of_all_modules.by_kind["add_buffer"], hook)


def register_module_module_registration_hook(hook: Callable[[Any, str, Any], Any]) -> RemovableHandle:
    """Register hook(module, name, submodule) for every new submodule, which its result, if not None, replaces."""
    return RemovableHandle(of_all_modules.by_kind["add_module"], hook)


def _add_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    if of_all_modules.full is (not full):
        raise RuntimeError(MSG_MIXED.format(where="as a global Module hook"))
    of_all_modules.full = full
    return _add_globally("backward", hook)


# --- calling hooks -------------------------------------------------------------------------------------------------------

def _replaced_arguments(pre: Hook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
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


def _call_after_error(post: Hook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                      output: Tensor | None) -> None:
    """Call a hook with always_call=True; its own errors must not hide forward's. output: None if forward raised."""
    try:
        if post.with_kwargs:
            post.call(module, args, kwargs, output)
        else:
            post.call(module, args, output)
    except Exception as error:
        warnings.warn(f"module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                      f"error was raised in forward: {error}", stacklevel=2)


class Crossing:
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
