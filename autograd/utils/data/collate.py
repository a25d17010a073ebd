"""From items to a batch: default_collate, and default_convert for items that are not batched.

`default_collate_fn_map` says what stacks which type; entries added there, or a map passed to `collate`, count first."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.tensor import Tensor
from ...ops.creation.create import as_tensor, tensor
from ...ops.shape import stack

if TYPE_CHECKING:
    from .shared import Blocks

FnMap = dict[Any, Callable[..., Any]]
worker_blocks: Blocks | None = None      # of a worker process


def collate(batch: Sequence[Any], *, collate_fn_map: FnMap | None = None) -> Any:
    """A list of items as one batch; items of collections item by item, keeping the collection's type.

    The function for a type is called as f(batch, collate_fn_map=...); an exact type goes before subclasses."""
    try:
        first = batch[0]
    except (TypeError, LookupError) as error:        # of the same class, which PyTorch's is
        raise type(error)(f"default_collate: a batch is a list of items, of at least one, not {batch!r:.100}") from None
    if collate_fn_map is not None:
        if type(first) in collate_fn_map:
            return collate_fn_map[type(first)](batch, collate_fn_map=collate_fn_map)
        for kind, function in collate_fn_map.items():
            if isinstance(first, kind):
                return function(batch, collate_fn_map=collate_fn_map)

    def joined(parts: Sequence[Any]) -> Any:
        return collate(parts, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like_mapping(first, {key: joined([item[key] for item in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(joined(column) for column in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _like_sequence(first, [joined(column) for column in zip(*batch, strict=True)])
    if hasattr(first, "__dlpack__"):                 # another library's tensors
        return stack([as_tensor(item) for item in batch])
    raise TypeError(MSG_TYPE.format(type(first)))


MSG_TYPE = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _like_mapping(model: Any, values: dict[Any, Any]) -> Any:
    """`values` in a mapping of model's type, if one can be made; its other attributes are copied."""
    try:
        if isinstance(model, MutableMapping):
            twin = copy.copy(model)
            twin.update(values)
            return twin
        return type(model)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _like_sequence(model: Any, values: list[Any]) -> Any:
    """`values` in a sequence of model's type, if one can be made; tuples become lists, as in PyTorch."""
    if isinstance(model, tuple) or type(model) is list:
        return values
    try:
        if isinstance(model, MutableSequence):
            twin = copy.copy(model)
            for i, value in enumerate(values):
                twin[i] = value
            return twin
        return type(model)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: FnMap | None = None) -> Tensor:
    """Stack n tensors of one shape into one of shape (n, *shape): in a worker process, in shared memory."""
    shared = None if worker_blocks is None else worker_blocks.stack(batch)
    return stack(batch) if shared is None else shared


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: FnMap | None = None) -> Tensor:
    """Stack n arrays of one shape into a tensor (n, *shape). TypeError for strings and objects."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(MSG_TYPE.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: FnMap | None = None) -> Tensor:
    """NumPy's numbers as a vector of their dtype."""
    return as_tensor(np.array(batch))


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: FnMap | None = None) -> Tensor:
    """Floats as a vector of float64."""
    return tensor(batch, dtype=np.float64)


def collate_int_fn(batch: Sequence[int], *, collate_fn_map: FnMap | None = None) -> Tensor:
    """Integers as a vector of int64, truth values as one of bool."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: FnMap | None = None) -> Any:
    """Strings as they are."""
    return batch


default_collate_fn_map: FnMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
_initial_map = dict(default_collate_fn_map)


def default_collate(batch: Any) -> Any:
    """Collate samples into a batch: stack numbers and tensors; collate tuples, lists and dicts element-wise."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def stacks_rows(collate_fn: Any) -> bool:
    """Whether collate_fn is default_collate with its initial map, so that rows may be indexed at once instead."""
    return collate_fn is default_collate and default_collate_fn_map == _initial_map


def default_convert(data: Any) -> Any:
    """Convert NumPy arrays and numbers, also inside collections, to tensors."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, np.str_):
        return data if isinstance(data, np.ndarray) and data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(part) for part in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(part) for part in data])
    return data
