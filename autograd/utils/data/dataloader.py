"""DataLoader: iterate over a dataset in batches."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import warnings
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, overload

from ...base.arguments import real_number, whole_number
from ...base.environment import usable_cores
from ...modes.random import Generator
from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset, T_co
from .fetch import Recipe
from .iteration import ParallelIterator, SerialIterator
from .resume import Progress, apply, check, save
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from .shards import is_stream, sharded
from .workers import get_worker_info

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol, TypedDict

    import numpy as np
    from typing_extensions import Never, TypeVar, Unpack

    from ...base.types import Array
    from ...core.tensor import Tensor

    Batch_co = TypeVar("Batch_co", covariant=True, default=Any)  # DataLoader[Item] is DataLoader[Item, Any]
    Item = TypeVar("Item", default=Any)
    Batch = TypeVar("Batch", default=Any)
    Value = Tensor | float | Array | np.generic

    class Collated:
        """In place of the type of batches: what default_collate() makes of items, which __iter__() says."""

    class Named(Protocol):
        """A named tuple."""

        @property
        def _fields(self) -> tuple[str, ...]: ...

    class Settings(TypedDict, total=False):
        """Arguments of a DataLoader that do not change what its batches are."""

        pin_memory: bool
        drop_last: bool
        timeout: float
        worker_init_fn: Any
        multiprocessing_context: Any
        generator: Generator | None
        prefetch_factor: int | None
        persistent_workers: bool
        pin_memory_device: str
        in_order: bool
else:
    from typing import TypeVar

    Batch_co = TypeVar("Batch_co", covariant=True)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

FIXED = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


class DataLoader(Generic[T_co, Batch_co]):
    """Iterate over a dataset in batches; workers load batches in advance, in the same order.

    Workers are threads, in which NumPy and file reads run in parallel. With a `multiprocessing_context` they are processes,
    in which Python code does too.
    state_dict() and load_state_dict() resume a pass at the next batch."""

    dataset: Any
    batch_size: int | None
    sampler: Any
    batch_sampler: Any
    drop_last: bool
    persistent_workers: bool

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)          # DataLoader[Item]: the second may be left out

    if TYPE_CHECKING:
        @overload
        def __init__(self: DataLoader[Item, Batch], dataset: Dataset[Item], batch_size: int | None = 1,
                     shuffle: bool | None = None, sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0, *,
                     collate_fn: Callable[[list[Item]], Batch], **settings: Unpack[Settings]) -> None: ...
        @overload
        def __init__(self: DataLoader[Item, Collated], dataset: Dataset[Item], batch_size: int = 1,
                     shuffle: bool | None = None, sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
                     collate_fn: None = None, **settings: Unpack[Settings]) -> None: ...
        @overload
        def __init__(self: DataLoader[Item, Any], dataset: Dataset[Item], batch_size: None, shuffle: bool | None = None,
                     sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0, collate_fn: None = None,
                     **settings: Unpack[Settings]) -> None: ...
        @overload
        def __init__(self: DataLoader[Any, Any], dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
                     sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
                     collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False,
                     timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
                     generator: Generator | None = None, *, prefetch_factor: int | None = None,
                     persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True) -> None: ...

    def __init__(self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
                 sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
                 collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False,
                 timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
                 generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
                 pin_memory_device: str = "", in_order: bool = True) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        items: Any = sharded(dataset) if is_stream(dataset) and not isinstance(dataset, IterableDataset) else dataset
        iterable = isinstance(items, IterableDataset)
        if iterable:
            _check_stream(shuffle, sampler, batch_sampler)
        _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.num_workers: int = num_workers
        self.timeout: float = timeout
        self.worker_init_fn: Callable[[int], object] | None = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor: int | None = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory: bool = pin_memory
        self.pin_memory_device: str = pin_memory_device
        self.in_order: bool = in_order
        if sampler is None:
            sampler = Endless() if iterable else \
                RandomSampler(items, generator=generator) if shuffle else SequentialSampler(items)
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.generator: Generator | None = generator
        self._promised = None
        self.collate_fn: Callable[[Any], Any] = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._iterator: Any = None                            # of persistent workers
        self._progress: Progress | None = None                # of the newest pass
        self._saved: dict[str, Any] | None = None             # what the next pass goes on from
        self.__dict__.update(dataset=items, batch_size=batch_size, sampler=sampler, batch_sampler=batch_sampler,
                             drop_last=drop_last, persistent_workers=persistent_workers)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """The multiprocessing context of worker processes; None for worker threads."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: Any) -> None:
        if value is not None and self.num_workers == 0:
            raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                             f"got num_workers={self.num_workers}")
        if isinstance(value, str):
            methods = multiprocessing.get_all_start_methods()
            if value not in methods:
                raise ValueError("multiprocessing_context option should specify a valid start method in "
                                 f"{methods!r}, but got multiprocessing_context={value!r}")
            value = multiprocessing.get_context(value)
        if value is not None and not isinstance(value, multiprocessing.context.BaseContext):
            raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                            f"start method, but got multiprocessing_context={value}")
        self._context = value

    @property
    def _index_sampler(self) -> Any:
        """The sampler of batches, or with batching off of items."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _recipe(self) -> Recipe:
        """The settings that fetchers need to make batches."""
        return Recipe(isinstance(self.dataset, IterableDataset), self.batch_sampler is not None, self.collate_fn,
                      self.drop_last, None if self.batch_size is None else [None] * self.batch_size)

    if TYPE_CHECKING:                                # Any fits Never: the first two are of loaders whose type is not known
        @overload
        def __iter__(self: DataLoader[Never, Collated]) -> Iterator[Any]: ...
        @overload
        def __iter__(self: DataLoader[Any, Never]) -> Iterator[Any]: ...
        @overload
        def __iter__(self: DataLoader[Named, Collated]) -> Iterator[Any]: ...
        @overload
        def __iter__(self: DataLoader[Value, Collated]) -> Iterator[Tensor]: ...
        @overload
        def __iter__(self: DataLoader[tuple[Value, ...], Collated]) -> Iterator[list[Tensor]]: ...
        @overload
        def __iter__(self: DataLoader[Mapping[str, Value], Collated]) -> Iterator[dict[str, Tensor]]: ...
        @overload
        def __iter__(self: DataLoader[Any, Collated]) -> Iterator[Any]: ...
        @overload
        def __iter__(self) -> Iterator[Batch_co]: ...

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0 and self.timeout:
            raise AssertionError("timeout needs num_workers > 0: only workers have a time limit")
        if self.num_workers and not self.prefetch_factor:
            raise AssertionError("prefetch_factor must be greater than 0 where there are workers")
        saved, self._saved = self._saved, None
        if self.num_workers == 0:
            return SerialIterator(self, saved)
        if self._iterator is not None and self._iterator.usable:
            self._iterator.begin(self, saved)
            return self._iterator
        self.check_worker_number_rationality()
        iterator = ParallelIterator(self, saved)
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    @property
    def end_of_dataloader(self) -> bool:
        """Whether the pass returned its last batch (Accelerate's name); for a stream without length, whether it ended."""
        if self._progress is None or self._progress.finished:
            return self._progress is not None
        try:
            return self._progress.batches >= len(self)
        except TypeError:
            return False

    def __getstate__(self) -> dict[str, Any]:
        """A copy has no workers, and no pass in progress."""
        return {**self.__dict__, "_iterator": None, "_progress": None}

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        n = self._promised = len(self.dataset)  # type: ignore[arg-type, assignment]
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn about more worker processes than processors."""
        cores = usable_cores()
        if self.multiprocessing_context is not None and self.num_workers > cores:
            warnings.warn(f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max "
                          f"number of worker in current system is {cores}, which is smaller than what this DataLoader is "
                          "going to create.", stacklevel=3)

    def state_dict(self) -> dict[str, Any]:
        """The position of the latest pass after its last batch, with the states of the loader's and samplers' generators.

        Without a generator the state includes the default one."""
        if self._saved is not None:
            return self._saved
        if not self.in_order and self.num_workers > 1:
            raise NotImplementedError("DataLoader.state_dict() with in_order=False: which batches are still to come is "
                                      "not a number")
        return save(self, self._progress)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume the next pass from a state, and restore the random generators."""
        check(self, state_dict)
        apply(self, state_dict)
        self._saved = state_dict


class Endless(Sampler[None]):
    """None for ever: the sampler of a stream."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    whole_number("DataLoader(num_workers", num_workers, None)
    real_number("DataLoader(timeout", timeout)
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to load in the caller's thread.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified with workers: let num_workers > 0, or set "
                         "prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError("DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                         f"shuffle={shuffle}")
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")


def _check_batches(batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
