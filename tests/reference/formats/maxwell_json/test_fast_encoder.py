"""JSON columns: the fast encoder writes the documents that the plain encoder writes."""

from __future__ import annotations

import pytest

from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.maxwell_json.fast_encoder import RowEncoder
from cdcwire.model import kinds
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire.registry import get_format

THROUGH = get_format("maxwell-json")
COLUMNS = (Column("id", kinds.IntType(32)), Column("doc", kinds.JsonType()))


def change(text: str) -> RowChange:
    image = Image(COLUMNS, (1, text))
    return RowChange(Table("t", "d", key=("id",)), "insert", None, image, Position(commit_ms=5000))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"a": [1.50, -0, 1e2], "b": null}', '{"a": [1.50, -0, 1e2], "b": null}'),
        ('  [true, "\u00e9\U0001f600"]\n', '[true, "\u00e9\U0001f600"]'),
        ("{}", "{}"),
        ("[" * 31 + "]" * 31, "[" * 31 + "]" * 31),
        ("[" * 40 + "]" * 40, "[" * 40 + "]" * 40),
        ('["\\ud83d\\ude00"]', '["\\ud83d\\ude00"]'),
        ("[18446744073709551616, 0.1000000000000000000001]",) * 2,
        ('"[text]"', '"[text]"'),
        ("null", "null"),
        ("12", "12"),
    ],
)
def test_document_is_written_as_it_is(text: str, written: str) -> None:
    event = change(text)
    (plain,) = THROUGH.from_events([event])
    assert isinstance(plain, KafkaMessage)
    assert plain.value is not None
    assert f'"doc":{written}}}'.encode() in plain.value
    assert list(RowEncoder().encode([event])) == [plain]


@pytest.mark.parametrize(
    "text",
    [
        "[1",
        "[1]]",
        "[NaN]",
        '{"a":1,"a":2}',
        '["\\ud800"]',
        '["\ud800"]',
        "[01]",
        '["\t"]',
        "[" * 99,
    ],
)
def test_bad_document_has_the_error_of_the_plain_encoder(text: str) -> None:
    with pytest.raises(EncodeError) as plain:
        list(THROUGH.from_events([change(text)]))
    with pytest.raises(EncodeError) as fast:
        list(RowEncoder().encode([change(text)]))
    assert plain.value.path[-1] == "doc"
    assert (fast.value.args, fast.value.path) == (plain.value.args, plain.value.path)
