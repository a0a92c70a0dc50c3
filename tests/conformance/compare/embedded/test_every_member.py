"""Each member of each message, changed alone: the feeds differ, or a line names it as not compared.

The messages are those of golden cases. In binary formats, the fields of their bytes are changed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from types import MappingProxyType
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.reader import Span
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.sources.source_urls import parse_source

Place: TypeAlias = "tuple[str | int, ...]"

IMAGES = ("before", "after", "data", "old", "mysqlType", "sqlType", "columns", "pk", "unique")
"""Members whose members are columns."""

UNKNOWN = "unknown members"
DEFINITIONS = "definitions of columns beyond types"
ADDED = "fields that unwrap or CDL add"
DELETED = "columns of deletes beyond the key"
PLACES = "places in the topic"
PROPERTIES = "properties of transactions but lsn and txId"

NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "debezium-json": {
            "source": "other members of source",
            "ts_ms": "ts_ms of the envelope",
            **dict.fromkeys(("HEARTBEAT_IDENTIFIER", "LOB_COLUMNS", "message_type"), ADDED),
            **dict.fromkeys(("unique", "META_CONNECTOR", "META_FILE", "META_POS"), ADDED),
            "txId": "tx_id",
            "__lsn": "lsn",
            "name": DELETED,
            "before": DELETED,
            "x": UNKNOWN,
            **dict.fromkeys(("id", "type", "aggregate_type", "timestamp"), "notifications"),
            "additional_data": "notifications",
            "schema": DEFINITIONS,
        },
        "maxwell-json": {
            "xid": "tx_id",
            "ts": "commit_ms",
            "extra": UNKNOWN,
            "other": UNKNOWN,
            "table": "forms of Kafka keys",
        },
        "canal-json": {
            "commitTs": "commit_ts",
            "_tidb": "commit_ts",
            "mysqlType": DEFINITIONS,
            "new": UNKNOWN,
            "sql": "sql of rows",
        },
        "simple": {
            "tableSchema": DEFINITIONS,
            "indexes": "names of indexes",
            "extra": UNKNOWN,
            "data": "claimCheckLocation",
        },
        "cdl-json": {
            "properties": PROPERTIES,
            "schema": DEFINITIONS,
            "SOMETHING": UNKNOWN,
            "x": UNKNOWN,
        },
        "datahub-tuple": {
            **dict.fromkeys(("NextCursor", "StartSeq", "Sequence", "BatchIndex"), PLACES),
            **dict.fromkeys(("ShardId", "PartitionKey", "HashKey", "RecordCount"), PLACES),
            "Data": "sequence_id",
            "SystemTime": "times of writing",
            "Attributes": "attributes of records",
            **dict.fromkeys(("More", "Action", "estimateSize", "x"), UNKNOWN),
        },
    }
)
"""What lines call members."""


SOURCE = "other members of source"
CHECKSUMS = "checksums of rows"
NAMES_OF_FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "craft": {"type": DEFINITIONS, "key": DEFINITIONS},
        "craft-proposal": {"type": DEFINITIONS, "key": DEFINITIONS, "row_id": "row ids"},
        "open-protocol": {"rid": "row ids"},
        "avro": {
            **dict.fromkeys(("_tidb_row_level_checksum", "_tidb_corrupted"), CHECKSUMS),
            "_tidb_checksum_version": CHECKSUMS,
            "schema": "ids of schemas",
        },
        "datahub-blob": {"datahub: base64": "version"},
        "csv": {"handle_key": "handle-key column"},
        "simple": {
            "sent_ms": "buildTs",
            **dict.fromkeys(("version", "current", "previous"), "checksum"),
        },
        "debezium-avro": {
            "sent_ms": "ts_ms of the envelope",
            "debezium-json: transaction block": "transaction",
            "row": "binlog",
            "ssn": "rs_id",
            "debezium-json: source": SOURCE,
        },
    }
)
"""What lines call the fields of binary formats."""


def changes_of(document: Any, place: Place = ()) -> Iterator[tuple[str, Place]]:
    """Yield each member that can be dropped or changed, and a new one for each object."""
    if isinstance(document, dict):
        for name, value in document.items():
            if value is not None:
                yield "drop", (*place, name)
            yield from changes_of(value, (*place, name))
        yield "add", (*place, "new_member")
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from changes_of(value, (*place, number))
    else:
        yield "change", place


def other_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if abs(value) < 1 << 53 else 2 * value + 1
    signs = [each.start() for each in re.finditer("[0-9A-Za-z]", value or "")]
    if not signs:
        return f"{value or ''}1"
    at = signs[0 if value.endswith("=") else -1]  # the last of base64 may have unused bits
    return f"{value[:at]}{'2' if value[at] == '1' else '1'}{value[at + 1 :]}"


def changed(document: Any, how: str, place: Place) -> Any:
    found: list[Any] = [deepcopy(document)]
    node: Any = found
    for each in (0, *place[:-1]):
        node = node[each]
    if not place:
        return other_value(document)
    if how == "drop":
        del node[place[-1]]
    else:
        node[place[-1]] = "x" if how == "add" else other_value(node[place[-1]])
    return found[0]


def kind_of(part: str, how: str, place: Place) -> tuple[str, ...]:
    """Return a place without the numbers of items and the names of columns."""
    words = ["*" if isinstance(each, int) else each for each in place]
    for number, name in enumerate(words[:-1]):
        if name in IMAGES:
            words[number + 1] = "COLUMN"
            break
    return part, how, *words


class Walk:
    """Compares feeds of a format: a golden case with the same case, one member of it changed."""

    def __init__(self, name: str, folder: Path) -> None:
        self.format = get_format(name)
        self.folder = folder
        cases = [case for case in load_cases([name]) if case.expect == "accept"]
        self.cases = [case for case in cases if self._takes(case)]
        self.rows = [case for case in self.cases if self._has_only_rows(case)][:8]
        self.seen: Counter[tuple[str, ...]] = Counter()

    def _takes(self, case: Case) -> bool:
        return all(isinstance(each, KafkaMessage) for each in case.messages)

    def _has_only_rows(self, case: Case) -> bool:
        return all(self._has_row(case, each) for each in case.messages)

    def _has_row(self, case: Case, message: Any) -> bool:
        try:
            found = list(self.format.events(message, context=case.context()))
        except DecodeError:
            return False
        return any(isinstance(each, RowChange) for each in found)

    def compared(self, case: Case, *feeds: Sequence[Any]) -> Comparison | None:
        """Return the comparison of two feeds; None if nothing was decided."""
        sources = []
        for number, messages in enumerate(feeds):
            folder = self.folder / str(number)
            folder.mkdir(parents=True)
            self._write(folder, messages)
            sources.append(parse_source(f"{self.format.name}:file:{folder}"))
        context: Context = case.context()
        try:
            left, right = (ComparedFeed(each, context) for each in sources)
            return compare_feeds(left, right)
        except ValueError:
            return None
        finally:
            rmtree(self.folder)

    def _write(self, folder: Path, messages: Sequence[Any]) -> None:
        write_messages(str(folder / "messages.jsonl"), messages)

    def base(self, case: Case) -> list[Any] | None:
        """Return the messages of a feed that is equal to itself; None if there is none."""
        for before in ((), *(other.messages for other in self.rows)):
            messages = [*before, *case.messages]
            found = self.compared(case, messages, messages)
            if found is not None and found.is_equal:
                return messages
        return None

    def unnamed(self) -> Iterator[str]:
        """Yield each member whose change is neither found nor named."""
        for case in self.cases:
            messages = self.base(case)
            if messages is None:
                continue
            for number in range(len(messages) - len(case.messages), len(messages)):
                for part in ("key", "value"):
                    yield from self._unnamed_of(case, messages, number, part)

    def _unnamed_of(self, case: Case, messages: list[Any], number: int, part: str) -> Iterator[str]:
        try:
            document = json.loads(getattr(messages[number], part) or b"")
        except ValueError:
            return
        if not isinstance(document, (dict, list)):
            return
        is_other = not self._has_row(case, messages[number])
        for how, place in changes_of(document):
            kind = kind_of(part, how, place)
            if self.seen[kind]:
                continue
            self.seen[kind] += 1
            feeds = []
            for each in (document, changed(document, how, place)):
                text = json.dumps(each, ensure_ascii=False).encode()
                feeds.append([*messages])
                feeds[-1][number] = replace(messages[number], **{part: text})
            found = self.compared(case, *feeds)
            if found is None or not found.is_equal:
                continue
            if not (is_other and _has_line_of_events(found)) and not self._is_named(
                case, found, kind
            ):
                yield f"{case.id}: {' '.join(map(str, kind))}"

    def _is_named(self, case: Case, found: Comparison, kind: tuple[str, ...]) -> bool:
        names = {NAMES[self.format.name].get(word, word) for word in kind}
        names |= {UNKNOWN} if kind[1] == "add" else set()
        names |= {"Kafka keys"} if kind[0] == "key" else set()
        names |= _of_router(case, kind[0])
        names |= {"claimCheckLocation"} if case.blobs else set()
        names |= {ADDED} if kind[-1].startswith(("__", "x_")) else set()
        return bool(names & names_of(found))


def _of_router(case: Case, part: str) -> set[str]:
    """Return what lines call the topic that a router put into a key under another name."""
    is_routed = part == "key" and "key-field-name" in case.options
    return {"topics and headers"} if is_routed else set()


def names_of(found: Comparison) -> set[str]:
    left_out = [*found.left_out, *(part for each in found.tables for part in each.left_out)]
    return {name for names, _ in left_out for name in names.split(", ")}


def _has_line_of_events(found: Comparison) -> bool:
    has_markers = any(name.endswith(" events") for name in names_of(found))
    return has_markers or any(found.ddl) or any(found.progress)


class FieldWalk(Walk):
    """Compares feeds of a binary format: a golden case with the same case, one field of it changed.

    Bits of the field's bytes are changed, until the decoder reads other events.
    """

    def unnamed(self) -> Iterator[str]:
        for case in self.cases:
            messages = self.base(case)
            if messages is None:
                continue
            for number in range(len(messages) - len(case.messages), len(messages)):
                yield from self._unnamed_fields(case, messages, number)

    def _unnamed_fields(self, case: Case, messages: list[Any], number: int) -> Iterator[str]:
        message, context = messages[number], case.context()
        is_other = not self._has_row(case, message)
        for span in self.format.explain(message, context=context).spans:
            kind = self._kind(case, span)
            if self.seen[kind] or (other := self._changed(message, span, context)) is None:
                continue
            self.seen[kind] += 1
            found = self.compared(
                case, messages, [*messages[:number], other, *messages[number + 1 :]]
            )
            if found is None or not found.is_equal or (is_other and _has_line_of_events(found)):
                continue
            lines = names_of(found)
            named = {NAMES_OF_FIELDS[self.format.name].get(word, word) for word in kind[1:]}
            named |= {"Kafka keys"} if span.part == "key" else set()
            named |= {ADDED} if kind[-1].startswith("__") else _of_router(case, span.part)
            if "column types differ" not in _notes(found) and not named & lines:
                yield f"{case.id}: {' '.join(map(str, kind))}"

    def _kind(self, case: Case, span: Span) -> tuple[str, ...]:
        return _kind_of_field(span)

    def _changed(self, message: Any, span: Span, context: Context) -> Any:
        """Return a message with another value of a field; None if the decoder takes no other."""
        own = self._read(message, context)
        data = getattr(message, span.part)
        for field in self._others(data[span.start : span.end]):
            changed = data[: span.start] + field + data[span.end :]
            other = replace(message, **{span.part: changed})
            if (found := self._read(other, context)) is not None and found != own:
                return other
        return None

    def _others(self, field: bytes) -> Iterator[bytes]:
        """Yield a field's bytes with another bit in one of the last ones."""
        for at in range(len(field) - 1, max(0, len(field) - 4) - 1, -1):
            for bits in (1, 2, 4, 16):
                changed = bytearray(field)
                changed[at] ^= bits
                yield bytes(changed)

    def _read(self, message: Any, context: Context) -> str | None:
        try:
            return repr(list(self.format.events(message, context=context)))
        except DecodeError:
            return None


class StoredWalk(FieldWalk):
    """Compares feeds of a storage sink: the files of a golden case, one field of a record changed.

    Each dialect of the options has its own fields.
    """

    def _takes(self, case: Case) -> bool:
        files = [each for each in case.messages if isinstance(each, StoredFile)]
        return len(files) == len(case.messages) and all("/" in each.path for each in files)

    def base(self, case: Case) -> list[Any] | None:
        found = self.compared(case, case.messages, case.messages)
        return list(case.messages) if found is not None and found.is_equal else None

    def _write(self, folder: Path, messages: Sequence[Any]) -> None:
        for each in messages:
            file = folder / each.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(each.value)

    def _others(self, field: bytes) -> Iterator[bytes]:
        yield from super()._others(field)
        if re.fullmatch(rb"\W*[IUD]\W*", field):
            yield from (re.sub(rb"[IUD]", op, field) for op in (b"I", b"U", b"D"))

    def _kind(self, case: Case, span: Span) -> tuple[str, ...]:
        dialect = ",".join(f"{name}={value}" for name, value in sorted(case.options.items()))
        name = "" if span.subject is None else span.subject.name or ""
        return (*super()._kind(case, span), dialect, name)


def _kind_of_field(span: Span) -> tuple[str, ...]:
    """Return the clause of a field, and what of the event it is or where it is in the message."""
    is_added = bool(span.path) and str(span.path[-1]).startswith("__")
    if span.subject is not None and span.subject.parts[:1] != ("extra",) and not is_added:
        return span.part, span.clause, *span.subject.parts
    return span.part, span.clause, str(span.path[-1]) if span.path else ""


def _notes(found: Comparison) -> str:
    return " ".join(note for table in found.tables for note in table.notes)


FORMATS = ("debezium-json", "maxwell-json", "canal-json", "simple", "cdl-json", "datahub-tuple")


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_change_of_any_member_is_found_or_named(tmp_path: Path, name: str) -> None:
    assert list(Walk(name, tmp_path / "feeds").unnamed()) == []


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES_OF_FIELDS)
def test_change_of_any_field_is_found_or_named(tmp_path: Path, name: str) -> None:
    walk = (StoredWalk if name == "csv" else FieldWalk)(name, tmp_path / "feeds")
    assert list(walk.unnamed()) == []
    assert any(walk.seen.values())
