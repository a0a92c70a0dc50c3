"""Events: what a testee answers to ``decode``, against what the case expects.

Values that the format does not carry are not compared, whichever side has them. The same goes for
parts that a testee declared as missing (``FIELDS_TO_DECLINE``).

Bytes leave some things open, and each answer to them is right. A missing name may be answered by an
empty one. Unchanged columns that the message leaves out may be filled in. The row before an update
then has them with the values of the row after. A row that is cut to its key may have its other
columns as NULL, where the format sends them so.

A format that sends an update as two records gives two events with ``half``; a testee may answer
these, or one update. Both sides are joined, so that either meets either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from cdcwire.format import Format
from cdcwire.model.carries import Carries
from cdcwire.model.events import POSITION_MEMBERS, Path
from cdcwire.model.text import Json
from cdcwire_conformance.judge.difference import (
    A_VALUE,
    ABSENT_TEXT,
    Difference,
    is_null,
    quoted,
    shorten,
    shown_event,
    shown_value,
)
from cdcwire_conformance.judge.values import (
    THROUGH_FLOAT,
    ValueRules,
    compare_columns,
    went_through_float,
)

FIELDS_TO_DECLINE = (
    *("position", "key", "op", "what", "schema", "scale", "zone", "fraction digits"),
    *POSITION_MEMBERS,
)
_LONG = re.compile(r"[0-9]{16,20}")  # numbers that a 64-bit float may not have
_MAY_BE_EMPTY = ("database", "schema")
_NOT_DELETES = ("insert", "update", "upsert", "read")  # one and the same without ``op``
_LISTED = 6
MOST_DIFFERENCES = 100  # of one answer


@dataclass(frozen=True, slots=True)
class EventRules:
    """The rules for comparing events.

    ``ignored``: fields that count for neither side. ``extra_is_wrong``: members of the position
    that an answer must not make up. ``key_rows_have_nulls``: a row that is cut to its key is sent
    with NULL in its other columns.
    """

    ignored: frozenset[str] = frozenset()
    key_rows_have_nulls: bool = False
    extra_is_wrong: frozenset[str] = frozenset()
    values: ValueRules = field(default_factory=ValueRules)


_WITH_ZONE = "timestamp with zone"


def rules_of(codec: Format | None, without: frozenset[str] = frozenset()) -> EventRules:
    """Return the rules for a format, and for a testee that declared ``without``."""
    ignored = without & set(FIELDS_TO_DECLINE)
    if codec is None:
        return EventRules(ignored)
    carries: Carries = codec.carries
    verdicts = {name: verdict.verdict for name, verdict in carries.fields.items()}
    uncarried = {name for name in FIELDS_TO_DECLINE if verdicts.get(name) == "no"}
    return EventRules(
        ignored | uncarried,
        codec.comparing.key_rows_have_nulls,
        frozenset(name for name in POSITION_MEMBERS if verdicts.get(name) in ("exact", "option")),
        ValueRules(
            zone_needed="zone" not in ignored and _says_zones(carries),
            scale_needed="scale" not in ignored,
            fraction_digits_needed="fraction digits" not in ignored,
        ),
    )


def _says_zones(carries: Carries) -> bool:
    """Return whether bytes say the zone of an instant.

    They don't where an option says it, or the page does: then every instant comes back with one.
    """
    with_zone, without = carries.kinds[_WITH_ZONE], carries.kinds["timestamp"]
    is_kept = with_zone.verdict == "exact" or _WITH_ZONE in with_zone.forms
    return is_kept and _WITH_ZONE not in without.forms


def compare_events(
    expected: Sequence[Json], given: Sequence[Json], rules: EventRules
) -> list[Difference]:
    """Return how the answered events differ from the expected ones; none: they agree.

    An answer may differ in any number of columns. The first ``MOST_DIFFERENCES`` are enough.
    """
    indexes = list(range(len(expected)))
    if not any(map(is_tombstone, given)):
        indexes = [index for index in indexes if not is_tombstone(expected[index])]
    kept = [expected[index] for index in indexes]
    number_of = {
        index: number for number, group in enumerate(group_halves(expected)) for index in group
    }
    origins = [
        tuple(sorted({number_of[indexes[index]] for index in group}))
        for group in group_halves(kept)
    ]
    wanted_events, given_events = join_halves(kept), join_halves(given)
    differences: list[Difference] = []
    if len(wanted_events) != len(given_events):
        change = _listed_change(wanted_events, given_events)
        texts = _listed(wanted_events), _listed(given_events)
        differences.append(Difference(("events",), *texts, change=change))
    pairs = zip(wanted_events, given_events, strict=False)
    for index, (wanted, found) in enumerate(pairs):
        left = max(0, MOST_DIFFERENCES - len(differences))
        for difference in islice(compare_event(wanted, found, ("events", index), rules), left):
            differences.append(replace(difference, events=origins[index]))
        if len(differences) >= MOST_DIFFERENCES:
            break
        if differences and len(wanted_events) != len(given_events):
            break  # from here on the wrong ones are compared
    return differences


def _listed_change(expected: Sequence[Json], given: Sequence[Json]) -> tuple[str, str]:
    """Return which kinds of event are missing, and which are too many."""
    wanted, found = (Counter(map(_kind_of_event, events)) for events in (expected, given))
    missing, added = (sorted((a - b).keys()) for a, b in ((wanted, found), (found, wanted)))
    return ", ".join(missing) or "no more events", ", ".join(added) or ABSENT_TEXT


def _kind_of_event(event: Json) -> str:
    """Return the kind of an event, of a row with its operation."""
    return " ".join(str(event[word]) for word in ("kind", "op") if event.get(word))


def _listed(events: Sequence[Json]) -> str:
    shown = [shown_event(event) for event in events[:_LISTED]]
    more = "" if len(events) <= _LISTED else f", and {len(events) - _LISTED} more"
    names = f": {', '.join(shown)}{more}" if events else ""
    return f"{len(events)} event{'' if len(events) == 1 else 's'}{names}"


def compare_event(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    """Yield how one event differs from the expected one."""
    if expected.get("kind") != given.get("kind"):
        change = _kind_of_event(expected), shorten(_kind_of_event(given) or ABSENT_TEXT, 40)
        texts = shown_event(expected), shown_event(given) or quoted(given)
        yield Difference(path, *texts, change=change)
        return
    match expected["kind"]:
        case "row":
            yield from _compare_operation(expected, given, path, rules)
            yield from _compare_words(expected, given, path, ("half",))
            yield from _compare_names(expected, given, path, rules)
            yield from _compare_key(expected, given, path, rules)
            yield from _compare_position(expected, given, path, rules)
            yield from _compare_images(expected, given, path, rules)
            if "sent" in expected and "sent" in given and expected.get("sent") != "changed":
                yield from _compare_words(expected, given, path, ("sent",))
        case "ddl":
            if "what" not in rules.ignored:
                yield from _compare_kind_of_ddl(expected, given, path)
            yield from _compare_names(expected, given, path, rules)
            yield from _compare_position(expected, given, path, rules)
            yield from _compare_words(expected, given, path, ("query",))
            yield from _compare_definitions(expected, given, path)
        case _:
            yield from _compare_words(expected, given, path, ("what", "id"))
            yield from _compare_position(expected, given, path, rules)
    yield from _compare_extra(expected, given, path)


def _compare_operation(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    """Compare the operations; without ``op`` only deletes are distinguished from the others."""
    operations = (expected.get("op"), given.get("op"))
    if "op" in rules.ignored and all(op in _NOT_DELETES for op in operations):
        return
    yield from _compare_words(expected, given, path, ("op",))


def _compare_names(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    """Compare the names of the table. An empty database or schema is like a missing one."""
    names = tuple(name for name in (*_MAY_BE_EMPTY, "table") if name not in rules.ignored)
    wanted, found = (
        {**document, **{name: document.get(name) or None for name in _MAY_BE_EMPTY}}
        for document in (expected, given)
    )
    yield from _compare_words(wanted, found, path, names)


def _compare_words(
    expected: Mapping[str, Json],
    given: Mapping[str, Json],
    path: Path,
    names: tuple[str, ...],
) -> Iterator[Difference]:
    """Compare members that are text; missing and null are one."""
    for name in names:
        wanted, found = expected.get(name), given.get(name)
        if wanted != found:
            change = _change_of(wanted, found)
            if name in _WORDS:
                change = _shown(wanted), shorten(_shown(found), 40)
            yield Difference((*path, name), _shown(wanted), _shown(found), change=change)


_WORDS = ("op", "half", "what", "sent")


def _change_of(wanted: Json, found: Json) -> tuple[str, str]:
    return ABSENT_TEXT if wanted is None else A_VALUE, ABSENT_TEXT if found is None else A_VALUE


def _shown(word: Json) -> str:
    return ABSENT_TEXT if word is None else quoted(word)


def _compare_key(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    """Compare the names of the key columns, in any order, if the format says them."""
    wanted, found = expected.get("key"), given.get("key")
    if wanted is None or "key" in rules.ignored:
        return
    if not isinstance(found, list) or sorted(map(str, found)) != sorted(wanted):
        hint = "" if wanted else "[] says that there is no key"
        change = _change_of(wanted, found)
        yield Difference((*path, "key"), quoted(wanted), _shown(found), hint, change)


def _compare_position(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    if "position" in rules.ignored:
        return
    ours, theirs = expected.get("position") or {}, given.get("position") or {}
    if not isinstance(theirs, Mapping):
        yield Difference((*path, "position"), quoted(ours), quoted(theirs), "it is an object")
        return
    for name in POSITION_MEMBERS:
        wanted, found = ours.get(name), theirs.get(name)
        if name in rules.ignored or wanted == found:
            continue
        if wanted is None and name not in rules.extra_is_wrong:
            continue
        hint = _position_hint(wanted, found)
        change = _change_of(wanted, found)
        texts = _shown(wanted), _shown(found)
        yield Difference((*path, "position", name), *texts, hint, change)


def _position_hint(wanted: Json, found: Json) -> str:
    if isinstance(found, (int, float)):  # also true and false
        return "it is text: readers of JSON round large numbers"
    if not (isinstance(wanted, str) and isinstance(found, str)):
        return ""
    are_numbers = _LONG.fullmatch(wanted) and _LONG.fullmatch(found)
    is_rounded = are_numbers and went_through_float(int(wanted), int(found))
    return THROUGH_FLOAT if is_rounded else ""


def _compare_images(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    differences = list(_differences_of_images(expected, given, path, rules))
    swapped = {**given, "before": given.get("after"), "after": given.get("before")}
    if differences and not any(_differences_of_images(expected, swapped, path, rules)):
        texts = (_shown_image(given.get("after")), _shown_image(given.get("before")))
        hint, change = "before and after are swapped", ("before", "after")
        yield Difference((*path, "before"), *texts, hint, change)
        return
    yield from differences


def _differences_of_images(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path, rules: EventRules
) -> Iterator[Difference]:
    for side in ("before", "after"):
        wanted, found = expected.get(side), given.get(side)
        place = (*path, side)
        if wanted is None and found is None:
            continue
        if wanted is not None and isinstance(found, Mapping):
            if side == "before" and expected.get("sent") == "changed":
                wanted = _filled(wanted, expected.get("after") or {}, found)
            if rules.key_rows_have_nulls and expected.get("sent") == "key":
                found = {n: v for n, v in found.items() if n in wanted or not is_null(v)}
            yield from compare_columns(wanted, found, place, rules.values)
            continue
        change = ("no row" if wanted is None else "a row", "no row" if found is None else "a row")
        texts = _shown_image(wanted), _shown_image(found)
        yield Difference(place, *texts, change=change)


def _filled(
    before: Mapping[str, Json], after: Mapping[str, Json], found: Mapping[str, Json]
) -> Mapping[str, Json]:
    """Return the expected old row with those unchanged columns that the answer has filled in."""
    filled = {name: after[name] for name in found if name in after and name not in before}
    return {**before, **filled}


def _shown_image(image: Json) -> str:
    if image is None:
        return "no row (null)"
    if not isinstance(image, Mapping):
        return quoted(image)
    names = list(image)
    more = "" if len(names) <= _LISTED else f", and {len(names) - _LISTED} more"
    return f"a row of {', '.join(names[:_LISTED])}{more}" if names else "a row without columns"


def _compare_kind_of_ddl(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path
) -> Iterator[Difference]:
    """Compare ``what`` and ``code``, whichever the answer has; it has one of them."""
    names = [name for name in ("what", "code") if name in given and name in expected]
    yield from _compare_words(expected, given, path, tuple(names) or ("what",))


def _compare_definitions(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path
) -> Iterator[Difference]:
    """Compare the columns of a schema change by name, if both sides list them."""
    wanted, found = expected.get("columns"), given.get("columns")
    if wanted is None or not isinstance(found, list):
        return
    names = [
        [column.get("name") if isinstance(column, Mapping) else column for column in columns]
        for columns in (wanted, found)
    ]
    if names[0] != names[1]:
        yield Difference((*path, "columns"), quoted(names[0]), quoted(names[1]))


def _compare_extra(
    expected: Mapping[str, Json], given: Mapping[str, Json], path: Path
) -> Iterator[Difference]:
    """Compare the members that both sides give in addition to the neutral fields."""
    ours, theirs = expected.get("extra") or {}, given.get("extra") or {}
    if not isinstance(theirs, Mapping):
        yield Difference((*path, "extra"), quoted(ours), quoted(theirs), "it is an object")
        return
    for name, value in ours.items():
        if name in theirs and theirs[name] != value:
            yield Difference((*path, "extra", name), shown_value(value), shown_value(theirs[name]))


def join_halves(events: Sequence[Json]) -> list[Json]:
    """Return the events with each before-half and the after-half that follows made one update.

    The two records have one table and one position. One alone stays as it is.
    """
    joined: list[Json] = []
    for group in group_halves(events):
        if len(group) == 1:
            joined.append(events[group[0]])
            continue
        before, after = (events[index] for index in group)
        whole = {**before, **after, "op": "update", "before": before.get("before")}
        del whole["half"]
        joined.append(whole)
    return joined


def group_halves(events: Sequence[Json]) -> list[tuple[int, ...]]:
    """Return the indexes of the events: both records of an update together, other events alone."""
    groups: list[tuple[int, ...]] = []
    for index, event in enumerate(events):
        before = events[index - 1] if groups and len(groups[-1]) == 1 else {}
        if _is_half(event, "after") and _is_half(before, "before") and _same_row(before, event):
            groups[-1] = (index - 1, index)
        else:
            groups.append((index,))
    return groups


def _is_half(event: Json, half: str) -> bool:
    return isinstance(event, Mapping) and event.get("half") == half


def _same_row(before: Mapping[str, Json], after: Mapping[str, Json]) -> bool:
    names = ("database", "schema", "table")
    if any(before.get(name) != after.get(name) for name in names):
        return False
    ours, theirs = before.get("position") or {}, after.get("position") or {}
    if not (isinstance(ours, Mapping) and isinstance(theirs, Mapping)):
        return False
    return all(ours.get(name) == theirs.get(name) for name in ("sequence_id", "commit_ts", "lsn"))


def is_tombstone(event: Json) -> bool:
    """Return whether an event is the marker of a message without value."""
    return (
        isinstance(event, Mapping)
        and event.get("kind") == "marker"
        and event.get("what") == "tombstone"
    )
