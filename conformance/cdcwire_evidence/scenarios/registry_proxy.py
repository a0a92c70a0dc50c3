"""A proxy before a registry: it records requests, asks for a password, and can cut connections.

It passes requests to a registry that has no users of its own, and its answers back.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.services import Registry

_HOST = "127.0.0.1"
_HEADERS = ("Accept", "Content-Type")


@dataclass(slots=True)
class RegistryProxy:
    """A proxy to a registry, and the requests that it received.

    ``service``: the registry as clients reach it through the proxy. ``is_open``: if false, the
    proxy cuts connections without an answer. ``requests``: methods and paths in order, rejected
    ones too. ``users``: passwords by user; if empty, no password is required. ``guests``: known
    users without any permission.
    """

    service: Registry
    users: Mapping[str, str] = field(default_factory=dict)
    guests: frozenset[str] = frozenset()
    is_open: bool = True
    requests: list[tuple[str, str]] = field(default_factory=list)

    def refusal(self, authorization: str) -> int:
        """Return the status with which a request is refused, 0 if it may pass."""
        if not self.users:
            return 0
        for user, password in self.users.items():
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            if authorization == f"Basic {token}":
                return 403 if user in self.guests else 0
        return 401


@contextmanager
def proxy_to(
    registry: Registry,
    users: Mapping[str, str] | None = None,
    guests: frozenset[str] = frozenset(),
    is_open: bool = True,
) -> Iterator[RegistryProxy]:
    """Run a proxy to a registry on a port of loopback."""
    urllib3 = load_requirement("urllib3", "a registry")
    root = urlsplit(registry.url)
    upstream = f"{root.scheme}://{root.netloc}"
    with urllib3.PoolManager(retries=False, timeout=30.0) as pool:

        def ask(method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
            answer = pool.request(method, upstream + path, body=body or None, headers=headers)
            return answer.status, answer.data

        proxy = RegistryProxy(Registry(""), users or {}, guests, is_open)
        server = _Server((_HOST, 0), _handler(proxy, ask))
        proxy.service = Registry(f"http://{_HOST}:{server.server_address[1]}{root.path}")
        with server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                yield proxy
            finally:
                server.shutdown()
                thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that leave are what scenarios are about."""


Ask = Callable[[str, str, bytes, dict[str, str]], "tuple[int, bytes]"]


def _handler(proxy: RegistryProxy, ask: Ask) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            proxy.requests.append((self.command, self.path))
            if not proxy.is_open:
                self.close_connection = True
                return
            status = proxy.refusal(self.headers.get("Authorization") or "")
            if status:
                answer = b'{"error_code":%d,"message":"no entry"}' % status
            else:
                headers = {name: self.headers[name] for name in _HEADERS if name in self.headers}
                status, answer = ask(self.command, self.path, body, headers)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_DELETE = pass_on

        def log_message(self, format: str, *arguments: object) -> None:
            """Be silent."""

    return Handler
