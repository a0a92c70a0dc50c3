"""A comparison for people, and as one JSON document (``schemas/comparison.schema.json``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.console.visible import visible
from cdcwire_conformance.compare.result import (
    REDACTED,
    ColumnDifference,
    Comparison,
    Counts,
    Pattern,
    PatternExample,
    RowDifference,
    TableComparison,
)
from cdcwire_conformance.compare.shown_text import (
    column_name,
    counted,
    ddl_line,
    key_lines,
    key_text,
    position_text,
    sides_text,
    value_text,
)

_COLUMNS_SHOWN = 12  # of a row
_PATTERNS_SHOWN = 10
_UNWANTED_SHOWN = 5  # parts in the verdict
_COPIES = ("repeated", "doubled")
_GONE_FROM = {"only left": "right", "only right": "left"}
_IN_ANOTHER_ORDER = "not in the other side's order of changes of its key"
_COUNTED = {
    "same": "same",
    "changed": "changed",
    "released": "changed by a release",
    "only_left": "only left",
    "only_right": "only right",
    "repeated_left": "repeated left",
    "repeated_right": "repeated right",
    "doubled_left": "doubled left",
    "doubled_right": "doubled right",
    "out_of_order_left": "out of order left",
    "out_of_order_right": "out of order right",
    "unreadable_left": "unreadable left",
    "unreadable_right": "unreadable right",
    "unsure_left": "unsure left",
    "unsure_right": "unsure right",
}
_COUNTED_IN_TABLE = {
    "same": "same",
    "changed": "different",
    "stale": "stale",
    "only_left": "missing",
    "only_right": "left over",
    "doubled_right": "doubled",
    "unreadable_left": "unreadable",
}


def named_counts(table: TableComparison) -> list[tuple[str, int]]:
    """Return the counts of a table by the names that reports have."""
    counts = table.counts or Counts()
    counts = replace(counts, changed=counts.changed - counts.stale - counts.released)
    if not table.against_table:
        return [(word, getattr(counts, name)) for name, word in _COUNTED.items()]
    return [(word, getattr(counts, name)) for name, word in _COUNTED_IN_TABLE.items()]


def text(found: Comparison) -> str:
    """Return the whole comparison as text."""
    return "".join(line.rstrip() + "\n" for line in _lines(found))


def _lines(found: Comparison) -> Iterator[str]:
    yield f"left   {found.left}"
    yield f"right  {found.right}"
    yield from (visible(f"not read  {line}") for line in found.unread)
    yield ""
    yield from found_lines(found)
    yield from terms_lines(found)
    yield from other_events_lines(found)
    yield from (f"note: {note}" for note in found.notes)
    yield from (f"hint: {visible(hint)}" for hint in found.hints)
    if found.engine:
        yield f"engine: {found.engine}"
    yield verdict_line(found)


def found_lines(found: Comparison) -> Iterator[str]:
    """Yield what was found of schemas, of each table, and of unreadable messages."""
    if found.has_schema_differences:
        yield "The schemas differ:"
        yield from (f"  {line}" for line in found.differences)
        for table in found.tables:
            yield from (f"  {table.table}: {line}" for line in table.schema_differences)
        if all(table.counts is None for table in found.tables):
            yield "No row was compared. --common compares what both sides have."
        elif any(table.counts is None for table in found.tables):
            yield "Tables with different columns were not compared (--common compares them)."
        yield ""
    is_dense = False  # whether the last table took one line
    for table in found.tables:
        if table.counts is not None:
            lines = list(_table_lines(table, table.counts))
            if is_dense and len(lines) > 1:
                yield ""
            yield from lines
            is_dense = len(lines) == 1
            if not is_dense:
                yield ""
    if is_dense:
        yield ""
    yield from (f"unreadable: {visible(str(each))}" for each in found.unreadable)
    if found.errors > len(found.unreadable) > 0:
        yield f"unreadable: and {found.errors - len(found.unreadable):,} more"


def terms_lines(found: Comparison) -> Iterator[str]:
    """Yield the facts of a change that were compared, and those that were not."""
    if found.compared and any(table.counts is not None for table in found.tables):
        facts = [name for name in found.compared if name != "half"]  # few formats have any
        yield f"compared: {', '.join(facts)}"
    yield from (f"not compared: {name} ({reason})" for name, reason in found.left_out)


def other_events_lines(found: Comparison) -> Iterator[str]:
    """Yield how many other events there are, and the DDL events of one side."""
    yield from event_count_lines(found)
    yield from (visible(ddl_line(each)) for each in found.ddl_differences)
    yield from map(visible, key_lines(found.keys))


def event_count_lines(found: Comparison) -> Iterator[str]:
    """Yield how many DDL and progress events there are."""
    for name, numbers in (("DDL", found.ddl), ("progress", found.progress)):
        if any(numbers):
            what = "" if name in found.compared else "not compared: "
            left, right = numbers
            yield f"{what}{name} events ({left:,} on the left, {right:,} on the right)"


def verdict_line(found: Comparison) -> str:
    """Return the one line that says it all, with what the options leave out."""
    unwanted = [visible(part) for part in found.unwanted[:_UNWANTED_SHOWN]]
    more = len(found.unwanted) - len(unwanted)
    unwanted += ["files that were not read"] if found.unread else []
    released = sum(table.counts.released for table in found.tables if table.counts is not None)
    unwanted += [f"{counted(released, 'difference')} of releases (--profile)"] if released else []
    left_out = "; ".join([*unwanted, *([f"and {more} more"] if more else [])])
    return _verdict(found) + (f"; left out: {left_out}" if left_out else "")


def _verdict(found: Comparison) -> str:
    compared = [table for table in found.tables if table.counts is not None]
    tables = counted(len(compared), "table")
    if found.is_equal:
        changes = sum(_changes(table) for table in found.tables)
        how = "by all columns" if found.is_exact else "by 128 bits of hash per row"
        what = "last row" if any(table.is_final for table in found.tables) else "change"
        return f"EQUAL: {counted(changes, what)} of {tables}, {how}"
    if not found.is_different and found.goes_back:
        return "NOT COMPARED: positions go back in both feeds"
    if not found.is_different:
        return f"NOT COMPARED: no change of {tables}"
    reasons = []
    differing = sum(table.differing for table in found.tables)
    number = sum(table.differing > 0 for table in found.tables)
    if found.has_schema_differences:
        reasons.append("the schemas differ")
    if number:
        verb = "differs" if number == 1 else "differ"
        of_tables = f"{number:,} of {counted(len(found.tables), 'table')} {verb}"
        reasons.append(f"{of_tables} ({counted(differing, 'difference')})")
    if found.ddl_differences:
        reasons.append(counted(len(found.ddl_differences), "DDL event") + " of one side")
    if found.keys.differ:
        reasons.append("the Kafka keys differ")
    if found.errors:
        reasons.append(f"{found.errors:,} unreadable")
    return f"DIFFERENT: {', '.join(reasons)}"


def table_text(table: TableComparison) -> list[str]:
    """Return what the text says of a table."""
    return [] if table.counts is None else list(_table_lines(table, table.counts))


def about_table(table: TableComparison) -> str:
    """Return how many rows were compared, and how they paired."""
    return "" if table.counts is None else f"{_sizes(table, table.counts)}, {_pairing(table)}"


def rest_line(table: TableComparison) -> str | None:
    """Return the line about the differences that are not shown."""
    if table.counts is None or not table.differences:
        return None
    left = table.counts.differing - sum(each.weight for each in table.differences)
    return f"and {counted(left, 'more difference')} (--limit shows more)" if left > 0 else None


def _table_lines(table: TableComparison, counts: Counts) -> Iterator[str]:
    if not counts.differing and not counts.unreadable:
        yield f"{visible(table.table)}: equal, {about_table(table)}"
    else:
        yield f"{visible(table.table)}: {_table_word(table, counts)}"
        yield f"  {about_table(table)}"
        yield "  " + ", ".join(f"{n:,} {name}" for name, n in named_counts(table) if n)
    if counts.differing > 1 or any(each.option for each in table.patterns):
        yield from _pattern_lines(table, counts)
    for difference in table.differences:
        yield ""
        yield from (f"  {line}" for line in _difference_lines(difference))
    rest = rest_line(table)
    if rest is not None:
        yield ""
        yield f"  {rest}"
    yield from (f"  not compared: {name} ({reason})" for name, reason in table.left_out)
    yield from (f"  note: {note}" for note in table.notes)


def _table_word(table: TableComparison, counts: Counts) -> str:
    if table.differing:
        return "different"
    if counts.unreadable:
        return "equal, as far as it can be read"
    accepted = {"repeats": counts.repeated, "what a release changed": counts.released}
    return f"equal except for {' and '.join(name for name, number in accepted.items() if number)}"


def _pattern_lines(table: TableComparison, counts: Counts) -> Iterator[str]:
    for pattern in table.patterns[:_PATTERNS_SHOWN]:
        yield ""
        name = "" if pattern.column is None else f"{visible(pattern.column)}: "
        times = f"{counted(pattern.count, 'row')} ({share_text(pattern, counts)})"
        yield f"  pattern: {times}, {name}{visible(pattern.text)}"
        if pattern.option is not None:
            yield f"    accepted with {pattern.option}"
        for example in pattern.examples:
            key = key_text(example.key)
            values = "" if pattern.column is None else f": {example_text(pattern, example)}"
            yield f"    {key}{values}".rstrip()
    rest = len(table.patterns) - _PATTERNS_SHOWN
    if rest > 0:
        yield ""
        yield f"  and {counted(rest, 'more pattern')} (--json has all)"


def example_column(pattern: Pattern, example: PatternExample) -> ColumnDifference:
    """Return an example of a pattern as a column that differs."""
    return ColumnDifference(None, pattern.column, pattern.type, example.left, example.right)


def example_text(pattern: Pattern, example: PatternExample) -> str:
    """Return both values of an example on one line."""
    left, right = sides_text(example_column(pattern, example))
    return f"{left} on the left, {right} on the right"


def share_text(pattern: Pattern, counts: Counts) -> str:
    """Return how many of all differences a pattern has."""
    share = 100 * pattern.count / counts.differing
    if 99 < share < 100:
        return "over 99 %"
    return "under 1 %" if share < 1 else f"{min(share, 100):.0f} %"


def _sizes(table: TableComparison, counts: Counts) -> str:
    left, right, split = counts.left, counts.right, ""
    if table.against_table:
        rows = f"{counted(right, 'row')} of the table"
        return f"{counted(left, 'last row')} after {counts.left_rows:,} changes, {rows}"
    if table.is_final:
        rows = f"{counts.left_rows:,} and {counts.right_rows:,} changes"
        if left == right and not counts.differing:
            return f"{counted(left, 'last row')} after {rows}"
        return f"{counted(left, 'last row')} on the left, {right:,} on the right after {rows}"
    if (left, right) != (counts.left_rows, counts.right_rows):
        rows = f"{counts.left_rows:,} and {counts.right_rows:,} rows"
        split = f" ({rows}, updates of keys split)"
        if table.in_halves:
            left, right, split = (
                counts.left_rows,
                counts.right_rows,
                " (each update as two records)",
            )
    if left == right and not counts.differing:
        return f"{counted(left, 'change')}{split}"
    return f"{counted(left, 'change')} on the left, {right:,} on the right{split}"


def _changes(table: TableComparison) -> int:
    """Return the number of changes of the left side; an update in two records counts once."""
    if table.counts is None:
        return 0
    is_row = table.in_halves and not table.is_final
    return table.counts.left_rows if is_row else table.counts.left


def _pairing(table: TableComparison) -> str:
    if table.is_final:
        return f"paired by {visible(', '.join(table.paired_by))}"
    position, *key = table.paired_by or (None,)
    if not key:
        values = "all their values (there is no key)"
        return f"paired by {values if position is None else f'{position} and {values}'}"
    names = visible(", ".join(key))
    if position == "ordinal":
        return f"paired by {names} and the order of its changes"
    return f"paired by {position} and {names}"


def change_line(difference: RowDifference) -> str:
    """Return what differs: the verdict, the operation, the key and the position."""
    what = f"{difference.op} {key_text(difference.key)}".rstrip()
    return f"{difference.verdict}: {what}{_place_in_order(difference)}"


def _place_in_order(difference: RowDifference) -> str:
    known = position_text(difference)
    if known is not None:
        return f" at {known}"
    if not difference.position:
        return ""
    name = difference.position[0][0]
    if name.startswith("last "):
        return f", without an earlier {name.removeprefix('last ')}"
    return ", a row of a snapshot"


def place_lines(difference: RowDifference) -> Iterator[str]:
    """Yield where each side has the row."""
    places = (("left", difference.left_place), ("right", difference.right_place))
    counts = (difference.left_count, difference.right_count)
    for (side, place), count in zip(places, counts, strict=True):
        is_counted = difference.verdict in _COPIES or count > 1
        if count and (is_counted or place is not None):
            times = "once" if count == 1 else f"{count:,} times"
            where = [times] if is_counted else []
            if difference.verdict == "out of order":
                is_on_both = all(counts)
                where.append(_IN_ANOTHER_ORDER if is_on_both else "after a later change of its key")
            yield f"{side:<5}  {', '.join([*where, *([visible(str(place))] if place else [])])}"


def due_line(difference: RowDifference) -> list[str]:
    """Return the line about the change that a table does not have, or that deleted a last row."""
    if difference.due is None and difference.due_place is None:
        return []
    where = " ".join(map(str, filter(None, (difference.due, difference.due_place))))
    gone = _GONE_FROM.get(difference.verdict)
    if gone is None:
        return [f"the table lacks the change at {visible(where)}"]
    return [f"{gone:<5}  deleted, its last change is at {visible(where)}"]


def _difference_lines(difference: RowDifference) -> Iterator[str]:
    yield change_line(difference)
    yield from (f"  {line}" for line in place_lines(difference))
    yield from (f"  {line}" for line in due_line(difference))
    if difference.verdict in ("changed", "stale"):
        for column in difference.columns[:_COLUMNS_SHOWN]:
            yield from (f"  {line}" for line in _column_lines(column))
        yield from _rest_of_columns(len(difference.columns))
        return
    is_deleted = difference.op == "delete"
    if difference.verdict in (*_COPIES, "out of order") or (difference.key and not is_deleted):
        return
    side = difference.verdict.removeprefix("only ")
    shown = [c for c in difference.columns if getattr(c, side).text is not None]
    for column in shown[:_COLUMNS_SHOWN]:
        yield f"  {column_name(column)}  {value_text(getattr(column, side), column.kind, 0)}"
    yield from _rest_of_columns(len(shown))


def _rest_of_columns(number: int) -> Iterator[str]:
    """Yield a line about the columns of a row that are not shown."""
    rest = number - _COLUMNS_SHOWN
    if rest > 0:
        yield f"  and {counted(rest, 'more column')} (--json and --html have all)"


def _column_lines(column: ColumnDifference) -> Iterator[str]:
    yield column_name(column)
    for side, value in zip(("left", "right"), sides_text(column), strict=True):
        yield f"  {side:<5}  {value}"
    texts = column.left.text, column.right.text
    if REDACTED == column.left == column.right:
        yield "  they differ"
    elif texts[0] is not None and texts[0] == texts[1]:
        yield f"  they differ after the first {len(texts[0]):,} characters"
    if column.release is not None:
        yield f"  {column.release}"
