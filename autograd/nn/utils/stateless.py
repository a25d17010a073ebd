"""functional_call: a call of a module with other tensors instead of its parameters and buffers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...base import docstrings as _docstrings


def functional_call(module: Any, parameters_and_buffers: dict[str, Any], args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False) -> Any:
    """module(*args, **kwargs) with the given tensors, by dotted name; the older form of func.functional_call, with a
    FutureWarning."""
    warnings.warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
                  "future version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in "
                  "replacement.",
                  FutureWarning, stacklevel=2)
    return call_with(module, parameters_and_buffers, args, kwargs, tie_weights, strict)


def call_with(module: Any, tensors: dict[str, Any], args: Any, kwargs: dict[str, Any] | None, tie_weights: bool,
              strict: bool) -> Any:
    """The call. args that are no tuple are one argument."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def _named(module: Any) -> dict[str, Any]:
    """All parameters and buffers, shared ones under each of their names."""
    return {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}


def _tied(tensors: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """The given tensors under all names of the same tensor (tied weights)."""
    groups: dict[int, list[str]] = {}
    for name, tensor in named.items():
        groups.setdefault(id(tensor), []).append(name)
    every = dict(tensors)
    for names in groups.values():
        given = [name for name in names if name in tensors]
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                             "tie_weights=False")
        every.update((name, tensors[given[0]]) for name in names if given)
    return every


@contextmanager
def _replaced(module: Any, tensors: dict[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Inside, the module holds the given tensors; what the call itself assigns to their names is put into `tensors`."""
    named = _named(module)
    if hasattr(module, "_tensor_paths"):              # a wrapper, which has several names for a tensor
        own, spelling = module._tensor_paths(named), {path: name for name, path in module._tensor_paths(tensors).items()}
        named = {own[name]: tensor for name, tensor in named.items()}
    else:
        spelling = {name: name for name in tensors}
    given = {path: tensors[name] for path, name in spelling.items()}
    every = _tied(given, named) if tie_weights else given
    if strict:
        lists = {"Unexpected": [n for n in every if n not in named], "Missing": [n for n in named if n not in every]}
        if any(lists.values()):
            raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(
                f"{kind} key(s): {', '.join(map(repr, names))}." for kind, names in lists.items() if names))
    undo: list[tuple[str, dict[str, Any], str, Any]] = []
    try:
        for name, tensor in every.items():
            path, _, attribute = name.rpartition(".")
            owner = module.get_submodule(path)
            held = next((d for d in (owner._parameters, owner._buffers, owner.__dict__) if attribute in d), None)
            if held is None:
                raise KeyError(f"functional_call: {type(module).__name__} holds no tensor {name!r}; for a parametrized one "
                               "give its original")
            undo.append((name, held, attribute, held[attribute]))
            held[attribute] = tensor
        yield
    finally:
        for name, held, attribute, before in reversed(undo):
            if name in spelling:
                tensors[spelling[name]] = held[attribute]
            held[attribute] = before


__all__ = ["functional_call"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.stateless.")
