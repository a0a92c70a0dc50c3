"""What BACKWARD says to a new schema: the rules of DDL, each proved by schema texts."""

from __future__ import annotations

import pytest

from cdcwire.apache_avro.evolution import DDL_RULES, Comparison, compare_schemas
from cdcwire.apache_avro.schema import Record
from cdcwire.apache_avro.schema_json import schema_text
from cdcwire.core.errors import DecodeError
from cdcwire.formats.avro.columns import field_of
from cdcwire.formats.avro.settings import Settings
from cdcwire.model.kinds import ABSENT, Column, Value
from cdcwire.mysql.declared import parse_declared, type_of_declared


def column(name: str, source: str, nullable: bool = True, default: Value = ABSENT) -> Column:
    return Column(name, type_of_declared(parse_declared(source)), source, nullable, default)


def text(*columns: Column) -> str:
    fields = tuple(field_of(each, Settings(), bool(each.nullable)) for each in columns)
    return schema_text(Record("t", "default.s", fields))


ID = column("id", "int", False)
OLD_AND_NEW: dict[str, tuple[tuple[Column, ...], tuple[Column, ...]]] = {
    "ADD COLUMN nullable": ((ID,), (ID, column("a", "int"))),
    "ADD COLUMN NOT NULL DEFAULT x": ((ID,), (ID, column("a", "int", False, "1"))),
    "ADD COLUMN NOT NULL": ((ID,), (ID, column("a", "int", False))),
    "ADD COLUMN DECIMAL NOT NULL DEFAULT x, mode precise": (
        (ID,),
        (ID, column("a", "decimal(6,3)", False, "1.5")),
    ),
    "DROP COLUMN": ((ID, column("a", "int", False)), (ID,)),
    "MODIFY COLUMN INT to BIGINT": ((column("a", "int"),), (column("a", "bigint"),)),
    "MODIFY COLUMN nullable to NOT NULL": ((column("a", "int"),), (column("a", "int", False),)),
    "RENAME COLUMN that is nullable or has a default": (
        (column("a", "int"), column("b", "int", False, "1")),
        (column("c", "int"), column("d", "int", False, "1")),
    ),
    "RENAME COLUMN that is NOT NULL without default": (
        (column("a", "int", False),),
        (column("b", "int", False),),
    ),
    "ADD COLUMN AFTER or FIRST": (
        (ID, column("a", "int")),
        (column("b", "int"), ID, column("a", "int")),
    ),
    "ADD INDEX": ((ID,), (ID,)),
    "MODIFY COLUMN ENUM('a') to ENUM('a','b')": (
        (column("e", "enum('a')"),),
        (column("e", "enum('a','b')"),),
    ),
    "MODIFY COLUMN DECIMAL(10,2) to DECIMAL(12,2)": (
        (column("d", "decimal(10,2)"),),
        (column("d", "decimal(12,2)"),),
    ),
}


@pytest.mark.parametrize("rule", DDL_RULES, ids=lambda rule: rule.statement)
def test_rule_of_a_statement_holds(rule: object) -> None:
    (found,) = (each for each in DDL_RULES if each is rule)
    old, new = OLD_AND_NEW[found.statement]
    comparison = compare_schemas(text(*old), text(*new))
    assert comparison.is_accepted == found.is_accepted
    assert comparison.is_new_version == found.is_new_version


def compared(old: tuple[Column, ...], new: tuple[Column, ...]) -> Comparison:
    return compare_schemas(text(*old), text(*new))


def test_refusal_names_the_field_and_the_reason() -> None:
    (refusal,) = compared((ID,), (ID, column("a", "int", False))).refusals
    assert refusal.path == ("a",)
    assert "without default" in refusal.reason


def test_decimals_follow_the_rule_that_is_asked_for() -> None:
    old, new = text(column("d", "decimal(10,2)")), text(column("d", "decimal(12,2)"))
    assert compare_schemas(old, new).is_accepted
    assert not compare_schemas(old, new, "specification").is_accepted


@pytest.mark.parametrize(
    ("old", "new", "is_accepted"),
    [
        ("int", "double", True),
        ("bigint", "int", False),
        ("double", "bigint", False),
        ("varchar(3)", "varbinary(3)", True),
        ("int", "varchar(3)", False),
        ("date", "datetime", True),
    ],
)
def test_change_of_type(old: str, new: str, is_accepted: bool) -> None:
    assert compared((column("a", old),), (column("a", new),)).is_accepted == is_accepted


def test_not_null_becoming_nullable_is_accepted() -> None:
    assert compared((column("a", "int", False),), (column("a", "int"),)).is_accepted


def test_default_that_turns_the_union_around_is_accepted() -> None:
    found = compared((column("a", "int"),), (column("a", "int", True, "1"),))
    assert found.is_accepted
    assert found.changes


def test_renamed_table_is_refused() -> None:
    old = text(ID)
    assert not compare_schemas(old, old.replace('"name":"t"', '"name":"u"')).is_accepted


def test_nested_types_are_compared() -> None:
    def schema(of_type: str) -> str:
        return f'{{"type":"record","name":"R","fields":[{{"name":"f","type":{of_type}}}]}}'

    for old, new, is_accepted in (
        ('{"type":"array","items":"int"}', '{"type":"array","items":"long"}', True),
        ('{"type":"map","values":"int"}', '{"type":"map","values":"string"}', False),
        (
            '{"type":"enum","name":"E","symbols":["a"]}',
            '{"type":"enum","name":"E","symbols":["b"]}',
            False,
        ),
        ('{"type":"fixed","name":"F","size":1}', '{"type":"fixed","name":"F","size":2}', False),
        ('["null","R"]', '["null","R","int"]', True),
        ('["int","string"]', '["string"]', False),
        ('"int"', '{"type":"array","items":"int"}', False),
    ):
        assert compare_schemas(schema(old), schema(new)).is_accepted == is_accepted


def test_chain_of_records_does_not_overflow_the_stack() -> None:
    def schema(last: str) -> str:
        fields = ['{"name":"f0","type":{"type":"record","name":"r0","fields":[]},"default":null}']
        fields += [
            f'{{"name":"f{n}","type":{{"type":"record","name":"r{n}","fields":'
            f'[{{"name":"x","type":"r{n - 1}"}}]}},"default":null}}'
            for n in range(1, 2000)
        ]
        fields.append(f'{{"name":"{last}","type":"r1999"}}')
        return f'{{"type":"record","name":"R","fields":[{",".join(fields)}]}}'

    old = schema("last").replace('"name":"f', '"name":"g')
    with pytest.raises(DecodeError) as caught:
        compare_schemas(old, schema("last"))
    assert caught.value.clause == "avro: schema limits"


def test_text_that_is_not_a_schema_is_an_error() -> None:
    with pytest.raises(DecodeError):
        compare_schemas(text(ID), "[]")
