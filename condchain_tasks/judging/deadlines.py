"""HTTP whose whole answer has a deadline.

The timeouts of `requests` and of what it rests on are those of a single read: a server that sends a byte now and then
is waited for without end, in its headers too.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from collections.abc import Callable
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

MAX_ANSWER_BYTES = 20_000_000
"""Of one answer with its headers; a verdict has a few hundred."""


class AnswerTooLong(Exception):
    """A server that does not stop to send."""


class DeadlineAdapter(HTTPAdapter):
    """The adapter of `requests`, but the time for reading is that for all of an answer, and its size is bounded."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Called by `requests` when it makes its pool of connections."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """The same for connections by way of a proxy."""
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOLS
        return manager


class _BoundedReads(io.RawIOBase):
    """A socket's bytes until a deadline, and no more of them than an answer may have."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        self._raw = raw
        self._socket = connection
        self._seconds = connection.gettimeout()
        self._end = None if self._seconds is None else time.monotonic() + self._seconds
        self._left = MAX_ANSWER_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._end is not None:
            seconds = self._end - time.monotonic()
            if seconds <= 0:
                raise TimeoutError(f"timed out: the answer was not whole after {self._seconds:g} s")
            self._socket.settimeout(seconds)
        read: int | None = self._raw.readinto(buffer)
        self._left -= read or 0
        if self._left < 0:
            raise AnswerTooLong(f"the answer has more than {MAX_ANSWER_BYTES:,} bytes")
        return read

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """A response whose deadline begins to run when its first byte is waited for."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        detach: Callable[[], io.RawIOBase] = self.fp.detach
        self.fp = io.BufferedReader(_BoundedReads(detach(), sock))


class _Connection(HTTPConnection):
    response_class = _Response


class _SecureConnection(HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS = {"http": _Pool, "https": _SecurePool}
