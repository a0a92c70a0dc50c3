"""Cases of a format that the registry does not know, and testees made of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire_conformance.corpus import Case
from cdcwire_conformance.protocol import Claim, Description, Request
from cdcwire_conformance.protocol.answers import Answer, Events
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.testees import Reply

PROGRESS = {"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}


class FakeTestee:
    """Answers as a function says, which may raise NoAnswer."""

    def __init__(self, answer: Callable[[Request], Answer], claim: Claim) -> None:
        self._answer = answer
        self._claim = claim
        self.asked: list[Request] = []
        self.announced: list[Request] = []
        self.is_closed = False
        self.remark: str | None = None
        self.is_fresh = True
        self.size = 0

    def start(self) -> Description:
        return Description("fake", "1", "Python", {"toy": self._claim})

    def ask(self, request: Request, *, fresh: bool = False) -> Reply:
        self.asked.append(request)
        is_fresh = fresh or self.is_fresh
        return Reply(self._answer(request), "a word on standard error", is_fresh, self.size)

    def announce(self, requests: Iterable[Request]) -> None:
        self.announced = list(requests)

    def close(self) -> str | None:
        self.is_closed = True
        return self.remark


@pytest.fixture(scope="session")
def fake() -> Callable[..., FakeTestee]:
    """A function that makes a testee; without arguments one that is always right."""

    def right(request: Request) -> Answer:
        return Events([PROGRESS])

    def make(answer: Callable[[Request], Answer] = right, **claim: Any) -> FakeTestee:
        return FakeTestee(answer, Claim(**claim))

    return make


@pytest.fixture(scope="session")
def report() -> dict[str, Any]:
    """The document of a report, without readers."""
    made = {
        "date": "2026-01-02",
        "revision": "abc",
        "changed": False,
        "corpus": "0.5.0",
        "python": "CPython 3.12.1",
        "system": "Linux x86_64",
        "processors": 2,
    }
    left = {"chapter": "x", "what": "Go decoder", "why": "go is not installed", "install": "go"}
    return {
        "made": made,
        "verdict": {
            "status": "passed",
            "checks": {"passed": 3, "asked": 3},
            "bars": {"met": 0, "all": 0},
        },
        "not_run": [left],
        "attention": [],
    }


@pytest.fixture
def a_case() -> Callable[..., Case]:
    """A function that makes a case of the format ``toy``; its name is its id's last part."""
    plain = Case(
        id="toy/rows/case",
        format="toy",
        group="rows",
        name="case",
        title="a case",
        level="must",
        expect="accept",
        clauses=("toy: digits",),
        origin="derived",
        since="0.1.0",
        messages=(KafkaMessage(None, b"1"),),
        events=[PROGRESS],
    )

    def make(name: str = "case", **members: Any) -> Case:
        if members.get("expect") == "reject":
            members = {"events": None, "error": {"message": 0}, **members}
        derived = members.get("derived")
        case_id = f"toy/rows/{name}" + (f"@{derived}" if derived else "")
        return replace(plain, id=case_id, name=name, **members)

    return make


@pytest.fixture
def results() -> Results:
    description = Description("fake", "1", "Python", {"toy": Claim()})
    return Results(description, "fake --now", "kept alive", "0.1.0", ("toy",))
