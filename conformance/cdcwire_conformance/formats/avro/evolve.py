"""The answers of a registry under BACKWARD to the schemas of a chain of DDL.

The registry is simulated. A subject has versions. A text that is one of them already keeps its
number without a check. A new text is compared with the newest, and is refused or becomes the
newest. A table that is dropped and made again finds the versions of the old one, as it would in a
registry. There is one difference from a registry, so that each statement is judged by itself. After
a refused text, the next text is compared with the refused one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.apache_avro.evolution import Change, DecimalRule, compare_schemas
from cdcwire.core.errors import EncodeError
from cdcwire.ddl import Statement, TableChange
from cdcwire.formats.avro.names import TopicRule, subject_of
from cdcwire.formats.avro.settings import Settings
from cdcwire.formats.avro.writing import schemas_of
from cdcwire.model.events import Table

Side: TypeAlias = Literal["key", "value"]
Outcome: TypeAlias = Literal["first", "same", "accepted", "refused", "failed"]
STOPPING: frozenset[Outcome] = frozenset({"refused", "failed"})


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of two texts, as JSON; None where it does not exist."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class SchemaVerdict:
    """The outcome for one side of one table.

    ``outcome``: first (a new subject), same (a text that the subject has), accepted or refused by
    the registry, or failed. With failed the producer itself has no schema for it, and ``problem``
    says why. ``version``: the number that the text has in its subject. ``text``: the schema text.
    """

    side: Side
    subject: str
    outcome: Outcome
    version: int | None = None
    text: str | None = None
    fields: tuple[FieldChange, ...] = ()
    changes: tuple[Change, ...] = ()
    advice: str = ""
    problem: str = ""

    @property
    def stops(self) -> bool:
        """True if the feed stops at the next row."""
        return self.outcome in STOPPING


@dataclass(frozen=True, slots=True)
class Step:
    """A statement and one of its tables. ``verdicts``: of key and value; none if it is gone."""

    statement: Statement
    table: str
    change: TableChange
    verdicts: tuple[SchemaVerdict, ...]
    note: str = ""

    @property
    def stops(self) -> bool:
        """True if the feed stops at the next row."""
        return any(verdict.stops for verdict in self.verdicts)


class Subjects:
    """Subjects with the versions of their schemas, as a registry under BACKWARD keeps them."""

    def __init__(self, decimals: DecimalRule = "registry") -> None:
        self.decimals: DecimalRule = decimals
        self.versions: dict[str, list[str]] = {}
        self._refused: dict[str, str] = {}

    def register(self, side: Side, subject: str, text: str) -> SchemaVerdict:
        """Return what becomes of a text under a subject."""
        known = self.versions.setdefault(subject, [])
        if not known:
            known.append(text)
            return SchemaVerdict(side, subject, "first", 1, text)
        newest = self._refused.pop(subject, known[-1])
        fields = _field_changes(newest, text)
        if text in known:
            return SchemaVerdict(side, subject, "same", known.index(text) + 1, text, fields)
        comparison = compare_schemas(newest, text, self.decimals)
        changes = comparison.changes
        if not comparison.is_accepted:
            self._refused[subject] = text
            advice = _advice(comparison.refusals, fields)
            return SchemaVerdict(side, subject, "refused", None, text, fields, changes, advice)
        known.append(text)
        return SchemaVerdict(side, subject, "accepted", len(known), text, fields, changes)


def evolve(
    statements: Iterable[Statement],
    settings: Settings,
    rule: TopicRule,
    default_topic: str = "",
    decimals: DecimalRule = "registry",
) -> Iterator[Step]:
    """Yield what each statement does to the schemas of each of its tables.

    ``rule``: gives the topic of a table, from which the subjects follow.
    """
    subjects = Subjects(decimals)
    for statement in statements:
        for change in statement.changes:
            table = change.after or change.before
            assert table is not None
            name = _table_name(table)
            if change.after is None:
                note = "no more rows; the subjects keep their versions for a table of this name"
                yield Step(statement, name, change, (), note)
                continue
            topic = rule.topic(table.schema or "", table.name or "", default_topic)
            verdicts = _verdicts(subjects, change.after, topic, settings)
            note = ""
            if not change.after.key:
                note = "no rows are sent: no primary key, no unique key of NOT NULL columns"
                verdicts = ()
            elif change.before is not None and _table_name(change.before) != name:
                note = f"it was {_table_name(change.before)}"
            yield Step(statement, name, change, verdicts, note)


def _verdicts(
    subjects: Subjects, table: Table, topic: str, settings: Settings
) -> tuple[SchemaVerdict, ...]:
    if not table.key:
        return ()
    try:
        key, value = schemas_of(table, settings)
    except EncodeError as error:
        column = ".".join(map(str, error.path))
        problem = f"{column}: {error.problem}" if column else error.problem
        subject = subject_of(topic, "value")
        return (SchemaVerdict("value", subject, "failed", problem=f"{problem} ({error.clause})"),)
    assert key is not None
    return (
        subjects.register("key", subject_of(topic, "key"), key),
        subjects.register("value", subject_of(topic, "value"), value),
    )


def _table_name(table: Table) -> str:
    return f"{table.schema}.{table.name}" if table.schema else str(table.name)


def _field_changes(old: str, new: str) -> tuple[FieldChange, ...]:
    before, after = _fields(old), _fields(new)
    names = [*after, *(name for name in before if name not in after)]
    return tuple(
        FieldChange(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )


def _fields(text: str) -> dict[str, str]:
    """Return the fields of a text that this project wrote, by name, each as JSON."""
    return {
        field["name"]: json.dumps(field, ensure_ascii=False, separators=(",", ":"))
        for field in json.loads(text)["fields"]
    }


def _advice(refusals: Iterable[Change], fields: Iterable[FieldChange]) -> str:
    """Return what a user may do instead, for the refusals that are met most."""
    by_name = {change.name: change for change in fields}
    advice: list[str] = []
    for refusal in refusals:
        if not refusal.path:
            advice.append("give each table a separate topic: --option topic={schema}_{table}")
            continue
        field = by_name.get(str(refusal.path[0]))
        if field is None or field.new is None:
            continue
        if field.old is not None:
            is_null = '["null",' in field.old or ',"null"]' in field.old
            if is_null and '"null"' not in field.new:
                advice.append("leave the column nullable")
        elif '"logicalType":"decimal"' in field.new:
            advice.append(
                "make the DECIMAL nullable, or set avro-decimal-handling-mode=string and give it "
                "a DEFAULT"
            )
        else:
            advice.append("make the column nullable, or NOT NULL with a constant DEFAULT")
    return "; ".join(dict.fromkeys(advice))
