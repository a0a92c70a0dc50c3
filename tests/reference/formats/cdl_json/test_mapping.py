"""Version 1.0 to 2.0 and back: equal, less the members that are listed as lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire import connect
from cdcwire.connect import Envelope, Field, Schema
from cdcwire.connect.cdl import Loss, version_of
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.cdl_json import Invented, to_version_2
from cdcwire.formats.cdl_json.format import FORMAT as VERSION_1
from cdcwire.formats.debezium_json import Change, decode, to_version_1
from cdcwire.formats.debezium_json.format import FORMAT as VERSION_2
from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, DatetimeType, DecimalType, IntType

INVENTED = Invented("1.4.0.Final", "cdl", "db", with_heartbeat_identifier=True)
ID = Column("id", IntType(32), None, False)
TIME = Column("time1", DatetimeType(3))
AMOUNT = Column("amount", DecimalType())
CDL = Context(options={"dialect": "cdl", "heartbeat-identifier": "append"})


def change(op: Op, before: Image | None, after: Image | None, **extra: str) -> RowChange:
    position = Position(lsn=5, tx_id="6", commit_ms=1700000000123, sent_ms=1700000000999)
    table = Table("t", "public", key=("id",))
    return RowChange(table, op, before, after, position, extra=dict(extra))


def envelope(format_: Any, event: RowChange, context: Context) -> Envelope:
    (message,) = format_.from_events([event], context=context)
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    return connect.decode(message.value)


def images() -> st.SearchStrategy[Image]:
    moments = st.datetimes().map(lambda d: d.isoformat(" ")[:19] + f".{d.microsecond // 1000:03d}")
    return st.tuples(
        st.integers(-5, 5), st.none() | moments, st.none() | st.decimals(allow_nan=False, places=2)
    ).map(lambda values: Image((ID, TIME, AMOUNT), values))


def changes() -> st.SearchStrategy[RowChange]:
    extras = st.fixed_dictionaries(
        {"connector": st.sampled_from(["POSTGRESQL", "OPENGAUSS"])},
        optional={"heartbeat_identifier": st.text(max_size=3), "lob_columns": st.just("a,b")},
    )
    inserts = st.builds(lambda a, e: change("insert", None, a, **e), images(), extras)
    updates = st.builds(
        lambda b, a, e: change("update", b, a, **e), st.none() | images(), images(), extras
    )
    deletes = st.builds(lambda b, e: change("delete", b, None, **e), images(), extras)
    return st.one_of(inserts, updates, deletes)


@given(changes())
def test_version_1_to_2_and_back_is_equal(event: RowChange) -> None:
    """1.0 to 2.0 to 1.0 gives the same bytes: the transaction has lsn and txId only."""
    first = envelope(VERSION_1, event, Context())
    second = to_version_2(first, INVENTED)
    back = to_version_1(second.envelope)
    assert connect.encode(back.envelope) == connect.encode(first)
    assert {loss.member for loss in second.losses} == {loss.member for loss in back.losses}


@given(changes())
def test_version_2_to_1_and_back_is_equal_less_what_is_lost(event: RowChange) -> None:
    """2.0 to 1.0 to 2.0 gives the same bytes, once the lost members are put in again."""
    extra = {**event.extra, "connector": "postgresql", "source_name": "other"}
    changed = RowChange(
        event.table, event.op, event.before, event.after, event.position, extra=extra
    )
    first = envelope(VERSION_2, changed, CDL)
    second = to_version_1(first)
    lost = {loss.member: loss.value for loss in second.losses}
    invented = Invented(
        lost["source.version"],
        lost["source.name"],
        lost["source.db"],
        int(lost["ts_ms"]),
        with_heartbeat_identifier=True,
    )
    assert lost["source.snapshot"] == "false"
    assert connect.encode(to_version_2(second.envelope, invented).envelope) == connect.encode(first)


def test_other_properties_are_reported_as_lost() -> None:
    event = change("insert", None, Image((ID,), (1,)), transaction_properties='{"x":-7}')
    found = to_version_2(envelope(VERSION_1, event, Context()), INVENTED)
    assert Loss("lost", "transaction.properties[x]", "-7") in found.losses


def test_omitted_heartbeat_identifier_is_reported_as_lost() -> None:
    event = change("insert", None, Image((ID,), (1,)), heartbeat_identifier="u")
    found = to_version_2(envelope(VERSION_1, event, Context()), Invented("1", "n", "d"))
    assert Loss("lost", "HEARTBEAT_IDENTIFIER", "u") in found.losses


def test_digits_below_the_millisecond_are_refused_or_cut_as_configured() -> None:
    column = Column("time1", DatetimeType(6))
    event = change("insert", None, Image((ID, column), (1, "2024-02-29 12:34:56.123456")))
    second = envelope(VERSION_2, event, CDL)
    with pytest.raises(EncodeError) as caught:
        to_version_1(second)
    assert caught.value.path == ("after", "time1")
    found = to_version_1(second, truncate=True)
    assert found.losses[-1].what == "cut"
    assert to_version_2(found.envelope, INVENTED).envelope.payload[1] == (
        1,
        "2024-02-29 12:34:56.123",
    )


def test_snapshot_row_becomes_an_insert_only_if_specified() -> None:
    event = change("insert", None, Image((ID,), (1,)))
    data = connect.encode(envelope(VERSION_2, event, CDL)).replace(b'"op":"c"', b'"op":"r"')
    with pytest.raises(EncodeError):
        to_version_1(connect.decode(data))
    assert to_version_1(connect.decode(data), read_r_as_c=True).envelope.payload[4] == "INSERT"


ROW = Image((ID,), (1,))


def test_version_is_given_by_the_payload() -> None:
    event = change("insert", None, ROW)
    assert version_of(envelope(VERSION_1, event, Context())) == "1.0"
    assert version_of(envelope(VERSION_2, event, CDL)) == "2.0"


@pytest.mark.parametrize(
    ("name", "expected"), [("DATA_STORE", "1.0"), ("source", "2.0"), ("other", None)]
)
def test_version_without_its_member_is_derived_from_others(name: str, expected: str | None) -> None:
    schema = Schema("struct", fields=(Field(name, Schema("string")),))
    assert version_of(Envelope(schema, ("x",))) == expected
    versioned = Field("message_version", Schema("string"))
    other = Schema("struct", fields=(*schema.fields, versioned))
    assert version_of(Envelope(other, ("x", "3.0"))) is None


def test_change_of_the_heartbeat_table_is_a_heartbeat_in_version_2() -> None:
    event = change("insert", None, ROW)
    for name, expected in (("CDC_Heartbeat", True), ("t", False)):
        table = Table(name, "cdc_cdl", key=("id",))
        (message,) = VERSION_2.from_events([replace(event, table=table)], context=CDL)
        assert isinstance(message, KafkaMessage)
        found = decode(message.value)
        assert isinstance(found, Change)
        assert found.is_heartbeat == expected
