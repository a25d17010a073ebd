"""TCPStore: a store that one process serves to others.

Server and clients prove to each other that they have the same token, without sending it; greeting and proof have fixed
lengths. Each later message, and each of its parts, starts with its length. Anything invalid closes the connection.
"""

from __future__ import annotations

import contextlib
import hmac
import math
import os
import secrets
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..comm.environment import environment
from .stores import POLL_SECONDS, DistNetworkError, DistStoreError, KeyTable, Store, pack, unpack

if TYPE_CHECKING:
    from launch import private
else:                                                # dprun.py: ROS 2 has a package launch, too
    from dprun import private

LIMIT = 1 << 28                                      # bytes of a message
PROOF_SECONDS = 5.0                                  # in which both ends prove their tokens
SILENT_SECONDS = 10.0                                # for each piece of a message that has begun
ANSWER_SECONDS = 60.0                                # in which a server answers requests without a wait
UNPROVED = 64                                        # most connections without proof; one of more is closed
TOKEN, OPEN, PROOF = b"dparallel: token", b"dparallel: open.", b"dparallel: proof"       # how greetings and proofs begin
NONCE = 32


class TCPStore(Store):
    """A store that one process (is_master) serves to others at host_name:port.

    The server listens at the address of host_name only, and serves only processes that have its token.
    """

    def __init__(self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
                 timeout: timedelta = timedelta(seconds=300), wait_for_workers: bool = True, multi_tenant: bool = False,
                 master_listen_fd: int | None = None, use_libuv: bool = True, token: str | None = None) -> None:
        super().__init__(timeout)
        if master_listen_fd is not None:
            raise NotImplementedError("TCPStore(master_listen_fd=...): not implemented; the store opens its own socket")
        if token is not None and not isinstance(token, str):
            raise TypeError(f"TCPStore(token={token!r}): token must be a string, or None for the job's")
        self.host: str = host_name
        self.port: int = port
        own = environment.text("DPARALLEL_TOKEN") or private.user_word("token") if token is None else token
        self._token = own.encode()
        self._lock = threading.Lock()
        self._server: _Server | None = None
        if is_master:
            try:
                self._server = _Server(*_address(host_name, port), self._token)
                self.port = self._server.server_address[1]
                threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
            except OSError as error:                 # multi_tenant: use the server of another store at this port
                if not multi_tenant:
                    raise DistNetworkError(f"TCPStore can't listen at {host_name}:{port}: {error}; host_name must be a name "
                                           "or address of this host, or 0.0.0.0 for all of its addresses") from error
        self._socket = self._connect()
        self.add("init/", 1)
        if world_size and wait_for_workers and is_master:
            deadline = time.monotonic() + timeout.total_seconds()
            while self.add("init/", 0) < world_size:
                if time.monotonic() > deadline:
                    raise DistStoreError(f"TCPStore: {self.add('init/', 0)} of {world_size} processes connected in time")
                time.sleep(POLL_SECONDS)

    def _connect(self) -> socket.socket:
        """Connect to the server; DistNetworkError after the timeout."""
        deadline = time.monotonic() + self.timeout.total_seconds()
        while True:
            try:
                return self._connected()
            except OSError as error:
                if time.monotonic() > deadline:
                    raise DistNetworkError(f"TCPStore: no server at {self.host}:{self.port} ({error})") from error
            time.sleep(0.05)

    def _connected(self) -> socket.socket:
        """A connection to a process that has the same token."""
        family, address = _address(self.host, self.port)
        connection = socket.socket(family)
        until = time.monotonic() + PROOF_SECONDS
        try:
            connection.settimeout(PROOF_SECONDS)
            connection.connect(address)
            greeting = _receive_exactly(connection, len(TOKEN) + NONCE, until)
            if greeting[:len(TOKEN)] != (TOKEN if self._token else OPEN):
                which = {TOKEN: "requires a token", OPEN: "has no token"}.get(greeting[:len(TOKEN)], "is not a TCPStore")
                raise DistNetworkError(f"TCPStore: the server at {self.host}:{self.port} {which}, and this process "
                                       f"{'has one' if self._token else 'has none'}: {REMEDY}")
            if self._token:
                _prove(connection, self._token, greeting[len(TOKEN):], f"{self.host}:{self.port}", until)
        except BaseException:
            connection.close()
            raise
        return connection

    def num_keys(self) -> int:
        """The number of keys that are set, without the one that counts processes."""
        return super().num_keys() - 1

    def _request(self, request: str, keys: Sequence[str], values: Sequence[bytes] = (), timeout: float = 0.0) -> list[bytes]:
        parts = [request.encode(), repr(timeout).encode(), str(len(keys)).encode(), *[k.encode() for k in keys], *values]
        size = sum(len(part) + 8 for part in parts)
        if size > LIMIT:
            raise ValueError(f"TCPStore: a request of {size} bytes exceeds the limit of {LIMIT}")
        with self._lock:
            try:
                self._socket.settimeout(min(timeout, 1e8) + ANSWER_SECONDS)
                send(self._socket, parts)
                kind, *results = receive(self._socket)
            except (OSError, ValueError) as error:
                raise DistNetworkError(f"TCPStore: lost the server at {self.host}:{self.port} ({error})") from error
        if kind == b"error":
            raise DistStoreError(results[0].decode())
        return results


class _Handler(socketserver.BaseRequestHandler):
    """Handles the requests of one client, one after another."""

    server: _Server

    def handle(self) -> None:
        """Serve the client until it disconnects, or sends an invalid request."""
        with contextlib.suppress(OSError, ValueError):
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)           # detects a failed host
            try:
                self.greet()
            finally:
                self.server.proved(self.request)
            while True:
                request, timeout, keys, values = self.next_request()
                try:
                    results = [b"found", *self.server.table.answer(request, keys, values, timeout, self.check)]
                except (DistStoreError, ValueError) as error:
                    results = [b"error", str(error).encode()]
                send(self.request, results)

    def greet(self) -> None:
        """Client and server prove to each other that they have the token. ValueError if the client does not have it."""
        token, nonce, until = self.server.token, os.urandom(NONCE), time.monotonic() + PROOF_SECONDS
        self.request.settimeout(PROOF_SECONDS)
        self.request.sendall((TOKEN if token else OPEN) + nonce)
        if not token:
            return
        begun = b""
        while len(begun) < len(PROOF):               # what begins otherwise is closed at once
            begun += _receive_exactly(self.request, 1, until)
            if not PROOF.startswith(begun):
                raise ValueError("no client of a TCPStore")
        theirs = _receive_exactly(self.request, NONCE, until)
        if not hmac.compare_digest(_receive_exactly(self.request, NONCE, until), _proof(token, b"client", nonce, theirs)):
            self.request.sendall(bytes(NONCE))       # no proof: so the client learns that the tokens differ
            raise ValueError("another token")
        self.request.sendall(_proof(token, b"server", nonce, theirs))

    def next_request(self) -> tuple[str, float, list[str], list[bytes]]:
        """The next message, parsed. ValueError for an invalid request."""
        self.request.settimeout(None)
        self.request.recv(1, socket.MSG_PEEK)        # a client may be silent for long, but not within a message
        self.request.settimeout(SILENT_SECONDS)
        parts = receive(self.request)
        if len(parts) < 3 or not parts[2].isdigit() or len(parts[2]) > 9 or int(parts[2]) > len(parts) - 3:
            raise ValueError("no request, timeout and number of keys")
        timeout, count = float(parts[1]), int(parts[2])
        if not 0 <= timeout < math.inf:
            raise ValueError("no timeout")
        return parts[0].decode(), timeout, [key.decode() for key in parts[3:3 + count]], parts[3 + count:]

    def check(self) -> None:
        """ConnectionError if the client, whose request waits for a key, has disconnected."""
        self.request.settimeout(0)
        with contextlib.suppress(BlockingIOError):   # it is silent, and waits
            if not self.request.recv(1, socket.MSG_PEEK):
                raise ConnectionError("the client has gone")
        self.request.settimeout(SILENT_SECONDS)


class _Server(socketserver.ThreadingTCPServer):
    """The server of a TCPStore, with a thread for each client."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def __init__(self, family: int, address: tuple[str, int], token: bytes) -> None:
        self.address_family = family
        self.table = KeyTable()
        self.token = token
        self._unproved: set[Any] = set()             # connections
        self._counts = threading.Lock()
        super().__init__(address, _Handler)

    def verify_request(self, request: Any, client_address: object) -> bool:
        """Accept a connection. If too many have not proved the token, close a random one of these: no process locks others
        out."""
        with self._counts:
            if len(self._unproved) >= UNPROVED:
                other = secrets.choice(list(self._unproved))
                self._unproved.remove(other)
                with contextlib.suppress(OSError):
                    other.shutdown(socket.SHUT_RDWR)             # its thread ends
            self._unproved.add(request)
        return True

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection."""
        try:
            super().process_request(request, client_address)
        except RuntimeError:                         # there are no more threads
            self.proved(request)
            raise

    def proved(self, request: Any) -> None:
        """A connection has proved its token, or is closed."""
        with self._counts:
            self._unproved.discard(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing for a failing client: others could fill the output."""


REMEDY = ("start all processes by one dprun, set DPARALLEL_TOKEN to the same random word for all, or pass token='' to every "
          "TCPStore, which then serves every process that can connect")


def _address(host: str, port: int) -> tuple[int, tuple[str, int]]:
    """The family and the address of a host: IPv4 if it has one. OSError if it has none."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=0 if host else socket.AI_PASSIVE)
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    return family, address                           # type: ignore[return-value]


def _proof(token: bytes, who: bytes, servers: bytes, clients: bytes) -> bytes:
    """A value that only a process with the token can compute from both random numbers."""
    return hmac.digest(token, who + servers + clients, "sha256")


def _prove(connection: socket.socket, token: bytes, servers: bytes, where: str, until: float) -> None:
    """On the client: prove that this process has the token. DistNetworkError if the server has another one."""
    mine = os.urandom(NONCE)
    connection.sendall(PROOF + mine + _proof(token, b"client", servers, mine))
    if not hmac.compare_digest(_receive_exactly(connection, NONCE, until), _proof(token, b"server", servers, mine)):
        raise DistNetworkError(f"TCPStore: the server at {where} has another token than this process: {REMEDY}")


def send(connection: socket.socket, parts: Sequence[bytes]) -> None:
    """Send byte strings as one message."""
    data = pack(parts)
    connection.sendall(struct.pack("=q", len(data)) + data)


def receive(connection: socket.socket) -> list[bytes]:
    """The byte strings of the next message; OSError at the end of the connection, ValueError for an invalid length."""
    (length,) = struct.unpack("=q", _receive_exactly(connection, 8))
    if not 0 <= length <= LIMIT:
        raise ValueError(f"a message of {length} bytes exceeds the limit of {LIMIT}")
    return unpack(_receive_exactly(connection, length))


def _receive_exactly(connection: socket.socket, length: int, until: float = math.inf) -> bytes:
    """The next `length` bytes. ConnectionError at the connection's end, TimeoutError at time.monotonic() == until."""
    data = bytearray()
    while len(data) < length:
        if until < math.inf:
            connection.settimeout(max(0.001, until - time.monotonic()))
        piece = connection.recv(min(length - len(data), 1 << 20))
        if not piece:
            raise ConnectionError("the connection was closed")
        data += piece
    return bytes(data)
