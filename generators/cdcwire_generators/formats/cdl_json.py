"""The generators' facts about cdl-json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from cdcwire.format import Format
from cdcwire.model.events import Event, Extra, Op, RowChange, Table
from cdcwire_generators.connect.round_trip import (
    CONNECT_FEED,
    CONNECT_OPTIONS,
    ConnectRoundTrip,
    Texts,
    is_tombstone,
    message_type,
    number,
    text,
    tombstone,
)
from cdcwire_generators.connect.times import Modes
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError, Options
from cdcwire_generators.samples import never


class CdlRoundTrip(ConnectRoundTrip):
    """CDL JSON 1.0, which has rows and nothing else."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.modes = Modes("cdl 1.0", str(self.options["name-prefix"]))

    def events(self, event: Event) -> list[Event]:
        """Return the events that come back; a tombstone keeps only its message key."""
        return [tombstone(event)] if is_tombstone(event) else super().events(event)

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        self._checked(event)
        if event.table.name is None or event.table.schema is None:
            raise NotCarriedError("table")
        before, after = self._images(event)
        table = Table(event.table.name, event.table.schema, key=event.table.key or ())
        op: Op = "insert" if event.op == "read" else event.op
        position = self._transaction(event.position)
        yield RowChange(table, op, before, after, position, extra=self._kept_extra(event.extra))

    def _kept_extra(self, extra: Extra) -> Extra:
        store = text(extra, "connector")
        sent: Texts = {"connector": str(self.options["data-store"])}
        if store is not None:
            sent["connector"] = store.upper()
        for name in ("heartbeat_identifier", "lob_columns"):
            if (value := text(extra, name)) is not None:
                sent[name] = value
        sent.update(message_type(extra))
        others = text(extra, "transaction_properties")
        if others is not None and (pairs := _properties(others)):
            sent["transaction_properties"] = json.dumps(pairs, separators=(",", ":"))
        return sent


def _properties(text: str) -> dict[str, int]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NotCarriedError("transaction_properties") from error
    is_object = isinstance(found, dict) and not found.keys() & {"lsn", "txId"}
    if not is_object or any(isinstance(v, bool) or not isinstance(v, int) for v in found.values()):
        raise NotCarriedError("transaction_properties")
    return {name: number(value) for name, value in found.items()}


GENERATORS = FormatGenerators(
    feed=replace(CONNECT_FEED, family="postgresql by cdl"),
    round_trip=CdlRoundTrip,
    option_values=MappingProxyType({**CONNECT_OPTIONS, "data-store": ("POSTGRESQL", "OPENGAUSS")}),
    features=MappingProxyType({"tombstone": never, "schemas off": never, "definitions": never}),
)
