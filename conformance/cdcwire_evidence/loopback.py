"""Ports of loopback, for services that are started here."""

from __future__ import annotations

import socket


def free_port() -> int:
    """Return the number of a port on loopback that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
