"""Ports of loopback, and users, for services that are started here."""

from __future__ import annotations

import os
import pwd
import socket


def free_port() -> int:
    """Return the number of a port on loopback that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def unprivileged_user(name: str) -> str | None:
    """Return the user of a server that root starts: this one or nobody; else None, our own."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return name if name in known else "nobody"
