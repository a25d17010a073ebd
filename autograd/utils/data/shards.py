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


def sharded(stream: Any) -> ShardedStream:
    """The stream as a data set of the loader's."""
    stateful = hasattr(stream, "state_dict") and hasattr(stream, "load_state_dict")
    return StatefulStream(stream) if stateful else ShardedStream(stream)


class ShardedStream(IterableDataset[Any]):
    """A stream whose shards the loader's workers share; with fewer shards than workers each takes every n-th item.

    Each worker reads an object of its own, which shard() makes: a stream keeps its place in itself, and worker threads would
    move each other's."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        if name == "stream":                         # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.stream, name)

    def share(self) -> tuple[Any, int, int]:
        """This worker's part of the stream, the first of its items in that, and how far it is to the next."""
        info = get_worker_info()
        if info is None:
            return self.stream, 0, 1
        if getattr(self.stream, "num_shards", 1) >= info.num_workers:
            return self.shard(info.num_workers, info.id), 0, 1
        return self.shard(1, 0), info.id, info.num_workers

    def shard(self, num_shards: int, index: int) -> Any:
        """The stream's shard, in the stream's epoch; of one the whole stream as another object."""
        part = self.stream.shard(num_shards=num_shards, index=index)
        if hasattr(self.stream, "epoch") and hasattr(part, "set_epoch"):
            part.set_epoch(self.stream.epoch)        # Hugging Face's shard() begins at 0
        return part

    def __iter__(self) -> Iterator[Any]:
        part, first, step = self.share()
        return itertools.islice(iter(part), first, None, step)


class StatefulStream(ShardedStream):
    """A stream with a state: that of the part which is read, and whether its reading has begun, and ended."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.part = stream
        self.begun = self.ended = False
        self.saved: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        self.part, first, step = self.share()
        saved, self.saved, self.ended = self.saved, None, False
        self.begun = saved is not None and saved["begun"]
        if saved is not None:
            if self.part is self.stream:             # a state that is loaded stays for later passes, too
                self.part = self.shard(1, 0)
            self.part.load_state_dict(saved["part"])
        return self.items(itertools.islice(iter(self.part), step - 1 if self.begun else first, None, step))

    def items(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The rows; notes which of them have been read."""
        for row in rows:
            self.begun = True
            yield row
        self.ended = True

    def state_dict(self) -> dict[str, Any]:
        """Where the reading stands. At the end a stream stands before nothing: the next pass begins anew."""
        return {"part": None if self.ended else self.part.state_dict(), "begun": self.begun, "ended": self.ended}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next pass begin there."""
        self.saved = None if state["ended"] else state
