"""Whatever text is given: tables, or a DdlError with a place inside the text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cdcwire.ddl import DdlError, parse_ddl

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")

STATEMENT = """CREATE TABLE `s`.t (a bigint(20) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s',
 b enum('x','y') DEFAULT 'x', c decimal(5,2) GENERATED ALWAYS AS (a * 2) STORED, d bit(3) DEFAULT
 b'101', e timestamp(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE NOW(3), PRIMARY KEY (a, b) CLUSTERED,
 UNIQUE u (c, (a + 1)), CONSTRAINT f FOREIGN KEY (a) REFERENCES o (id)) CHARSET=utf8 PARTITION BY
 RANGE (a) (PARTITION p VALUES LESS THAN MAXVALUE); -- end"""
PIECES = [
    *STATEMENT.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split(),
    *("'", '"', "`", "/*", "*/", "\\", "--", "#", ";", ".", "0x", "x'f'", "1e", "\0", "é", "{%"),
    *("LIKE", "AS", "SELECT", "VECTOR", "<", "KEY", "CHECK", "DEFAULT", "NEXT", "USE", "-", "_u"),
]
few = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def check(text: str) -> None:
    place = place_of_error(text)
    if place is not None:
        line, column = place
        lines = text.split("\n")
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1


def place_of_error(text: str) -> tuple[int, int] | None:
    try:
        assert parse_ddl(text)
    except DdlError as error:
        return error.line, error.column
    return None


@few
@given(st.text())
@example("\ud800")
@example("\r\n\t\u3000")
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    check(text)
    check(f"CREATE TABLE t (a int {text})")


@few
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_words_are_read_or_refused_at_a_place(pieces: list[str]) -> None:
    check(f"CREATE TABLE t ({' '.join(pieces)}")
    check(f"CREATE TABLE t (a {' '.join(pieces)})")


@few
@given(st.integers(0, len(STATEMENT)), st.integers(0, 12), st.sampled_from(["", *PIECES]))
def test_any_change_of_a_statement_is_read_or_refused_at_a_place(
    start: int, length: int, piece: str
) -> None:
    check(STATEMENT[:start] + piece + STATEMENT[start + length :])


def test_every_beginning_of_a_statement_is_read_or_refused_at_a_place() -> None:
    for end in range(len(STATEMENT)):
        check(STATEMENT[:end])


def test_deep_nesting_is_accepted() -> None:
    check(f"CREATE TABLE t (a int DEFAULT {'(' * 20_000}1{')' * 20_000})")
    check(f"CREATE TABLE t (a int CHECK {'(' * 20_000}")
