"""The interface of every testee, and its failures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from cdcwire_conformance.protocol.answers import Answer, Description
from cdcwire_conformance.protocol.requests import Request

FailureKind: TypeAlias = Literal["crashed", "timed out"]


class CannotStartError(Exception):
    """There is no testee to judge: it can't be started, or does not understand ``start``.

    ``stderr`` is what it wrote on its standard error.
    """

    def __init__(self, problem: str, stderr: str = "") -> None:
        super().__init__(problem, stderr)
        self.problem = problem
        self.stderr = stderr

    def __str__(self) -> str:
        return self.problem


class NoAnswer(Exception):
    """The testee gave no answer that can be judged.

    ``kind`` is the verdict of the case. ``is_fresh``: the process had answered no request before.
    """

    def __init__(
        self, kind: FailureKind, problem: str, stderr: str = "", *, is_fresh: bool = True
    ) -> None:
        super().__init__(kind, problem, stderr)
        self.kind = kind
        self.problem = problem
        self.stderr = stderr
        self.is_fresh = is_fresh

    def __str__(self) -> str:
        return self.problem


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and what was written on standard error meanwhile.

    ``is_fresh``: the process had answered no request before. ``size``: of the answer, in bytes, if
    a process sent it.
    """

    answer: Answer
    stderr: str = ""
    is_fresh: bool = True
    size: int = 0


class Testee(Protocol):
    """A decoder in one of the modes of the protocol. One thread at a time uses it."""

    def start(self) -> Description:
        """Make it ready and ask what it is. Raises: CannotStartError."""

    def ask(self, request: Request, *, fresh: bool = False) -> Reply:
        """Return its answer; a testee that ended is started again. Raises: NoAnswer.

        ``fresh``: a process that has answered other requests is replaced by a new one first.
        """

    def announce(self, requests: Iterable[Request]) -> None:
        """Name the requests that will be asked next, in this order; some may be left out.

        A testee that says ``ahead`` gets several of them before it answers the first one.
        """

    def close(self) -> str | None:
        """End it. Returns: what was odd about its end, if anything."""
