"""Key items: ``{"ts":424316594097225729,"scm":"test","tbl":"t","t":1}``."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import Member, read_json
from cdcwire.formats.open_protocol.members import (
    KEY_RULES,
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
    Dialect,
    Key,
)
from cdcwire.mysql.json_members import INT64_END, UINT64_END, expect_object, write_integer

EVENT_TYPES = (EVENT_ROW, EVENT_DDL, EVENT_RESOLVED)


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
