"""A local server that speaks the part of the OpenAI chat API that the harness uses, and keeps what it received."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server answers, after a delay; or an HTTP status other than 200 with an error and headers.

    Attributes:
        message: The message's fields beside its role, in place of the text as its content.
        payload: A whole body in place of a chat completion, as JSON or as it stands.
        resets: Whether the connection is reset instead.
    """

    text: str | None = "\\boxed{A1}"
    status: int = 200
    delay_s: float = 0.0
    error: Mapping[str, str] = field(default_factory=lambda: {"message": "injected"})
    headers: Mapping[str, str] = field(default_factory=dict)
    message: Mapping[str, Any] | None = None
    finish_reason: str = "stop"
    payload: Mapping[str, Any] | bytes | None = None
    resets: bool = False


@dataclass
class ChatServer:
    """The running server."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    most_in_flight: int = 0

    def parts(self, number: int) -> list[str | bytes]:
        """A request's single user turn: texts as they are, pictures as bytes."""
        (turn,) = self.requests[number]["messages"]
        assert turn["role"] == "user"
        return [
            part["text"] if part["type"] == "text" else base64.b64decode(part["image_url"]["url"].partition(",")[2])
            for part in turn["content"]
        ]


@contextmanager
def chat_server(answer: Callable[[dict[str, Any]], Reply], keep: bool = True) -> Iterator[ChatServer]:
    """Serves on a free port of this machine until the block ends.

    Args:
        answer: From a request's body to the reply.
        keep: Whether requests are kept (they hold all pictures).
    """
    lock = threading.Lock()
    in_flight = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets: the second would wait 40 ms for the client

        def do_POST(self) -> None:
            nonlocal in_flight
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(raw) if keep else {}
            with lock:
                in_flight += 1
                server.most_in_flight = max(server.most_in_flight, in_flight)
                if keep:
                    server.requests.append(body)
            reply = answer(body)
            time.sleep(reply.delay_s)
            with lock:
                in_flight -= 1
            if reply.resets:
                # Closed with nothing left to wait for, a connection is reset at once.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            message = {"content": reply.text} if reply.message is None else reply.message
            payload: Any = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "local",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": reply.finish_reason,
                        "message": {"role": "assistant", **message},
                    }
                ],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
            }
            if reply.status != 200:
                payload = {"error": reply.error}
            elif reply.payload is not None:
                payload = reply.payload
            data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the client has timed out, as a test wanted

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    httpd = Server(("127.0.0.1", 0), Handler)
    server = ChatServer(f"http://127.0.0.1:{httpd.server_address[1]}/v1")
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
