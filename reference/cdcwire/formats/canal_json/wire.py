"""A Kafka value or one JSON object to the wire's values, and back.

The members are those that ``Message`` declares. Here is what one member says about another, and
the order of each producer. Offsets count from the start of the bytes; paths are those of the JSON:
``data[0].c1``. A Kafka value is one object, compressed as a whole where the settings say so.

A claim-check file has the whole message of one row, compressed as messages are, without a Kafka key
(``cdcwire.core.claim_check``). With ``claim-check-raw-value`` it is that message and nothing else.
"""

from __future__ import annotations

from contextlib import nullcontext

from cdcwire.core.claim_check import read_claim_check
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Compression, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import expect_object, object_text, record_of, whole_of
from cdcwire.core.limits import SizeLimitError
from cdcwire.core.strict_json import Document, read_json
from cdcwire.formats.canal_json.columns import NO_DEFINITIONS, Definitions, definitions_of
from cdcwire.formats.canal_json.members import (
    CLAIM_CHECK,
    MEMBERS,
    OLD,
    ROWS,
    RULES,
    TYPES,
    WATERMARKS,
    WRITE_STRING,
    Dialect,
)
from cdcwire.formats.canal_json.message import (
    DDL_TYPES,
    DELETE,
    INSERT,
    QUERY,
    ROW_TYPES,
    UPDATE,
    WATERMARK,
    Message,
)
from cdcwire.formats.canal_json.settings import read_settings
from cdcwire.formats.canal_json.values import Row, RowReader, Rows, read_rows
from cdcwire.model.events import Path

OTHER_TYPES = ROW_TYPES | {WATERMARK, QUERY}  # where isDdl is false
MESSAGE = record_of(Message)


def read_object(
    value: bytes,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
    version: int | None = None,
) -> Message | None:
    """Return the message in ``value``; None if its table is not wanted.

    White space around the object is allowed, so is the line end that some producers send.
    ``definitions``: of tables, for columns that ``mysqlType`` does not name. ``version``: which.
    Raises: TruncatedError, DecodeError.
    """
    return message_of(read_json(value, RULES), value, selection, definitions, version)


def message_of(
    document: Document,
    data: bytes,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
    version: int | None = None,
) -> Message | None:
    """Return the message that a JSON value of ``data`` is. See ``read_object``."""
    found, end = expect_object(whole_of(document), MEMBERS), document.end
    known = found.by_name
    database = MESSAGE.one("database", found, end, data)
    table = MESSAGE.one("table", found, end, data)
    if table and not selection.wants(database or None, table):
        return None
    values = MESSAGE.read(found, end, data)
    types = dict(values.get("mysql_type") or ())
    reader = RowReader(types, definitions.columns(database, table, version))
    for name, clause in (("data", ROWS), ("old", OLD)):
        values[name] = read_rows(values.get(name), clause, reader)
    message = Message(**values)
    fault = _fault_of(message)
    if fault is not None:
        problem, name, clause = fault
        offset = known[name].start if name in known else end - 1
        raise DecodeError(problem, offset, clause, (name,))
    if message.is_ddl and ("sql" not in known or known["sql"].value is None):
        offset = known["sql"].start if "sql" in known else end - 1
        raise DecodeError("a DDL needs its sql", offset, "canal-json: ddl events", ("sql",))
    return message


def _fault_of(message: Message) -> tuple[str, str, str] | None:
    """Return what contradicts the type of a message, the member, and the clause; None if good."""
    allowed = DDL_TYPES if message.is_ddl else OTHER_TYPES
    kind = message.type
    if kind not in allowed:
        return f"type {kind!r:.40} is not one of {', '.join(sorted(allowed))}", "type", TYPES
    if kind == WATERMARK:
        has_watermark = message.tidb is not None and message.tidb.watermark_ts is not None
        return None if has_watermark else ("a watermark needs watermarkTs", "_tidb", WATERMARKS)
    if message.is_ddl or kind == QUERY:
        return None
    return _fault_of_row(message) if message.table else ("a row needs its table", "table", MEMBERS)


def _fault_of_row(message: Message) -> tuple[str, str, str] | None:
    kind, data, old = message.type, message.data, message.old
    has_old = any(row is not None for row in old or ())
    if kind == DELETE and data is None:
        if not has_old or None in (old or ()):
            return "a DELETE needs its row", "data", ROWS
        return None  # another producer has the row there
    if data is None:
        return f"an {kind} needs data", "data", ROWS
    if None in data:
        return "a row is null", "data", ROWS
    if kind == UPDATE:
        if old is not None and len(old) != len(data):
            return f"{len(old)} old rows, but {len(data)} rows", "old", OLD
    elif has_old:
        article = "an" if kind == INSERT else "a"
        return f"{article} {kind} with data has no old row", "old", OLD
    return None


def write_object(message: Message, dialect: Dialect = "ticdc") -> bytes:
    """Return the JSON of a message, in the way of one producer. Raises: EncodeError."""
    quoted = WRITE_STRING[dialect]
    texts = MESSAGE.write(message, quoted)
    fault = _fault_of(message)
    if fault is not None:
        problem, name, clause = fault
        raise EncodeError(problem, clause, (name,))
    if dialect == "canal":
        texts = dict(sorted(texts.items()))
    elif not message.is_ddl and message.type in ROW_TYPES:
        texts = _with_old_first(texts)
    return object_text(texts, quoted).encode()


def _with_old_first(texts: dict[str, str]) -> dict[str, str]:
    """Return the members of a row: TiCDC writes ``data`` after ``old`` there."""
    names = list(texts)
    place = names.index("data")
    names[place : place + 2] = "old", "data"
    return {name: texts[name] for name in names}


CLAUSE = "canal-json: compression"


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message | None:
    """Return the message in a Kafka value; None if its table is not wanted.

    ``key`` is ignored. The context's tables name the columns that ``mysqlType`` does not name.
    Raises: TruncatedError, also for an empty value; DecodeError, OptionError.
    """
    definitions, settings = definitions_of(context.tables), read_settings(context)
    if not value:
        return read_object(b"", context.selection, definitions)
    return read_message(value, settings.compression, context.selection, definitions)


def encode(message: Message, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the Kafka value of a message. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    return write_message(message, settings.dialect, settings.compression)


def read_message(
    value: bytes | None,
    compression: Compression | None = None,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
) -> Message | None:
    """Return the message in a Kafka value; None if it is empty, or of a table not wanted.

    Raises: DecodeError. Where the message is compressed, the offset is 0.
    Source: canal-json, "framing": an empty message says nothing.
    """
    if not value:
        return None
    if compression is None:
        return read_object(value, selection, definitions)
    text = decompressed(value, compression)
    try:
        return read_object(text, selection, definitions)
    except DecodeError as error:
        raise error.outside(0, "decompressed message") from error


def decompressed(value: bytes, compression: Compression) -> bytes:
    """Return a message without its compression. Raises: DecodeError."""
    try:
        return compression.open(value)
    except SizeLimitError as error:
        raise DecodeError(str(error), 0, RULES.limits_clause) from error
    except ValueError as error:
        raise DecodeError(f"the message can't be decompressed: {error}", 0, CLAUSE) from error


def write_message(message: Message, dialect: Dialect, compression: Compression | None) -> bytes:
    """Return the Kafka value of a message. Raises: EncodeError."""
    text = write_object(message, dialect)
    return compression.compress(text) if compression is not None else text


def read_stored(
    data: bytes,
    compression: Compression | None,
    definitions: Definitions = NO_DEFINITIONS,
    *,
    is_raw: bool = False,
) -> Message:
    """Return the row of a claim-check file. ``is_raw``: the file is the bare message.

    Offsets of errors count in the file; under the path ``value`` in the decoded bytes of it.
    Raises: DecodeError.
    """
    value = data if is_raw else _stored_value(data)
    with nullcontext() if is_raw else step("value"):
        message = read_message(value, compression, EVERYTHING, definitions)
        if message is None or message.is_ddl or message.type not in ROW_TYPES:
            raise DecodeError("the stored message is not a row", 0, CLAIM_CHECK)
        if message.tidb is not None and message.tidb.claim_check_location:
            raise DecodeError("the stored message itself has a claim check", 0, CLAIM_CHECK)
    return message


def _stored_value(data: bytes) -> bytes:
    try:
        return read_claim_check(data, CLAIM_CHECK, RULES)[1]
    except DecodeError as error:
        if error.path:
            raise
        problem = f"{error.problem}; a file of the bare message needs claim-check-raw-value"
        raise type(error)(problem, error.offset, error.clause) from None


def check_belongs(stored: Message, sent: Message, *, is_raw: bool = False) -> None:
    """Raise DecodeError unless the stored row is the one whose reduced row points to it."""
    for name in ("database", "table", "type"):
        if getattr(stored, name) != getattr(sent, name):
            raise _is_another(name, (name,), is_raw)
    if _commit_ts(stored) != _commit_ts(sent):
        raise _is_another("commitTs", ("commitTs",), is_raw)
    members = (("data", sent.data, stored.data), ("old", sent.old, stored.old))
    for member, rows, stored_rows in members:
        for index, row in enumerate(rows or ()):
            known = dict(_row_at(stored_rows, index))
            for column, text in row or ():
                if column not in known or known[column] != text:
                    name = f"{member}[{index}].{column}"
                    raise _is_another(name, (member, index, column), is_raw)


def _row_at(rows: Rows | None, index: int) -> Row:
    return (rows[index] if rows and index < len(rows) else None) or ()


def _is_another(name: str, path: Path, is_raw: bool) -> DecodeError:
    problem = f"the stored row is another one: its {name} differs from the message's"
    return DecodeError(problem, 0, CLAIM_CHECK, path if is_raw else ("value", *path))


def _commit_ts(message: Message) -> int | None:
    return message.tidb.commit_ts if message.tidb is not None else None
