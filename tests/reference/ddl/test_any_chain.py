"""Whatever statements are given: a chain, or a DdlError with a place inside the text."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.ddl import DdlError, Statement, read_chain
from cdcwire.formats.avro import schemas_of

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")

CREATE = "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(3) NOT NULL, UNIQUE u (a, b));"
PARTS = (
    *("ADD c INT", "ADD COLUMN a INT", "ADD (c INT, d INT UNIQUE)", "ADD c INT FIRST"),
    *("ADD c INT AFTER b", "DROP a", "DROP COLUMN id", "DROP PRIMARY KEY", "DROP INDEX u"),
    *("MODIFY a BIGINT NOT NULL", "MODIFY a INT FIRST", "MODIFY id INT AFTER id"),
    *("CHANGE a c DATE", "CHANGE c a INT", "RENAME COLUMN a TO c", "RENAME INDEX u TO v"),
    *("RENAME TO u", "ADD PRIMARY KEY (a)", "ADD UNIQUE (c)", "ALTER a SET DEFAULT 3"),
    *("ALTER a DROP DEFAULT", "CONVERT TO CHARSET binary", "LOCK=NONE", "ADD PARTITION (x)"),
)
STATEMENTS = (
    *("DROP TABLE t", "RENAME TABLE t TO u", "RENAME TABLE u TO t", "TRUNCATE t", CREATE[:-1]),
    *("CREATE UNIQUE INDEX i ON t (a)", "DROP INDEX i ON t", "DROP DATABASE s", "USE s", "SHOW t"),
)
PIECES = [word for part in (*PARTS, *STATEMENTS) for word in part.split()] + list("(),;'`.")
few = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def check(text: str) -> tuple[Statement, ...]:
    try:
        return read_chain(text, "s")
    except DdlError as error:
        line, column = error.line, error.column
    lines = text.split("\n")
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1
    return ()


@few
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=5))
def test_any_parts_of_an_alter_leave_a_table_with_a_true_key(parts: list[str]) -> None:
    for statement in check(f"{CREATE} ALTER TABLE t {', '.join(parts)}"):
        for change in statement.changes:
            assert change.after is not None
            names = [column.name for column in change.after.columns or ()]
            assert len({name.casefold() for name in names}) == len(names) > 0
            assert set(change.after.key or ()) <= set(names)
            ids = [column.id for column in change.after.columns or ()]
            assert None not in ids
            assert len(set(ids)) == len(ids)
            with suppress(EncodeError):
                schemas_of(change.after)


@few
@given(st.lists(st.sampled_from(STATEMENTS), max_size=8))
def test_each_statement_begins_where_the_one_before_it_ended(statements: list[str]) -> None:
    tables: dict[tuple[str | None, str | None], object] = {}
    for statement in check("; ".join([CREATE[:-1], *statements])):
        for change in statement.changes:
            if change.before is not None:
                assert tables.pop((change.before.schema, change.before.name)) == change.before
            if change.after is not None:
                tables[change.after.schema, change.after.name] = change.after


@few
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_words_are_read_or_refused_at_a_place(pieces: list[str]) -> None:
    check(f"{CREATE}\nALTER TABLE t {' '.join(pieces)}")
    check(f"{CREATE}\n{' '.join(pieces)}")


def test_every_beginning_of_an_alter_is_read_or_refused_at_a_place() -> None:
    text = f"{CREATE} ALTER TABLE t {', '.join(PARTS)}"
    for end in range(len(CREATE), len(text)):
        check(text[:end])
