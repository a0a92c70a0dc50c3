"""A proxy before a service with HTTP, on a port of loopback, whose answers a scenario may alter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from cdcwire_evidence.scenarios import load_requirement

_HOST = "127.0.0.1"
_OF_CONNECTION = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Request:
    """A request. ``path``: with its query. ``headers``: as they came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. ``length``: what its header says; None: the length of the body.

    Where that is more than the body has, the connection is cut after the body.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


Ask: TypeAlias = Callable[[Request], Answer]
Respond: TypeAlias = Callable[[Request, Ask], "Answer | None"]
"""Gives the answer to a request, and may ask the service for it; None cuts the connection."""


@contextmanager
def proxy_before(upstream: str, respond: Respond) -> Iterator[str]:
    """Run a proxy before ``http://HOST:PORT``, and yield its own ``http://HOST:PORT``."""
    urllib3 = load_requirement("urllib3", "a proxy")
    with urllib3.PoolManager(retries=False, timeout=30.0) as pool:

        def ask(request: Request) -> Answer:
            found = pool.request(
                request.method,
                upstream + request.path,
                body=request.body or None,
                headers=dict(request.headers),
                decode_content=False,
            )
            length = found.headers.get("Content-Length")
            is_head = request.method == "HEAD" and length is not None
            return Answer(
                found.status, found.data, dict(found.headers), int(length) if is_head else None
            )

        server = _Server((_HOST, 0), _handler(lambda request: respond(request, ask)))
        with server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                yield f"http://{_HOST}:{server.server_address[1]}"
            finally:
                server.shutdown()
                thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that leave are what scenarios are about."""


def _handler(answer_to: Callable[[Request], Answer | None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits for the header's receipt

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = answer_to(Request(self.command, self.path, dict(self.headers.items()), body))
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in _OF_CONNECTION:
                    self.send_header(name, value)
            length = len(answer.body) if answer.length is None else answer.length
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(answer.body)
            if length > len(answer.body) and self.command != "HEAD":
                self.close_connection = True

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = pass_on

        def log_message(self, format: str, *arguments: object) -> None:
            """Be silent."""

    return Handler
