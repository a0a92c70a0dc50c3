"""Events after a round trip in CDL JSON and in Debezium JSON; each message has one event.

Both send a row's key apart from its columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from cdcwire.core.options import OptionValue
from cdcwire.model.events import Event, Extra, Image, Marker, Op, Position, RowChange
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kinds import Value
from cdcwire_generators.connect.columns import renamed, sent_column, sent_row
from cdcwire_generators.connect.times import Modes
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.round_trip import NotCarriedError, RoundTrip

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64 = (-(1 << 63), (1 << 63) - 1)
_OPS: frozenset[Op] = frozenset({"insert", "update", "delete", "read"})
Texts = dict[str, "str | bytes | None"]


CONNECT_FEED = FeedTraits(
    family="postgresql",
    position_fields=("lsn", "tx_id", "commit_ms"),
    has_reads=True,
    is_plausible=True,
    shared_clauses=("connect",),
)
CONNECT_OPTIONS: Mapping[str, tuple[OptionValue, ...]] = MappingProxyType(
    {
        "schemas-enable": ("auto", "true"),  # without a schema no type comes back
        "name-prefix": ("com.xxx", "com.example", ""),
    }
)


class ConnectRoundTrip(RoundTrip):
    """Rows of one struct, and their key."""

    modes: Modes

    def _checked(self, event: RowChange) -> None:
        if event.op not in _OPS or event.half is not None:
            raise NotCarriedError("op")
        has = event.before is not None, event.after is not None
        wanted = (event.op in ("update", "delete"), event.op != "delete")
        if has != wanted and not (event.op == "update" and has == (False, True)):
            raise NotCarriedError("op")

    def _images(self, event: RowChange) -> tuple[Image | None, Image | None]:
        """Return both images, of one layout. Raises: NotCarriedError."""
        shown = event.after if event.after is not None else event.before
        assert shown is not None  # it was checked
        if len(set(shown.names)) < len(shown.names):
            raise NotCarriedError("names")
        sent = tuple(sent_column(column, self.modes) for column in shown.columns)
        before, after = (
            None if image is None else sent_row(renamed(image, shown.columns), sent, self.modes)
            for image in (event.before, event.after)
        )
        for name in event.table.key or ():
            if name not in shown.names:
                raise NotCarriedError("key")
            for image in (before, after):
                if image is not None and image[name] is None:
                    raise NotCarriedError("key")
        return before, after

    def _time(self, position: Position) -> int:
        if position.commit_ms is not None:
            return number(position.commit_ms)
        if position.commit_ts is None:
            raise NotCarriedError("commit_ms")
        return ms_of_tso(position.commit_ts)

    def _transaction(self, position: Position) -> Position:
        """Return what both formats send of a transaction."""
        tx_id = position.tx_id
        if tx_id is not None and INTEGER.fullmatch(tx_id) is None:
            raise NotCarriedError("tx_id")
        number(int(tx_id or 0))
        lsn = None if position.lsn is None else number(position.lsn)
        return Position(lsn=lsn, tx_id=tx_id, commit_ms=self._time(position))


def is_tombstone(event: Event) -> bool:
    """Return whether an event is a tombstone."""
    return isinstance(event, Marker) and event.what == "tombstone"


def tombstone(event: Event) -> Marker:
    """Return what is left of a tombstone: the key of its message."""
    key = event.extra.get("message_key")
    return Marker("tombstone", extra={"message_key": key if isinstance(key, bytes) else None})


def number(value: Value) -> int:
    """Return an integer of 64 bits. Raises: NotCarriedError for a larger one."""
    if not _INT64[0] <= value <= _INT64[1]:
        raise NotCarriedError("a number of more than 64 bits")
    return int(value)


def text(extra: Extra, name: str) -> str | None:
    """Return a text of ``extra``; None if it is missing. Raises: NotCarriedError."""
    value = extra.get(name)
    if value is not None and not isinstance(value, str):
        raise NotCarriedError(name)
    return value


def message_type(extra: Extra) -> Texts:
    """Return the type of a message where it is not that of a row."""
    sent = text(extra, "message_type")
    return {} if sent in (None, "", "0") else {"message_type": sent}
