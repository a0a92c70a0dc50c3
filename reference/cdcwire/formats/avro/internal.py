"""The values other than rows: DDL, checkpoint, and the delete that has its timestamp.

Only a test option makes a producer send them. The first byte shows which it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError, step
from cdcwire.core.limits import UINT64_END
from cdcwire.core.reader import Reader
from cdcwire.core.strict_json import JsonObject, JsonRules, Member, Number, json_kind, read_json
from cdcwire.formats.avro.message import Checkpoint, Ddl, DeletedAt
from cdcwire.golang import compact_json

DDL_BYTE = 0x01
CHECKPOINT_BYTE = 0x02
DELETE_BYTE = 0x03
DDL = "avro: ddl"
WATERMARK = "avro: watermark"
TS_BYTES = 8
_MAX_CODE = 255
_MEMBERS = ("query", "type", "schema", "table", "commitTs")
_RULES = JsonRules(DDL, DDL, "avro: limits", max_depth=8)


def read_timestamp(reader: Reader) -> int:
    """Read the bytes after 0x02 and 0x03: 8 bytes, big-endian, and nothing more."""
    start = reader.offset
    if reader.left < TS_BYTES:
        problem = f"the timestamp has {TS_BYTES} bytes, {reader.left} are left"
        raise TruncatedError(problem, reader.end, WATERMARK)
    found = int.from_bytes(reader.take(TS_BYTES, WATERMARK), "big")
    reader.note(start, found, WATERMARK, "commit_ts")
    reader.expect_end("avro: trailing bytes")
    return found


def write_timestamp(value: Checkpoint | DeletedAt) -> bytes:
    """Return a checkpoint or delete as its kind byte and 8 bytes, big-endian.

    Raises: EncodeError for a timestamp beyond 64 bits.
    """
    if not 0 <= value.commit_ts < UINT64_END:
        raise EncodeError("a timestamp has 64 bits, unsigned", WATERMARK, ("commit_ts",))
    kind = CHECKPOINT_BYTE if isinstance(value, Checkpoint) else DELETE_BYTE
    return bytes((kind,)) + value.commit_ts.to_bytes(TS_BYTES, "big")


def read_ddl(reader: Reader) -> Ddl:
    """Read the bytes after 0x01: one JSON object. Members not named are ignored."""
    document = read_json(reader.data, _RULES, reader.offset, reader.end)
    if not isinstance(document.value, JsonObject):
        problem = f"a DDL is an object, not {json_kind(document.value)}"
        raise DecodeError(problem, document.start, DDL)
    known = document.value.by_name
    place = document.end - 1
    texts = [_text(known, name, place) for name in ("query", "schema", "table")]
    code = _number(known, "type", place, _MAX_CODE + 1)
    commit_ts = _number(known, "commitTs", place, UINT64_END)
    for member in sorted(known.values(), key=lambda each: each.start):
        reader.offset, start = member.end, reader.offset
        value = member.value.text if isinstance(member.value, Number) else member.value
        reader.note(start, value, DDL, member.name)
    start, reader.offset = reader.offset, reader.end
    reader.note(start, "end", DDL)
    return Ddl(texts[0], code, texts[1], texts[2], commit_ts)


def write_ddl(ddl: Ddl) -> bytes:
    """Return a DDL as its kind byte and one JSON object.

    Raises: EncodeError for a number out of range, or a lone surrogate.
    """
    with step("commit_ts"):
        if not 0 <= ddl.commit_ts < UINT64_END:
            raise EncodeError("a timestamp has 64 bits, unsigned", DDL)
    with step("type"):
        if not 0 <= ddl.type <= _MAX_CODE:
            raise EncodeError(f"a DDL has a number from 0 to {_MAX_CODE}", DDL)
    values = (ddl.query, ddl.type, ddl.schema, ddl.table, ddl.commit_ts)
    text = compact_json(dict(zip(_MEMBERS, values, strict=True)))
    try:
        return bytes((DDL_BYTE,)) + text.encode()
    except UnicodeEncodeError:
        raise EncodeError("a text has a lone surrogate", DDL) from None


def _member(known: Mapping[str, Member], name: str, place: int) -> Member:
    found = known.get(name)
    if found is None:
        raise DecodeError(f"the member {name!r} is missing", place, DDL)
    return found


def _text(known: Mapping[str, Member], name: str, place: int) -> str:
    member = _member(known, name, place)
    if not isinstance(member.value, str):
        problem = f"expected a string, found {json_kind(member.value)}"
        raise DecodeError(problem, member.start, DDL, (name,))
    return member.value


def _number(known: Mapping[str, Member], name: str, place: int, end: int) -> int:
    member = _member(known, name, place)
    value = member.value
    if isinstance(value, Number) and value.is_integer and value.digits <= 20:
        number = int(value.text)
        if 0 <= number < end:
            return number
    raise DecodeError(f"this is not a number below {end}", member.start, DDL, (name,))
