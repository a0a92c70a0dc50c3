"""The explanation of values whose bytes are not the value itself, also in a record before."""

from __future__ import annotations

import json

import pytest

from cdcwire import KafkaMessage, avro
from cdcwire.core.context import Context


def _of(kind: str, source: str, **more: object) -> dict[str, object]:
    return {"type": kind, "connect.parameters": {"tidb_type": source}, **more}


_COLUMNS: list[dict[str, object]] = [
    {"name": "u", "type": _of("long", "BIGINT UNSIGNED")},
    {"name": "d", "type": _of("bytes", "DECIMAL", logicalType="decimal", precision=5, scale=2)},
]
_BEFORE = {"type": "record", "name": "t_before", "namespace": "d.s", "fields": _COLUMNS}
_SCHEMA = {
    "type": "record",
    "name": "t",
    "namespace": "d.s",
    "fields": [
        *_COLUMNS,
        {"name": "_ticdc_before", "default": None, "type": ["null", _BEFORE]},
        {"name": "_tidb_op", "type": "string", "default": ""},
    ],
}
# 2^64 - 1, 1.27; the record before: 2^63, -1.28; u
_VALUE = bytes.fromhex("0000000001 01 027f 02 ffffffffffffffffff01 0280 0275")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("value", "u"), "18446744073709551615"),
        (("value", "d"), "1.27 (7f)"),
        (("value", "_ticdc_before", "u"), "9223372036854775808"),
        (("value", "_ticdc_before", "d"), "-1.28 (80)"),
    ],
)
def test_explain_shows_values_of_both_records_as_they_are_decoded(
    path: tuple[str, ...], expected: str
) -> None:
    context = Context({}, schemas={"1": json.dumps(_SCHEMA)})
    found = avro.explain(KafkaMessage(None, _VALUE), context=context)
    (text,) = (span.text for span in found.spans if span.path == path)
    assert text == expected
