"""A relay in front of an object store that lets half of one object through, and then breaks it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

from cdcwire_evidence.scenarios.services import ObjectStore

_HOST = "127.0.0.1"
_AT_ONCE = 1 << 16
_ARRIVES_WITHIN = 0.3  # seconds until what was sent on is with the store


@dataclass(slots=True)
class HalfPut:
    """A relay to an object store, and what it saw.

    ``service``: the store as clients reach it through the relay. ``seen``: the number of puts of
    matching objects. ``cut``: the path of the object that was cut. ``passed``: how many of its
    bytes reached the store.
    """

    service: ObjectStore
    seen: int = 0
    cut: str | None = None
    passed: int = 0


@contextlib.contextmanager
def half_put(
    store: ObjectStore, ending: str, number: int, fault: Callable[[], None]
) -> Iterator[HalfPut]:
    """Give a relay that does ``fault`` when half of an object has gone on.

    ``ending``: of the paths of the objects that are meant; ``number``: which of them, from 1.
    """
    target = urlsplit(store.endpoint)
    assert target.hostname is not None

    class Relay(BaseRequestHandler):
        request: socket.socket

        def handle(self) -> None:
            with (
                contextlib.suppress(OSError),
                socket.create_connection((target.hostname or "", target.port or 80)) as upstream,
            ):
                threading.Thread(
                    target=_pass_on, args=(upstream, self.request), daemon=True
                ).start()
                is_meant = False
                while data := self.request.recv(_AT_ONCE):
                    head, _, body = data.partition(b"\r\n\r\n")
                    if data.startswith(b"PUT "):
                        path = head.split(b" ", 2)[1].partition(b"?")[0].decode()
                        found.seen += path.endswith(ending)
                        is_meant = path.endswith(ending) and found.seen == number
                    else:
                        body = data
                    if is_meant and body:  # it may come behind the head, when the store asks for it
                        found.cut, found.passed = path, len(body) // 2
                        upstream.sendall(data[: len(data) - len(body) + found.passed])
                        time.sleep(_ARRIVES_WITHIN)
                        fault()
                        return
                    upstream.sendall(data)

    with ThreadingTCPServer((_HOST, 0), Relay) as server:
        server.daemon_threads = True
        port = server.server_address[1]
        found = HalfPut(replace(store, endpoint=f"http://{_HOST}:{port}"))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield found
        finally:
            server.shutdown()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes until either side ends, and end the other one, however that was."""
    try:
        with contextlib.suppress(OSError):
            while data := source.recv(_AT_ONCE):
                target.sendall(data)
    finally:
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
