"""Bodies that the two SDKs sent, captured from their requests (versions in the files' names)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cdcwire.datahub.body import BodySettings, read_body, write_body
from cdcwire.datahub.fields import Field, FieldType, field_type
from cdcwire.datahub.message import Body
from cdcwire.model.floats import read_float32

DATA = Path(__file__).parent / "data"
INDEX: dict[str, Any] = json.loads((DATA / "index.json").read_text("utf-8"))
TUPLES = [each for each in INDEX["captures"] if "tuple" in each["file"]]
BATCH = next(each for each in TUPLES if "batch" in each["file"])
BLOB = next(each for each in INDEX["captures"] if "blob" in each["file"])


def topic() -> list[Field]:
    fields = []
    for each in INDEX["topic_schema"]:
        type_ = field_type(each["type"])
        assert type_ is not None
        fields.append(Field(each["name"], type_))
    return fields


FIELDS = topic()


def bytes_of(capture: dict[str, Any]) -> bytes:
    raw: bytes = (DATA / capture["file"]).read_bytes()
    return raw


def comparable(value: object, type_: FieldType) -> object:
    """Return a value as it is compared: decimals as numbers, the sign of zero kept."""
    if value is None:
        return None
    if type_ == "DECIMAL":
        text = str(value).partition(":")[2] if isinstance(value, str) else str(value)
        return Decimal(text)
    if type_ == "FLOAT":
        value = read_float32(repr(value))
    return (type(value), repr(value))


@pytest.mark.parametrize("with_headers", [True, False])
@pytest.mark.parametrize("capture", TUPLES, ids=lambda capture: capture["file"])
def test_captured_tuples_have_the_rows_that_were_sent(
    capture: dict[str, Any], with_headers: bool
) -> None:
    headers = capture["headers"] if with_headers else {}
    body = read_body(bytes_of(capture), FIELDS, headers=headers)
    records = body.records()
    assert len(records) == (1 if "row1" in capture["file"] else 4)
    for record, row in zip(records, INDEX["rows"], strict=False):
        assert isinstance(record.data, tuple)
        for field, value, wanted in zip(FIELDS, record.data, row, strict=True):
            assert comparable(value, field.type) == comparable(wanted, field.type), field.name


@pytest.mark.parametrize("encoding", ["json", "protobuf"])
@pytest.mark.parametrize("capture", TUPLES, ids=lambda capture: capture["file"])
def test_captured_tuples_are_the_same_in_another_encoding(
    capture: dict[str, Any], encoding: Any
) -> None:
    body = read_body(bytes_of(capture), FIELDS)
    other = Body(encoding, body.records())
    written, headers = write_body(other, FIELDS)
    assert read_body(written, FIELDS, headers=headers).records() == body.records()


def test_batch_that_pydatahub_wrote_is_written_again_byte_for_byte() -> None:
    raw = bytes_of(BATCH)
    written, _ = write_body(read_body(raw, FIELDS), FIELDS)
    assert written == raw


def test_blob_that_the_java_sdk_wrote_is_its_json() -> None:
    body = read_body(bytes_of(BLOB), None, BodySettings(), BLOB["headers"])
    (record,) = body.records()
    assert isinstance(record.data, bytes)
    assert record.shard_id == "0"
    assert json.loads(record.data)["payload"]["op"] == "INSERT"
