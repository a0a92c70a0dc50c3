"""A proxy before a registry: it records requests, asks for a password, and can cut connections.

It passes requests to a registry that has no users of its own, and its answers back.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from cdcwire_evidence.scenarios.http_proxy import Answer, Ask, Request, proxy_before
from cdcwire_evidence.scenarios.services import Registry

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
