"""PyTorch's names of types for annotations of model code: a number, or one for each of n dimensions."""

from __future__ import annotations

from typing import Any, Union

from ..core.tensor import Tensor

_size_any_t = Union[int, tuple[int, ...]]                       # noqa: UP007 (a value: older Pythons evaluate it)
_size_1_t = _size_2_t = _size_3_t = _size_4_t = _size_5_t = _size_6_t = _size_any_t
_size_any_opt_t = _size_2_opt_t = _size_3_opt_t = Union[int, tuple[int | None, ...], None]      # noqa: UP007
_ratio_2_t = _ratio_3_t = _ratio_any_t = Union[float, tuple[float, ...]]                        # noqa: UP007
_maybe_indices_t = Union[Tensor, tuple[Tensor, Tensor]]                                         # noqa: UP007
_tensor_list_t = Union[Tensor, tuple[Tensor, ...]]                                              # noqa: UP007
_scalar_or_tuple_any_t: Any = Union[Any, tuple[Any, ...]]                                       # noqa: UP007
_scalar_or_tuple_1_t = _scalar_or_tuple_2_t = _scalar_or_tuple_3_t = _scalar_or_tuple_any_t
_scalar_or_tuple_4_t = _scalar_or_tuple_5_t = _scalar_or_tuple_6_t = _scalar_or_tuple_any_t

__all__: list[str] = []
