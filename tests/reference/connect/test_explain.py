"""Explanations of the bytes of a message, also of a broken one."""

from __future__ import annotations

import pytest

from cdcwire.connect.explain import Subjects, part_spans
from cdcwire.core.errors import DecodeError
from cdcwire.core.reader import Subject

NOTHING: dict[str, str] = {}
ROWS = Subjects(rows={"after": Subject(0, ("after",))})


def message(value: str) -> bytes:
    column = '{"type":"int32","optional":false,"field":"id"}'
    row = f'{{"type":"struct","fields":[{column}],"optional":false,"field":"after"}}'
    schema = f'{{"type":"struct","fields":[{row}],"optional":false}}'
    return f'{{"schema":{schema},"payload":{{"after":{{"id":{value}}}}}}}'.encode()


@pytest.mark.parametrize("value", ["1", '"1"', "null", "[]"])
def test_value_that_does_not_fit_its_schema_is_shown_all_the_same(value: str) -> None:
    raw = message(value)
    spans = part_spans(raw, "value", NOTHING, ROWS)
    assert [spans[0].start, *(span.end for span in spans)] == [
        *(span.start for span in spans),
        len(raw),
    ]
    (column,) = [span for span in spans if span.path[-1:] == ("id",)]
    assert raw[column.start : column.end] == b'"id":' + value.encode()
    assert column.subject == Subject(0, ("after",), "id")


def test_member_that_no_format_names_has_the_clause_of_its_type() -> None:
    raw = message("1").replace(b'"after"', b'"other"')
    spans = part_spans(raw, "key", NOTHING, ROWS)
    (found,) = [span for span in spans if span.path == ("key", "payload", "other")]
    assert found.clause == "connect: struct values"
    strange = raw.replace(b'"payload":{"other"', b'"payload":{"x":1,"other"')
    (found,) = [s for s in part_spans(strange, "key", NOTHING, ROWS) if s.path[-1:] == ("x",)]
    assert found.clause == "connect: unknown members"


def test_broken_schema_leaves_values_without_type() -> None:
    raw = message("1").replace(b'"int32"', b'"int33"')
    (column,) = [s for s in part_spans(raw, "value", NOTHING, ROWS) if s.path[-1:] == ("id",)]
    assert column.text == "1"


def test_cut_message_has_no_spans() -> None:
    with pytest.raises(DecodeError):
        part_spans(message("1")[:-1], "value", NOTHING, ROWS)
