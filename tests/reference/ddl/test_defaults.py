"""Defaults: constants become values of the kind, everything else stays an expression."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cdcwire.ddl import parse_ddl
from cdcwire.model.events import Expression
from cdcwire.model.kinds import ABSENT, Column
from cdcwire.model.text import column_to_json

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")


def column_of(definition: str) -> Column:
    (table,) = parse_ddl(f"CREATE TABLE t (a {definition})")
    assert table.columns is not None
    return table.columns[0]


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("int", ABSENT),
        ("int default null", None),
        ("int default 5", 5),
        ("int default '-5'", -5),
        ("int default - 5", -5),
        ("int default 0x10", 16),
        ("tinyint default 300", Expression("300")),
        ("int default 1.5", Expression("1.5")),
        ("tinyint(1) default '1'", True),
        ("bool default false", False),
        ("bool default 2", Expression("2")),
        ("bigint unsigned default 18446744073709551615", 2**64 - 1),
        ("decimal(5,2) default 1.50", Decimal("1.50")),
        ("decimal(5,2) default .5", Expression(".5")),
        ("double default 1e3", 1000.0),
        ("float default 0.1", 0.10000000149011612),
        ("bit(3) default b'101'", 5),
        ("year default 2020", 2020),
        ("varchar(9) default ''", ""),
        ("varchar(9) default 'a' 'b'", "ab"),
        ("varchar(9) default _utf8mb4'x'", "x"),
        ("varbinary(9) default 'x'", b"x"),
        ("binary(2) default x'0aff'", b"\n\xff"),
        ("varchar(9) default 0xff", Expression("0xff")),
        ("date default '0000-00-00'", "0000-00-00"),
        ("date default date '2020-01-02'", "2020-01-02"),
        ("date default 0", Expression("0")),
        ("datetime(3) default now(3) on update current_timestamp(3)", Expression("now(3)")),
        ("json default (json_array('),('))", Expression("json_array('),(')")),
        ("int default next value for s.q", Expression("next value for s.q")),
        ("enum('a','b') default 'b'", 2),
        ("enum('a','b') default 'c'", Expression("'c'")),
        ("set('a','b') default 'b,a'", 3),
        ("set('a','b') default ''", 0),
    ],
)
def test_default_is_a_value_or_an_expression(definition: str, value: object) -> None:
    default = column_of(definition).default
    assert (type(default), default) == (type(value), value)


def test_default_has_a_text_form() -> None:
    for definition in ("bool default 1", "enum('a') default 'a'", "bit(2) default 1"):
        assert "default" in column_to_json(column_of(definition))
