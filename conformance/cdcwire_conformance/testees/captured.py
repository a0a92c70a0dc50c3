"""Standard error of a process, kept bounded: its head and its tail."""

from __future__ import annotations

import threading

STDERR_LIMIT = 64 * 1024
_HEAD = STDERR_LIMIT // 2
_TAIL = STDERR_LIMIT // 2


class CapturedText:
    """The output of a process since the last call of ``mark``.

    Go and Java print the reason of a crash first, Python prints it last. Therefore both ends are
    kept, and the middle is left out.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, piece: bytes) -> None:
        """Add bytes that the process wrote."""
        with self._lock:
            self._total += len(piece)
            room = _HEAD - len(self._head)
            self._head += piece[:room]
            self._tail += piece[room:]
            if len(self._tail) > 2 * _TAIL:
                del self._tail[:-_TAIL]

    def mark(self) -> None:
        """Forget what was written so far."""
        with self._lock:
            self._head.clear()
            self._tail.clear()
            self._total = 0

    @property
    def text(self) -> str:
        """The bytes as text, with a line that counts the bytes left out."""
        with self._lock:
            tail = self._tail[-_TAIL:]
            left_out = self._total - len(self._head) - len(tail)
            between = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
            data = bytes(self._head + between + tail)
        return data.decode("utf-8", "backslashreplace").rstrip()
