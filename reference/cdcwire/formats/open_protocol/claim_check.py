"""Claim-check files of Open Protocol: the complete message of one row."""

from __future__ import annotations

from cdcwire.core.claim_check import read_claim_check, write_claim_check
from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.open_protocol.members import VALUE_RULES
from cdcwire.formats.open_protocol.message import EVENT_ROW, Dialect, Item, Message
from cdcwire.formats.open_protocol.wire import read_message, write_message
from cdcwire.model.paths import Path

CLAUSE = "open-protocol: claim check"


def read_file(data: bytes, compression: Compression | None = None) -> Item:
    """Return the one row of a claim-check file.

    Offsets of errors count in the file. Under the paths ``key`` and ``value`` and the number of an
    item they count in the decoded bytes of that member.
    Raises: DecodeError.
    """
    key, value = read_claim_check(data, CLAUSE, VALUE_RULES)
    message = read_message(key, value, compression=compression)
    if len(message.items) != 1 or message.items[0].key.t != EVENT_ROW:
        raise DecodeError("the stored message is not one row", 0, CLAUSE)
    item = message.items[0]
    if item.key.ccl:
        raise DecodeError("the stored message itself has a claim check", 0, CLAUSE, ("key", 0))
    return item


def check_belongs(stored: Item, sent: Item) -> None:
    """Raise DecodeError unless the stored row is the one whose reduced row points to it."""
    for name in ("ts", "scm", "tbl", "rid", "ptn"):
        if getattr(stored.key, name) != getattr(sent.key, name):
            raise _is_another(name, ("key", 0, name))
    for group in ("u", "p", "d"):
        known = {column.name: column for column in getattr(stored.value, group) or ()}
        for column in getattr(sent.value, group) or ():
            if column.name not in known or known[column.name].value != column.value:
                raise _is_another(f"{group}.{column.name}", ("value", 0, group, column.name))


def _is_another(name: str, path: Path) -> DecodeError:
    problem = f"the stored row is another one: its {name} differs from the message's"
    return DecodeError(problem, 0, CLAUSE, path)


def write_file(item: Item, dialect: Dialect, compression: Compression | None) -> tuple[str, bytes]:
    """Return name and content of the file that stores a row. Raises: EncodeError."""
    if item.key.ohk or item.key.ccl:
        raise EncodeError("a stored row is a full one, without ohk and ccl", CLAUSE)
    key, value = write_message(Message((item,)), dialect, compression)
    return write_claim_check(key, value)
