"""A chain of DDL and what BACKWARD says to it: the rules of the page, as SQL."""

from __future__ import annotations

import pytest

from cdcwire.apache_avro.evolution import DDL_RULES
from cdcwire.ddl import read_chain
from cdcwire.formats.avro.names import parse_topic_rule
from cdcwire.formats.avro.settings import Settings, read_settings
from cdcwire_conformance.formats.avro.evolve import SchemaVerdict, Step, evolve

CREATE = """\
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c INT NOT NULL DEFAULT 1,
  e ENUM('a'), d DECIMAL(10,2));
"""
# The statement of each rule, as SQL.
STATEMENTS = {
    "ADD COLUMN nullable": "ADD x INT",
    "ADD COLUMN NOT NULL DEFAULT x": "ADD x INT NOT NULL DEFAULT 3",
    "ADD COLUMN NOT NULL": "ADD x INT NOT NULL",
    "ADD COLUMN DECIMAL NOT NULL DEFAULT x, mode precise": "ADD x DECIMAL(6,3) NOT NULL DEFAULT 1",
    "DROP COLUMN": "DROP b",
    "MODIFY COLUMN INT to BIGINT": "MODIFY a BIGINT",
    "MODIFY COLUMN nullable to NOT NULL": "MODIFY a INT NOT NULL",
    "RENAME COLUMN that is nullable or has a default": "RENAME COLUMN a TO x, CHANGE c y INT",
    "RENAME COLUMN that is NOT NULL without default": "RENAME COLUMN b TO x",
    "ADD COLUMN AFTER or FIRST": "ADD x INT AFTER id, ADD y INT FIRST",
    "ADD INDEX": "ADD INDEX (a)",
    "MODIFY COLUMN ENUM('a') to ENUM('a','b')": "MODIFY e ENUM('a','b')",
    "MODIFY COLUMN DECIMAL(10,2) to DECIMAL(12,2)": "MODIFY d DECIMAL(12,2)",
}


def steps(text: str, topic: str = "{schema}_{table}", **options: str) -> list[Step]:
    settings = read_settings({name.replace("_", "-"): value for name, value in options.items()})
    rule = parse_topic_rule(topic, "shipped")
    return list(evolve(read_chain(text, "s"), settings, rule))


def value(step: Step) -> SchemaVerdict:
    return step.verdicts[-1]


def outcomes(text: str, **options: str) -> list[str]:
    return [value(step).outcome for step in steps(text, **options)]


@pytest.mark.parametrize("rule", DDL_RULES, ids=lambda rule: rule.statement)
def test_statement_has_the_outcome_of_its_rule(rule: object) -> None:
    (found,) = (each for each in DDL_RULES if each is rule)
    first, second = steps(f"{CREATE} ALTER TABLE t {STATEMENTS[found.statement]}")
    assert value(first).outcome == "first"
    expected = "accepted" if found.is_new_version else "same"
    assert value(second).outcome == (expected if found.is_accepted else "refused")
    assert second.stops is not found.is_accepted
    assert second.verdicts[0].outcome == "same"  # no statement here touches the key


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ("ADD x INT NOT NULL", "make the column nullable, or NOT NULL with a constant DEFAULT"),
        ("ADD x DECIMAL NOT NULL DEFAULT 1", "make the DECIMAL nullable, or set avro-decimal"),
        ("MODIFY a INT NOT NULL", "leave the column nullable"),
        ("MODIFY a INT NOT NULL DEFAULT 3", "leave the column nullable"),
    ],
)
def test_refusal_tells_what_to_do_instead(change: str, advice: str) -> None:
    found = value(steps(f"{CREATE} ALTER TABLE t {change}")[-1])
    assert found.outcome == "refused"
    assert found.advice.startswith(advice)


def test_options_change_the_verdict() -> None:
    text = f"{CREATE} ALTER TABLE t ADD x DECIMAL(6,3) NOT NULL DEFAULT 1"
    assert outcomes(text) == ["first", "refused"]
    assert outcomes(text, avro_decimal_handling_mode="string") == ["first", "accepted"]


def test_key_is_judged_too() -> None:
    step = steps(f"{CREATE} ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id, b)")[-1]
    assert [verdict.outcome for verdict in step.verdicts] == ["refused", "same"]
    assert step.verdicts[0].subject == "s_t-key"


def test_refused_schema_is_not_a_version() -> None:
    text = (
        f"{CREATE} ALTER TABLE t ADD x INT NOT NULL; ALTER TABLE t DROP x; ALTER TABLE t ADD y INT"
    )
    found = [value(step) for step in steps(text)]
    assert [each.outcome for each in found] == ["first", "refused", "same", "accepted"]
    assert found[-1].version == 2


def test_statement_after_a_refused_one_is_judged_by_itself() -> None:
    text = (
        f"{CREATE} ALTER TABLE t ADD x INT NOT NULL; ALTER TABLE t ADD y INT; "
        "ALTER TABLE t ADD z INT NOT NULL"
    )
    found = [value(step) for step in steps(text)]
    assert [each.outcome for each in found] == ["first", "refused", "accepted", "refused"]
    assert [[change.name for change in each.fields] for each in found[1:]] == [["x"], ["y"], ["z"]]
    assert found[2].version == 2


def test_older_text_has_its_version_again() -> None:
    text = f"{CREATE} ALTER TABLE t DROP b; ALTER TABLE t ADD b INT NOT NULL AFTER a"
    found = value(steps(text)[-1])
    assert (found.outcome, found.version) == ("same", 1)
    assert [change.name for change in found.fields] == ["b"]


def test_table_made_again_meets_the_versions_of_the_old_one() -> None:
    text = "CREATE TABLE t (id INT PRIMARY KEY); DROP TABLE t; CREATE TABLE t (no INT PRIMARY KEY)"
    _, second, third = steps(text)
    assert second.verdicts == ()
    assert "no more rows" in second.note
    assert [verdict.outcome for verdict in third.verdicts] == ["refused", "refused"]


def test_renamed_table_has_other_subjects() -> None:
    step = steps(f"{CREATE} RENAME TABLE t TO u")[-1]
    assert [verdict.outcome for verdict in step.verdicts] == ["first", "first"]
    assert step.note == "it was s.t"


def test_tables_of_one_topic_refuse_each_other() -> None:
    text = "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY)"
    found = value(steps(text, topic="all")[-1])
    assert found.outcome == "refused"
    assert "topic={schema}_{table}" in found.advice


def test_table_without_key_sends_no_rows() -> None:
    (step,) = steps("CREATE TABLE t (a INT)")
    assert step.verdicts == ()
    assert not step.stops
    assert step.note.startswith("no rows are sent")


@pytest.mark.parametrize(
    ("column", "problem"),
    [("`a-b` INT, `a.b` INT", "would all be the field"), ("g GEOMETRY", "has no field")],
)
def test_column_that_has_no_field_fails(column: str, problem: str) -> None:
    step = steps(f"CREATE TABLE t (id INT PRIMARY KEY, {column})")[-1]
    assert step.stops
    assert value(step).outcome == "failed"
    assert problem in value(step).problem


def test_checksums_put_new_columns_last() -> None:
    settings = {
        "enable_tidb_extension": "true",
        "avro_decimal_handling_mode": "string",
        "avro_bigint_unsigned_handling_mode": "string",
        "integrity": "true",
    }
    step = steps(f"{CREATE} ALTER TABLE t ADD x INT FIRST", **settings)[-1]
    text = value(step).text or ""
    assert text.index('"name":"d"') < text.index('"name":"x"') < text.index('"name":"_tidb_op"')


def test_texts_are_those_of_rows() -> None:
    assert value(steps("CREATE TABLE t (id INT PRIMARY KEY, v INT AS (id))")[0]).text == (
        '{"type":"record","name":"t","namespace":"default.s","fields":[{"name":"id","type":'
        '{"type":"int","connect.parameters":{"tidb_type":"INT"}}}]}'
    )
    assert Settings().topic == "{schema}_{table}"
