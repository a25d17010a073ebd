"""Datasets: items by number, or a stream of items; and datasets made of datasets."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, overload

from ...base.types import Array
from ...core.random import Generator, drawing

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T_co = TypeVar("T_co", covariant=True, default=Any)          # Dataset alone is Dataset[Any]
    Item = TypeVar("Item", default=Any)
else:
    from typing import TypeVar

    T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Items by number: subclasses write __getitem__ and, for most samplers, __len__.

    A subclass may also write __getitems__(indices), which returns the list of a whole batch's items at once.

    Example:
        >>> class Squares(ag.utils.data.Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, i):
        ...         return i * i
        >>> list(ag.utils.data.DataLoader(Squares(), batch_size=4))
        [tensor([0, 1, 4, 9])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co] | Any) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A stream of items: subclasses write __iter__.

    With workers each one iterates a copy of its own; get_worker_info() tells it which share of the items is its own. A
    dataset (or the iterator that it makes) with state_dict and load_state_dict is resumed by them, others by skipping.

    Example:
        >>> class Count(ag.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(ag.utils.data.DataLoader(Count(), batch_size=3))
        [tensor([0, 1, 2])]
    """

    def __add__(self, other: Any) -> ChainDataset[Any]:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Rows of tensors (or arrays) of equal length; item i is the tuple of their i-th rows.

    Raises:
        AssertionError: Size mismatch between tensors.

    Example:
        >>> ag.utils.data.TensorDataset(ag.arange(3), 10 * ag.arange(3))[1]
        (tensor(1), tensor(10))
    """

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
    """Datasets of equal length side by side, by position or by keyword; item i is the tuple, or with keywords the dict, of
    their i-th items.

    Raises:
        ValueError: StackDataset takes datasets by position (items are tuples) or by keyword (items are dicts), not both.
        ValueError: At least one dataset should be passed.
        ValueError: Size mismatch between datasets.

    Example:
        >>> ag.utils.data.StackDataset([1, 2], ["one", "two"])[1]
        (2, 'two')
        >>> ag.utils.data.StackDataset(number=[1, 2], name=["one", "two"])[1]
        {'number': 2, 'name': 'two'}
    """

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
        """The items of a batch; datasets with a __getitems__ of their own are asked once."""
        columns = [items_of(dataset, indices) for dataset in self._columns()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
        return [self._item(parts) for parts in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after another.

    Args:
        datasets (Iterable[Any]): sequences.

    Raises:
        AssertionError: datasets should not be an empty iterable.
        AssertionError: ConcatDataset does not support IterableDataset.

    Example:
        >>> len(ag.utils.data.ConcatDataset([[1, 2], [3]]))
        3
    """

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
        """Where each dataset ends."""
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
    """Streams one after another. A length is the sum of theirs, if all have one.

    Args:
        datasets (Iterable[IterableDataset]): The streams; the next one is begun when the one before has ended.

    Raises:
        AssertionError: ChainDataset only supports IterableDataset: when it is iterated.

    Example:
        >>> class Count(ag.utils.data.IterableDataset):
        ...     def __init__(self, n):
        ...         self.n = n
        ...     def __iter__(self):
        ...         return iter(range(self.n))
        >>> list(ag.utils.data.ChainDataset([Count(2), Count(3)]))
        [0, 1, 0, 1, 2]
    """

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
    """The items of `dataset` that `indices` names, in that order.

    Args:
        dataset: a sequence.
        indices (ints): Of the samples that it has.

    Raises:
        NotImplementedError: {kind.__name__} overrides __getitem__ but not __getitems__, which loads the batches of a
            DataLoader: write that too, for instance as [self.__getitem__(i) for i in indices].

    Example:
        >>> ag.utils.data.Subset([10, 20, 30], [2, 0])[0]
        30
    """

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
    """The items of a batch, by one call of the dataset's __getitems__ where it has one."""
    getitems = getattr(dataset, "__getitems__", None)
    return getitems(indices) if getitems else [dataset[i] for i in indices]


if TYPE_CHECKING:
    @overload
    def random_split(dataset: Dataset[Item], lengths: Sequence[float],
                     generator: Generator | None = None) -> list[Subset[Item]]: ...
    @overload
    def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]: ...


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Disjoint random Subsets of the given lengths, which sum to len(dataset), or fractions, which sum to 1.

    Fractions are rounded down; items left over go to the first subsets, one each.

    Args:
        dataset: a sequence.
        lengths (Sequence[float]): How many, or which parts of it, adding up to all.
        generator (Generator): Source of random numbers; the default generator if None.

    Returns:
        A list of Subsets.

    Raises:
        ValueError: Sum of input lengths does not equal the length of the input dataset!.
        ValueError: Fraction at index {i} is not between 0 and 1.

    Example:
        >>> [len(part) for part in ag.utils.data.random_split(list(range(10)), [0.8, 0.2])]
        [8, 2]
    """
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
