"""Key-value stores under torch.distributed's names: small values that processes share by name.

Keys are strings, values bytes (strings are encoded). get and wait wait for keys to be set, at most for the store's
timeout; then DistStoreError. Nothing received is unpickled or run. init_process_group needs no store here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import socketserver
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

PERIOD = 0.01                                        # seconds between two looks at a file


class DistError(RuntimeError):
    """The base of this package's errors that are no mistakes of the caller."""


class DistNetworkError(DistError):
    """A store's server can't be reached."""


class DistStoreError(DistError):
    """A key was not set in time."""


class DistBackendError(DistError):
    """Named for except clauses; collectives raise dparallel.CollectiveError."""


class Store(ABC):
    """The base of all stores. A subclass says how one request is answered."""

    def __init__(self, timeout: timedelta = timedelta(seconds=300)) -> None:
        self.set_timeout(timeout)

    @property
    def timeout(self) -> timedelta:
        """How long get and wait wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """How long get and wait are to wait; TypeError if it is no timedelta."""
        if not isinstance(timeout, timedelta):
            raise TypeError(f"a store's timeout is a datetime.timedelta, not {timeout!r}")
        self._timeout = timeout

    @abstractmethod
    def _ask(self, what: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        """One request of Table.answer(); DistStoreError if keys are not there within the timeout."""

    def set(self, key: str, value: str | bytes) -> None:
        """Set a key, which may have a value."""
        self._ask("set", [key], [_bytes(value)])

    def get(self, key: str) -> bytes:
        """The value of a key, once it has one."""
        return self._ask("get", [key], timeout=self._timeout.total_seconds())[0]

    def add(self, key: str, amount: int) -> int:
        """Add to a key's number, which is 0 at first; the sum. ValueError if its value is no number."""
        return int(self._ask("add", [key], [str(int(amount)).encode()])[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Append to the value of a key, which is empty at first."""
        self._ask("append", [key], [_bytes(value)])

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a key to `desired` if its value is `expected`, or if it has none and `expected` is empty; the value that it
        has then (`expected`, where it has none)."""
        return self._ask("compare_set", [key], [_bytes(expected_value), _bytes(desired_value)])[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are set."""
        self._ask("wait", list(keys), timeout=(self._timeout if timeout is None else timeout).total_seconds())

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self._ask("check", list(keys))[0] == b"1"

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        return self._ask("delete", [key])[0] == b"1"

    def num_keys(self) -> int:
        """The number of keys that are set."""
        return int(self._ask("count", [])[0])

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys, once all have one."""
        return self._ask("get", list(keys), timeout=self._timeout.total_seconds())

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set several keys."""
        if len(keys) != len(values):
            raise ValueError(f"multi_set: {len(keys)} keys, but {len(values)} values")
        self._ask("set", list(keys), [_bytes(value) for value in values])

    def has_extended_api(self) -> bool:
        """True: append, multi_get and multi_set are there."""
        return True


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeError(f"a store's values are strings or bytes, not {type(value).__name__}")


class Table:
    """The keys of a store, for threads to share."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.changed = threading.Condition()

    def answer(self, what: str, keys: Sequence[str], values: Sequence[bytes], timeout: float) -> list[bytes]:
        """Do what a request asks; DistStoreError if its keys are not there in time."""
        with self.changed:
            if what in ("get", "wait") and not self.changed.wait_for(lambda: all(k in self.data for k in keys), timeout):
                raise DistStoreError(missing(keys, self.data, timeout))
            found = act(self.data, what, keys, values)
            self.changed.notify_all()
            return found


def missing(keys: Sequence[str], data: Any, timeout: float) -> str:
    """What a request that waited in vain says."""
    return f"wait timeout after {timeout:g} s, keys not set: {', '.join(key for key in keys if key not in data)}"


def act(data: dict[str, bytes], what: str, keys: Sequence[str], values: Sequence[bytes]) -> list[bytes]:
    """Do to the table what a request asks, whose keys are there where it waits for them."""
    if what == "get":
        return [data[key] for key in keys]
    if what == "set":
        data.update(zip(keys, values, strict=True))
    elif what == "add":
        data[keys[0]] = str(int(data.get(keys[0], b"0")) + int(values[0])).encode()
        return [data[keys[0]]]
    elif what == "append":
        data[keys[0]] = data.get(keys[0], b"") + values[0]
    elif what == "compare_set":
        if data.get(keys[0], b"") == values[0]:
            data[keys[0]] = values[1]
        return [data.get(keys[0], values[0])]
    elif what == "check":
        return [b"1" if all(key in data for key in keys) else b"0"]
    elif what == "delete":
        return [b"0" if data.pop(keys[0], None) is None else b"1"]
    elif what == "count":
        return [str(len(data)).encode()]
    return []


class HashStore(Store):
    """A store of the threads of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()

    def _ask(self, what: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        return self._table.answer(what, keys, values, timeout)


class FileStore(Store):
    """A store in a file that processes share, on a file system with locks. world_size is not needed."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = os.fspath(file_name)
        open(self.path, "ab").close()

    def _ask(self, what: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            with open(self.path, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)     # given back as the file is closed
                parts = unpacked(file.read())
                data = {key.decode(): value for key, value in zip(parts[::2], parts[1::2], strict=True)}
                if what not in ("get", "wait") or all(key in data for key in keys):
                    before = dict(data)
                    found = act(data, what, keys, values)
                    if data != before:
                        file.seek(0)
                        file.write(packed([part for key, value in data.items() for part in (key.encode(), value)]))
                        file.truncate()
                    return found
            if time.monotonic() >= deadline:
                raise DistStoreError(missing(keys, data, timeout))
            time.sleep(PERIOD)


class PrefixStore(Store):
    """Another store, with a prefix before each key. num_keys counts all keys of that store."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__(store.timeout)
        self.prefix, self.underlying_store = prefix, store

    def _ask(self, what: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        return self.underlying_store._ask(what, [f"{self.prefix}/{key}" for key in keys], values, timeout)


class TCPStore(Store):
    """A store that one process (is_master) serves to others at host_name:port; port 0: any that is free, see .port.

    With a world_size and wait_for_workers the server waits until as many processes, itself among them, have come.
    """

    def __init__(self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
                 timeout: timedelta = timedelta(seconds=300), wait_for_workers: bool = True, multi_tenant: bool = False,
                 master_listen_fd: int | None = None, use_libuv: bool = True) -> None:
        super().__init__(timeout)
        if master_listen_fd is not None:
            raise NotImplementedError("TCPStore(master_listen_fd=...): it opens a socket of its own here")
        self.host, self.port, self._lock = host_name, port, threading.Lock()
        self._server: _Server | None = None
        if is_master:
            try:
                self._server = _Server(("", port))
                self.port = self._server.server_address[1]
                threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
            except OSError as error:                 # multi_tenant: the server of another store of this port will do
                if not multi_tenant:
                    raise DistNetworkError(f"TCPStore can't listen at port {port}: {error}") from error
        self._socket = self._connected()
        self.add("init/", 1)
        if world_size and wait_for_workers and is_master:
            deadline = time.monotonic() + timeout.total_seconds()
            while self.add("init/", 0) < world_size:
                if time.monotonic() > deadline:
                    raise DistStoreError(f"TCPStore: {self.add('init/', 0)} of {world_size} processes came in time")
                time.sleep(PERIOD)

    def _connected(self) -> socket.socket:
        deadline = time.monotonic() + self.timeout.total_seconds()
        while True:
            try:
                return socket.create_connection((self.host, self.port), 5.0)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise DistNetworkError(f"TCPStore: no server at {self.host}:{self.port} ({error})") from error
            time.sleep(0.05)

    def num_keys(self) -> int:
        """The number of keys that are set, without the store's own."""
        return super().num_keys() - 1

    def _ask(self, what: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        parts = [what.encode(), repr(timeout).encode(), str(len(keys)).encode(), *[k.encode() for k in keys], *values]
        with self._lock:
            try:
                self._socket.settimeout(timeout + 60.0)
                send(self._socket, parts)
                kind, *found = receive(self._socket)
            except OSError as error:
                raise DistNetworkError(f"TCPStore: the server at {self.host}:{self.port} has gone ({error})") from error
        if kind == b"error":
            raise DistStoreError(found[0].decode())
        return found


class _Handler(socketserver.BaseRequestHandler):
    """Answers one client's requests, one after the other."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):           # the client has gone
            while True:
                what, timeout, count, *rest = receive(self.request)
                keys, values = [key.decode() for key in rest[:int(count)]], rest[int(count):]
                try:
                    found = [b"found", *self.server.table.answer(what.decode(), keys, values, float(timeout))]  # type: ignore[attr-defined]
                except (DistStoreError, ValueError) as error:
                    found = [b"error", str(error).encode()]
                send(self.request, found)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self, address: tuple[str, int]) -> None:
        self.table = Table()
        super().__init__(address, _Handler)


def packed(parts: Sequence[bytes]) -> bytes:
    """Strings of bytes as one, each behind its length."""
    return b"".join(struct.pack("=q", len(part)) + part for part in parts)


def unpacked(data: bytes) -> list[bytes]:
    """What was packed."""
    parts, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("=q", data, at)
        parts.append(data[at + 8:at + 8 + length])
        at += 8 + length
    return parts


def send(connection: socket.socket, parts: Sequence[bytes]) -> None:
    """Send strings of bytes as one message."""
    data = packed(parts)
    connection.sendall(struct.pack("=q", len(data)) + data)


def receive(connection: socket.socket) -> list[bytes]:
    """The next message; OSError at the end of the connection."""
    (length,) = struct.unpack("=q", _exactly(connection, 8))
    return unpacked(_exactly(connection, length))


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = connection.recv(min(length - len(data), 1 << 20))
        if not piece:
            raise ConnectionError("the connection was closed")
        data += piece
    return bytes(data)


__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "HashStore", "PrefixStore",
           "Store", "TCPStore"]
