"""pandas accepts Tensors as masks, labels, positions and group keys; by itself it reads a mask as labels or positions."""

from __future__ import annotations

from typing import Any

from .values import given_values, values


def key(x: Any) -> Any:
    """A Tensor as an array; one without dimensions as a number."""
    x = values(x)
    return x.item() if getattr(x, "ndim", None) == 0 and hasattr(x, "item") else x


def keys(x: Any) -> Any:
    """A Tensor, or each Tensor in a list, converted by values()."""
    return [values(part) for part in x] if isinstance(x, list) else values(x)


given_values("pandas.core.common", "apply_if_callable", key)             # through which indexers pass their arguments
given_values("pandas.core.algorithms", "isin")
given_values("pandas.core.groupby.grouper", "get_grouper", keys)
