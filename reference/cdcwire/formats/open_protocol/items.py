"""The items of key and value: what one member says about another, and the order of each producer.

A value is a row (``u``, ``p``, ``d`` with their columns) or a DDL (``q``, ``t``).
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import expect_object, object_text, whole_of
from cdcwire.core.strict_json import JsonRules, read_json
from cdcwire.formats.open_protocol.members import (
    DDL_VALUE,
    EVENT_RESOLVED,
    EVENT_ROW,
    KEY_MEMBERS,
    KEY_RULES,
    ROW_ID,
    ROW_VALUE,
    VALUE_RULES,
    WRITE_STRING,
    Dialect,
)
from cdcwire.formats.open_protocol.message import (
    DDL,
    KEY,
    KEY_ORDERS,
    ROW,
    Ddl,
    Key,
    Row,
    write_columns,
)


def read_key(data: bytes, start: int, end: int) -> Key:
    """Return the key in ``data[start:end]``. Raises: DecodeError."""
    document = read_json(data, KEY_RULES, start, end)
    found = expect_object(whole_of(document), KEY_MEMBERS)
    key = Key(**KEY.read(found, document.end, data))
    name = _missing_name(key)
    if name:
        given = found.get(name)
        offset = document.end - 1 if given is None else given.start
        raise DecodeError(f"a row has no {name!r}", offset, KEY_MEMBERS, (name,))
    return key


def _missing_name(key: Key) -> str:
    """Return the name that the key of a row lacks; "" if it has both."""
    if key.t != EVENT_ROW:
        return ""
    return "" if key.scm and key.tbl else "tbl" if key.scm else "scm"


def write_key(key: Key, dialect: Dialect) -> bytes:
    """Return a key item as the dialect orders and omits its members. Raises: EncodeError."""
    quoted = WRITE_STRING[dialect]
    texts = KEY.write(key, quoted)
    name = _missing_name(key)
    if name:
        raise EncodeError("a row needs schema and table", KEY_MEMBERS, (name,))
    if dialect == "ticdc":
        if "rid" in texts:
            raise EncodeError("the ticdc dialect has no row id", ROW_ID, ("rid",))
        if key.t != EVENT_RESOLVED:
            texts = {"scm": '""', "tbl": '""', **texts}
        if "ccl" in texts:
            if "ohk" in texts:
                problem = "the ticdc dialect takes ohk back where it writes ccl"
                raise EncodeError(problem, "open-protocol: dialects", ("ohk",))
            # This producer writes the reduced row's flag, and takes it back in a second member.
            texts["ohk"] = 'true,"ohk":false'
    ordered = {name: texts[name] for name in KEY_ORDERS[dialect] if name in texts}
    return object_text(ordered, quoted).encode()


def read_row(data: bytes, start: int, end: int, rules: JsonRules = VALUE_RULES) -> Row:
    """Return the row in ``data[start:end]``. Raises: DecodeError."""
    document = read_json(data, rules, start, end)
    found = expect_object(whole_of(document), ROW_VALUE)
    groups = ROW.read(found, document.end, data)
    filled = [name for name in ROW.by_name if groups.get(name)]
    if not filled:
        raise DecodeError("none of u, p and d has a column", document.end - 1, ROW_VALUE)
    if filled not in (["u"], ["u", "p"], ["d"]):
        names = " and ".join(filled)
        place = max(found.by_name[name].name_start for name in filled)
        problem = f"columns in {names}; a row has them in u, in u and p, or in d"
        raise DecodeError(problem, place, ROW_VALUE)
    return Row(groups.get("u") or None, groups.get("p"), groups.get("d") or None)


def write_row(row: Row, dialect: Dialect) -> bytes:
    """Return a row. The tiflow dialect sorts columns by name, the ticdc dialect does not.

    Raises: EncodeError when the groups are not those of an insert, update or delete.
    """
    has_new, has_old, is_delete = bool(row.u), bool(row.p), bool(row.d)
    if not (has_new or is_delete):
        raise EncodeError("a row needs a column in u or d", ROW_VALUE)
    if is_delete and (has_new or has_old):
        raise EncodeError("a row can't have d together with u or p", ROW_VALUE)
    texts = {}
    for name in ROW.by_name:
        group = getattr(row, name)
        # The ticdc dialect writes an update without any changed column with an empty p.
        if group or (dialect == "ticdc" and name == "p" and group is not None and has_new):
            with step(name):
                texts[name] = write_columns(group, dialect)
    return object_text(texts, WRITE_STRING[dialect]).encode("utf-8", "surrogateescape")


def read_ddl(data: bytes, start: int, end: int, rules: JsonRules = VALUE_RULES) -> Ddl:
    """Return the DDL in ``data[start:end]``. Raises: DecodeError."""
    document = read_json(data, rules, start, end)
    found = expect_object(whole_of(document), DDL_VALUE)
    return Ddl(**DDL.read(found, document.end, data))


def write_ddl(ddl: Ddl, dialect: Dialect) -> bytes:
    """Return a DDL. Raises: EncodeError."""
    quoted = WRITE_STRING[dialect]
    return object_text(DDL.write(ddl, quoted), quoted).encode()
