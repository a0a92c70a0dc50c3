"""The mutations of the bodies of both DataHub formats: frames, batches and JSON.

Checksums around a change are corrected, so that readers have to notice the change itself. Two
parts are not changed: compressed bytes, since each of them counts already, and white space after
JSON.

* Frames and batches: magic, lengths and counts, one off or asking for all memory. One off where
  attributes begin may be legal by chance.
* Slots: a place outside the record, eight bytes in a slot, one flag of a row of an update.
* Protobuf: the length of a record, one off, and a record as a group.
* JSON: a required member is left out; texts lose their quotes, and the rest is not JSON.

Checksums, versions, reserved bits, raw sizes and the flags of inserts and deletes are not changed:
without them a row still has one reading.

Known-wrong decoders do what both SDKs do wrong, or what a hasty reader would. Several repeat a
fault that pydatahub 2.29.0 or the Java SDK 2.21.6 showed when they were run.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from struct import Struct
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span, write_uvarint
from cdcwire.datahub.frame import crc32c
from cdcwire.format import Format
from cdcwire.model.events import Event, Path, RowChange
from cdcwire.model.kinds import Column, FloatType, IntType, TextType, TimestampType, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    wrong_columns,
    wrong_decoder,
    wrong_events,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    BATCHES,
    EVENTS,
    OLD_ROWS,
    OPERATIONS,
    halves_as_changes,
)
from cdcwire_conformance.known_wrong.values import CUT_VALUES, VALUES, binary_as_base64
from cdcwire_conformance.mutations import Change, Layer, reads_as_json

MAGIC = b"DHUB"
FLAGS = ("_before_image_", "_after_image_")

_WHITE_SPACE = b" \t\r\n"
_FRAME_HEADER = 12
_BATCH_LENGTH, _BATCH_CRC, _BATCH_HEADER = 8, 16, 26  # places in a batch
_U32, _I32, _BIG = Struct("<I"), Struct("<i"), Struct(">I")
_MOST, _MOST_SIGNED = (1 << 32) - 1, (1 << 31) - 1
_ONE_BYTE = b"\x0a\x01"  # a value in protobuf, of one byte
_INLINE = 0x80
_IN_RECORD = 5  # batches, i, records, j, a column
_LONG_VALUES = ("datahub: string fields", "datahub: decimal fields")
_MEMBER = re.compile(rb'(,?\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*)?)(.*)', re.DOTALL)
_TEXT = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a body may end: JSON before the white space after it, a frame nowhere."""
    return () if raw.startswith(MAGIC) else range(len(raw.rstrip(_WHITE_SPACE)), len(raw))


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a body."""
    if raw.startswith(MAGIC):
        yield from _of_frame(raw, spans)
    else:
        yield from without_members(raw, spans, _is_needed)
        yield from _of_texts(raw, spans)


def layers(part: str, raw: bytes, context: Context) -> Iterator[Layer]:
    """Yield what is inside a content encoding, or the fields of a frame with its checksums."""
    if raw.startswith(MAGIC) and len(raw) > _FRAME_HEADER:
        yield Layer(raw[_FRAME_HEADER:], _framed)
        yield from _batch_layers(raw)
        return
    with suppress(zlib.error):
        yield Layer(zlib.decompress(raw), zlib.compress)


def _framed(body: bytes) -> bytes:
    return MAGIC + _BIG.pack(crc32c(body)) + _BIG.pack(len(body)) + body


def _batch_layers(raw: bytes) -> Iterator[Layer]:
    """Yield the records of each batch of a frame, after any compression by zlib."""
    at = raw.find(MAGIC, _FRAME_HEADER)
    while 0 < at <= len(raw) - _BATCH_HEADER:
        end = at + _U32.unpack_from(raw, at + _BATCH_LENGTH)[0]
        if end > len(raw):
            return
        packed = raw[at + _BATCH_HEADER : end]
        yield Layer(packed, partial(_with_records, raw, at, end, None))
        with suppress(zlib.error):
            yield Layer(
                zlib.decompress(packed), partial(_with_records, raw, at, end, zlib.compress)
            )
        at = raw.find(MAGIC, max(end, at + 1))


def _with_records(
    raw: bytes, at: int, end: int, pack: Callable[[bytes], bytes] | None, records: bytes
) -> bytes:
    """Return a frame with other records in a batch, and the lengths around them put right."""
    packed = records if pack is None else pack(records)
    batch = bytearray(raw[at : at + _BATCH_HEADER])
    _U32.pack_into(batch, _BATCH_LENGTH, _BATCH_HEADER + len(packed))
    _U32.pack_into(batch, _BATCH_LENGTH + 4, len(records))
    _U32.pack_into(batch, _BATCH_CRC, crc32c(packed))
    before, size, made = raw[_FRAME_HEADER:at], end - at, bytes(batch) + packed
    for _ in range(2):  # the field of the batch, and the entry that is this field alone
        length = _varint(size)
        if not before.endswith(length) or len(before) <= len(length):
            break
        tag = before[-len(length) - 1 : -len(length)]
        size += len(length) + 1
        made = tag + _varint(len(made)) + made
        before = before[: -len(length) - 1]
    return _framed(before + made + raw[end:])


def _varint(number: int) -> bytes:
    out = bytearray()
    write_uvarint(out, number, "")
    return bytes(out)


# ---- frames ----------------------------------------------------------------------------------


class _Frame:
    """A frame, and where its batches begin: to write numbers into it and put its sums right."""

    def __init__(self, raw: bytes, batches: Collection[int]) -> None:
        self.raw = raw
        self.batches = batches

    def number(self, form: Struct, place: int) -> int:
        found: int = form.unpack_from(self.raw, place)[0]
        return found

    def made(self, place: int, content: bytes) -> bytes:
        """Return the frame with other bytes at a place."""
        out = bytearray(self.raw)
        out[place : place + len(content)] = content
        for start in self.batches:
            end = start + self.number(_U32, start + _BATCH_LENGTH)
            _U32.pack_into(out, start + _BATCH_CRC, crc32c(bytes(out[start + _BATCH_HEADER : end])))
        _BIG.pack_into(out, len(MAGIC), crc32c(bytes(out[_FRAME_HEADER:])))
        return bytes(out)

    def changed(
        self,
        kind: str,
        form: Struct,
        place: int,
        *,
        steps: tuple[int, ...] = (),
        values: tuple[int, ...] = (),
        is_certain: bool = True,
    ) -> Iterator[Change]:
        """Yield changes of the number at a place, as far as they have a form there."""
        number = self.number(form, place)
        wanted = [(f"{step:+}", number + step) for step in steps]
        wanted += [(f"={value}", value) for value in values if value != number]
        for sign, found in wanted:
            if found >= 0 or form is _I32:
                name = ("bomb", "") if found in (_MOST, _MOST_SIGNED) else (kind, sign)
                title = f"the {kind} at byte {place} is {found} in place of {number}"
                made = self.made(place, form.pack(found))
                yield Change(name[0], place, name[1], title, made, is_certain)


def _of_frame(raw: bytes, spans: Sequence[Span]) -> Iterator[Change]:
    begins = [span.start for span in spans if _of_batch(span) == ("magic",)]
    frame = _Frame(raw, begins)
    updates = _updates(spans)
    for span in spans:
        name = span.path[-1] if span.path else ""
        inside = _of_batch(span)
        if span.path in (("magic",), ("length",)):
            yield from _of_frame_header(frame, span, str(name))
        elif len(inside) == 1:
            yield from _of_batch_header(frame, span, str(name))
        elif span.clause == "datahub: batch records" and name in ("header", "count"):
            yield from _of_record(frame, span, str(name))
        elif span.clause == "datahub: attributes" and name == "count":
            steps = (1, -1) if frame.number(_I32, span.start) else (1,)
            yield from frame.changed(
                "count", _I32, span.start, steps=steps, values=(-1, _MOST_SIGNED)
            )
        elif len(span.path) == _IN_RECORD and span.end - span.start == 8:
            yield from _of_slot(frame, span, span.path[:-1] in updates)
        elif span.path[:1] == ("records",):
            yield from _of_protobuf(frame, span, span.path[:-1] in updates)


def _updates(spans: Sequence[Span]) -> frozenset[Path]:
    """Return the paths of the rows whose flags alone say which image they are."""
    return frozenset(
        span.path[:-1]
        for span in spans
        if span.path[-1:] == ("_operation_type_",) and span.value == "U"
    )


def _of_batch(span: Span) -> Path:
    """Return the path below a batch, without its records."""
    inside = span.path[2:] if span.path[:1] == ("batches",) else ()
    return () if inside[:1] == ("batch",) else inside


def _of_frame_header(frame: _Frame, span: Span, name: str) -> Iterator[Change]:
    place, raw = span.start, frame.raw
    if name == "magic":
        yield Change("tag", place, "=DHUC", "the magic is DHUC", b"DHUC" + raw[len(MAGIC) :])
        return
    number = frame.number(_BIG, place)
    for sign, found in (("+1", number + 1), ("-1", number - 1), ("", _MOST)):
        if 0 <= found <= _MOST and found != number:
            made = raw[:place] + _BIG.pack(found) + raw[place + _BIG.size :]
            kind = "length" if sign else "bomb"
            yield Change(kind, place, sign, f"the {name} of the frame is {found}", made)


def _of_batch_header(frame: _Frame, span: Span, name: str) -> Iterator[Change]:
    place = span.start
    match name:
        case "magic":
            made = frame.made(place, b"DHUC")
            yield Change("tag", place, "=DHUC", "the magic of a batch is DHUC", made)
        case "length" | "count":
            yield from frame.changed(name, _U32, place, steps=(1, -1), values=(_MOST,))
        case _:
            pass


def _of_record(frame: _Frame, span: Span, name: str) -> Iterator[Change]:
    place = span.start
    if name == "count":
        steps = (1, -1) if frame.number(_I32, place) > 1 else (1,)  # 0 is legal
        if frame.number(_I32, place):
            yield from frame.changed("count", _I32, place, steps=steps, values=(-1, _MOST_SIGNED))
        return
    yield from frame.changed("tag", _I32, place, values=(1,))
    yield from frame.changed("length", _I32, place + 8, steps=(1, -1), values=(0, -1, _MOST_SIGNED))
    yield from frame.changed("length", _I32, place + 12, values=(-1, _MOST_SIGNED))
    yield from frame.changed("length", _I32, place + 12, steps=(1, -1), is_certain=False)


def _of_slot(frame: _Frame, span: Span, is_update: bool) -> Iterator[Change]:
    place = span.start
    slot = frame.raw[place : span.end]
    if span.value is None:  # NULL: what its slot holds is not read
        return
    if is_update and span.path[-1] in FLAGS:
        other = b"N" if slot[:1] == b"Y" else b"Y"
        title = f"the flag at byte {place} is {other.decode()}"
        yield Change("tag", place, f"={other.decode()}", title, frame.made(place, other))
    if span.clause not in _LONG_VALUES:
        return
    if slot[7] & _INLINE:
        title = f"eight bytes in the slot at byte {place}"
        yield Change("length", place + 7, "=8", title, frame.made(place + 7, b"\x88"))
    else:
        yield from frame.changed("length", _I32, place, values=(-1, _MOST_SIGNED))
        yield from frame.changed("length", _I32, place + 4, values=(0, 1 << 30))


def _of_protobuf(frame: _Frame, span: Span, is_update: bool) -> Iterator[Change]:
    raw, place = frame.raw, span.start
    last = span.end - 1
    if is_update and span.path[-1] in FLAGS and raw[last - 2 : last] == _ONE_BYTE:
        other = b"N" if raw[last : span.end] == b"Y" else b"Y"
        title = f"the flag at byte {last} is {other.decode()}"
        yield Change("tag", last, f"={other.decode()}", title, frame.made(last, other))
    if len(span.path) != 2 or span.clause != "datahub: protobuf":
        return
    title = f"the record at byte {place} is a group"
    made = frame.made(place, bytes((raw[place] & ~7 | 3,)))
    yield Change("tag", place, "=3", title, made)
    lowest = raw[place + 1]
    for sign, step, end in (("+1", 1, 0x7F), ("-1", -1, 0)):
        if lowest & 0x7F != end:
            title = f"the length of the record at byte {place} is one off"
            made = frame.made(place + 1, bytes((lowest + step,)))
            yield Change("length", place + 1, sign, title, made, is_certain=False)


# ---- JSON ------------------------------------------------------------------------------------


def without_members(
    raw: bytes, spans: Sequence[Span], is_needed: Callable[[Path], bool]
) -> Iterator[Change]:
    """Yield the text without a member, for each that is needed, its comma left out with it."""
    places: dict[Path, tuple[int, int]] = {}
    for span in spans:
        begin, end = places.get(span.path, (span.start, span.end))
        places[span.path] = (min(begin, span.start), max(end, span.end))
    for path, (begin, end) in places.items():
        if is_needed(path):
            if not raw[begin:end].lstrip(_WHITE_SPACE).startswith(b","):
                behind = len(raw) - len(raw[end:].lstrip(_WHITE_SPACE))
                end = behind + 1 if raw[behind : behind + 1] == b"," else end
            title = f"the member {path[-1]} at byte {begin} is left out"
            yield Change("member", begin, "-1", title, raw[:begin] + raw[end:])


def without_quotes(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield the text with quotes taken from a value, where that is not JSON any more."""
    found = _MEMBER.fullmatch(raw[span.start : span.end])
    text = None if found is None else _TEXT.fullmatch(found[2])
    if found is None or text is None or reads_as_json(text[1]):
        return
    made = raw[: span.start] + found[1] + text[1] + raw[span.end :]
    yield Change("quote", span.start, "", f"the text at byte {span.start} has no quotes", made)


def _is_needed(path: Path) -> bool:
    return path == ("Records",) or (len(path) == 3 and path[::2] == ("Records", "Data"))


def _of_texts(raw: bytes, spans: Sequence[Span]) -> Iterator[Change]:
    for span in spans:
        path = span.path
        if path == ("RecordCount",):
            yield from _of_count(raw, span)
        if len(path) == 4 and path[::2] == ("Records", "Data"):
            yield from without_quotes(raw, span)
            is_flag = span.subject is not None and span.subject.parts == ("half",)
            if is_flag and _is_in_update(raw, span):
                own = raw[span.start : span.end]
                pair = (b'"Y"', b'"N"') if b'"Y"' in own else (b'"N"', b'"Y"')
                made = raw[: span.start] + own.replace(*pair) + raw[span.end :]
                sign = pair[1][1:2].decode()
                title = f"the flag at byte {span.start} is {sign}"
                yield Change("tag", span.start, f"={sign}", title, made)


def _is_in_update(raw: bytes, flag: Span) -> bool:
    """Return whether the row of a flag belongs to an update, by the values before the flag."""
    values = raw[raw.rindex(b"[", 0, flag.start) : flag.start].rstrip(b", \t\r\n")
    return "U" in json.loads(values + b"]")


def _of_count(raw: bytes, span: Span) -> Iterator[Change]:
    found = re.search(rb"[0-9]+$", raw[span.start : span.end])
    if found is not None:
        number = int(found[0]) + 1
        place = span.start + found.start()
        made = raw[:place] + str(number).encode() + raw[span.end :]
        yield Change("count", place, "+1", f"the answer says {number} records", made)


FRAME_SIZE, HEADER_SIZE, RECORD_SIZE = (
    12,
    26,
    16,
)  # bytes of a frame's, a batch's, a record's header


_LEAST_LONG = -(1 << 63)


@wrong_columns("NULL of a STRING becomes the text None")
def null_as_none(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace NULL in a STRING column with the text ``None``."""
    return column, "None" if value is None and isinstance(column.type, TextType) else value


@wrong_values("a count since 1970 is moved to another zone")
def instants_eight_hours_off(column: Column, value: Value) -> Value:
    """Move a timestamp in milliseconds or microseconds by eight hours."""
    kind = column.type
    if not isinstance(kind, TimestampType) or kind.form not in ("ms", "us"):
        return value
    return value + 8 * 3600 * {"ms": 10**3, "us": 10**6}[kind.form]


@wrong_columns("a DOUBLE without a fraction is an integer")
def whole_doubles_as_integers(column: Column, value: Value) -> tuple[Column, Value]:
    """Take a DOUBLE without a fraction for a LONG."""
    is_whole = isinstance(column.type, FloatType) and value is not None and value % 1 == 0
    return (replace(column, type=IntType(64)), int(value)) if is_whole else (column, value)


@wrong_events("the time of a change is taken for microseconds")
def execute_time_in_us(event: Event) -> Event:
    """Take the time of a change for microseconds, as a TIMESTAMP is."""
    commit_ms = event.position.commit_ms
    return event if commit_ms is None else moved(event, commit_ms=commit_ms // 1000)


@wrong_events("a sequence id loses its last digits")
def sequence_id_through_double(event: Event) -> Event:
    """Round a sequence id to the nearest double."""
    number = event.position.sequence_id
    return event if number is None else moved(event, sequence_id=int(float(number)))


@wrong_events("a sequence id of over 63 bits wraps")
def sequence_id_in_64_bits(event: Event) -> Event:
    """Keep only the lowest 63 bits of a sequence id."""
    number = event.position.sequence_id
    return event if number is None else moved(event, sequence_id=number % (1 << 63))


@wrong_decoder("-2^63 is refused, as one document has it")
def least_bigint_refused(format_: Format, message: Message, context: Context) -> list[Event]:
    """Refuse a row that contains the integer -2^63. Raises: DecodeError."""
    events = right(format_, message, context)
    for event in events:
        for image in (event.before, event.after) if isinstance(event, RowChange) else ():
            if image is not None and _LEAST_LONG in [v for v in image.values if type(v) is int]:
                raise DecodeError("a BIGINT below -2^63 + 1", 0, "datahub: integer fields")
    return events


@mending("frames and batches are read whatever their checksums say")
def checksums_ignored(message: Message) -> Iterable[Message]:
    """Give a body whose frame says the checksum that it has, and then the batch's as well."""
    value = message.value or b""
    if not value.startswith(MAGIC):
        return
    assert isinstance(message, KafkaMessage)
    yield replace(message, value=_framed_body(value))
    batch = value.find(MAGIC, FRAME_SIZE)
    if batch > 0:
        good = crc32c(value[batch + HEADER_SIZE :]).to_bytes(4, "little")
        yield replace(message, value=_framed_body(value[: batch + 16] + good + value[batch + 20 :]))


def _framed_body(value: bytes) -> bytes:
    return value[:4] + crc32c(value[FRAME_SIZE:]).to_bytes(4, "big") + value[8:]


def moved(event: Event, **position: Any) -> Event:
    """Return the event with these fields of its position replaced."""
    return replace(event, position=replace(event.position, **position))


DATAHUB_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    *CUT_VALUES,
    *EVENTS,
    *OPERATIONS,
    *OLD_ROWS,
    *BATCHES,
    null_as_none,
    binary_as_base64,
    instants_eight_hours_off,
    whole_doubles_as_integers,
    least_bigint_refused,
    execute_time_in_us,
    sequence_id_through_double,
    sequence_id_in_64_bits,
    halves_as_changes,
    checksums_ignored,
)
