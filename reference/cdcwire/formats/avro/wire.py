"""Whole messages, without loss: what key and value say, and their bytes again.

The records after the envelope have their fields read and written by plan, side by side. Only a test
option makes a producer send values other than rows: DDL, checkpoints, and deletes with their
timestamp. The first byte shows which it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.apache_avro.binary import (
    UNION,
    DatumReader,
    read_primitive,
    read_union_index,
    write_datum,
)
from cdcwire.apache_avro.binary import read_bytes as read_datum_bytes
from cdcwire.apache_avro.registries import ID_OFFSETS, read_envelope, write_envelope
from cdcwire.apache_avro.schema import Datum, Primitive
from cdcwire.apache_avro.sources import KnownSchemas, SchemaSource, plan_of_id
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError, step
from cdcwire.core.limits import UINT64_END
from cdcwire.core.reader import Reader
from cdcwire.core.strict_json import JsonObject, JsonRules, Member, Number, json_kind, read_json
from cdcwire.formats.avro.extension import check_extension_value
from cdcwire.formats.avro.message import Checkpoint, Datums, Ddl, DeletedAt, Message
from cdcwire.formats.avro.names import schema_of_namespace
from cdcwire.formats.avro.plans import FieldPlan, Form, RecordPlan, plan_of_text
from cdcwire.formats.avro.settings import DEFAULT_SETTINGS, Settings, read_settings
from cdcwire.formats.avro.values import CHECKED_FORMS, model_value
from cdcwire.golang import compact_json
from cdcwire.model.events import Path
from cdcwire.mysql.values import read_text

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


NULLS = "avro: null and defaults"
TRAILING = "avro: trailing bytes"
MESSAGES = "avro: messages"


def read_record(reader: Reader, plan: RecordPlan, path: Path) -> tuple[Datum, ...]:
    """Read a record, which is all that is left of the bytes.

    ``path`` is for notes; errors begin at the field. Raises: DecodeError.
    """
    values = _read_fields(reader, plan, DatumReader(reader), path)
    reader.expect_end(TRAILING)
    return values


def _read_fields(
    reader: Reader, plan: RecordPlan, datums: DatumReader, path: Path
) -> tuple[Datum, ...]:
    values = []
    for field in plan.fields:
        try:
            values.append(_read_field(reader, field, datums, (*path, field.name)))
        except DecodeError as error:
            error.path = (field.name, *error.path)
            raise
    return tuple(values)


def _read_field(reader: Reader, field: FieldPlan, datums: DatumReader, path: Path) -> Datum:
    if field.form is Form.OTHER:
        return datums.read(field.type, path, field.clause)
    if field.null_index is not None:
        start = reader.offset
        if read_union_index(reader, 2) == field.null_index:
            reader.note(start, None, NULLS, *path)
            return None
        reader.note(start, 1 - field.null_index, UNION, *path, "branch")
    if field.inner is not None:
        return _read_fields(reader, field.inner, datums, path)
    start = reader.offset
    if field.form is Form.TEXT:
        value: Datum = read_text(read_datum_bytes(reader))
    else:
        assert isinstance(field.type, Primitive)  # all other forms are
        value = read_primitive(reader, field.type.name, field.clause)
    try:
        if field.form in CHECKED_FORMS:
            model_value(field, value)
        elif field.is_extension:
            check_extension_value(field.name, value)
    except ValueError as error:
        raise DecodeError(str(error), start, field.clause) from None
    reader.note(start, value, field.clause, *path)
    return value


def write_record(out: bytearray, plan: RecordPlan, values: tuple[Datum, ...]) -> None:
    """Append a record. Raises: EncodeError with the field as path."""
    write_datum(out, plan.record, values)


def decode(
    value: bytes | None,
    *,
    key: bytes | None = None,
    context: Context = NO_CONTEXT,
    source: SchemaSource | None = None,
) -> Message:
    """Return what a Kafka message says.

    ``source``: a registry in place of the context's schemas. Records of tables that are not
    wanted are not read after their envelope, and have no values; all columns are read.
    Raises: DecodeError, with ``key`` or ``value`` first in its path, and the offset in it.
    """
    schemas = KnownSchemas(context.schemas) if source is None else source
    return read_bytes(key, value, schemas, read_settings(context), context.selection)


def read_bytes(
    key: bytes | None,
    value: bytes | None,
    source: SchemaSource,
    settings: Settings = DEFAULT_SETTINGS,
    selection: Selection = EVERYTHING,
) -> Message:
    """Return what a Kafka message says. See ``decode``."""
    key_reader = None if key is None else Reader(key)
    value_reader = None if value is None else Reader(value)
    return read_message(key_reader, value_reader, source, settings, selection)


def read_message(
    key: Reader | None,
    value: Reader | None,
    source: SchemaSource,
    settings: Settings,
    selection: Selection = EVERYTHING,
) -> Message:
    """Read key and value. Raises: DecodeError."""
    if key is None and value is None and not settings.is_ticdc:
        problem = (
            "a message has a key or a value; TiCDC's new architecture sends neither for a delete "
            "in a table without primary key; set dialect=ticdc to read it as a tombstone"
        )
        raise DecodeError(problem, 0, MESSAGES, ("key",))
    found_key = None
    if key is not None:
        with step("key"):
            found_key = read_datums(key, source, settings, selection)
    if value is None:
        return Message(found_key, None)
    with step("value"):
        found = _read_value(value, key is not None, source, settings, selection)
        return Message(found_key, found)


def read_datums(
    reader: Reader, source: SchemaSource, settings: Settings, selection: Selection = EVERYTHING
) -> Datums:
    """Read an envelope and the record after it. Raises: DecodeError."""
    schema_id = read_envelope(reader, settings.registry)
    place = ID_OFFSETS[settings.registry]
    plan = plan_of_id(source, schema_id, place, plan_of_text)
    record = plan.record
    if not selection.wants(schema_of_namespace(record.namespace), record.name):
        return Datums(schema_id, (), plan)
    return Datums(schema_id, read_record(reader, plan, ()), plan)


def _read_value(
    reader: Reader,
    has_key: bool,
    source: SchemaSource,
    settings: Settings,
    selection: Selection,
) -> Datums | Ddl | Checkpoint | DeletedAt:
    first = reader.data[reader.offset] if reader.left else None
    if not has_key and first in (DDL_BYTE, CHECKPOINT_BYTE):
        kind = reader.byte(WATERMARK)
        reader.note(0, kind, "avro: ddl" if kind == DDL_BYTE else WATERMARK, "kind")
        return read_ddl(reader) if kind == DDL_BYTE else Checkpoint(read_timestamp(reader))
    has_key = has_key or settings.is_ticdc
    if has_key and first == DELETE_BYTE and _may_tell_deletes(reader, settings):
        reader.byte(WATERMARK)
        reader.note(0, DELETE_BYTE, WATERMARK, "kind")
        return DeletedAt(read_timestamp(reader))
    return read_datums(reader, source, settings, selection)


def _may_tell_deletes(reader: Reader, settings: Settings) -> bool:
    """Return whether 0x03 begins a delete.

    With Glue it begins every row, so there the option must say so. A short envelope of Glue is not
    to be taken for a delete.
    """
    if settings.registry == "confluent":
        return True
    return settings.has_watermark and reader.left == 1 + TS_BYTES


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes | None, bytes | None]:
    """Return key and value of a Kafka message. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    with step("key"):
        key = None if message.key is None else encode_datums(message.key)
    with step("value"):
        match message.value:
            case None:
                return key, None
            case Datums() as datums:
                return key, encode_datums(datums)
            case Ddl() as ddl:
                return key, write_ddl(ddl)
            case Checkpoint() | DeletedAt() as internal:
                return key, write_timestamp(internal)


def encode_datums(datums: Datums) -> bytes:
    """Return the envelope and the record after it. Raises: EncodeError."""
    out = bytearray()
    write_envelope(out, datums.schema_id)
    write_record(out, datums.plan, datums.values)
    return bytes(out)
