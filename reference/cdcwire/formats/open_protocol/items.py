"""The items of key and value.

A key is ``{"ts":424316594097225729,"scm":"test","tbl":"t","t":1}``. A value is a row (``u``, ``p``,
``d`` with their columns) or a DDL (``q``, ``t``).
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonRules, Member, Number, read_json
from cdcwire.formats.open_protocol.members import (
    KEY_RULES,
    VALUE_RULES,
    flag_of,
    integer_of,
    name_of,
    required,
    text_of,
    write_name,
    write_text,
)
from cdcwire.formats.open_protocol.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    Column,
    Columns,
    Ddl,
    Dialect,
    Key,
    Row,
)
from cdcwire.formats.open_protocol.values import read_value, write_value
from cdcwire.mysql.json_members import INT64_END, UINT64_END, expect_object, write_integer

EVENT_TYPES = (EVENT_ROW, EVENT_DDL, EVENT_RESOLVED)
ROW_MEMBERS = ("u", "p", "d")
BYTE_END = 1 << 8  # type codes and DDL types


def read_key(data: bytes, start: int, end: int) -> Key:
    """Return the key in ``data[start:end]``. Raises: DecodeError."""
    clause = "open-protocol: key members"
    document = read_json(data, KEY_RULES, start, end)
    known = expect_object(document.value, document.start, clause).by_name
    ts = integer_of(required(known, "ts", document.end, clause), 0, UINT64_END, clause)
    kind = required(known, "t", document.end, clause)
    t = integer_of(kind, -INT64_END, UINT64_END, "open-protocol: event types")
    if t not in EVENT_TYPES:
        problem = f"event type {t} is not defined; there are 1, 2 and 3"
        raise DecodeError(problem, kind.start, "open-protocol: event types", ("t",))
    names = {name: name_of(known[name], clause) if name in known else "" for name in ("scm", "tbl")}
    key = Key(
        ts,
        t,
        names["scm"],
        names["tbl"],
        _optional_id(known.get("rid"), "open-protocol: row id"),
        _optional_id(known.get("ptn"), "open-protocol: partition"),
        "ohk" in known and flag_of(known["ohk"], "open-protocol: handle key only"),
        text_of(known["ccl"], "open-protocol: claim check") if "ccl" in known else "",
    )
    if t == EVENT_ROW:
        for name, text in names.items():
            if not text:
                offset = known[name].start if name in known else document.end - 1
                raise DecodeError(f"a row has no {name!r}", offset, clause, (name,))
    return key


def _optional_id(member: Member | None, clause: str) -> int:
    return 0 if member is None else integer_of(member, -INT64_END, INT64_END, clause)


def write_key(key: Key, dialect: Dialect) -> bytes:
    """Return a key item as the dialect orders and omits its members. Raises: EncodeError."""
    clause = "open-protocol: key members"
    members: dict[str, str] = {}
    with step("ts"):
        members["ts"] = write_integer(key.ts, 0, UINT64_END, clause)
    with step("t"):
        if key.t not in EVENT_TYPES:
            problem = f"event type {key.t!r:.40} is not 1, 2 or 3"
            raise EncodeError(problem, "open-protocol: event types")
        members["t"] = str(key.t)
    for name, text in (("scm", key.scm), ("tbl", key.tbl)):
        with step(name):
            if text or (dialect == "ticdc" and key.t != EVENT_RESOLVED):
                members[name] = write_name(text, dialect)
            if key.t == EVENT_ROW and not text:
                raise EncodeError("a row needs schema and table", clause)
    for name, number in (("rid", key.rid), ("ptn", key.ptn)):
        with step(name):
            what = "row id" if name == "rid" else "partition"
            digits = write_integer(number, -INT64_END, INT64_END, f"open-protocol: {what}")
            if number:
                members[name] = digits
    if key.ohk:
        members["ohk"] = "true"
    if key.ccl:
        with step("ccl"):
            members["ccl"] = write_text(key.ccl, dialect)
    return _write_members(members, dialect)


def _write_members(members: dict[str, str], dialect: Dialect) -> bytes:
    if dialect == "tiflow":
        order: tuple[str, ...] = ("ts", "scm", "tbl", "rid", "ptn", "t", "ohk", "ccl")
    else:
        order = ("ts", "scm", "tbl", "t", "ohk", "ccl", "ptn")
        if "rid" in members:
            problem = "the ticdc dialect has no row id"
            raise EncodeError(problem, "open-protocol: row id", ("rid",))
        if "ccl" in members:
            if "ohk" in members:
                problem = "the ticdc dialect takes ohk back where it writes ccl"
                raise EncodeError(problem, "open-protocol: dialects", ("ohk",))
            # This producer writes the reduced row's flag, and takes it back in a second member.
            members = {**members, "ohk": 'true,"ohk":false'}
    pairs = (f'"{name}":{members[name]}' for name in order if name in members)
    return f"{{{','.join(pairs)}}}".encode()


def read_row(data: bytes, start: int, end: int, rules: JsonRules = VALUE_RULES) -> Row:
    """Return the row in ``data[start:end]``. Raises: DecodeError."""
    clause = "open-protocol: row value"
    document = read_json(data, rules, start, end)
    known = expect_object(document.value, document.start, clause).by_name
    groups = {name: _read_group(known.get(name)) for name in ROW_MEMBERS}
    filled = [name for name in ROW_MEMBERS if groups[name]]
    if not filled:
        raise DecodeError("none of u, p and d has a column", document.end - 1, clause)
    if filled not in (["u"], ["u", "p"], ["d"]):
        names = " and ".join(filled)
        place = max(known[name].name_start for name in filled)
        problem = f"columns in {names}; a row has them in u, in u and p, or in d"
        raise DecodeError(problem, place, clause)
    return Row(groups["u"] or None, groups["p"], groups["d"] or None)


def _read_group(member: Member | None) -> Columns | None:
    if member is None:
        return None
    name = member.name
    group = expect_object(member.value, member.start, "open-protocol: row value", (name,))
    columns = []
    for column in group.members:
        try:
            columns.append(_read_column(column))
        except DecodeError as error:
            error.path = (name, column.name, *error.path)
            if name == "p" and (column.name, type(column.value)) == ("t", Number):
                error.add("; TiCDC leaves out the name of a column that became NULL")
            raise
    return tuple(columns)


def _read_column(column: Member) -> Column:
    clause = "open-protocol: column members"
    known = expect_object(column.value, column.start, clause).by_name
    code = integer_of(required(known, "t", column.end, clause), 0, BYTE_END, clause)
    flag = integer_of(known["f"], 0, UINT64_END, clause) if "f" in known else 0
    h = "h" in known and flag_of(known["h"], clause)
    member = required(known, "v", column.end, clause)
    try:
        value = read_value(member.value, code, flag, member.start)
    except DecodeError as error:
        error.path = ("v", *error.path)
        raise
    return Column(column.name, code, h, flag, value)


def write_row(row: Row, dialect: Dialect) -> bytes:
    """Return a row. The tiflow dialect sorts columns by name, the ticdc dialect does not.

    Raises: EncodeError when the groups are not those of an insert, update or delete.
    """
    clause = "open-protocol: row value"
    has_new, has_old, is_delete = bool(row.u), bool(row.p), bool(row.d)
    if not (has_new or is_delete):
        raise EncodeError("a row needs a column in u or d", clause)
    if is_delete and (has_new or has_old):
        raise EncodeError("a row can't have d together with u or p", clause)
    members = []
    for name, group in (("u", row.u), ("p", row.p), ("d", row.d)):
        # The ticdc dialect writes an update without any changed column with an empty p.
        if group or (dialect == "ticdc" and name == "p" and group is not None and has_new):
            with step(name):
                members.append(f'"{name}":{{{_write_columns(group, dialect)}}}')
    return f"{{{','.join(members)}}}".encode("utf-8", "surrogateescape")


def _write_columns(columns: Columns, dialect: Dialect) -> str:
    names: set[str] = set()
    written: list[tuple[bytes, str]] = []
    for column in columns:
        with step(column.name):
            if column.name in names:
                problem = "a column appears twice"
                raise EncodeError(problem, "open-protocol: column members")
            names.add(column.name)
            text = f"{write_name(column.name, dialect)}:{_write_column(column, dialect)}"
            written.append((column.name.encode(), text))
    if dialect == "tiflow":
        written.sort()
    return ",".join(text for _, text in written)


def _write_column(column: Column, dialect: Dialect) -> str:
    clause = "open-protocol: column members"
    with step("t"):
        code = write_integer(column.type, 0, BYTE_END, clause)
    with step("f"):
        flag = write_integer(column.flag, 0, UINT64_END, clause)
    with step("v"):
        value = write_value(column.value, column.type, column.flag, dialect)
    handle = '"h":true,' if column.h else ""
    return f'{{"t":{code},{handle}"f":{flag},"v":{value}}}'


def read_ddl(data: bytes, start: int, end: int, rules: JsonRules = VALUE_RULES) -> Ddl:
    """Return the DDL in ``data[start:end]``. Raises: DecodeError."""
    clause = "open-protocol: ddl value"
    document = read_json(data, rules, start, end)
    known = expect_object(document.value, document.start, clause).by_name
    query = text_of(required(known, "q", document.end, clause), clause)
    return Ddl(query, integer_of(required(known, "t", document.end, clause), 0, BYTE_END, clause))


def write_ddl(ddl: Ddl, dialect: Dialect) -> bytes:
    """Return a DDL. Raises: EncodeError."""
    with step("q"):
        query = write_text(ddl.q, dialect)
    with step("t"):
        code = write_integer(ddl.t, 0, BYTE_END, "open-protocol: ddl value")
    return f'{{"q":{query},"t":{code}}}'.encode()
