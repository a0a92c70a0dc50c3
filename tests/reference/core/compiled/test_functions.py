"""Generated sources hold numbers and known names only, whatever names and texts a feed has."""

from __future__ import annotations

import pytest

from cdcwire.core.compiled import compile_function, row_texts
from cdcwire.core.context import Context
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format

HOSTILE = "hostile\"'\\);import os#{0}"
COLUMNS = (Column("id", IntType(64), "bigint"), Column(HOSTILE, TextType(), "text"))
TABLE = Table(HOSTILE, HOSTILE, columns=COLUMNS, key=("id",))
OPTIONS = {"csv": {"date-separator": "none"}}


def test_function_is_made_of_its_lines_and_names() -> None:
    add = compile_function("add", "number", ["if number:", " return number + more"], {"more": 2})
    assert (add(1), add(0)) == (3, None)


@pytest.mark.parametrize("name", ["craft", "canal-json", "csv", "debezium-json"])
def test_names_and_texts_of_a_feed_never_become_source(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: list[str] = []

    def recorded(*given: object) -> str:
        sources.append(source_of(*given))  # type: ignore[arg-type]
        return sources[-1]

    source_of = row_texts.source_of
    monkeypatch.setattr(row_texts, "source_of", recorded)
    events = [
        RowChange(
            Table(HOSTILE, HOSTILE, key=("id",)),
            "insert",
            None,
            Image(COLUMNS, (number, HOSTILE)),
            Position(commit_ts=number, commit_ms=number),
        )
        for number in range(200)
    ]
    context = Context(OPTIONS.get(name, {}), (TABLE,))
    format_ = get_format(name)
    decode = format_.decoder(context)
    rows = sum(
        len(list(decode(message))) for message in format_.from_events(events, context=context)
    )
    assert rows == len(events)
    assert sources
    assert not any("hostile" in source or "import" in source for source in sources)
