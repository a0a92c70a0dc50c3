"""Claim-check files of Canal-JSON: the whole message of one row (``cdcwire.core.claim_check``).

The message in the file is compressed as messages are; there is no Kafka key. With
``claim-check-raw-value`` the file is that message and nothing else.
"""

from __future__ import annotations

from contextlib import nullcontext

from cdcwire.core.claim_check import read_claim_check
from cdcwire.core.context import EVERYTHING, Compression
from cdcwire.core.errors import DecodeError, step
from cdcwire.formats.canal_json.columns import NO_DEFINITIONS, Definitions
from cdcwire.formats.canal_json.members import RULES
from cdcwire.formats.canal_json.message import ROW_TYPES, Message
from cdcwire.formats.canal_json.rows import Row, Rows
from cdcwire.formats.canal_json.wire import read_message
from cdcwire.model.events import Path

CLAUSE = "canal-json: claim check"


def read_file(
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
            raise DecodeError("the stored message is not a row", 0, CLAUSE)
        if message.tidb is not None and message.tidb.claim_check_location:
            raise DecodeError("the stored message itself has a claim check", 0, CLAUSE)
    return message


def _stored_value(data: bytes) -> bytes:
    try:
        return read_claim_check(data, CLAUSE, RULES)[1]
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
    return DecodeError(problem, 0, CLAUSE, path if is_raw else ("value", *path))


def _commit_ts(message: Message) -> int | None:
    return message.tidb.commit_ts if message.tidb is not None else None
