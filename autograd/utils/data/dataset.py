"""Map-style and iterable datasets, and datasets composed of others."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, overload

from ...base.types import Array
from ...modes.random import Generator, drawing

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T_co = TypeVar("T_co", covariant=True, default=Any)          # Dataset alone is Dataset[Any]
    Item = TypeVar("Item", default=Any)
else:
    from typing import TypeVar

    T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Base of map-style datasets: subclasses implement __getitem__ and, for most samplers, __len__.

    A subclass may also implement __getitems__(indices), which returns the samples of a batch as a list."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co] | Any) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Base of iterable datasets: subclasses implement __iter__.

    Each worker iterates its own copy; get_worker_info() identifies its share of the samples. A dataset (or its iterator)
    with state_dict and load_state_dict resumes through them, others by skipping samples."""

    def __add__(self, other: Any) -> ChainDataset[Any]:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """A dataset of tensors or arrays: sample i is the tuple of their i-th rows."""

    tensors: tuple[Any, ...]

    def __init__(self, *tensors: Any) -> None:
        if any(len(t) != len(tensors[0]) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Stack datasets of equal length: sample i is the tuple, or with keywords the dict, of their i-th samples."""

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("StackDataset takes datasets by position (items are tuples) or by keyword (items are dicts), "
                             "not both")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        self._length = len(self._columns()[0])
        if any(len(dataset) != self._length for dataset in self._columns()):
            raise ValueError("Size mismatch between datasets")

    def _columns(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _item(self, parts: Sequence[Any]) -> Any:
        return dict(zip(self.datasets, parts, strict=True)) if isinstance(self.datasets, dict) else tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._item([dataset[index] for dataset in self._columns()])

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        """The samples of a batch, by one call of __getitems__ for each dataset that has it."""
        columns = [items_of(dataset, indices) for dataset in self._columns()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
        return [self._item(parts) for parts in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Concatenate datasets end to end."""

    datasets: list[Any]
    cumulative_sizes: list[int]

    if TYPE_CHECKING:
        @overload
        def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None: ...
        @overload
        def __init__(self: ConcatDataset[Any], datasets: Iterable[Any]) -> None: ...

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The index at which each dataset ends."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[number][idx - (self.cumulative_sizes[number - 1] if number else 0)]


class ChainDataset(IterableDataset[T_co]):
    """Chain iterable datasets; the length is the sum of theirs, if all have one."""

    def __init__(self, datasets: Iterable[Dataset[T_co] | Any]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._streams())


class Subset(Dataset[T_co]):
    """The samples of a dataset at the given indices, in that order."""

    dataset: Any
    indices: Sequence[int] | Array

    if TYPE_CHECKING:
        @overload
        def __init__(self, dataset: Dataset[T_co], indices: Sequence[int] | Array) -> None: ...
        @overload
        def __init__(self: Subset[Any], dataset: Any, indices: Sequence[int] | Array) -> None: ...

    def __init__(self, dataset: Any, indices: Sequence[int] | Array) -> None:
        self.dataset, self.indices = dataset, indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(f"{kind.__name__} overrides __getitem__ but not __getitems__, which loads the batches "
                                      "of a DataLoader: write that too, for instance as "
                                      "[self.__getitem__(i) for i in indices]")

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        """The items of a batch."""
        return items_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def items_of(dataset: Any, indices: Sequence[Any]) -> list[Any]:
    """The samples of a batch, by one call of the dataset's __getitems__ if it has one."""
    getitems = getattr(dataset, "__getitems__", None)
    return getitems(indices) if getitems else [dataset[i] for i in indices]


if TYPE_CHECKING:
    @overload
    def random_split(dataset: Dataset[Item], lengths: Sequence[float],
                     generator: Generator | None = None) -> list[Subset[Item]]: ...
    @overload
    def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]: ...


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Split a dataset at random into disjoint Subsets."""
    items: Any = dataset
    size = len(items)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _shares(size, lengths)
    if sum(lengths) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = drawing(generator).permutation(size).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(items, order[end - length:end]) for end, length in zip(ends, lengths, strict=True)]


def _shares(size: int, fractions: Sequence[float]) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    counts = [math.floor(size * fraction) for fraction in fractions]
    for i in range(size - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if count == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return counts
