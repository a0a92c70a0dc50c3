"""Inputs that grow: golden cases in which one thing is repeated or made longer.

A shape is named by one line: a case, a kind and the number that chooses the place,
``craft/rows/insert~rows.3``.

| kind | what grows |
| --- | --- |
| rows, columns, text, name, query | the part of a decoded event, which is then encoded |
| accepted | bytes between two fields whose repetition is still accepted |
| json | a string, a number, members, elements, nesting or white space |
| bytes | any bytes, at any place |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Literal, TypeAlias, get_args

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.model.events import Event, Image, RowChange, SchemaChange
from cdcwire.registry import get_format
from cdcwire_conformance.suite import get_suite
from cdcwire_evidence.fuzz.edits import is_json, places
from cdcwire_evidence.fuzz.event_edits import Grown, decoded, encoded, prepared
from cdcwire_evidence.fuzz.inputs import Input, first_inputs, parts_of, with_part

Kind: TypeAlias = Literal["rows", "columns", "text", "name", "query", "accepted", "json", "bytes"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SIGN = "~"

_SIGNS = (b'"', b"\\", b"0", b",", b"[", b"{", b" ", b"\x80", b"\xff", b"\x00", b'\\"', b'""')
_LETTERS = (b"a", b"0", b"\\u0041", b"\\n", b"\\\\", b"\xc3\xa9", b" ")
_MOST_SPANS = 60  # of a message whose pieces are tried
_MOST_PAIRS = 60  # pieces that are tried
_COPIES = 5
_TRIES = 12  # cases that are tried for one kind

Make: TypeAlias = Callable[[int], "Grown | None"]
Put: TypeAlias = Callable[[bytes], Input]
Pieces: TypeAlias = Callable[[int], bytes]
Grow: TypeAlias = Callable[[int], Sequence[Event]]


@dataclass(frozen=True, slots=True)
class Shape:
    """Inputs that differ in their size alone."""

    name: str
    format: str
    kind: Kind
    make: Make


def shape_of(given: Input, kind: Kind, number: int) -> Shape | None:
    """Return a shape; None if the case has nothing of this kind."""
    name = f"{given.case}{SIGN}{kind}.{number}"
    make = _MAKERS[kind](given, Random(name))
    return None if make is None else Shape(name, given.format, kind, make)


def shape_again(name: str) -> Shape:
    """Return the shape of a name. Raises: LookupError for an unknown case or kind."""
    case, _, choice = name.partition(SIGN)
    kind, _, number = choice.partition(".")
    for given in first_inputs(case.partition("/")[0]):
        if given.case == case and kind in KINDS and number.isdecimal():
            shape = shape_of(given, kind, int(number))
            if shape is not None:
                return shape
    raise LookupError(f"no shape {name!r}")


def shapes(format_name: str, seed: str) -> Iterator[Shape]:
    """Yield shapes of a format without end: one of each kind in turn."""
    chance = Random(f"{format_name} {seed}")
    inputs = first_inputs(format_name)
    while True:
        for kind in KINDS:
            for _ in range(_TRIES):
                shape = shape_of(chance.choice(inputs), kind, chance.getrandbits(16))
                if shape is not None:
                    yield shape
                    break


# ---- bytes that are repeated -----------------------------------------------------------------


def _accepted(given: Input, chance: Random) -> Make | None:
    """Repeat what lies between two fields, where the message is then still accepted."""
    format_ = get_format(given.format)
    raw, put = _hole(given, chance, can_open=False)
    context = prepared(given)
    if context is None or not raw:
        return None
    explanation = format_.explain(given.message, context=context)
    part = next((name for name, side in parts_of(given.message).items() if side == raw), "")
    ends = {at for span in explanation.spans if span.part == part for at in (span.start, span.end)}
    borders = sorted({0, *ends, len(raw)})
    if explanation.error is not None or len(borders) > _MOST_SPANS:
        return None
    pairs = [(start, end) for start in borders for end in borders if start < end]
    chance.shuffle(pairs)
    for start, end in pairs[:_MOST_PAIRS]:
        grown = put(raw[:end] + raw[start:end] * _COPIES + raw[end:])
        if _is_accepted(grown):
            return _repeating(raw[:end], raw[start:end], raw[end:], put)
    return None


def _bytes(given: Input, chance: Random) -> Make | None:
    """Repeat any bytes anywhere; most of these messages are refused."""
    raw, put = _hole(given, chance)
    start = chance.randrange(len(raw) + 1)
    end = start + chance.choice((1, 2, 4, 16, 64))
    piece = chance.choice((raw[start:end], *_SIGNS[:2], chance.choice(_SIGNS))) or b"\x80"
    return _repeating(raw[:start], piece, chance.choice((raw[start:], b"")), put)


def _json(given: Input, chance: Random) -> Make | None:
    """Lengthen or repeat one value or member of a JSON text."""
    raw, put = _hole(given, chance)
    if not is_json(raw):
        return None
    values, members = places(raw)
    start, end = chance.choice(values)
    text = raw[start:end]
    kind = chance.randrange(8)
    if kind == 0 and members:  # one member again and again
        name, value = chance.choice(members)
        member = raw[name[0] : value[1]] + b","
        return _repeating(raw[: name[0]], member, raw[name[0] :], put)
    if kind == 1 and members:  # members with names of their own
        name, value = chance.choice(members)
        tail = raw[name[1] : value[1]] + b","
        return _growing(raw[: name[0]], partial(_named, tail), raw[name[0] :], put)
    if kind == 2:  # elements
        return _repeating(raw[:start], text + b",", raw[start:], put)
    if kind == 3:  # nesting
        begin, close = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")))
        head, tail = raw[:start], raw[end:]
        size = len(begin) + len(close)
        return _growing(
            head, lambda room: begin * (room // size) + text + close * (room // size), tail, put
        )
    if kind == 4:
        return _repeating(raw[:start], chance.choice((b" ", b"\n")), raw[start:], put)
    if text.startswith(b'"'):
        letter = chance.choice((*_LETTERS, text[1:-1] or b"a"))
        return _repeating(raw[: start + 1], letter, raw[end - 1 :], put)
    begin = chance.choice((b"1", b"-1", b"0.", b"1e", text))
    return _repeating(raw[:start] + begin, chance.choice((b"1", b"0")), raw[end:], put)


def _named(tail: bytes, room: int) -> bytes:
    count = room // (len(tail) + 10) + 1
    return b"".join(b'"k%d"%b' % (number, tail) for number in range(count))


def _repeating(head: bytes, piece: bytes, tail: bytes, put: Put) -> Make:
    return _growing(head, lambda room: piece * max(1, room // len(piece)), tail, put)


def _growing(head: bytes, pieces: Pieces, tail: bytes, put: Put) -> Make:
    def make(size: int) -> Grown:
        raw = head + pieces(max(0, size - len(head) - len(tail))) + tail
        given = put(raw)
        return Grown(given, max(len(raw), given.size))

    return make


def _hole(given: Input, chance: Random, *, can_open: bool = True) -> tuple[bytes, Put]:
    """Return bytes of an input, and a function that puts others in their place."""
    others = [("schemas", name) for name in given.schemas] + [
        ("blobs", name) for name in given.blobs
    ]
    if can_open and others and chance.random() < 0.4:
        member, name = chance.choice(others)
        return _beside(given, member, name)
    index = given.index
    if can_open and chance.random() < 0.2:  # a schema file
        index = chance.randrange(len(given.messages))
    message = given.messages[index]
    parts = parts_of(message)
    part = chance.choice(list(parts)) if chance.random() < 0.2 and parts else "value"
    raw = parts.get(part, b"")
    close: list[Callable[[bytes], bytes]] = []
    layers = get_suite(given.format).mutations.layers
    while can_open and len(close) < 3 and chance.random() < 0.8:
        inside = list(layers(part, raw, given.context()))
        if not inside:
            break
        layer = chance.choice(inside)
        raw = layer.inner
        close.append(layer.close)

    def put(new: bytes) -> Input:
        for around in reversed(close):
            new = around(new)
        return _with_message(given, index, with_part(message, part, new))

    return raw, put


def _beside(given: Input, member: str, name: str) -> tuple[bytes, Put]:
    if member == "blobs":
        return given.blobs[name], lambda raw: replace(given, blobs={**given.blobs, name: raw})

    def put(raw: bytes) -> Input:
        return replace(given, schemas={**given.schemas, name: raw.decode("utf-8", "replace")})

    return given.schemas[name].encode(), put


def _with_message(given: Input, index: int, message: Message) -> Input:
    messages = (*given.messages[:index], message, *given.messages[index + 1 :])
    return replace(given, messages=messages, index=index)


# ---- events that grow ------------------------------------------------------------------------


def _rows(given: Input, chance: Random) -> Make | None:
    rows = [event for event in decoded(given) if isinstance(event, RowChange)]
    return _encoding(given, lambda count: rows * count) if rows else None


def _columns(given: Input, chance: Random) -> Make | None:
    row = _row(given, chance)
    if row is None:
        return None
    return _encoding(given, lambda count: [_with_columns(row, count)])


def _with_columns(row: RowChange, count: int) -> RowChange:
    def more(image: Image | None) -> Image | None:
        if image is None or not image.columns:
            return image
        column, value = image.columns[-1], image.values[-1]
        plain = replace(column, roles=frozenset())
        added = tuple(replace(plain, name=f"c{number}") for number in range(count))
        return Image((*image.columns, *added), (*image.values, *(value for _ in added)))

    return replace(row, before=more(row.before), after=more(row.after))


def _text(given: Input, chance: Random) -> Make | None:
    row = _row(given, chance)
    if row is None:
        return None
    values = [*(row.after.values if row.after else ()), *(row.before.values if row.before else ())]
    texts = [value for value in values if isinstance(value, (str, bytes)) and value]
    if not texts:
        return None
    text = chance.choice(texts)

    def longer(image: Image | None, count: int) -> Image | None:
        if image is None:
            return None
        return replace(
            image, values=tuple(each * count if each is text else each for each in image.values)
        )

    return _encoding(
        given,
        lambda count: [
            replace(row, before=longer(row.before, count), after=longer(row.after, count))
        ],
    )


def _name(given: Input, chance: Random) -> Make | None:
    row = _row(given, chance)
    if row is None:
        return None
    is_table = chance.random() < 0.5

    def renamed(image: Image | None, count: int) -> Image | None:
        if image is None or not image.columns:
            return image
        column = image.columns[-1]
        last = replace(column, name=column.name * count)
        return replace(image, columns=(*image.columns[:-1], last))

    def grow(count: int) -> list[Event]:
        if is_table:
            return [replace(row, table=replace(row.table, name=(row.table.name or "t") * count))]
        return [replace(row, before=renamed(row.before, count), after=renamed(row.after, count))]

    return _encoding(given, grow)


def _query(given: Input, chance: Random) -> Make | None:
    changes = [event for event in decoded(given) if isinstance(event, SchemaChange)]
    if not changes:
        return None
    change = chance.choice(changes)
    piece = chance.choice((", ADD COLUMN a INT", " ", "`", "(", "/*", "x", "'", '"', "-- \n", "\\"))
    return _encoding(
        given, lambda count: [replace(change, query=(change.query or "") + piece * count)]
    )


def _row(given: Input, chance: Random) -> RowChange | None:
    rows = [event for event in decoded(given) if isinstance(event, RowChange)]
    return chance.choice(rows) if rows else None


def _encoding(given: Input, grow: Grow) -> Make | None:
    """Return messages with ``grow(N)`` inside, where N fits the size; None if nothing grows."""
    try:
        few, more = (encoded(given, grow(count)).size for count in (8, 24))
    except (EncodeError, OptionError):
        return None
    per_count = (more - few) / 16
    if per_count < 1 / 2:
        return None

    def make(size: int) -> Grown | None:
        count = max(1, round((size - few) / per_count) + 8)
        try:
            found = encoded(given, grow(count))
        except (EncodeError, OptionError):  # a limit of the format
            return None
        return found if 2 * found.size > size else None

    return make


def _is_accepted(given: Input) -> bool:
    try:
        context = get_format(given.format).prepared(given.messages, given.context())
        for _ in get_format(given.format).to_events(given.message, context=context):
            pass
    except (DecodeError, OptionError):
        return False
    return True


_MAKERS: Mapping[Kind, Callable[[Input, Random], Make | None]] = {
    "rows": _rows,
    "columns": _columns,
    "text": _text,
    "name": _name,
    "query": _query,
    "accepted": _accepted,
    "json": _json,
    "bytes": _bytes,
}
