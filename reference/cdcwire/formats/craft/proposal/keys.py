"""The keys of a message of the proposal: one array an event field, names spelled out each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cdcwire.core.errors import EncodeError, step
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.reader import Reader
from cdcwire.formats.craft.arrays import (
    ArrayPath,
    check_count,
    read_delta_uvarints,
    read_strings,
    read_uvarints,
    read_varints,
    write_delta_uvarints,
    write_strings,
    write_uvarints,
    write_varints,
)
from cdcwire.formats.craft.columns import no_repeated_names
from cdcwire.formats.craft.message import EVENT_ROW
from cdcwire.formats.craft.profile import PROPOSAL
from cdcwire.formats.craft.proposal.message import Event, RowEvent

NO_PARTITION = -1

_KEYS = "craft-proposal: keys"
_ROW_ID = "craft-proposal: row id"
_UNKNOWN_BITS = "craft-proposal: unknown bits"


@dataclass(frozen=True, slots=True)
class Key:
    """The contents of the keys for one event."""

    commit_ts: int
    type: int
    row_id: int
    partition: int | None
    schema: str | None
    table: str | None


def read_keys(reader: Reader, count: int) -> tuple[list[Key], bytes]:
    """Read the six arrays at the start of ``reader``; return the keys, and the bytes after."""
    with step("keys"):
        check_count(reader, count, (), _KEYS)
    commit_ts = read_delta_uvarints(reader, count, _place("commit_ts", _KEYS), PROPOSAL)
    types = read_uvarints(reader, count, _place("type", PROPOSAL.event_types), PROPOSAL)
    row_ids = read_uvarints(reader, count, _place("row_id", _ROW_ID), PROPOSAL)
    partitions = read_varints(reader, count, _place("partition", PROPOSAL.partition), PROPOSAL)
    check = _name_check(types)
    schemas = read_strings(reader, count, _place("schema", PROPOSAL.names), PROPOSAL, check)
    tables = read_strings(reader, count, _place("table", PROPOSAL.names), PROPOSAL, check)
    surplus = read_surplus(reader, "keys")
    keys = [
        Key(
            commit_ts[index],
            types[index],
            _signed(row_ids[index]),
            None if partitions[index] == NO_PARTITION else partitions[index],
            schemas[index] or None,
            tables[index] or None,
        )
        for index in range(count)
    ]
    return keys, surplus


def write_keys(out: bytearray, events: Sequence[Event], types: Sequence[int]) -> None:
    """Append the six arrays."""
    row_ids = []
    partitions = []
    names: dict[str, list[str]] = {"schema": [], "table": []}
    for index, event in enumerate(events):
        with step("events", index):
            row_ids.append(_unsigned(event.row_id))
            if event.partition == NO_PARTITION:
                problem = "partition -1 means that there is none"
                raise EncodeError(problem, PROPOSAL.partition, ("partition",))
            partitions.append(NO_PARTITION if event.partition is None else event.partition)
            for field, name in (("schema", event.schema), ("table", event.table)):
                is_absent = name is None and not isinstance(event, RowEvent)
                if not name and not is_absent:
                    raise EncodeError("a name is empty", PROPOSAL.names, (field,))
                names[field].append(name or "")
    commit_ts = [event.commit_ts for event in events]
    write_delta_uvarints(out, commit_ts, _place("commit_ts", _KEYS), PROPOSAL)
    write_uvarints(out, types, _place("type", PROPOSAL.event_types), PROPOSAL)
    write_uvarints(out, row_ids, _place("row_id", _ROW_ID), PROPOSAL)
    write_varints(out, partitions, _place("partition", PROPOSAL.partition), PROPOSAL)
    for field, texts in names.items():
        write_strings(out, texts, _place(field, PROPOSAL.names), PROPOSAL)


def read_column_names(reader: Reader, count: int, place: ArrayPath) -> list[str]:
    """Read the column names of a group, spelled out."""
    return read_strings(reader, count, place, PROPOSAL, no_repeated_names())


def write_column_names(out: bytearray, names: Sequence[str], place: ArrayPath) -> None:
    """Append the column names of a group, spelled out. Raises: EncodeError."""
    write_strings(out, names, place, PROPOSAL)


def read_surplus(reader: Reader, *path: str | int) -> bytes:
    """Return what is left of a region, which a reader of this version ignores."""
    start = reader.offset
    surplus = reader.take(reader.left, _UNKNOWN_BITS)
    if surplus:
        reader.note(start, surplus, _UNKNOWN_BITS, *path, "surplus", note="ignored")
    return surplus


def _place(field: str, clause: str) -> ArrayPath:
    return ArrayPath(("events",), (field,), clause)


def _name_check(types: list[int]) -> Callable[[int, str], str | None]:
    def check(index: int, name: str) -> str | None:
        return "a row without name" if types[index] == EVENT_ROW and not name else None

    return check


def _signed(row_id: int) -> int:
    return row_id - UINT64_END if row_id >= INT64_END else row_id


def _unsigned(row_id: int) -> int:
    if not INT64_START <= row_id < INT64_END:
        raise EncodeError(f"{row_id} is not a signed 64-bit integer", _ROW_ID, ("row_id",))
    return row_id % UINT64_END
