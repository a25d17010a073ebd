"""Key-value stores under torch.distributed's names, for small values shared by processes.

Keys are strings, values bytes (strings are encoded). get() and wait() wait until keys are set, and raise DistStoreError
after the store's timeout. Received data are never unpickled. init_process_group() does not need a store here.
"""

from __future__ import annotations

import os
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Condition

    from launch import private
else:                                                # dprun.py: ROS 2 has a package launch, too
    from dprun import private

try:
    import fcntl
except ImportError:                                  # Windows
    fcntl = None                                     # type: ignore[assignment]

POLL_SECONDS = 0.01                                        # seconds between two reads of a file
GONE_SECONDS = 0.5                                   # seconds between checks whether a waiting client is still connected
VALUES = {"get": 0, "wait": 0, "check": 0, "count": 0, "delete": 0, "add": 1, "append": 1, "compare_set": 2}
SEVERAL = ("get", "wait", "check")                   # requests with any number of keys; count has none, set has pairs


class DistError(RuntimeError):
    """The base class of communication errors."""


class DistNetworkError(DistError):
    """A store's server can't be reached."""


class DistStoreError(DistError):
    """A key was not set within the timeout."""


class DistBackendError(DistError):
    """For except clauses of PyTorch's scripts only: collectives raise dparallel.CollectiveError."""


class Store(ABC):
    """The base class of stores. A subclass defines _request()."""

    def __init__(self, timeout: timedelta = timedelta(seconds=300)) -> None:
        self.set_timeout(timeout)

    @property
    def timeout(self) -> timedelta:
        """The time after which get() and wait() raise."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout of get() and wait()."""
        if not isinstance(timeout, timedelta):
            raise TypeError(f"a store's timeout must be a datetime.timedelta, not {timeout!r}")
        self._timeout = timeout

    @abstractmethod
    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        """Send a request of apply_request() and return its result. DistStoreError if keys are not set within the timeout."""

    def set(self, key: str, value: str | bytes) -> None:
        """Set a key, or overwrite it. TypeError if value is neither a string nor bytes."""
        self._request("set", [key], [_bytes(value)])

    def get(self, key: str) -> bytes:
        """Wait until a key is set, and return its value. DistStoreError after the timeout."""
        return self._request("get", [key], timeout=self._timeout.total_seconds())[0]

    def add(self, key: str, amount: int) -> int:
        """Add to the number of a key, initially 0, and return the sum."""
        return int(self._request("add", [key], [str(int(amount)).encode()])[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Append to the value of a key, initially empty."""
        self._request("append", [key], [_bytes(value)])

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a key if it has the expected value, or if it is not set and the expected value is empty.

        Returns the key's value afterwards (`expected_value` if it is not set).
        """
        return self._request("compare_set", [key], [_bytes(expected_value), _bytes(desired_value)])[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are set. DistStoreError after the timeout."""
        self._request("wait", list(keys), timeout=(self._timeout if timeout is None else timeout).total_seconds())

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self._request("check", list(keys))[0] == b"1"

    def delete_key(self, key: str) -> bool:
        """Delete a key. Returns whether it was set."""
        return self._request("delete", [key])[0] == b"1"

    def num_keys(self) -> int:
        """The number of keys that are set."""
        return int(self._request("count", [])[0])

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Wait until all keys are set, and return their values. DistStoreError after the timeout."""
        return self._request("get", list(keys), timeout=self._timeout.total_seconds())

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set several keys. ValueError if the numbers of keys and values differ."""
        if len(keys) != len(values):
            raise ValueError(f"multi_set: {len(keys)} keys, but {len(values)} values")
        self._request("set", list(keys), [_bytes(value) for value in values])

    def has_extended_api(self) -> bool:
        """True: append, multi_get and multi_set are available."""
        return True


def _bytes(value: str | bytes) -> bytes:
    """A value as bytes; TypeError if it is neither a string nor bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeError(f"a store's values must be strings or bytes, not {type(value).__name__}")


class KeyTable:
    """The keys and values of a store, shared by threads."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.condition: Condition = threading.Condition()

    def answer(self, request: str, keys: Sequence[str], values: Sequence[bytes], timeout: float,
               check: Callable[[], None] = lambda: None) -> list[bytes]:
        """apply_request() under a lock. DistStoreError if keys are not set within the timeout. check() is called while it
        waits, and may raise.
        """
        deadline = time.monotonic() + timeout
        with self.condition:
            while request in ("get", "wait") and not all(k in self.data for k in keys):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise DistStoreError(timeout_text(keys, self.data, timeout))
                self.condition.wait(min(left, GONE_SECONDS))
                check()
            results = apply_request(self.data, request, keys, values)
            self.condition.notify_all()
            return results


def timeout_text(keys: Sequence[str], data: Container[str], timeout: float) -> str:
    """The error text of a request that has waited for keys for `timeout` seconds."""
    return f"wait timeout after {timeout:g} s, keys not set: {', '.join(key for key in keys if key not in data)}"


def apply_request(data: dict[str, bytes], request: str, keys: Sequence[str], values: Sequence[bytes]) -> list[bytes]:
    """Apply a request to the data of a store and return its result; its keys are set. ValueError for an invalid request."""
    expected = len(keys) if request == "set" else VALUES.get(request, -1)
    if len(values) != expected or (request not in (*SEVERAL, "set") and len(keys) != (request != "count")):
        raise ValueError(f"{request!r:.40} with {len(keys)} keys and {len(values)} values is not a valid request")
    if request == "get":
        return [data[key] for key in keys]
    if request == "set":
        data.update(zip(keys, values, strict=True))
    elif request == "add":
        data[keys[0]] = str(int(data.get(keys[0], b"0")) + int(values[0])).encode()
        return [data[keys[0]]]
    elif request == "append":
        data[keys[0]] = data.get(keys[0], b"") + values[0]
    elif request == "compare_set":
        if data.get(keys[0], b"") == values[0]:
            data[keys[0]] = values[1]
        return [data.get(keys[0], values[0])]
    elif request == "check":
        return [b"1" if all(key in data for key in keys) else b"0"]
    elif request == "delete":
        return [b"0" if data.pop(keys[0], None) is None else b"1"]
    elif request == "count":
        return [str(len(data)).encode()]
    return []


class HashStore(Store):
    """A store for threads of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._table = KeyTable()

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        return self._table.answer(request, keys, values, timeout)


class FileStore(Store):
    """A store in a file shared by processes, on a file system with locks."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        if fcntl is None:
            raise NotImplementedError(f"FileStore({file_name!r}): this system has no flock(); use a TCPStore")
        self.path: str = os.fspath(file_name)
        os.close(private.regular(self.path, os.O_RDWR | os.O_CREAT))

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            with open(private.regular(self.path, os.O_RDWR), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)     # released when the file is closed
                try:
                    parts = unpack(file.read())
                    data = {key.decode(): value for key, value in zip(parts[::2], parts[1::2], strict=True)}
                except ValueError as error:
                    raise DistStoreError(f"{self.path} is not a file of a FileStore: {error}") from error
                if request not in ("get", "wait") or all(key in data for key in keys):
                    before = dict(data)
                    results = apply_request(data, request, keys, values)
                    if data != before:
                        file.seek(0)
                        file.write(pack([part for key, value in data.items() for part in (key.encode(), value)]))
                        file.truncate()
                    return results
            if time.monotonic() >= deadline:
                raise DistStoreError(timeout_text(keys, data, timeout))
            time.sleep(POLL_SECONDS)


class PrefixStore(Store):
    """Another store with a prefix before each key. num_keys() counts all keys of that store."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__(store.timeout)
        self.prefix: str = prefix
        self.underlying_store: Store = store

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        return self.underlying_store._request(request, [f"{self.prefix}/{key}" for key in keys], values, timeout)


def pack(parts: Sequence[bytes]) -> bytes:
    """Byte strings as one, each preceded by its length."""
    return b"".join(struct.pack("=q", len(part)) + part for part in parts)


def unpack(data: bytes) -> list[bytes]:
    """The inverse of pack(). ValueError for an invalid length."""
    parts, at = [], 0
    while at < len(data):
        rest = len(data) - at - 8
        length = struct.unpack_from("=q", data, at)[0] if rest >= 0 else -1
        if not 0 <= length <= rest:
            raise ValueError(f"a part of {length} bytes, but {max(0, rest)} are left")
        parts.append(data[at + 8:at + 8 + length])
        at += 8 + length
    return parts
