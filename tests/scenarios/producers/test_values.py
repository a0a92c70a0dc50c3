"""The last value of each column in messages is what MariaDB's own text of it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdcwire.core.context import NO_CONTEXT
from cdcwire.model.events import Marker, RowChange
from cdcwire.model.kinds import Value
from cdcwire.registry import get_format
from cdcwire_evidence.debezium.engine import Sent
from cdcwire_evidence.producers.captures import Engine
from cdcwire_evidence.producers.expected import expected_value, same_value
from cdcwire_evidence.producers.feeds import Recording
from cdcwire_evidence.producers.workload import KINDS

JSON = get_format("debezium-json")
TYPES = {
    "kinds": {column.name: column.type for column in KINDS},
    "durations": {"t": "time", "t3": "time(3)", "t6": "time(6)"},
    "bits": {"b12": "bit(12)", "b64": "bit(64)"},
    "changes": {"v": "varchar(10)", "n": "decimal(6,2)"},
}
# In a snapshot the server gives a FLOAT as a text of six digits.
ROUNDED = ("c_float", "16777216")
# In a snapshot of 1.9 a TIME of no hours loses its sign.
UNSIGNED = ("t3", "-00:00:00.001")


def is_misread(column: str, text: str | None, change: RowChange, engine: Engine) -> bool:
    """Return whether the connector is known to send another value."""
    if change.op != "read":
        return False
    is_old = engine.connector.version.startswith("1.")
    return (column, text) == ROUNDED or (is_old and (column, text) == UNSIGNED)


def last_changes(sent: Sequence[Sent], table: str) -> dict[Value, RowChange]:
    """Return the last change of each key of a table that has a row in the end."""
    found: dict[Value, RowChange] = {}
    for event in events(sent, table):
        if event.before is not None and event.op in ("update", "delete"):
            found.pop(event.before["id"], None)
        if event.after is not None:
            found[event.after["id"]] = event
    return found


def events(sent: Sequence[Sent], table: str) -> Iterator[RowChange]:
    for each in sent:
        if each.topic.endswith(f".shop.{table}"):
            for event in JSON.to_events(each.message, context=NO_CONTEXT):
                if isinstance(event, RowChange):
                    yield event
                else:
                    assert isinstance(event, Marker)


def test_last_values_are_those_of_the_table(
    recording: Recording, sent: Sequence[Sent], engine: Engine
) -> None:
    wrong = []
    for table in TYPES.keys() - set(engine.left_out):
        found = last_changes(sent, table)
        rows = {int(row["id"] or ""): row for row in recording.rows[engine.connector.name][table]}
        assert found.keys() == rows.keys()
        for key, row in rows.items():
            for name, declared in TYPES[table].items():
                text, change = row[name], found[key]
                assert change.after is not None
                value = change.after[name]
                wanted = expected_value(declared, text, engine.modes)
                is_right = same_value(declared, wanted, value)
                if is_right == is_misread(name, text, change, engine):
                    wrong.append(f"{table}.{name} {text!r:.60}: {value!r:.60}")
    assert wrong == []
