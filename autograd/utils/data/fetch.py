"""Fetchers: a batch from the numbers that a sampler chose, or the next batch of a stream."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor, result
from ...core.types import TensorOrArray
from .collate import stacks_rows
from .dataset import Subset, TensorDataset, items_of

INTEGERS: set[type] = {int, np.int64}
RowPicker = Callable[[Sequence[Any]], list[Tensor]]


class Recipe(NamedTuple):
    """How a loader makes batches."""

    iterable: bool                       # a stream of items, not items by number
    batched: bool                        # lists of items go to collate_fn, not single ones
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    blank: Any                           # for a stream: the batch of numbers that stands for "the next items"

    def fetcher(self, dataset: Any) -> MapFetcher | StreamFetcher:
        """The fetcher for `dataset`; a stream is opened."""
        return StreamFetcher(self, dataset) if self.iterable else MapFetcher(self, dataset)


class MapFetcher:
    """Batches of a dataset whose items have numbers."""

    def __init__(self, recipe: Recipe, dataset: Any) -> None:
        self.dataset: Any = dataset
        self.recipe: Recipe = recipe
        self.pick: RowPicker | None = row_picker(dataset) if recipe.batched and stacks_rows(recipe.collate_fn) else None

    def fetch(self, index: Any) -> Any:
        """The batch of these items; with batching off, the item of this number."""
        if self.pick is not None and INTEGERS.issuperset(map(type, index)) and index:
            return self.pick(index)
        if self.recipe.batched and stacks_rows(self.recipe.collate_fn) and not index and len(self.dataset):
            return without_rows(self.fetch([0]))       # the share of a rank that has none of a short batch
        try:
            return self.recipe.collate_fn(items_of(self.dataset, index) if self.recipe.batched else self.dataset[index])
        except StopIteration as stop:               # would end the loop over the loader without a word
            raise RuntimeError("the dataset or collate_fn raised StopIteration") from stop

    def state(self) -> dict[str, Any] | None:
        """The dataset's own state, if it has one."""
        return {"dataset": self.dataset.state_dict()} if stateful(self.dataset) else None


def without_rows(batch: Any) -> Any:
    """A batch made by default_collate, cut to no rows."""
    if isinstance(batch, dict):
        return {key: without_rows(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [without_rows(value) for value in batch if not isinstance(value, (str, bytes))]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch[:0]


class StreamFetcher:
    """Batches of a dataset that is a stream of items."""

    def __init__(self, recipe: Recipe, dataset: Any) -> None:
        self.recipe: Recipe = recipe
        self.dataset: Any = dataset
        self.items: Any = iter(dataset)
        self.ended: bool = False

    def fetch(self, index: Any) -> Any:
        """The next batch, as long as `index`; with batching off, the next item. StopIteration at the end."""
        if self.ended:
            raise StopIteration
        wanted = len(index) if self.recipe.batched else 1
        batch = list(itertools.islice(self.items, wanted))
        self.ended = len(batch) < wanted
        if not batch or (self.recipe.drop_last and self.ended):
            raise StopIteration
        return self.recipe.collate_fn(batch if self.recipe.batched else batch[0])

    def state(self) -> dict[str, Any] | None:
        """The states of dataset and iterator that have one; None if neither has."""
        parts = {"dataset": self.dataset} if self.items is self.dataset else {"dataset": self.dataset, "items": self.items}
        saved = {name: part.state_dict() for name, part in parts.items() if stateful(part)}
        return {**saved, "ended": self.ended} if saved else None


def reopen(recipe: Recipe, dataset: Any, saved: dict[str, Any] | None) -> Any:
    """A fetcher for `dataset` that resumes from a saved state."""
    if saved and "dataset" in saved:
        dataset.load_state_dict(saved["dataset"])
    fetcher = recipe.fetcher(dataset)
    if saved and "items" in saved:
        fetcher.items.load_state_dict(saved["items"])      # type: ignore[union-attr]
    if saved and isinstance(fetcher, StreamFetcher):
        fetcher.ended = saved["ended"]
    return fetcher


def stateful(value: Any) -> bool:
    """Whether `value` has state_dict() and load_state_dict()."""
    return callable(getattr(value, "state_dict", None)) and callable(getattr(value, "load_state_dict", None))


def row_picker(dataset: Any) -> RowPicker | None:
    """For a TensorDataset, or Subsets of one: what default_collate makes of the items, by one indexing per tensor."""
    kind = type(dataset)
    if kind is Subset:
        inner, numbers = row_picker(dataset.dataset), dataset.indices
        known = isinstance(numbers, (list, tuple, range)) or (isinstance(numbers, np.ndarray) and numbers.dtype.kind == "i")
        return None if inner is None or not known else lambda index: inner([numbers[i] for i in index])
    if not isinstance(dataset, TensorDataset) or kind.__getitem__ is not TensorDataset.__getitem__ \
            or hasattr(dataset, "__getitems__") or not all(_rows(t) for t in dataset.tensors):
        return None

    def pick(index: Sequence[Any]) -> list[Tensor]:
        rows = np.array(index)
        return [t[rows] if isinstance(t, Tensor) and t.tracked else result(t.array.take(rows, 0))
                if isinstance(t, Tensor) else result(t.take(rows, 0)) for t in dataset.tensors]

    return pick


def _rows(tensor: TensorOrArray) -> bool:
    array = tensor.array if isinstance(tensor, Tensor) else tensor
    return isinstance(array, np.ndarray) and array.dtype.kind in "biufc"
