"""Streams of other libraries, such as Hugging Face's IterableDataset: without a length, cut into shards by shard()."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .dataset import IterableDataset
from .workers import get_worker_info


def is_stream(dataset: object) -> bool:
    """Whether it is such a stream. The length decides: Hugging Face's also has columns by name."""
    return hasattr(dataset, "__iter__") and hasattr(dataset, "shard") and not hasattr(dataset, "__len__")


class ShardedStream(IterableDataset[Any]):
    """A stream whose shards the loader's workers share; with fewer shards than workers each takes every n-th item.

    Its state, if it has one, is the stream's.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        for name in ("state_dict", "load_state_dict"):
            if hasattr(stream, name):
                setattr(self, name, getattr(stream, name))

    def __getattr__(self, name: str) -> Any:
        if name == "stream":                         # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.stream, name)

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        if info is None:
            return iter(self.stream)
        if getattr(self.stream, "num_shards", 1) >= info.num_workers:
            return iter(self.stream.shard(num_shards=info.num_workers, index=info.id))
        return itertools.islice(iter(self.stream), info.id, None, info.num_workers)
