"""Columns of a database as its drivers give them: texts that become the values of their kinds."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from cdcwire.arrow.types import SchemaError
from cdcwire.model import kinds
from cdcwire_conformance.compare.database_columns import CatalogueColumn, as_text
from cdcwire_conformance.compare.embedded.database import _array
from cdcwire_conformance.sources.tables import TableUrl

VALUES: dict[str, tuple[kinds.Type, list[Any], list[Any]]] = {
    "zeros in front": (kinds.IntType(64), ["00000007", "-5", None], [7, -5, None]),
    "unsigned": (kinds.IntType(64, True), ["18446744073709551615"], [Decimal(2**64 - 1)]),
    "decimal": (
        kinds.DecimalType(10, 2),
        ["0000001.50", "-7.00"],
        [Decimal("1.50"), Decimal("-7.00")],
    ),
    "wide decimal": (kinds.DecimalType(None), ["1.50", "NaN"], ["1.50", "NaN"]),
    "single": (kinds.FloatType(32), ["0.10000000149011612"], [0.10000000149011612]),
    "double": (kinds.FloatType(64), ["-Infinity", "-0", "1e300"], [-math.inf, -0.0, 1e300]),
    "boolean": (kinds.BoolType(), ["true", "false", "1", "0"], [True, False, True, False]),
    "bits": (kinds.BitType(64), ["18446744073709551615"], [Decimal(2**64 - 1)]),
    "bytes": (kinds.BytesType(), [b"\x00\xff", None], [b"\x00\xff", None]),
    "times": (
        kinds.TimeType(6),
        ["-838:59:58.123450", "10:20:30.000000", "10:00:00", "04:30:00Z"],
        ["-838:59:58.12345", "10:20:30", "10:00:00", "04:30:00Z"],
    ),
    "zero date": (kinds.DatetimeType(0), ["0000-00-00 00:00:00"], ["0000-00-00 00:00:00"]),
    "blanks": (kinds.TextType(), ["a  ", ""], ["a  ", ""]),
    "list": (kinds.ArrayType(kinds.IntType(32)), [["1", None], [], None], [[1, None], [], None]),
}


@pytest.mark.parametrize("name", VALUES)
def test_text_of_a_database_becomes_the_value_of_its_kind(name: str) -> None:
    kind, texts, values = VALUES[name]
    assert list(map(repr, _array(texts, kind, "c").to_pylist())) == list(map(repr, values))


@pytest.mark.parametrize(
    ("kind", "text"),
    [(kinds.DecimalType(10, 2), "NaN"), (kinds.ArrayType(kinds.TextType()), [["a"]])],
)
def test_value_without_place_in_its_kind_is_an_error_that_names_the_column(
    kind: kinds.Type, text: Any
) -> None:
    with pytest.raises(SchemaError, match=r"^column c of the table: "):
        _array([text], kind, "c")


def column(kind: str, written: str, digits: int | None = None, scale: int | None = None) -> Any:
    return CatalogueColumn("c", kind, written, None, digits, scale, None)


@pytest.mark.parametrize(
    ("database", "given", "kind"),
    [
        ("mariadb", column("int", "int(10) unsigned"), kinds.IntType(64)),
        ("mariadb", column("tinyint", "tinyint(3) unsigned"), kinds.IntType(32)),
        ("mariadb", column("decimal", "decimal(38,10)", 38, 10), kinds.DecimalType(38, 10)),
        ("mariadb", column("inet6", "inet6"), kinds.TextType()),
        ("mariadb", column("vector", "vector(3)"), None),
        ("postgresql", column("smallint", "int2", 16, 0), kinds.IntType(16)),
        ("postgresql", column("numeric", "numeric", 5, 2046), None),
        ("postgresql", column("USER-DEFINED", "mood"), kinds.TextType()),
        ("postgresql", column("ARRAY", "_bool"), kinds.ArrayType(kinds.BoolType())),
        ("postgresql", column("ARRAY", "_date"), None),
        ("postgresql", column("bit", "bit"), None),
    ],
    ids=lambda value: value.written if isinstance(value, CatalogueColumn) else "",
)
def test_kinds_are_those_that_spark_reads(
    database: str, given: CatalogueColumn, kind: kinds.Type | None
) -> None:
    found = as_text(TableUrl("jdbc", f"jdbc:{database}://h/d", ("s", "t")), given)
    assert (None if found is None else found.kind) == kind
