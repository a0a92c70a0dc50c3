"""Apicurio Registry 3.0.9: ids, refusals, pitfalls, and the loss of schemas in a crash."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire.apache_avro.evolution import DDL_RULES, compare_schemas
from cdcwire.core.context import Context
from cdcwire.ddl import read_chain
from cdcwire.formats.avro import FORMAT, Settings, schemas_of
from cdcwire.formats.avro.names import parse_topic_rule
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.schema_registry import ConfluentRegistry, RegistryError, RetryPolicy, open_schemas
from cdcwire_conformance.formats.avro.evolve import evolve
from cdcwire_evidence.registry.apicurio import Apicurio

QUICK = RetryPolicy(connect=2.0, answer=20.0, tries=3)
CREATE = """\
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c INT NOT NULL DEFAULT 1,
  e ENUM('a'), d DECIMAL(10,2));
"""
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


@pytest.fixture
def registry(apicurio: Apicurio) -> ConfluentRegistry:
    found = ConfluentRegistry(apicurio.url, QUICK)
    found.set_level("BACKWARD")
    return found


@pytest.fixture
def topic() -> str:
    """A topic that no other test has."""
    return f"t{uuid.uuid4().hex}"


def schema(columns: str, settings: Settings | None = None) -> str:
    """Return the schema text of values of a table ``t`` with these columns."""
    (statement,) = read_chain(f"CREATE TABLE t ({columns})", "s")
    table = statement.changes[0].after
    assert table is not None
    return schemas_of(table, settings or Settings())[1]


def is_taken(registry: ConfluentRegistry, subject: str, text: str) -> bool:
    """Return whether the registry takes a text, or refuses it as incompatible."""
    try:
        registry.register(subject, text)
    except RegistryError as error:
        if error.status != 409:
            raise
        return False
    return True


def row(number: int) -> RowChange:
    columns = (
        Column("id", IntType(32), "int", False, roles=frozenset({"primary", "handle"})),
        Column("v", TextType(), "varchar(9)", True),
    )
    image = Image(columns, (number, f"row {number}"))
    return RowChange(Table("t", "s", key=("id",)), "insert", None, image, Position(1 << 40))


def test_level_begins_at_none_and_takes_everything(tmp_path: Path, apicurio: Apicurio) -> None:
    other = Apicurio(apicurio.jar, tmp_path / "apicurio.log")
    other.start()
    try:
        other.wait()
        client = ConfluentRegistry(other.url, QUICK)
        assert client.level() == "NONE"
        client.register("t-value", schema("id INT PRIMARY KEY"))
        client.register("t-value", schema("id INT PRIMARY KEY, n INT NOT NULL"))
        client.set_level("BACKWARD")
        assert client.level() == "BACKWARD"
        with pytest.raises(RegistryError) as caught:
            client.register("t-value", schema("id INT PRIMARY KEY, m INT NOT NULL"))
        assert caught.value.status == 409
    finally:
        other.stop()


def test_rows_are_read_by_the_ids_that_were_given(
    registry: ConfluentRegistry, apicurio: Apicurio, topic: str
) -> None:
    settings = Settings(enable_tidb_extension=True, topic=topic)
    rows = [row(number) for number in range(3)]
    messages = list(messages_of(rows, settings, source=registry))
    assert registry.requests == 3  # the level, the key's schema, the value's
    context = Context(options={"enable-tidb-extension": True}, schemas=open_schemas(apicurio.url))
    found = [event for message in messages for event in FORMAT.to_events(message, context=context)]
    assert [each.after and each.after.values for each in found if isinstance(each, RowChange)] == [
        each.after and each.after.values for each in rows
    ]


def test_text_comes_back_as_it_was_sent(registry: ConfluentRegistry, topic: str) -> None:
    text = schema("id INT PRIMARY KEY, `日本` ENUM('<&>', 'é') DEFAULT 'é', f FLOAT DEFAULT 3.14")
    schema_id = registry.register(f"{topic}-value", text)
    assert ConfluentRegistry(registry.address, QUICK).get(schema_id) == text


def test_equal_text_has_its_id_again(registry: ConfluentRegistry, topic: str) -> None:
    text = schema("id INT PRIMARY KEY")
    first = registry.register(f"{topic}-value", text)
    assert ConfluentRegistry(registry.address, QUICK).register(f"{topic}-value", text) == first
    assert registry.versions(f"{topic}-value") == (1,)


def test_older_text_has_its_id_again(registry: ConfluentRegistry, topic: str) -> None:
    texts = [schema("id INT PRIMARY KEY, b INT NOT NULL"), schema("id INT PRIMARY KEY")]
    first, second = (registry.register(f"{topic}-value", text) for text in texts)
    assert first != second
    assert ConfluentRegistry(registry.address, QUICK).register(f"{topic}-value", texts[0]) == first
    assert registry.versions(f"{topic}-value") == (1, 2)


@pytest.mark.parametrize("added", ["n INT NOT NULL", "n DECIMAL(6,3) NOT NULL DEFAULT 1.5"])
def test_added_required_field_is_refused(
    registry: ConfluentRegistry, topic: str, added: str
) -> None:
    registry.register(f"{topic}-value", schema("id INT PRIMARY KEY"))
    with pytest.raises(RegistryError) as caught:
        registry.register(f"{topic}-value", schema(f"id INT PRIMARY KEY, {added}"))
    assert (caught.value.status, caught.value.code) == (409, 409)
    assert "cdcwire avro evolve" in str(caught.value)
    assert registry.versions(f"{topic}-value") == (1,)


@pytest.mark.parametrize("rule", DDL_RULES, ids=lambda rule: rule.statement)
def test_registry_says_what_evolve_says(
    registry: ConfluentRegistry, topic: str, rule: object
) -> None:
    (found,) = (each for each in DDL_RULES if each is rule)
    text = f"{CREATE} ALTER TABLE t {STATEMENTS[found.statement]}"
    steps = list(evolve(read_chain(text, "s"), Settings(), parse_topic_rule("{schema}_{table}")))
    versions = 0
    for step in steps:
        verdict = step.verdicts[-1]
        assert verdict.text is not None
        versions = max(versions, verdict.version or 0)
        assert is_taken(registry, f"{topic}-value", verdict.text) is not verdict.stops
    assert registry.versions(f"{topic}-value") == tuple(range(1, versions + 1))


CHAINS = {
    "the newest version counts, no older one": (
        "CREATE TABLE t (id INT PRIMARY KEY, a INT); ALTER TABLE t DROP a; "
        "ALTER TABLE t ADD a VARCHAR(3)"
    ),
    "a table is dropped and made again": (
        "CREATE TABLE t (id INT PRIMARY KEY, a INT); ALTER TABLE t ADD b INT; DROP TABLE t; "
        "CREATE TABLE t (id INT PRIMARY KEY, a INT); ALTER TABLE t ADD c INT NOT NULL; "
        "DROP TABLE t; CREATE TABLE t (no INT PRIMARY KEY)"
    ),
    "the key changes": (
        "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL); ALTER TABLE t MODIFY id BIGINT; "
        "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a)"
    ),
    "a schema of another name": (
        "CREATE TABLE s.t (id INT PRIMARY KEY); CREATE TABLE o.t (id INT PRIMARY KEY)"
    ),
    "a table of another name": (
        "CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE u (id INT PRIMARY KEY)"
    ),
}


@pytest.mark.parametrize("text", CHAINS.values(), ids=CHAINS)
def test_chain_has_the_versions_that_evolve_tells(
    registry: ConfluentRegistry, topic: str, text: str
) -> None:
    versions: dict[str, int] = {}
    rule = parse_topic_rule(topic, "shipped")
    for step in evolve(read_chain(text, "s"), Settings(), rule):
        for verdict in step.verdicts:
            assert verdict.text is not None
            assert is_taken(registry, verdict.subject, verdict.text) is not verdict.stops
            newest = max(versions.get(verdict.subject, 0), verdict.version or 0)
            versions[verdict.subject] = newest
    for subject, newest in versions.items():
        assert registry.versions(subject) == tuple(range(1, newest + 1))


TYPES = (
    *("INT", "BIGINT", "FLOAT", "DOUBLE", "VARCHAR(9)", "VARBINARY(9)", "DATE"),
    *("DECIMAL(10,2)", "DECIMAL(12,3)", "BIT(3)"),
)
FORMS = ("", "NOT NULL", "NOT NULL DEFAULT 1", "DEFAULT 1")


def _columns() -> Iterator[str]:
    for of_type, form in itertools.product(TYPES, FORMS):
        value = "'2024-01-01'" if of_type == "DATE" else "1"
        yield f"{of_type} {form.replace('1', value)}"


def test_every_change_of_a_column_has_the_verdict_of_compare_schemas(
    registry: ConfluentRegistry, topic: str
) -> None:
    texts = {column: schema(f"id INT PRIMARY KEY, c {column}") for column in _columns()}
    wrong = []
    pairs = [
        (old, new) for old, new in itertools.permutations(texts, 2) if texts[old] != texts[new]
    ]
    for number, (old, new) in enumerate(pairs):
        subject = f"{topic}-{number}-value"
        registry.register(subject, texts[old])
        is_accepted = is_taken(registry, subject, texts[new])
        if compare_schemas(texts[old], texts[new]).is_accepted != is_accepted:
            wrong.append(f"{old} to {new}: the registry says {is_accepted}")
    assert len(pairs) > 1000
    assert not wrong


def test_errors_have_their_numbers(registry: ConfluentRegistry, topic: str) -> None:
    with pytest.raises(RegistryError) as caught:
        registry.register(f"{topic}-value", '{"type":"record"}')
    assert (caught.value.status, caught.value.code) == (422, 42201)
    assert registry.get(1 << 30) is None
    with pytest.raises(RegistryError) as caught:
        registry.versions(f"{topic}-value")
    assert (caught.value.status, caught.value.code) == (404, 40401)


def test_root_is_a_page_so_that_ticdc_would_not_start(registry: ConfluentRegistry) -> None:
    with pytest.raises(RegistryError, match="not JSON"):
        registry.check_root()


def test_registry_that_dies_and_comes_back(tmp_path: Path, apicurio: Apicurio) -> None:
    other = Apicurio(apicurio.jar, tmp_path / "apicurio.log")
    text, new = schema("id INT PRIMARY KEY"), schema("id INT PRIMARY KEY, a INT")
    other.start()
    try:
        other.wait()
        client = ConfluentRegistry(other.url, RetryPolicy(tries=2, first_wait=0.05))
        schema_id = client.register("t-value", text)
        assert client.get(schema_id) == text
        other.kill()
        assert client.get(schema_id) == text  # known
        assert client.register("t-value", text) == schema_id
        with pytest.raises(RegistryError, match=r"no answer: .* \(tried 2 times\)"):
            client.register("t-value", new)
        other.start()
        patient = ConfluentRegistry(
            other.url, RetryPolicy(first_wait=0.2, longest_wait=2, tries=60)
        )
        assert patient.register("t-value", new) == 1  # it has forgotten everything
        assert patient.requests > 1
        assert client.register("t-value", new) == 1
        assert schema_id == 1
        assert ConfluentRegistry(other.url).get(schema_id) == new  # its number means another now
    finally:
        other.stop()
