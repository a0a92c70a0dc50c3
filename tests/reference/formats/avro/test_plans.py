"""Plans of records: what a schema's fields mean, and schemas that do not fit."""

from __future__ import annotations

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.formats.avro.plans import MAX_DECIMAL_DIGITS, Form, plan_of_text, split_allowed


def record(*fields: str) -> str:
    return f'{{"type":"record","name":"t","namespace":"default.s","fields":[{",".join(fields)}]}}'


def column(tidb_type: str, avro: str, more: str = "", name: str = "c") -> str:
    parameters = f'"connect.parameters":{{{more}"tidb_type":"{tidb_type}"}}'
    return f'{{"name":"{name}","type":{{"type":"{avro}",{parameters}}}}}'


REFUSED: dict[str, tuple[str, str]] = {
    "does not fit": (record(column("BIT", "long")), "avro: column types"),
    "decimal without size": (record(column("DECIMAL", "bytes")), "avro: column types"),
    "huge decimal": (
        record(
            '{"name":"a","type":{"type":"bytes","connect.parameters":{"tidb_type":"DECIMAL"},'
            f'"logicalType":"decimal","precision":{MAX_DECIMAL_DIGITS + 1},"scale":0}}}}'
        ),
        "avro: schema limits",
    ),
    "odd extension": (record('{"name":"_tidb_op","type":"int"}'), "avro: extension fields"),
}


@pytest.mark.parametrize(("text", "clause"), REFUSED.values(), ids=REFUSED)
def test_text_is_refused(text: str, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        plan_of_text(text)
    assert caught.value.clause == clause


def test_column_of_the_name_of_an_extension_field_is_a_column() -> None:
    plan = plan_of_text(record(column("TEXT", "string", name="_tidb_op")))
    assert (plan.columns, plan.extension) == ((0,), {})


def test_unknown_type_keeps_the_avro_value() -> None:
    plan = plan_of_text(record(column("GEOGRAPHY", "bytes")))
    assert (plan.fields[0].form, plan.fields[0].source) == (Form.OTHER, "GEOGRAPHY")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b", ("a", "b")),
        ("a\\,b,c", ("a,b", "c")),
        ("", ("",)),
        (",", ("", "")),
        ("it's", ("it's",)),
    ],
)
def test_allowed_is_split_at_plain_commas(text: str, options: tuple[str, ...]) -> None:
    assert split_allowed(text) == options
