"""Key-value stores under torch.distributed's names, for small values that processes share.

Keys are strings, values bytes (strings are encoded). get() and wait() wait until keys are set, and raise DistStoreError
after the store's timeout. Received data are never unpickled. init_process_group() does not need a store here.
"""

from __future__ import annotations

import contextlib
import os
import socket
import socketserver
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Condition

try:
    import fcntl
except ImportError:                                  # Windows
    fcntl = None                                     # type: ignore[assignment]

POLL_SECONDS = 0.01                                        # seconds between two reads of a file


class DistError(RuntimeError):
    """The base class of errors of communication.

    Example:
        >>> import dparallel.distributed as dist
        >>> issubclass(dist.DistStoreError, dist.DistError)
        True
    """


class DistNetworkError(DistError):
    """A store's server can't be reached.

    Example:
        >>> import dparallel.distributed as dist
        >>> from datetime import timedelta
        >>> try:
        ...     dist.TCPStore('localhost', 1, timeout=timedelta(0))
        ... except dist.DistNetworkError as error:
        ...     print(str(error)[:33])
        TCPStore: no server at localhost:
    """


class DistStoreError(DistError):
    """A key was not set in time.

    Example:
        >>> import dparallel.distributed as dist
        >>> from datetime import timedelta
        >>> store = dist.HashStore()
        >>> store.set_timeout(timedelta(0))
        >>> try:
        ...     store.get('key')
        ... except dist.DistStoreError as error:
        ...     print(error)
        wait timeout after 0 s, keys not set: key
    """


class DistBackendError(DistError):
    """For except clauses of PyTorch's scripts only: collectives raise dparallel.CollectiveError.

    Example:
        >>> import dparallel.distributed as dist
        >>> issubclass(dist.DistBackendError, RuntimeError)
        True
    """


class Store(ABC):
    """The base class of stores. A subclass defines _request().

    Args:
        timeout (timedelta): How long get() and wait() wait for keys. Default: 300 s.

    Raises:
        TypeError: timeout is not a timedelta.

    Example:
        >>> import dparallel.distributed as dist
        >>> store = dist.HashStore()                    # or another subclass
        >>> store.set('key', 'value')
        >>> store.get('key'), store.add('count', 2), store.num_keys()
        (b'value', 2, 2)
        >>> store.append('key', '!')
        >>> store.check(['key']), store.compare_set('key', 'value!', 'new'), store.delete_key('key')
        (True, b'new', True)
        >>> store.multi_set(['a', 'b'], ['1', '2'])
        >>> store.wait(['a', 'b'])
        >>> store.multi_get(['a', 'b']), store.has_extended_api()
        ([b'1', b'2'], True)
        >>> from datetime import timedelta
        >>> store.set_timeout(timedelta(seconds=10))
        >>> store.timeout
        datetime.timedelta(seconds=10)
    """

    def __init__(self, timeout: timedelta = timedelta(seconds=300)) -> None:
        self.set_timeout(timeout)

    @property
    def timeout(self) -> timedelta:
        """The time after which get() and wait() raise."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout.

        Args:
            timeout (timedelta): How long get() and wait() wait.

        Raises:
            TypeError: it is not a timedelta.
        """
        if not isinstance(timeout, timedelta):
            raise TypeError(f"a store's timeout is a datetime.timedelta, not {timeout!r}")
        self._timeout = timeout

    @abstractmethod
    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        """Send a request of apply_request() and return its result. DistStoreError if keys are not set within the timeout."""

    def set(self, key: str, value: str | bytes) -> None:
        """Set a key, also one that has a value.

        Args:
            key (str): The key.
            value (str or bytes): The value.

        Raises:
            TypeError: value is neither a string nor bytes.
        """
        self._request("set", [key], [_bytes(value)])

    def get(self, key: str) -> bytes:
        """Wait until a key is set, and return its value.

        Args:
            key (str): The key.

        Raises:
            DistStoreError: the key was not set within the timeout.
        """
        return self._request("get", [key], timeout=self._timeout.total_seconds())[0]

    def add(self, key: str, amount: int) -> int:
        """Add to the number of a key, which is 0 at first, and return the sum.

        Args:
            key (str): The key.
            amount (int): What is added.

        Raises:
            ValueError: the key's value is not a number.
        """
        return int(self._request("add", [key], [str(int(amount)).encode()])[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Append to the value of a key, which is empty at first.

        Args:
            key (str): The key.
            value (str or bytes): What is appended.
        """
        self._request("append", [key], [_bytes(value)])

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a key to `desired_value` if its value is `expected_value`, or if it is not set and `expected_value` is
        empty. Returns the key's value afterwards (`expected_value` if it is not set).

        Args:
            key (str): The key.
            expected_value (str or bytes): What the key must have.
            desired_value (str or bytes): What it then gets.
        """
        return self._request("compare_set", [key], [_bytes(expected_value), _bytes(desired_value)])[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are set.

        Args:
            keys (sequence of str): The keys.
            timeout (timedelta): In place of the store's.

        Raises:
            DistStoreError: a key was not set within the timeout.
        """
        self._request("wait", list(keys), timeout=(self._timeout if timeout is None else timeout).total_seconds())

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set.

        Args:
            keys (sequence of str): The keys.
        """
        return self._request("check", list(keys))[0] == b"1"

    def delete_key(self, key: str) -> bool:
        """Delete a key. Returns whether it was set.

        Args:
            key (str): The key.
        """
        return self._request("delete", [key])[0] == b"1"

    def num_keys(self) -> int:
        """The number of keys that are set."""
        return int(self._request("count", [])[0])

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Wait until all keys are set, and return their values.

        Args:
            keys (sequence of str): The keys.

        Raises:
            DistStoreError: a key was not set within the timeout.
        """
        return self._request("get", list(keys), timeout=self._timeout.total_seconds())

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set several keys.

        Args:
            keys (sequence of str): The keys.
            values (Sequence[str or bytes]): One for each key.

        Raises:
            ValueError: there are more keys than values, or fewer.
        """
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
    raise TypeError(f"a store's values are strings or bytes, not {type(value).__name__}")


class KeyTable:
    """The keys and values of a store, shared by threads."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.condition: Condition = threading.Condition()

    def answer(self, request: str, keys: Sequence[str], values: Sequence[bytes], timeout: float) -> list[bytes]:
        """apply_request() under a lock. DistStoreError if the keys that a request waits for are not set in time."""
        with self.condition:
            waits = request in ("get", "wait")
            if waits and not self.condition.wait_for(lambda: all(k in self.data for k in keys), timeout):
                raise DistStoreError(timeout_text(keys, self.data, timeout))
            results = apply_request(self.data, request, keys, values)
            self.condition.notify_all()
            return results


def timeout_text(keys: Sequence[str], data: Container[str], timeout: float) -> str:
    """The text of the error of a request that has waited for keys for `timeout` seconds."""
    return f"wait timeout after {timeout:g} s, keys not set: {', '.join(key for key in keys if key not in data)}"


def apply_request(data: dict[str, bytes], request: str, keys: Sequence[str], values: Sequence[bytes]) -> list[bytes]:
    """Apply a request to the data of a store and return its result. The keys that it waits for are set."""
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
    """A store for threads of one process.

    Example:
        >>> import dparallel.distributed as dist
        >>> store = dist.HashStore()
        >>> store.set('key', 'value')
        >>> store.get('key')
        b'value'
    """

    def __init__(self) -> None:
        super().__init__()
        self._table = KeyTable()

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        return self._table.answer(request, keys, values, timeout)


class FileStore(Store):
    """A store in a file that processes share, on a file system with locks. world_size is ignored.

    Args:
        file_name (str): The path; the file is made if it is not there.
        world_size (int): Ignored. Default: -1.

    Raises:
        NotImplementedError: the system has no flock(), as Windows.
        OSError: the file can't be opened.

    Example:
        >>> import dparallel.distributed as dist
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dist.FileStore(os.path.join(folder, 'keys')).set('key', 'value')
        ...     dist.FileStore(os.path.join(folder, 'keys')).get('key')
        b'value'
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        if fcntl is None:
            raise NotImplementedError(f"FileStore({file_name!r}): this system has no flock(); use a TCPStore")
        self.path: str = os.fspath(file_name)
        open(self.path, "ab").close()

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            with open(self.path, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)     # released when the file is closed
                parts = unpack(file.read())
                data = {key.decode(): value for key, value in zip(parts[::2], parts[1::2], strict=True)}
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
    """Another store with a prefix before each key. num_keys() counts all keys of that store.

    Args:
        prefix (str): What stands before each key, with a "/".
        store (Store): The store of the keys.

    Example:
        >>> import dparallel.distributed as dist
        >>> store = dist.HashStore()
        >>> dist.PrefixStore('run1', store).set('key', 'value')
        >>> store.get('run1/key')
        b'value'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__(store.timeout)
        self.prefix: str = prefix
        self.underlying_store: Store = store

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        return self.underlying_store._request(request, [f"{self.prefix}/{key}" for key in keys], values, timeout)


class TCPStore(Store):
    """A store that one process (is_master) serves to others at host_name:port. port 0: a free port, see the attribute port.

    With world_size and wait_for_workers the server waits until world_size processes, including itself, have connected.

    Args:
        host_name (str): The host of the server.
        port (int): Its port.
        world_size (int): How many processes the server waits for. Default: None, none.
        is_master (bool): Whether this process is the server. Default: False.
        timeout (timedelta): How long get() and wait() wait for keys, and a client for the server. Default: 300 s.
        wait_for_workers (bool): Whether the server waits. Default: True.
        multi_tenant (bool): Use a server that is at this port already. Default: False.
        master_listen_fd: Not implemented. Default: None.
        use_libuv (bool): Ignored. Default: True.

    Raises:
        DistNetworkError: the server can't listen at the port, or can't be reached.
        DistStoreError: not all processes came in time.
        NotImplementedError: master_listen_fd is given.

    Example:
        >>> import dparallel.distributed as dist
        >>> server = dist.TCPStore('localhost', 0, is_master=True)
        >>> client = dist.TCPStore('localhost', server.port)
        >>> client.set('key', 'value')
        >>> server.get('key')
        b'value'
    """

    def __init__(self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
                 timeout: timedelta = timedelta(seconds=300), wait_for_workers: bool = True, multi_tenant: bool = False,
                 master_listen_fd: int | None = None, use_libuv: bool = True) -> None:
        super().__init__(timeout)
        if master_listen_fd is not None:
            raise NotImplementedError("TCPStore(master_listen_fd=...): it opens a socket of its own here")
        self.host: str = host_name
        self.port: int = port
        self._lock = threading.Lock()
        self._server: _Server | None = None
        if is_master:
            try:
                self._server = _Server(("", port))
                self.port = self._server.server_address[1]
                threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
            except OSError as error:                 # multi_tenant: use the server of another store at this port
                if not multi_tenant:
                    raise DistNetworkError(f"TCPStore can't listen at port {port}: {error}") from error
        self._socket = self._connect()
        self.add("init/", 1)
        if world_size and wait_for_workers and is_master:
            deadline = time.monotonic() + timeout.total_seconds()
            while self.add("init/", 0) < world_size:
                if time.monotonic() > deadline:
                    raise DistStoreError(f"TCPStore: {self.add('init/', 0)} of {world_size} processes came in time")
                time.sleep(POLL_SECONDS)

    def _connect(self) -> socket.socket:
        """Connect to the server; DistNetworkError after the timeout."""
        deadline = time.monotonic() + self.timeout.total_seconds()
        while True:
            try:
                return socket.create_connection((self.host, self.port), 5.0)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise DistNetworkError(f"TCPStore: no server at {self.host}:{self.port} ({error})") from error
            time.sleep(0.05)

    def num_keys(self) -> int:
        """The number of keys that are set, without the one that counts processes."""
        return super().num_keys() - 1

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        parts = [request.encode(), repr(timeout).encode(), str(len(keys)).encode(), *[k.encode() for k in keys], *values]
        with self._lock:
            try:
                self._socket.settimeout(timeout + 60.0)
                send(self._socket, parts)
                kind, *results = receive(self._socket)
            except OSError as error:
                raise DistNetworkError(f"TCPStore: the server at {self.host}:{self.port} has gone ({error})") from error
        if kind == b"error":
            raise DistStoreError(results[0].decode())
        return results


class _Handler(socketserver.BaseRequestHandler):
    """Handles the requests of one client, one after another."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):           # the client has gone
            while True:
                request, timeout, count, *rest = receive(self.request)
                keys, values = [key.decode() for key in rest[:int(count)]], rest[int(count):]
                try:
                    results = [b"found", *self.server.table.answer(request.decode(), keys, values, float(timeout))]  # type: ignore[attr-defined]
                except (DistStoreError, ValueError) as error:
                    results = [b"error", str(error).encode()]
                send(self.request, results)


class _Server(socketserver.ThreadingTCPServer):
    """The server of a TCPStore, with a thread for each client."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, address: tuple[str, int]) -> None:
        self.table = KeyTable()
        super().__init__(address, _Handler)


def pack(parts: Sequence[bytes]) -> bytes:
    """Byte strings as one, each preceded by its length."""
    return b"".join(struct.pack("=q", len(part)) + part for part in parts)


def unpack(data: bytes) -> list[bytes]:
    """The inverse of pack()."""
    parts, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("=q", data, at)
        parts.append(data[at + 8:at + 8 + length])
        at += 8 + length
    return parts


def send(connection: socket.socket, parts: Sequence[bytes]) -> None:
    """Send byte strings as one message."""
    data = pack(parts)
    connection.sendall(struct.pack("=q", len(data)) + data)


def receive(connection: socket.socket) -> list[bytes]:
    """The byte strings of the next message; OSError at the end of the connection."""
    (length,) = struct.unpack("=q", _receive_exactly(connection, 8))
    return unpack(_receive_exactly(connection, length))


def _receive_exactly(connection: socket.socket, length: int) -> bytes:
    """The next `length` bytes; ConnectionError if the connection ends before."""
    data = bytearray()
    while len(data) < length:
        piece = connection.recv(min(length - len(data), 1 << 20))
        if not piece:
            raise ConnectionError("the connection was closed")
        data += piece
    return bytes(data)


__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "HashStore", "PrefixStore",
           "Store", "TCPStore"]
