"""A proxy before an object store that throttles requests and cuts objects and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

from cdcwire_evidence.scenarios.http_proxy import Answer, Ask, Request, proxy_before
from cdcwire_evidence.scenarios.services import ObjectStore

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
