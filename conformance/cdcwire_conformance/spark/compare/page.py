"""A comparison as one HTML page, without scripts and without the network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cdcwire_conformance.output.html.render import render_template
from cdcwire_conformance.spark.compare.report import (
    about_table,
    change_line,
    due_line,
    named_counts,
    place_lines,
    rest_line,
    share_text,
    verdict_line,
)
from cdcwire_conformance.spark.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    Counts,
    RowDifference,
    Shown,
    TableComparison,
)
from cdcwire_conformance.spark.compare.shown_text import (
    column_name,
    first_difference,
    key_text,
    told_apart,
    value_text,
)
from cdcwire_conformance.spark.compare.value_causes import cause_of
from cdcwire_conformance.visible import visible


@dataclass(frozen=True, slots=True)
class _Value:
    """A value cut in three: ``different`` is the part in which it differs from the other side."""

    start: str
    different: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    left: _Value
    right: _Value


@dataclass(frozen=True, slots=True)
class _Row:
    title: str
    places: tuple[str, ...]
    columns: tuple[_Column, ...]


@dataclass(frozen=True, slots=True)
class _Example:
    key: str
    left: _Value
    right: _Value


@dataclass(frozen=True, slots=True)
class _Pattern:
    column: str
    text: str
    option: str | None
    count: str
    share: str
    examples: tuple[_Example, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    result: str
    counts: tuple[str, ...]
    about: str
    lines: tuple[str, ...]
    patterns: tuple[_Pattern, ...]
    rows: tuple[_Row, ...]
    rest: str

    @property
    def is_shown(self) -> bool:
        return bool(self.lines or self.rows or self.patterns)


@dataclass(frozen=True, slots=True)
class _Page:
    verdict: str
    state: str
    facts: tuple[tuple[str, str], ...]
    not_compared: tuple[str, ...]
    problems: tuple[str, ...]
    count_names: tuple[str, ...]
    tables: tuple[_Table, ...]


def html_text(found: Comparison) -> str:
    """Return the page of a comparison. Raises: MissingExtraError without Jinja2."""
    return render_template("comparison.html", page=_page(found))


def _page(found: Comparison) -> _Page:
    names = [
        name
        for name in dict.fromkeys(n for table in found.tables for n, _ in named_counts(table))
        if any(dict(named_counts(table)).get(name) for table in found.tables)
    ]
    facts = [("Left", found.left), ("Right", found.right)]
    if found.compared:
        facts.append(("Compared", ", ".join(name for name in found.compared if name != "half")))
    facts += [("Note", note) for note in found.notes]
    problems = [*found.differences, *found.unreadable]
    return _Page(
        verdict_line(found),
        "good" if found.is_equal else "bad",
        tuple((name, visible(value)) for name, value in facts),
        tuple(f"{visible(name)} ({visible(reason)})" for name, reason in _left_out(found)),
        tuple(map(visible, problems)),
        tuple(name.capitalize() for name in names),
        tuple(_table(table, names) for table in found.tables),
    )


def _left_out(found: Comparison) -> Iterator[tuple[str, str]]:
    yield from found.left_out
    for table in found.tables:
        yield from ((f"{table.table}: {name}", reason) for name, reason in table.left_out)


def _table(table: TableComparison, names: Sequence[str]) -> _Table:
    counts = table.counts or Counts()
    lines = [*table.schema_differences, *(f"note: {note}" for note in table.notes)]
    return _Table(
        visible(table.table),
        "not compared" if table.counts is None else "equal" if table.is_equal else "different",
        tuple(f"{dict(named_counts(table)).get(name, 0):,}" for name in names),
        about_table(table),
        tuple(map(visible, lines)),
        tuple(_patterns(table, counts)),
        tuple(map(_row, table.differences)),
        rest_line(table) or "",
    )


def _patterns(table: TableComparison, counts: Counts) -> Iterator[_Pattern]:
    for pattern in table.patterns:
        examples = []
        for each in pattern.examples:
            column = ColumnDifference(None, pattern.column, pattern.type, each.left, each.right)
            left, right = ("", "") if pattern.column is None else _values(column)
            examples.append(_Example(key_text(each.key), _as_value(left), _as_value(right)))
        yield _Pattern(
            visible(pattern.column or ""),
            visible(pattern.text),
            pattern.option,
            f"{pattern.count:,}",
            share_text(pattern, counts),
            tuple(examples),
        )


def _as_value(value: str | _Value) -> _Value:
    return _Value(value) if isinstance(value, str) else value


def _row(difference: RowDifference) -> _Row:
    columns = tuple(_Column(column_name(each), *_values(each)) for each in difference.columns)
    places = (*place_lines(difference), *due_line(difference))
    return _Row(change_line(difference), places, columns)


def _values(column: ColumnDifference) -> tuple[_Value, _Value]:
    """Return both values, each with the part that the other one does not have."""
    if ABSENT in (column.left, column.right):
        left, right = (_text(shown, column.kind, 0) for shown in (column.left, column.right))
        return _Value(left), _Value(right)
    cause = cause_of(column.left, column.right, column.kind)
    sides = [told_apart(shown, cause.kind) for shown in (column.left, column.right)]
    start = first_difference(sides[0].text, sides[1].text)
    left, right = (_text(shown, column.kind, start) for shown in sides)
    same = first_difference(left, right)
    end = first_difference(left[same:][::-1], right[same:][::-1])
    return _marked(left, same, end), _marked(right, same, end)


def _marked(text: str, start: int, end: int) -> _Value:
    stop = len(text) - end
    return _Value(text[:start], text[start:stop], text[stop:])


def _text(shown: Shown, kind: str, start: int) -> str:
    return value_text(shown, kind, start)
