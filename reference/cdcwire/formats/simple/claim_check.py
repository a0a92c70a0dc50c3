"""Claim-check files: the whole message of one row (``cdcwire.core.claim_check``).

The message in the file is compressed as messages are; there is no Kafka key. With
``claim-check-raw-value`` the file is that message and nothing else.
"""

from __future__ import annotations

from contextlib import nullcontext

from cdcwire.core.claim_check import read_claim_check
from cdcwire.core.errors import DecodeError, step
from cdcwire.formats.simple.members import CLAIM_CHECK, RULES
from cdcwire.formats.simple.message import RECORDS, Dml, Row
from cdcwire.formats.simple.settings import Settings
from cdcwire.formats.simple.wire import read_message
from cdcwire.model.events import Path

_SAME = ("database", "table", "table_id", "type", "commit_ts", "schema_version")
_MEMBERS = {each.field: name for name, each in RECORDS[Dml].by_name.items()}


def read_stored(data: bytes, sent: Dml, settings: Settings) -> Dml:
    """Return the row of a claim-check file, which is the whole of the row ``sent``.

    Offsets of errors count in the file; under the path ``value`` in the decoded bytes of it.
    Raises: DecodeError, also for a file of another row.
    """
    is_raw = settings.claim_check_raw_value
    value = data if is_raw else _stored_value(data)
    with nullcontext() if is_raw else step("value"):
        message = read_message(value, settings)
        if not isinstance(message, Dml):
            raise DecodeError("the stored message is not a row", 0, CLAIM_CHECK)
        if message.claim_check_location:
            raise DecodeError("the stored message itself has a claim check", 0, CLAIM_CHECK)
        for name in _SAME:
            if getattr(message, name) != getattr(sent, name):
                raise _is_another(_MEMBERS[name], (_MEMBERS[name],))
        for side, cut, whole in (("data", sent.data, message.data), ("old", sent.old, message.old)):
            _check_side(side, cut or (), whole or ())
    return message


def _check_side(side: str, cut: Row, whole: Row) -> None:
    known = {cell.name: cell.value for cell in whole}
    for cell in cut:
        if cell.name not in known or known[cell.name] != cell.value:
            raise _is_another(f"{side}.{cell.name}", (side, cell.name))


def _is_another(name: str, path: Path) -> DecodeError:
    problem = f"the stored row is another one: its {name} differs from the message's"
    return DecodeError(problem, 0, CLAIM_CHECK, path)


def _stored_value(data: bytes) -> bytes:
    try:
        return read_claim_check(data, CLAIM_CHECK, RULES)[1]
    except DecodeError as error:
        if error.path:
            raise
        problem = f"{error.problem}; a file of the bare message needs claim-check-raw-value"
        raise type(error)(problem, error.offset, error.clause) from None
