"""DataHub's two SDKs as witnesses: what they write is read here, what is written here they read.

An SDK runs in a program of ``adapters/`` of its own, and speaks HTTP to the stand-in for the
service. *put*: the SDK gets values, and the body that it sends is decoded to events. *get*: events
are encoded to an answer, and the values that the SDK makes of it are compared.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

from cdcwire.compressions import known_compressions
from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.body import BodySettings, ContentEncoding, read_body, write_body
from cdcwire.datahub.carrying import headers_of
from cdcwire.datahub.compression import LZ4
from cdcwire.datahub.fields import Field, kind_of
from cdcwire.datahub.message import Batch, BatchCompression, Body, Encoding, Record
from cdcwire.formats.datahub_blob import FORMAT as BLOB
from cdcwire.formats.datahub_tuple import FORMAT as TUPLE
from cdcwire.formats.datahub_tuple import from_event, record_of, topic_of
from cdcwire.model.events import Event, Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire_conformance.judge.difference import shorten
from cdcwire_conformance.run.expected_failures import ExpectedFailures, read_expected_failures
from cdcwire_evidence.datahub.sdk_driver import Driver, Sdk, SdkEndedError
from cdcwire_evidence.datahub.sdk_questions import (
    FIRST_ID,
    MESSAGE,
    MESSAGE_AFTER,
    QUESTIONS,
    SCHEMA,
    TABLE,
    TIME,
    Direction,
    Question,
    Row,
    Texts,
)
from cdcwire_evidence.datahub.service import Put, Service

KNOWN_FAULTS = Path(__file__).with_name("sdk_faults.txt")
_TEXT_LIMIT = 200
_SYSTEM_TIME = 1649991730000


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one question in one direction and encoding. ``problem``: empty if nothing."""

    sdk: str
    direction: Direction
    encoding: str
    question: Question
    problem: str

    @property
    def id(self) -> str:
        """The name of the finding: SDK, direction, encoding and question."""
        return f"{self.sdk}/{self.direction}/{self.encoding}/{self.question.id}"


def ask_all(
    sdk: Sdk, driver: Driver, service: Service, questions: Iterable[Question] = QUESTIONS
) -> list[Finding]:
    """Put all questions to an SDK, in each direction and encoding that they are for."""
    found = []
    compressions = known_compressions()
    for question in questions:
        if question.compression not in sdk.compressions:
            continue
        service.set_topic(question.fields)
        for direction in question.directions:
            if direction == "get" and question.compression == "lz4" and LZ4 not in compressions:
                continue  # an answer in LZ4 needs the package cramjam
            for encoding in question.encodings:
                asked = _Asked(question, cast(Encoding, encoding), service, compressions)
                try:
                    problem = asked.put(driver) if direction == "put" else asked.get(driver)
                except SdkEndedError as error:
                    problem = f"ends the program: {error}"
                text = shorten(" ".join(problem.split()), _TEXT_LIMIT)
                found.append(Finding(sdk.name, direction, encoding, question, text))
    return found


# ---- one question ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    encoding: Encoding
    service: Service
    compressions: Mapping[str, Compression]

    def put(self, driver: Driver) -> str:
        """Let the SDK put the records. Returns: what is wrong with its body, or nothing."""
        self.service.take_puts()
        answer = driver.ask(
            self._request("put", records=[_record_request(r) for r in self.question.rows])
        )
        if "raised" in answer:
            return f"raises {answer['raised']}"
        puts = self.service.take_puts()
        if len(puts) != 1:
            return f"{len(puts)} put requests came, not one"
        message = KafkaMessage(
            None,
            puts[0].body,
            tuple((name, text.encode("latin-1")) for name, text in puts[0].headers.items()),
        )
        try:
            body = read_body(
                puts[0].body, self.question.fields, BodySettings(), headers_of(message)
            )
            events = self._events(message, body)
        except DecodeError as error:
            return f"is refused: {error}"
        return self._problem_of_events(events, body) or self._problem_of_put(puts[0], body)

    def get(self, driver: Driver) -> str:
        """Let the SDK get the records. Returns: what is wrong with what it read, or nothing."""
        body, headers = self._answer()
        damage = self.question.damage
        if damage is not None:
            body = damage(body)
        self.service.set_answer(body, headers)
        answer = driver.ask(self._request("get"))
        if damage is not None:
            if "raised" in answer:
                return ""
            return f"takes it: {self._problem_of_records(answer) or 'as if nothing were wrong'}"
        if "raised" in answer:
            return f"raises {answer['raised']}"
        return self._problem_of_records(answer)

    def _request(self, verb: str, **more: Any) -> dict[str, Any]:
        return {
            "cmd": verb,
            "endpoint": self.service.endpoint,
            "encoding": self.encoding,
            "compression": self.question.compression,
            **more,
        }

    # ---- what the SDK wrote

    def _events(self, message: KafkaMessage, body: Body) -> list[Event]:
        if self.question.fields is not None:
            return list(TUPLE.to_events(message, context=Context(tables=(_table(self.question),))))
        if self.question.is_message:
            return list(
                BLOB.to_events(message, context=Context(options={"encoding": self.encoding}))
            )
        return []

    def _problem_of_events(self, events: Sequence[Event], body: Body) -> str:
        rows, records = self.question.rows, body.records()
        if len(records) != len(rows):
            return f"{len(records)} records came, {len(rows)} were put"
        if self.question.fields is not None:
            for index, (row, event) in enumerate(zip(rows, events, strict=True)):
                problem = _problem_of_event(self.question, row, event)
                if problem:
                    return f"record {index}: {problem}"
        for index, (row, record) in enumerate(zip(rows, records, strict=True)):
            problem = difference("attributes", dict(row.attributes), dict(record.attributes))
            problem = problem or difference("hash key", row.hash_key, record.hash_key)
            problem = problem or difference(
                "partition key", row.partition_key, record.partition_key
            )
            if isinstance(row.data, bytes):
                problem = problem or difference("blob", row.data, record.data)
            if problem:
                return f"record {index}: {problem}"
        return _problem_of_message(events) if self.question.is_message else ""

    def _problem_of_put(self, put: Put, body: Body) -> str:
        """Return how the body's compression differs from the one that was requested."""
        if not self.question.asks_compression:
            return ""
        stated = put.headers.get("content-encoding") or "none"
        for entry in body.entries:
            if isinstance(entry, Batch):
                stated = entry.compression
        wanted = self.question.compression
        return "" if stated == wanted else f"asked for {wanted}, it writes {stated}"

    # ---- what is written for it

    def _answer(self) -> tuple[bytes, dict[str, str]]:
        """Return a get answer with the records of the question, from events."""
        records = tuple(
            replace(
                record,
                attributes=tuple(row.attributes.items()),
                cursor=f"cursor {index}",
                next_cursor=f"cursor {index + 1}",
                sequence=index,
                system_time=_SYSTEM_TIME + index,
            )
            for index, (row, record) in enumerate(
                zip(self.question.rows, self._records(), strict=True)
            )
        )
        entries: tuple[Record | Batch, ...] = records
        stated = self.question.compression
        settings = BodySettings(compressions=self.compressions)
        if self.encoding == "batch":
            compression = cast(BatchCompression, stated)
            entries = (
                Batch(records, compression, "cursor 0", "cursor 1", 0, _SYSTEM_TIME, serial=0),
            )
        else:
            settings = replace(settings, content_encoding=cast(ContentEncoding, stated))
        body = Body(
            self.encoding,
            entries,
            is_answer=True,
            next_cursor="the next cursor",
            record_count=len(entries),
            start_sequence=0,
        )
        return write_body(body, self.question.fields, settings)

    def _records(self) -> Iterator[Record]:
        if self.question.fields is None:
            for row in self.question.rows:
                yield Record(
                    _written(MESSAGE) if self.question.is_message else cast(bytes, row.data)
                )
            return
        topic = topic_of(_table(self.question))
        for row in self.question.rows:
            (tuple_row,) = from_event(_event(self.question, row), topic)
            yield record_of(tuple_row, topic)

    def _problem_of_records(self, answer: Mapping[str, Any]) -> str:
        rows, found = self.question.rows, answer["records"]
        if len(found) != len(rows):
            return f"{len(found)} of {len(rows)} records"
        for index, (row, record) in enumerate(zip(rows, found, strict=True)):
            if isinstance(row.data, bytes):
                problem = difference("blob", row.data, base64.b64decode(record["data"]))
            else:
                assert self.question.fields is not None
                problem = problem_of_texts(self.question.fields, row.all_values(), record["data"])
            problem = problem or difference(
                "attributes", dict(row.attributes), record["attributes"]
            )
            # A batch has one sequence and time for all of its records.
            at = 0 if self.encoding == "batch" else index
            problem = problem or difference("sequence", at, record["sequence"])
            problem = problem or difference("system time", _SYSTEM_TIME + at, record["system_time"])
            if problem:
                return f"record {index}: {problem}"
        return difference("next cursor", "the next cursor", answer["next_cursor"])


# ---- events of a question --------------------------------------------------------------------


def _table(question: Question) -> Table:
    assert question.columns is not None
    return Table(TABLE, SCHEMA, columns=tuple(map(_column, question.columns)), key=())


def _column(field: Field) -> Column:
    return Column(field.name, kind_of(field.type), field.type, field.nullable)


def _event(question: Question, row: Row) -> RowChange:
    table = _table(question)
    assert table.columns is not None
    assert question.columns is not None
    values = zip(question.columns, cast(Texts, row.data), strict=True)
    image = Image(table.columns, tuple(value_of(field, text) for field, text in values))
    is_old = row.op in ("before", "delete")
    return RowChange(
        table,
        cast(Op, "update" if row.op in ("before", "after") else row.op),
        image if is_old else None,
        None if is_old else image,
        Position(sequence_id=row.sequence_id, commit_ms=TIME),
        row.op if row.op in ("before", "after") else None,
    )


def _problem_of_event(question: Question, row: Row, event: Event) -> str:
    wanted = _event(question, row)
    if not isinstance(event, RowChange):
        return "no change of a row"
    assert question.columns is not None
    for what, one, other in (
        ("table", (wanted.table.schema, wanted.table.name), (event.table.schema, event.table.name)),
        ("op", (wanted.op, wanted.half), (event.op, event.half)),
        ("position", wanted.position, event.position),
        ("before", wanted.before is None, event.before is None),
        ("after", wanted.after is None, event.after is None),
    ):
        if one != other:
            return difference(what, one, other)
    image = event.before or event.after
    assert image is not None
    texts = tuple(map(text_of, image.values))
    return problem_of_texts(question.columns, cast(Texts, row.data), texts)


def _problem_of_message(events: Sequence[Event]) -> str:
    for event in events:
        if not (isinstance(event, RowChange) and event.op == "insert" and event.after is not None):
            return "no insert"
        names = [column.name for column in event.after.columns]
        found = dict(zip(names, map(text_of, event.after.values), strict=True))
        if found != MESSAGE_AFTER or event.position.sequence_id != FIRST_ID:
            return difference("row", MESSAGE_AFTER, found)
    return ""


def _written(message: bytes) -> bytes:
    """Return a Blob message as it is written from its event."""
    options = {"encoding": "record", "db-type": "MySQL"}
    events = list(BLOB.to_events(KafkaMessage(None, message), context=Context(options=options)))
    (written,) = BLOB.from_events(events, context=Context(options=options))
    assert isinstance(written, KafkaMessage)
    assert written.value is not None
    return written.value


def _record_request(row: Row) -> dict[str, Any]:
    """Return a record as a request to an SDK's program has it."""
    stated: dict[str, Any] = {
        "data": base64.b64encode(row.data).decode()
        if isinstance(row.data, bytes)
        else row.all_values()
    }
    if row.attributes:
        stated["attributes"] = dict(row.attributes)
    for name in ("hash_key", "partition_key"):
        value = getattr(row, name)
        if value is not None:
            stated[name] = value
    return stated


# ---- known faults ----------------------------------------------------------------------------


def known_faults() -> ExpectedFailures:
    """Return the SDKs' faults that are known, by the ids of findings, with their reasons."""
    return read_expected_failures(KNOWN_FAULTS)


def surprises(findings: Sequence[Finding], known: ExpectedFailures) -> list[str]:
    """Return what is not as the list says: a fault that is not on it, or one that is no more."""
    found = []
    for finding in findings:
        if not finding.problem:
            continue
        entry = known.find(finding.id)
        if entry is None:
            found.append(f"{finding.id}: {finding.problem}")
        elif entry.fragment not in finding.problem:
            found.append(f"{finding.id}: {finding.problem}; known is: {entry.fragment}")
            entry.use(finding.id)
        else:
            entry.use(finding.id)
    asked = {finding.sdk for finding in findings}
    for entry, why in known.stale((finding.id for finding in findings), asked):
        found.append(f"{entry.pattern}: {why}")
    return found


def value_of(field: Field, text: str | None) -> Any:
    """Return what a text means in a column. Raises: ValueError, KeyError if it means nothing."""
    if text is None or field.type == "STRING":
        return text
    match field.type:
        case "DOUBLE":
            return float(text)
        case "FLOAT":
            return _narrow(float(text))
        case "BOOLEAN":
            return {"true": True, "false": False}[text]
        case "DECIMAL":
            return Decimal(text)
        case _:
            return int(text)


def _narrow(number: float) -> float:
    """Return the nearest 32-bit float; infinity beyond the largest."""
    try:
        (narrowed,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return float(narrowed)


def text_of(value: Any) -> str | None:
    """Return the text of a value; that of a boolean in lower case."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def problem_of_texts(
    fields: Sequence[Field], wanted: Sequence[str | None], found: Sequence[str | None]
) -> str:
    """Return how the values of a record differ from those that were meant, "" if not at all."""
    if len(wanted) != len(found):
        return f"{len(found)} values, {len(wanted)} were meant"
    for field, one, other in zip(fields, wanted, found, strict=True):
        if not means_the_same(field, one, other):
            return f"{field.type} {field.name}: {shown(other)} for {shown(one)}"
    return ""


def means_the_same(field: Field, one: str | None, other: str | None) -> bool:
    """Return whether two texts mean one value in a column: numbers by value, -0.0 apart from 0."""
    if one is None or other is None:
        return one is None and other is None
    try:
        match field.type:
            case "FLOAT" | "DOUBLE":
                form = "<f" if field.type == "FLOAT" else "<d"
                return _bits(form, one) == _bits(form, other)
            case "DECIMAL":
                return Decimal(one) == Decimal(other)
            case "STRING" | "BOOLEAN":
                return one == other
            case _:
                return int(one) == int(other)
    except (ValueError, OverflowError, InvalidOperation):
        return False


def _bits(form: str, text: str) -> bytes:
    number = float(text)
    return b"nan" if number != number else struct.pack(form, number)


def difference(what: str, wanted: object, found: object) -> str:
    """Return how two differ, "" if not at all."""
    return "" if wanted == found else f"{what} {shown(found)} for {shown(wanted)}"


def shown(value: object) -> str:
    """Return a value for a message, in ASCII and not too long."""
    return shorten(ascii(value), 70)
