"""A comparison as one HTML page, without scripts and without the network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cdcwire.console.visible import visible
from cdcwire_conformance.compare.record import DEFAULT_ORIGIN, InputRecord, UsedOption
from cdcwire_conformance.compare.report import (
    about_table,
    change_line,
    due_line,
    event_count_lines,
    example_column,
    named_counts,
    place_lines,
    rest_line,
    share_text,
    verdict_line,
)
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    Counts,
    RowDifference,
    TableComparison,
)
from cdcwire_conformance.compare.shown_text import (
    column_name,
    counted,
    first_difference,
    key_text,
    problem_lines,
    sides_text,
)
from cdcwire_conformance.output.html.render import render_template

_FILES_SHOWN = 50  # of each side
_SIZE = re.compile(r" \([0-9]+ bytes\)\Z")
# The name of the count, the verdict of the rows, and the heading.
_VERDICTS_OF_TABLE = (
    ("missing", "missing", "Missing in the table"),
    ("left over", "left over", "Left over in the table"),
    ("stale", "stale", "Stale in the table"),
    ("different", "changed", "Different"),
    ("doubled", "doubled", "Doubled in the table"),
)


@dataclass(frozen=True, slots=True)
class _Value:
    """A value cut in three: ``different`` is the part in which it differs from the other side."""

    start: str
    different: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    sides: tuple[_Value, _Value]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that differs. ``sides``: those that have it, 0 for the left one and 1 for the right."""

    title: str
    places: tuple[str, ...]
    columns: tuple[_Column, ...]
    sides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    title: str
    rows: tuple[_Row, ...]


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
    rows: tuple[str, str]
    counts: tuple[str, ...]
    about: str
    lines: tuple[str, ...]
    sides: tuple[str, str]
    patterns: tuple[_Pattern, ...]
    groups: tuple[_Group, ...]
    rest: str

    @property
    def is_shown(self) -> bool:
        return bool(self.lines or self.groups or self.patterns)

    @property
    def has_columns(self) -> bool:
        """Return whether a pattern is about a column; others are about whole rows."""
        return any(pattern.column for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class _Input:
    """A side: facts in a list, files with sizes and sums, and the options that were not default."""

    title: str
    facts: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str, str], ...]
    more_files: str
    found: tuple[UsedOption, ...]
    defaults: tuple[UsedOption, ...]


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    verdict: str
    state: str
    facts: tuple[tuple[str, str], ...]
    not_compared: tuple[str, ...]
    problems: tuple[str, ...]
    count_names: tuple[str, ...]
    tables: tuple[_Table, ...]
    inputs: tuple[_Input, ...]
    side_names: tuple[str, str]


def html_text(found: Comparison) -> str:
    """Return the page of a comparison. Raises: MissingExtraError without Jinja2."""
    return render_template("comparison.html", page=_page(found))


def _page(found: Comparison) -> _Page:
    names = [
        name
        for name in dict.fromkeys(n for table in found.tables for n, _ in named_counts(table))
        if any(dict(named_counts(table)).get(name) for table in found.tables)
    ]
    left, right = next(map(_sides, found.tables), ("Left", "Right"))
    facts = [(left, found.left), (right, found.right)]
    facts += [("Not read", line) for line in found.unread]
    record = found.record
    if record is not None:
        facts.insert(0, ("Date", record.date.replace("T", " ").replace("Z", " UTC")))
        if record.command:
            facts.append(("Command", record.command))
        facts.append(("Versions", ", ".join(" ".join(each) for each in record.versions)))
        for each in record.definitions:
            size = "" if each.size is None else f", {counted(each.size, 'byte')}"
            facts.append(
                ("Definitions", f"{each.name}{size}, SHA-256 {each.sha256 or 'not known'}")
            )
    if found.compared:
        facts.append(("Compared", ", ".join(name for name in found.compared if name != "half")))
    if found.engine:
        facts.append(("Engine", found.engine))
    facts += [("Other events", line) for line in event_count_lines(found)]
    facts += [("Note", note) for note in found.notes]
    facts += [("Hint", hint) for hint in found.hints]
    verdict = verdict_line(found)
    return _Page(
        visible(f"{verdict.partition(':')[0]}: {found.left} and {found.right}"),
        verdict,
        "good" if found.is_equal else "bad",
        tuple((name, visible(value)) for name, value in facts),
        tuple(f"{visible(name)} ({visible(reason)})" for name, reason in _left_out(found)),
        tuple(map(visible, problem_lines(found))),
        tuple(name.capitalize() for name in names),
        tuple(_table(table, names) for table in found.tables),
        () if record is None else (_input(left, record.left), _input(right, record.right)),
        (left.lower(), right.lower()),
    )


def _input(title: str, found: InputRecord) -> _Input:
    facts = [("Source", found.name)]
    if found.size is not None:
        number_of_files = counted(len(found.files), "file")
        facts.append(("Size", f"{counted(found.size, 'byte')} in {number_of_files}"))
    if found.sha256 is not None and len(found.files) > 1:
        facts.append(("SHA-256 of the list of files", found.sha256))
    facts += [
        (f"{each.topic}, partition {each.partition}", f"offsets {each.start:,} to {each.end:,}")
        for each in found.partitions
    ]
    numbers = (("Messages", found.messages), ("Rows", found.rows))
    facts += [(name, f"{number:,}") for name, number in numbers if number is not None]
    facts += [(f"Range of {each.name}", f"{each.first} to {each.last}") for each in found.bounds]
    if found.checkpoint is not None:
        facts.append(("Checkpoint", str(found.checkpoint)))
    files = [
        (visible(each.name), "" if each.size is None else f"{each.size:,}", each.sha256 or "")
        for each in found.files[:_FILES_SHOWN]
    ]
    more = len(found.files) - len(files)
    return _Input(
        title,
        tuple((visible(name), visible(value)) for name, value in facts),
        tuple(files),
        f"and {counted(more, 'more file')} (--json lists all)" if more > 0 else "",
        tuple(each for each in found.options if each.origin != DEFAULT_ORIGIN),
        tuple(each for each in found.options if each.origin == DEFAULT_ORIGIN),
    )


def _left_out(found: Comparison) -> Iterator[tuple[str, str]]:
    yield from found.left_out
    for table in found.tables:
        yield from ((f"{table.table}: {name}", reason) for name, reason in table.left_out)


def _table(table: TableComparison, names: Sequence[str]) -> _Table:
    counts = table.counts or Counts()
    lines = [*table.schema_differences, *(f"note: {note}" for note in table.notes)]
    if (counts.left, counts.right) != (counts.left_rows, counts.right_rows) and not table.is_final:
        lines.append("note: an update that changes the key counts as two changes, not as one row")
    numbers = [f"{counts.left_rows:,}", f"{counts.right_rows:,}"]
    numbers += [f"{dict(named_counts(table)).get(name, 0):,}" for name in names]
    if table.counts is None:
        numbers = [""] * len(numbers)
    return _Table(
        visible(table.table),
        "not compared" if table.counts is None else "equal" if table.is_equal else "different",
        (numbers[0], numbers[1]),
        tuple(numbers[2:]),
        about_table(table),
        tuple(map(visible, lines)),
        _sides(table),
        tuple(_patterns(table, counts)),
        tuple(_groups(table)),
        rest_line(table) or "",
    )


def _sides(table: TableComparison) -> tuple[str, str]:
    return ("Feed", "Table") if table.against_table else ("Left", "Right")


def _groups(table: TableComparison) -> Iterator[_Group]:
    """Yield the rows under their headings: those of a table by verdict, with all their numbers."""
    if not table.against_table:
        if table.differences:
            yield _Group("First differing rows", tuple(map(_row, table.differences)))
        return
    counts = dict(named_counts(table))
    for name, verdict, title in _VERDICTS_OF_TABLE:
        rows = tuple(_row(each) for each in table.differences if each.verdict == verdict)
        if counts[name]:
            shown = "" if len(rows) == counts[name] else f", the first {len(rows):,} of them"
            yield _Group(f"{title}: {counts[name]:,}{shown}", rows)


def _patterns(table: TableComparison, counts: Counts) -> Iterator[_Pattern]:
    for pattern in table.patterns:
        examples = []
        for each in pattern.examples:
            column = example_column(pattern, each)
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
    columns = tuple(_Column(column_name(each), _values(each)) for each in difference.columns)
    releases = dict.fromkeys(each.release for each in difference.columns if each.release)
    places = (*place_lines(difference), *due_line(difference), *releases)
    counts = (difference.left_count, difference.right_count)
    sides = tuple(side for side, count in enumerate(counts) if count)
    return _Row(change_line(difference), places, columns, sides)


def _values(column: ColumnDifference) -> tuple[_Value, _Value]:
    """Return both values, each with the part that the other one does not have."""
    left, right = sides_text(column)
    if ABSENT in (column.left, column.right):
        return _Value(left), _Value(right)
    if column.left.hidden or column.right.hidden:
        return _Value("", left), _Value("", right)
    ours, theirs = left, right
    if column.kind.startswith("bytes"):
        ours, theirs = (_SIZE.sub("", text) for text in (left, right))
    same = first_difference(ours, theirs)
    end = first_difference(ours[same:][::-1], theirs[same:][::-1])
    return _marked(left, same, len(ours) - end), _marked(right, same, len(theirs) - end)


def _marked(text: str, start: int, stop: int) -> _Value:
    return _Value(text[:start], text[start:stop], text[stop:])
