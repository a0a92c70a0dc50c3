"""Messages in JSON: bytes to the wire's values, and back.

The members are those that the classes of messages declare. Here is what one member says about
another.
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_record import expect_object, object_text, whole_of
from cdcwire.core.strict_json import read_json
from cdcwire.formats.simple.message import (
    CLASSES,
    DELETE,
    FIELDS,
    HEAD,
    INSERT,
    RECORDS,
    ROWS,
    RULES,
    UPDATE,
    Dml,
    Message,
    class_of,
)
from cdcwire.golang import json_string


def read_message(data: bytes) -> Message:
    """Return the message that is all of ``data``. Raises: TruncatedError, DecodeError."""
    document = read_json(data, RULES)
    found, end = expect_object(whole_of(document), FIELDS), document.end
    declared = class_of(found) or CLASSES[HEAD.read(found, end, data)["type"]]
    values = RECORDS[declared].read(found, end, data)
    if declared is not Dml:
        return declared(**values)
    known = found.by_name
    version = known.get("schemaVersion")
    row = Dml(**values, offset=end - 1 if version is None else version.start)
    fault = fault_of_row(row, may_be_empty=True)
    if fault is not None:
        problem, name = fault
        raise DecodeError(problem, known[name].start if name in known else end - 1, ROWS, (name,))
    return row


def fault_of_row(row: Dml, *, may_be_empty: bool) -> tuple[str, str] | None:
    """Return what contradicts the type of a row, and the member; None if it is good.

    A row that was cut to its key has no columns without a key. ``may_be_empty``: a row without
    columns has no side, as in JSON, where an empty one is left out.
    """
    kind = row.type
    for name, side, other in (("data", row.data, DELETE), ("old", row.old, INSERT)):
        if side is not None and kind == other:
            return f"the type {kind} has no {name}", name
    if row.handle_key_only or row.claim_check_location:
        return None
    if may_be_empty and row.data is None and row.old is None:
        return None
    for name, side, kinds in (
        ("data", row.data, (INSERT, UPDATE)),
        ("old", row.old, (UPDATE, DELETE)),
    ):
        if side is None and kind in kinds:
            return f"the type {kind} needs {name}", name
    return None


def write_message(message: Message) -> bytes:
    """Return the JSON of a message. Raises: EncodeError."""
    if isinstance(message, Dml):
        check_row(message, may_be_empty=True)
    texts = RECORDS[type(message)].write(message, json_string)
    return object_text(texts, json_string).encode()


def check_row(row: Dml, *, may_be_empty: bool) -> None:
    """Raise EncodeError unless the type of a row has the sides that it must have."""
    fault = fault_of_row(row, may_be_empty=may_be_empty)
    if fault is not None:
        raise EncodeError(fault[0], ROWS, (fault[1],))
