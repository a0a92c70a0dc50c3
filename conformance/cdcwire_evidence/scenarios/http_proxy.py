"""Proxies before services with HTTP, on a port of loopback: of a registry, and of an object store.

Before a registry that knows no users, one records requests, asks for a password, and can
cut connections. Before an object store, one throttles requests and cuts objects and lists.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.services import ObjectStore, Registry

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


_HEADERS = ("Accept", "Content-Type")
_JSON = {"Content-Type": "application/json"}


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

    def answer(self, request: Request, ask: Ask) -> Answer | None:
        """Return the registry's answer, a refusal, or None if the proxy is closed."""
        self.requests.append((request.method, request.path))
        if not self.is_open:
            return None
        status = self.refusal(request.headers.get("Authorization", ""))
        if status:
            return Answer(status, b'{"error_code":%d,"message":"no entry"}' % status, _JSON)
        headers = {name: request.headers[name] for name in _HEADERS if name in request.headers}
        found = ask(replace(request, headers=headers))
        return replace(found, headers=_JSON)

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
    root = urlsplit(registry.url)
    proxy = RegistryProxy(Registry(""), users or {}, guests, is_open)
    with proxy_before(f"{root.scheme}://{root.netloc}", proxy.answer) as address:
        proxy.service = Registry(f"{address}{root.path}")
        yield proxy


Fault: TypeAlias = "Callable[[StoreRequest, Callable[[], Answer]], Answer | None]"
"""Gives the answer to a request, and may ask the store for it; None cuts the connection."""

SLOW_DOWN = Answer(
    503,
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>",
    {"Content-Type": "application/xml"},
)


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """A request to the store. ``key``: of the object; "" for a list, or for the bucket.

    ``page``: of a list: 1 for the first, 2 for each further one; 0 if it is not a list.
    """

    method: str
    key: str
    page: int = 0


def no_fault(_request: StoreRequest, ask: Callable[[], Answer]) -> Answer | None:
    """Pass a request on."""
    return ask()


def cut(answer: Answer, length: int, *, is_told: bool) -> Answer:
    """Return the first ``length`` bytes of an answer, as of a store without checksums.

    ``is_told``: its header still has the whole length.
    """
    headers = {
        name: value
        for name, value in answer.headers.items()
        if not name.lower().startswith("x-amz-checksum")
    }
    told = len(answer.body) if is_told else length
    return replace(answer, body=answer.body[:length], headers=headers, length=told)


@dataclass(slots=True)
class StoreProxy:
    """A proxy to a store. ``fault``: may be changed at any time. ``requests``: those received."""

    service: ObjectStore
    fault: Fault = no_fault
    requests: list[StoreRequest] = field(default_factory=list)

    def answer(self, request: Request, ask: Ask) -> Answer | None:
        """Return the store's answer, as the fault changes it."""
        asked = _asked(request)
        self.requests.append(asked)
        # It is signed with the proxy's address, which the header Host keeps.
        return self.fault(asked, lambda: ask(request))


def _asked(request: Request) -> StoreRequest:
    parts = urlsplit(request.path)
    key, query = unquote(parts.path).lstrip("/").partition("/")[2], parse_qs(parts.query)
    if key or "list-type" not in query:
        return StoreRequest(request.method, key)
    return StoreRequest(request.method, "", 2 if "continuation-token" in query else 1)


@contextmanager
def proxy_to_store(store: ObjectStore) -> Iterator[StoreProxy]:
    """Run a proxy to a store on a port of loopback."""
    proxy = StoreProxy(store)
    with proxy_before(store.endpoint, proxy.answer) as address:
        proxy.service = replace(store, endpoint=address)
        yield proxy
