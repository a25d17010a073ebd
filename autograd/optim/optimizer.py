"""Optimizer: parameter groups, state and hooks of all optimizers."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ..base.errors import warn_user
from ..core.graph import RemovableHandle, next_number, shared_counter
from ..core.modes import enable_grad
from ..core.primitive import primitive
from ..core.tensor import Tensor
from ..spans.spans import USER, begin, end, number_of
from .param_groups import check_against, complete_group, required
from .state_dicts import check_sizes, pack, unpack

ParamsT = Iterable[Any]              # of Tensors, of (name, Tensor) pairs, or of dicts with "params" and options
MSG_NO_GRADIENT = ("{name}.step(): none of the {count} parameters has a gradient, so the step changes nothing. Call "
                   "loss.backward() before step(), and zero_grad() not in between")
MSG_NO_PARAMETER = ("{name}.step(): none of the {count} parameters was used in a computation that records gradients. "
                    "Construct the optimizer with the parameters of the model that computes the loss, not of a copy of it")
HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
         "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
         "_optimizer_load_state_dict_post_hooks")


class GlobalHooks:
    """Hooks around the steps of all optimizers of this process, and the number of steps, nested ones excluded."""

    def __init__(self) -> None:
        self.steps = 0
        self.pre: dict[int, Any] = OrderedDict()
        self.post: dict[int, Any] = OrderedDict()


class ThisThread(threading.local):
    """Whether an optimizer steps on this thread."""

    stepping = False


every_optimizer: GlobalHooks = GlobalHooks()
this_thread: ThisThread = ThisThread()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(optimizer, args, kwargs), called before every step of every optimizer."""
    return RemovableHandle(every_optimizer.pre, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register hook(optimizer, args, kwargs), called after every step of every optimizer."""
    return RemovableHandle(every_optimizer.post, hook)


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A class's `step` with hooks before and after it. A step that calls the one of its base class runs them once."""

    of_this_package = step.__module__.startswith(__package__)          # others may need no gradients

    @primitive
    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        self._opt_called = True
        if self._stepping:
            return step(*args, **kwargs)
        inner, this_thread.stepping = this_thread.stepping, True
        self._stepping = True
        span = begin(self._step_number, self.steps_taken, id(self))
        try:
            for hook in [*every_optimizer.pre.values(), *self._optimizer_step_pre_hooks.values()]:
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(f"{step} hook must return None or a tuple of (new_args, new_kwargs), but got "
                                       f"{changed}")
                args, kwargs = changed
            seen = self.steps_taken or not of_this_package or has_gradients(self)
            out = step(*args, **kwargs)
            if not (seen or has_gradients(self)):    # nor after a closure
                warn_of_no_gradient(self)
            self.steps_taken += 1
            every_optimizer.steps += not inner
            for hook in [*self._optimizer_step_post_hooks.values(), *every_optimizer.post.values()]:
                hook(self, args, kwargs)
        finally:
            end(span)
            self._stepping, this_thread.stepping = False, inner
        return out

    return hooked


def has_gradients(optimizer: Optimizer) -> bool:
    """Whether any of its parameters has a gradient."""
    return any(p.grad is not None for group in optimizer.param_groups for p in group["params"])


def warn_of_no_gradient(optimizer: Optimizer) -> None:
    """Warn of a first step without gradients: before backward(), or after that of another model. Not if no computation was
    recorded and a scheduler steps too: a schedule is plotted so."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    used = any(p.accumulator is not None for p in params)        # a weak reference: it stays when the graph is freed
    others = not used and next_number() > optimizer._made + 1
    if used or others or not optimizer.__dict__.get("_scheduled"):
        warn_user((MSG_NO_PARAMETER if others else MSG_NO_GRADIENT).format(name=type(optimizer).__name__, count=len(params)))


class Optimizer:
    """Base class of optimizers: subclasses pass defaults and implement `step`, with self.param_groups and self.state[p]."""

    defaults: dict[str, Any]
    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]
    _stepping = False                # in a step now
    _opt_called = False              # has stepped; schedulers ask
    _made = 0                        # the number of nodes recorded before its construction
    steps_taken = 0                  # calls of step() of this object in this process
    _step_number = number_of("Optimizer.step#Optimizer.step", USER)                    # under which spans of this class are
    _zero_grad_number = number_of("Optimizer.zero_grad#Optimizer.zero_grad", USER)     # recorded

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._step_number, cls._zero_grad_number = (number_of(f"Optimizer.{name}#{cls.__name__}.{name}", USER)
                                                   for name in ("step", "zero_grad"))
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.__dict__["step"])      # type: ignore[method-assign]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults, self._made = defaults, next_number()
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{type(params).__name__}")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    if not TYPE_CHECKING:                            # or checkers would take any name

        def __getattr__(self, name: str) -> Any:
            """Hooks and defaults are made at their first use: wrappers of another optimizer need not call __init__()."""
            if name in HOOKS or name == "defaults":
                return self.__dict__.setdefault(name, OrderedDict())
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a parameter group; options that it does not set are the defaults."""
        complete_group(param_group, self.defaults)
        check_against(param_group, self.param_groups)
        self.param_groups.append(param_group)
        for p in param_group["params"]:
            joins = getattr(p, "joins", None)        # a parameter of unusual storage may look after its optimizer
            if joins is not None:
                joins(self)

    @primitive
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters."""
        span = begin(self._zero_grad_number)
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                elif p._grad is not None:
                    if p._grad.edge is not None:
                        p._grad = p._grad.detach()
                    p._grad.requires_grad = False
                    p._grad.array.fill(0)
                    shared_counter(p._grad).value += 1
        end(span)

    def _held_arrays(self) -> Iterator[tuple[str, str, Any]]:
        """What its tensors are for, for memory_summary()."""
        for group in self.param_groups:
            yield from (("parameters", "", p) for p in group["params"])
        left: list[Any] = [*self.state.values()]
        while left:
            value = left.pop()
            if isinstance(value, dict):
                left += value.values()
            elif isinstance(value, (list, tuple)):
                left += value
            else:
                yield "optimizer state", "", value

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient. Returns the loss of `closure`."""
        raise NotImplementedError(f"{type(self).__name__} has no step()")

    # --- state in and out ---------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters by index. Tensors are not copied."""
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        packed = pack(self.param_groups, self.state)
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, packed)
            packed = packed if changed is None else changed
        return packed

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore (copies of) a state from state_dict(); on an error nothing changes."""
        state_dict = state_dict.copy()
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        if missing := {"param_groups", "state"} - state_dict.keys():
            raise KeyError(f"{', '.join(sorted(missing))}: load_state_dict() takes what an optimizer's state_dict() "
                           f"returns, and this has {list(state_dict)[:10]}")
        saved = deepcopy(state_dict["param_groups"])
        check_sizes(self.param_groups, saved)
        state = unpack(self.param_groups, saved, state_dict["state"])
        for p, param_state in state.items():
            if isinstance(p, Tensor):
                self.check_state(p, param_state)
        for group, saved_group in zip(self.param_groups, saved, strict=True):
            saved_group["params"] = group["params"]
            if "param_names" in group:
                saved_group.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def check_state(self, param: Tensor, state: dict[str, Any]) -> None:
        """ValueError if a loaded state can't be this parameter's. The base class has no opinion."""

    # --- hooks --------------------------------------------------------------------------------------------------------

    def _hook(self, name: str, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        hooks = getattr(self, name)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register hook(optimizer, args, kwargs), called before each step; a returned (args, kwargs) replaces them."""
        return self._hook("_optimizer_step_pre_hooks", hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register hook(optimizer, args, kwargs), called after each step."""
        return self._hook("_optimizer_step_post_hooks", hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(optimizer), called before state_dict()."""
        return self._hook("_optimizer_state_dict_pre_hooks", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(optimizer, state_dict), called after state_dict(); its result replaces the dict."""
        return self._hook("_optimizer_state_dict_post_hooks", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(optimizer, state_dict), called before load_state_dict(); its result replaces the dict."""
        return self._hook("_optimizer_load_state_dict_pre_hooks", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(optimizer), called after load_state_dict()."""
        return self._hook("_optimizer_load_state_dict_post_hooks", hook, prepend)


def evaluate(closure: Callable[[], Any] | None) -> Any:
    """The loss that a closure computes, with grad mode enabled; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


__all__ = ["Optimizer", "ParamsT", "evaluate", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook",
           "required"]
