"""``Decoder``: records of Kafka clients, rows of the user's types, error policies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Literal, NamedTuple, TypedDict

import pytest

import cdcwire
from cdcwire import (
    Bad,
    Change,
    Compression,
    DecodeError,
    Decoder,
    KafkaMessage,
    OptionError,
    RowChange,
)
from cdcwire.core.client_records import message_of
from cdcwire.model.text import event_to_json
from cdcwire_conformance.corpus.store import load_case


def maxwell(kind: str = "insert", **data: object) -> bytes:
    record = {"database": "shop", "table": "orders", "type": kind, "ts": 1, "data": data}
    return json.dumps(record, separators=(",", ":")).encode()


VALUE = maxwell(id=7, note="a", price=2.5)
CUT = VALUE[:-1]
KEY = b'{"database":"shop","table":"orders","pk.id":7}'


@dataclass
class Order:
    id: int
    note: str | None
    price: Decimal | float = 0.0


class OrderTuple(NamedTuple):
    id: int
    note: str | None = None


class OrderDict(TypedDict):
    id: int
    note: str


class Struct:
    """Has the attributes of a ``msgspec.Struct``, which is not installed here."""

    __struct_fields__ = ("id", "note")
    id: int
    note: str

    def __init__(self, id: int, note: str) -> None:
        self.id, self.note = id, note


class ConfluentRecord:
    """A record of confluent-kafka: every member is a method."""

    def __init__(self, value: object, key: object = KEY, error: object = None) -> None:
        self._members = value, key, error

    def value(self) -> object:
        return self._members[0]

    def key(self) -> object:
        return self._members[1]

    def error(self) -> object:
        return self._members[2]

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return [("h", b"1"), ("empty", None)]


class KafkaPythonRecord(NamedTuple):
    """A record of kafka-python or aiokafka: every member is an attribute."""

    topic: str
    key: object
    value: object
    headers: tuple[tuple[str, bytes], ...] = ()


def test_without_rows_changes_are_events() -> None:
    [event] = Decoder("maxwell-json").decode(VALUE)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["id"] == 7


def test_rows_are_dicts() -> None:
    [change] = Decoder("maxwell-json", rows=dict).decode(VALUE)
    assert isinstance(change, Change)
    assert (change.op, change.before) == ("insert", None)
    assert change.after is not None
    assert {name: change.after[name] for name in ("id", "note")} == {"id": 7, "note": "a"}
    assert change.position.commit_ms == 1000


def test_rows_are_tuples() -> None:
    [change] = Decoder("maxwell-json", rows=tuple).decode(maxwell(id=7, note="a"))
    assert isinstance(change, Change)
    assert change.after == (7, "a")


def test_rows_are_dataclasses() -> None:
    [change] = Decoder("maxwell-json", rows=Order).decode(maxwell(id=7, note=None, new=1))
    assert isinstance(change, Change)
    assert change.after == Order(7, None, 0.0)


def test_rows_are_named_tuples() -> None:
    [change] = Decoder("maxwell-json", rows=OrderTuple).decode(maxwell(id=7))
    assert isinstance(change, Change)
    assert change.after == OrderTuple(7, None)


def test_rows_are_typed_dicts() -> None:
    [change] = Decoder("maxwell-json", rows=OrderDict).decode(VALUE)
    assert isinstance(change, Change)
    assert change.after == {"id": 7, "note": "a"}


def test_rows_are_structs() -> None:
    [change] = Decoder("maxwell-json", rows=Struct).decode(VALUE)
    assert isinstance(change, Change)
    assert change.after is not None
    assert (change.after.id, change.after.note) == (7, "a")


def test_missing_column_is_named() -> None:
    decoder = Decoder("maxwell-json", rows=Order)
    with pytest.raises(TypeError, match=r"Order for table shop\.orders: .* no column 'note'"):
        decoder.decode(maxwell(id=7))


@pytest.mark.parametrize("engine", ["auto", "plain"])
def test_value_of_another_type_is_named(engine: cdcwire.decoder.Engine) -> None:
    decoder = Decoder("maxwell-json", rows=Order, engine=engine)
    assert decoder.decode(VALUE)
    for _ in range(2):  # a type that did not fit does not become known
        with pytest.raises(TypeError, match="column 'id' holds str, but the field wants int"):
            decoder.decode(maxwell(id="7", note="a", price=2.5))


def test_rows_of_another_type_are_refused() -> None:
    with pytest.raises(TypeError, match=r"rows is <class 'int'>; it must be dict, tuple"):
        Decoder("maxwell-json", rows=int)


@pytest.mark.parametrize(
    "record",
    [
        KafkaMessage(KEY, VALUE, (("h", b"1"),)),
        ConfluentRecord(VALUE),
        KafkaPythonRecord("t", KEY, VALUE),
        VALUE,
        bytearray(VALUE),
        memoryview(VALUE),
    ],
    ids=["KafkaMessage", "confluent", "kafka-python", "bytes", "bytearray", "memoryview"],
)
def test_record_of_each_client_is_decoded(record: object) -> None:
    [change] = Decoder("maxwell-json", rows=OrderDict).decode(record)
    assert isinstance(change, Change)
    assert change.after == {"id": 7, "note": "a"}


def test_key_and_headers_of_a_client_count() -> None:
    found = message_of(ConfluentRecord(VALUE))
    assert found == KafkaMessage(KEY, VALUE, (("h", b"1"), ("empty", b"")))


def test_key_of_a_value_alone_is_unknown() -> None:
    assert message_of(b"v") == KafkaMessage(None, b"v", has_key=False)


@pytest.mark.parametrize("record", [b"{}", KafkaMessage(None, b"{}")], ids=["bytes", "message"])
@pytest.mark.parametrize("method", ["iter", "rows", "batches"])
def test_one_record_in_place_of_records_is_a_type_error(method: str, record: object) -> None:
    if method == "batches":
        pytest.importorskip("pyarrow", reason="needs the extra arrow")
    decoder = Decoder("maxwell-json", rows=dict)
    with pytest.raises(TypeError, match=r"records is one record, .*; pass a list of records"):
        list(getattr(decoder, method)(record))


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (None, "the record is None, as poll"),
        ("text", "the record is of type str; it must be"),
        ({"value": VALUE}, "the record is of type dict; it must be"),
        (KafkaPythonRecord("t", None, {"id": 1}), "the record's value is of type dict; .* without"),
        (ConfluentRecord(VALUE, "k"), "the record's key is of type str; .* key deserializer"),
    ],
)
def test_other_record_is_a_type_error(record: object, problem: str) -> None:
    decoder = Decoder("maxwell-json", on_error="skip")
    with pytest.raises(TypeError, match=problem):
        decoder.decode(record)


def test_error_of_confluent_is_not_decoded() -> None:
    record = ConfluentRecord(b"Broker: Unknown topic", error="UNKNOWN_TOPIC")
    with pytest.raises(ValueError, match="error of the client, not a message: UNKNOWN_TOPIC"):
        Decoder("maxwell-json", on_error="skip").decode(record)


def test_broken_record_raises_by_default() -> None:
    with pytest.raises(DecodeError) as caught:
        Decoder("maxwell-json").decode(CUT)
    assert caught.value.offset == len(CUT)


def test_broken_record_is_skipped() -> None:
    decoder = Decoder("maxwell-json", on_error="skip")
    assert len([*decoder.iter([CUT, VALUE, CUT, VALUE])]) == 2


def test_rows_are_given_without_other_events() -> None:
    statement = (
        b'{"type":"table-drop","database":"shop","table":"orders","ts":1,"sql":"DROP TABLE orders"}'
    )
    for decoder in (Decoder("maxwell-json"), Decoder("maxwell-json", rows=dict)):
        records = [VALUE, statement, VALUE]
        assert len([*decoder.iter(records)]) == 3
        assert [change.op for change in decoder.rows(records)] == ["insert", "insert"]


def test_records_of_an_asyncio_client_are_decoded() -> None:
    async def records() -> AsyncIterator[bytes]:
        for value in (VALUE, CUT, VALUE):
            yield value

    async def read(decoder: Decoder[RowChange]) -> list[object]:
        return [change async for change in decoder.aiter(records())]

    expected = Decoder("maxwell-json").decode(VALUE)
    assert asyncio.run(read(Decoder("maxwell-json", on_error="skip"))) == expected * 2
    with pytest.raises(DecodeError):
        asyncio.run(read(Decoder("maxwell-json")))


def test_broken_record_is_given_to_a_function() -> None:
    dead: list[Bad] = []
    record = ConfluentRecord(CUT)
    assert Decoder("maxwell-json", on_error=dead.append).decode(record) == []
    [bad] = dead
    assert bad.record is record
    assert (bad.offset, bad.path, bad.clause) == (
        bad.error.offset,
        bad.error.path,
        bad.error.clause,
    )
    headers = dict(bad.headers())
    assert headers["cdcwire.offset"] == str(len(CUT)).encode()
    assert headers["cdcwire.clause"] == bad.clause.encode()


def test_only_wanted_tables_are_decoded() -> None:
    assert Decoder("maxwell-json", only={"shop.orders"}).decode(VALUE)
    assert Decoder("maxwell-json", only={"shop.items"}).decode(VALUE) == []


def test_unknown_format_names_the_known() -> None:
    with pytest.raises(ValueError, match=r"maxwel-json'; did you mean 'maxwell-json'\?"):
        Decoder("maxwel-json")


@pytest.mark.parametrize("engine", ["auto", "plain"])
def test_misspelled_option_is_an_option_error(engine: cdcwire.decoder.Engine) -> None:
    with pytest.raises(OptionError, match="unknown option 'protocool'"):
        Decoder("maxwell-json", options={"protocool": 1}, engine=engine)


@pytest.mark.parametrize("engine", ["auto", "plain"])
def test_tables_that_a_feed_sends_count_for_later_records(engine: Literal["auto", "plain"]) -> None:
    """The case has a row of a version, the statement that makes the next one, and rows of it."""
    case = load_case("simple/schemas/new-version")
    decoder = Decoder("simple", engine=engine)
    assert [event_to_json(event) for event in decoder.iter(case.messages)] == case.events
    late = Decoder("simple", engine=engine)
    with pytest.raises(DecodeError, match="no table schema"):
        late.decode(case.messages[3])
    assert late.decode(case.messages[0]) == []
    with pytest.raises(DecodeError, match="no table schema"):
        late.decode(case.messages[3])


@pytest.mark.parametrize(
    "arguments",
    [
        {"engine": "fast"},
        {"on_error": "ignore"},
        {"tables": "CREATE TABLE t (id INT)"},
        {"tables": [1]},
        {"tables": 1},
        {"only": "shop.orders"},
        {"options": [("time-zone", "UTC")]},
        {"schemas": "schemas/"},
        {"blobs": b""},
        {"compressions": "lz4"},
    ],
)
def test_wrong_argument_is_named(arguments: dict[str, object]) -> None:
    [(name, _)] = arguments.items()
    with pytest.raises((TypeError, ValueError), match=f"^{name} "):
        Decoder("maxwell-json", **arguments)  # type: ignore[call-overload]


def test_explain_takes_the_same_records() -> None:
    explanation = Decoder("maxwell-json").explain(ConfluentRecord(VALUE))
    assert explanation.error is None
    assert explanation.spans


def test_one_record_is_decoded_by_a_function() -> None:
    assert cdcwire.decode("maxwell-json", VALUE) == Decoder("maxwell-json").decode(VALUE)


def test_function_sees_changed_options() -> None:
    options: dict[str, str | int | bool] = {}
    assert cdcwire.decode("maxwell-json", VALUE, options=options)
    options["protocool"] = 1
    with pytest.raises(OptionError, match="unknown option 'protocool'"):
        cdcwire.decode("maxwell-json", VALUE, options=options)


def test_function_tells_one_from_true() -> None:
    case = load_case("canal-json/large/claim-check-insert")
    options = {**case.options, "enable-tidb-extension": True}
    assert cdcwire.decode("canal-json", case.messages[0], options=options)
    with pytest.raises(OptionError, match="option enable-tidb-extension=1 is not"):
        cdcwire.decode(
            "canal-json", case.messages[0], options={**options, "enable-tidb-extension": 1}
        )


def test_function_remembers_no_table_that_a_record_sends() -> None:
    case = load_case("simple/schemas/new-version")
    for message in (case.messages[0], case.messages[2]):
        cdcwire.decode("simple", message)
    with pytest.raises(DecodeError, match="no table schema"):
        cdcwire.decode("simple", case.messages[3])


def test_function_reads_new_schemas_of_the_same_mapping() -> None:
    case = load_case("avro/before/update")
    schemas: dict[str, str] = {}
    decode = partial(cdcwire.decode, "avro", schemas=schemas, options=case.options)
    with pytest.raises(DecodeError, match="schema"):
        decode(case.messages[0])
    schemas.update(case.context().schemas)
    assert len(decode(case.messages[0])) == 1


def test_claim_check_file_is_read() -> None:
    case = load_case("canal-json/large/claim-check-insert")
    options, blobs = case.options, case.context().blobs
    found = []
    for files in ({}, blobs):
        decoder = Decoder("canal-json", rows=dict, options=options, blobs=files)
        [change] = decoder.decode(case.messages[0])
        assert isinstance(change, Change)
        found.append(change.after)
    assert found == [{"id": 1}, {"id": 1, "v": "x", "n": 2}]


def test_compression_is_undone() -> None:
    case, opened = load_case("canal-json/compression/lz4"), load_case("canal-json/compression/none")
    value = opened.messages[0].value
    assert value is not None
    lz4 = Compression(lambda data: data, lambda data: value)
    decoder = Decoder("canal-json", options=case.options, compressions={"lz4": lz4})
    plain = Decoder("canal-json", options=opened.options)
    assert decoder.decode(case.messages[0]) == plain.decode(value)


def test_dir_has_the_public_names() -> None:
    assert {*cdcwire.__all__, "craft", "debezium_json"} <= {*dir(cdcwire)}
    assert not any(name.startswith("_MOD") for name in dir(cdcwire))
