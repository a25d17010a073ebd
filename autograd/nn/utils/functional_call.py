"""Functions of modules as values, under PyTorch's names."""

from __future__ import annotations

from typing import Any

from .stateless import call_with


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:
    """module(*args, **kwargs) with other tensors in place of parameters and buffers, which stay as they are.

    Args:
        module (Module): Module to call.
        parameter_and_buffer_dicts (dict[str, Tensor]): By dotted name; or several such dicts. Those that are not named are
            the module's own.
        args: Argument, or tuple of arguments.
        kwargs (dict[str, Any]): Keyword arguments.
        tie_weights (bool): If True, a value for a shared tensor applies to all its names. Default: True.
        strict (bool): If True, a missing or unknown name is an error. Default: False.

    Returns:
        The module's output.

    Raises:
        ValueError: Expected all elements of parameter_and_buffer_dicts to be dictionaries.
        ValueError: {names} appeared in multiple dictionaries; behavior of functional call is ambiguous.

    Example:
        >>> layer = ag.nn.Linear(2, 1)
        >>> weights = {"weight": ag.tensor([[1.0, 10.0]], requires_grad=True), "bias": ag.zeros(1)}
        >>> ag.func.functional_call(layer, weights, ag.tensor([[2.0, 3.0]]))
        tensor([[32.]], grad_fn=<AddmmBackward0>)
    """
    if not isinstance(parameter_and_buffer_dicts, dict):
        if not isinstance(parameter_and_buffer_dicts, (list, tuple)) or not all(
                isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for d in parameter_and_buffer_dicts for name in d]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is "
                             "ambiguous")
        parameter_and_buffer_dicts = {name: x for d in parameter_and_buffer_dicts for name, x in d.items()}
    return call_with(module, parameter_and_buffer_dicts, args, kwargs, tie_weights, strict)


__all__ = ["functional_call"]
