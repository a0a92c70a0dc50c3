"""One JSON object to the wire's values, and back.

Offsets count from the start of the bytes; paths are those of the JSON: ``data[0].c1``. Members may
be in any order and some may be missing; they are written in the order of the producer.
"""

from __future__ import annotations

from cdcwire.core.base64_text import read_base64
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import (
    Document,
    JsonArray,
    JsonObject,
    Member,
    json_kind,
    read_json,
)
from cdcwire.formats.canal_json.columns import NO_DEFINITION, NO_DEFINITIONS, Definitions
from cdcwire.formats.canal_json.members import (
    CLAUSE_MEMBERS,
    INT32_END,
    RULES,
    flag_of,
    integer_of,
    name_of,
    present,
    required,
    text_of,
    write_integer,
    write_name,
    write_text,
)
from cdcwire.formats.canal_json.message import (
    DDL_TYPES,
    QUERY,
    ROW_TYPES,
    WATERMARK,
    Dialect,
    Extension,
    Message,
    Unknown,
)
from cdcwire.formats.canal_json.rows import CLAUSE as CLAUSE_ROWS
from cdcwire.formats.canal_json.rows import (
    CLAUSE_OLD,
    RowReader,
    check_rows,
    fault_of_rows,
    read_rows,
    write_rows,
)
from cdcwire.mysql.json_members import INT64_END, UINT64_END, Members, expect_object, unknown_of

CLAUSE_TYPES = "canal-json: event types"
CLAUSE_EXTENSION = "canal-json: tidb extension"
CLAUSE_KEY = "canal-json: primary key names"
CLAUSE_SQL_TYPE = "canal-json: sqlType"
CLAUSE_MYSQL_TYPE = "canal-json: mysqlType"

OTHER_TYPES = ROW_TYPES | {WATERMARK, QUERY}  # where isDdl is false

KNOWN_MEMBERS = frozenset(
    {
        *("id", "database", "table", "pkNames", "isDdl", "type", "es", "ts", "sql"),
        *("sqlType", "mysqlType", "data", "old", "_tidb", "gtid"),
    }
)
_KNOWN_EXTENSION = frozenset(
    {
        *("commitTs", "watermarkTs", "onlyHandleKey", "claimCheckLocation"),
        *("rowkey", "originTs", "checksum"),
    }
)


def read_object(
    value: bytes,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
    version: int | None = None,
) -> Message | None:
    """Return the message in ``value``; None if it is of a table that is not wanted.

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
    found = expect_object(document.value, document.start, CLAUSE_MEMBERS)
    known, end = found.by_name, document.end
    database = name_of(required(known, "database", end))
    table = name_of(required(known, "table", end))
    if table and not selection.wants(database or None, table):
        return None
    is_ddl = flag_of(required(known, "isDdl", end))
    kind = _read_type(required(known, "type", end), is_ddl)
    is_row = kind in ROW_TYPES and not is_ddl
    if is_row and not table:
        raise DecodeError("a row needs its table", known["table"].start, CLAUSE_MEMBERS, ("table",))
    mysql_type = _read_mysql_type(present(known, "mysqlType"))
    reader = RowReader(dict(mysql_type or ()), definitions.columns(database, table, version))
    message = Message(
        type=kind,
        database=database,
        table=table,
        es=integer_of(required(known, "es", end), -INT64_END, INT64_END),
        ts=integer_of(required(known, "ts", end), -INT64_END, INT64_END),
        is_ddl=is_ddl,
        id=integer_of(known["id"], -INT64_END, INT64_END) if "id" in known else 0,
        pk_names=_read_pk_names(present(known, "pkNames")),
        sql=_read_sql(known, is_ddl, end),
        sql_type=_read_sql_type(present(known, "sqlType")),
        mysql_type=mysql_type,
        data=read_rows(known.get("data"), CLAUSE_ROWS, reader),
        old=read_rows(known.get("old"), CLAUSE_OLD, reader),
        tidb=_read_extension(present(known, "_tidb"), data),
        gtid=_optional_text(known, "gtid"),
        unknown=unknown_of(found, KNOWN_MEMBERS, data),
    )
    if is_row:
        check_rows(kind, message.data, message.old, known, end)
    elif kind == WATERMARK and (message.tidb is None or message.tidb.watermark_ts is None):
        problem = "a watermark needs _tidb with watermarkTs"
        offset = known["_tidb"].start if "_tidb" in known else end - 1
        raise DecodeError(problem, offset, "canal-json: watermarks", ("_tidb",))
    return message


def _read_type(member: Member, is_ddl: bool) -> str:
    kind = text_of(member, CLAUSE_TYPES)
    allowed = DDL_TYPES if is_ddl else OTHER_TYPES
    if kind not in allowed:
        problem = f"type {kind!r:.40} is not one of {', '.join(sorted(allowed))}"
        raise DecodeError(problem, member.start, CLAUSE_TYPES, ("type",))
    return kind


def _optional_text(known: Members, name: str) -> str | None:
    member = present(known, name)
    return None if member is None else text_of(member)


def _read_sql(known: Members, is_ddl: bool, end: int) -> str:
    text = _optional_text(known, "sql")
    if text is None and is_ddl:
        offset = known["sql"].start if "sql" in known else end - 1
        raise DecodeError("a DDL needs its sql", offset, "canal-json: ddl events", ("sql",))
    return text or ""


def _read_pk_names(member: Member | None) -> tuple[str, ...] | None:
    if member is None:
        return None
    with step("pkNames"):
        array = member.value
        if not isinstance(array, JsonArray):
            problem = f"it is {json_kind(array)}, not an array"
            raise DecodeError(problem, member.start, CLAUSE_KEY)
        names: dict[str, None] = {}
        for index, name in enumerate(array.items):
            place = array.places[2 * index]
            if not isinstance(name, str):
                problem = f"it is {json_kind(name)}, not a string"
                raise DecodeError(problem, place, CLAUSE_KEY, (index,))
            if name in names:
                raise DecodeError("a column is duplicated", place, CLAUSE_KEY, (index,))
            names[name] = None
        return tuple(names)


def _read_sql_type(member: Member | None) -> tuple[tuple[str, int], ...] | None:
    if member is None:
        return None
    with step("sqlType"):
        found = expect_object(member.value, member.start, CLAUSE_SQL_TYPE)
        return tuple(
            (each.name, integer_of(each, -INT32_END, INT32_END, CLAUSE_SQL_TYPE))
            for each in found.members
        )


def _read_mysql_type(member: Member | None) -> tuple[tuple[str, str], ...] | None:
    if member is None:
        return None
    with step("mysqlType"):
        found = expect_object(member.value, member.start, CLAUSE_MYSQL_TYPE)
        types = []
        for each in found.members:
            text = text_of(each, CLAUSE_MYSQL_TYPE)
            try:
                NO_DEFINITION.column(each.name, text)
            except ValueError as error:
                raise DecodeError(str(error), each.start, CLAUSE_MYSQL_TYPE, (each.name,)) from None
            types.append((each.name, text))
        return tuple(types)


def extension_members(extension: JsonObject) -> frozenset[str]:
    """Return the names of members that have a meaning in ``_tidb``: a checksum is of an origin."""
    has_origin = extension.get("originTs") is not None
    return _KNOWN_EXTENSION if has_origin else _KNOWN_EXTENSION - {"checksum"}


def _read_extension(member: Member | None, data: bytes) -> Extension | None:
    if member is None:
        return None
    with step("_tidb"):
        found = expect_object(member.value, member.start, CLAUSE_EXTENSION)
        known = found.by_name
        timestamps = []
        for name in ("commitTs", "watermarkTs", "originTs"):
            given = known.get(name)
            clause = "canal-json: watermarks" if name == "watermarkTs" else CLAUSE_EXTENSION
            timestamps.append(None if given is None else integer_of(given, 0, UINT64_END, clause))
        has_origin = "originTs" in known
        cut = known.get("onlyHandleKey")
        location = known.get("claimCheckLocation")
        return Extension(
            timestamps[0],
            timestamps[1],
            cut is not None and flag_of(cut, "canal-json: handle key only"),
            "" if location is None else text_of(location, "canal-json: claim check"),
            _read_base64(known.get("rowkey")),
            timestamps[2],
            _read_base64(known.get("checksum")) if has_origin else None,
            unknown_of(found, extension_members(found), data),
        )


def _read_base64(member: Member | None) -> str | None:
    if member is None:
        return None
    text = text_of(member, CLAUSE_EXTENSION)
    with step(member.name):
        read_base64(text, member.start, CLAUSE_EXTENSION)
    return text


def write_object(message: Message, dialect: Dialect = "ticdc") -> bytes:
    """Return the JSON of a message, in the way of one producer. Raises: EncodeError."""
    members = {
        "id": _write_integer("id", message.id),
        "database": _write_name("database", message.database, dialect),
        "table": _write_name("table", message.table, dialect),
        "pkNames": _write_pk_names(message.pk_names, dialect),
        "isDdl": "true" if message.is_ddl else "false",
        "type": _write_type(message),
        "es": _write_integer("es", message.es),
        "ts": _write_integer("ts", message.ts),
        "sql": _write_text("sql", message.sql, dialect),
        "sqlType": _write_sql_type(message, dialect),
        "mysqlType": _write_mysql_type(message, dialect),
        "data": write_rows(message.data, "data", dialect),
        "old": write_rows(message.old, "old", dialect),
    }
    if not message.is_ddl and message.type in ROW_TYPES:
        members["data"] = members.pop("data")  # after ``old``: only DDL and watermarks differ
    if message.tidb is not None:
        members["_tidb"] = _write_extension(message.tidb, dialect)
    if message.gtid is not None:
        members["gtid"] = _write_text("gtid", message.gtid, dialect)
    _add_unknown(members, message.unknown)
    _check_written(message)
    if dialect == "canal":
        members = dict(sorted(members.items()))
    return _object(members, dialect).encode()


def _check_written(message: Message) -> None:
    """Raise EncodeError where a reader would reject the message."""
    if message.is_ddl or message.type == QUERY:
        return
    if message.type == WATERMARK:
        if message.tidb is None or message.tidb.watermark_ts is None:
            problem = "a watermark needs _tidb with watermarkTs"
            raise EncodeError(problem, "canal-json: watermarks", ("_tidb",))
        return
    if not message.table:
        raise EncodeError("a row needs its table", CLAUSE_MEMBERS, ("table",))
    fault = fault_of_rows(message.type, message.data, message.old)
    if fault is not None:
        problem, name, clause = fault
        raise EncodeError(problem, clause, (name,))


def _object(members: dict[str, str], dialect: Dialect) -> str:
    pairs = (f"{write_text(name, dialect)}:{text}" for name, text in members.items())
    return f"{{{','.join(pairs)}}}"


def _add_unknown(members: dict[str, str], unknown: Unknown) -> None:
    for name, text in unknown:
        if name in members:
            raise EncodeError("a member is duplicated", "canal-json: unknown members", (name,))
        members[name] = text


def _write_integer(name: str, number: int) -> str:
    with step(name):
        return write_integer(number, -INT64_END, INT64_END)


def _write_name(name: str, text: str, dialect: Dialect) -> str:
    with step(name):
        return write_name(text, dialect)


def _write_text(name: str, text: str, dialect: Dialect) -> str:
    with step(name):
        return write_text(text, dialect)


def _write_type(message: Message) -> str:
    allowed = DDL_TYPES if message.is_ddl else OTHER_TYPES
    if message.type not in allowed:
        problem = f"type {message.type!r:.40} is not one of {', '.join(sorted(allowed))}"
        raise EncodeError(problem, CLAUSE_TYPES, ("type",))
    return f'"{message.type}"'


def _write_pk_names(names: tuple[str, ...] | None, dialect: Dialect) -> str:
    if names is None:
        return "null"
    with step("pkNames"):
        return f"[{','.join(write_name(name, dialect) for name in names)}]"


def _write_sql_type(message: Message, dialect: Dialect) -> str:
    if message.sql_type is None:
        return "null"
    with step("sqlType"):
        pairs = (
            f"{write_name(name, dialect)}:"
            f"{write_integer(code, -INT32_END, INT32_END, CLAUSE_SQL_TYPE)}"
            for name, code in message.sql_type
        )
        return f"{{{','.join(pairs)}}}"


def _write_mysql_type(message: Message, dialect: Dialect) -> str:
    if message.mysql_type is None:
        return "null"
    with step("mysqlType"):
        pairs = (
            f"{write_name(name, dialect)}:{write_text(text, dialect)}"
            for name, text in message.mysql_type
        )
        return f"{{{','.join(pairs)}}}"


def _write_extension(extension: Extension, dialect: Dialect) -> str:
    members: dict[str, str] = {}
    with step("_tidb"):
        for name, number in (
            ("commitTs", extension.commit_ts),
            ("watermarkTs", extension.watermark_ts),
        ):
            if number is not None:
                with step(name):
                    members[name] = write_integer(number, 0, UINT64_END, CLAUSE_EXTENSION)
        if extension.only_handle_key:
            members["onlyHandleKey"] = "true"
        if extension.claim_check_location:
            location = extension.claim_check_location
            members["claimCheckLocation"] = _write_text("claimCheckLocation", location, dialect)
        if extension.rowkey is not None:
            members["rowkey"] = _write_text("rowkey", extension.rowkey, dialect)
        if extension.origin_ts is not None:
            with step("originTs"):
                members["originTs"] = write_integer(
                    extension.origin_ts, 0, UINT64_END, CLAUSE_EXTENSION
                )
        if extension.checksum is not None:
            members["checksum"] = _write_text("checksum", extension.checksum, dialect)
        _add_unknown(members, extension.unknown)
        return _object(members, dialect)
