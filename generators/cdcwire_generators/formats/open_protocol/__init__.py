"""The generators' facts about open-protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import RoundTrip
from cdcwire_generators.samples import never


class OpenRoundTrip(RoundTrip):
    """Open Protocol, which says of a row that it was cut to its key."""

    row_extra = ("row_id", "claim_check")

    def _rows(self, event: RowChange) -> Iterable[Event]:
        for found in super()._rows(event):
            assert isinstance(found, RowChange)
            is_cut = event.sent == "key" or "claim_check" in found.extra
            yield replace(found, sent="key") if is_cut else found

    def _image(self, image: Image | None, table: Table) -> Image | None:
        found = super()._image(image, table)
        # The older producer sorts the columns of a row by their names.
        if found is None or self.options["dialect"] != "tiflow":
            return found
        return Image.of(sorted(found.pairs, key=lambda pair: pair[0].name.encode()))


GENERATORS = FormatGenerators(
    feed=FeedTraits(progress="resolved"),
    round_trip=OpenRoundTrip,
    features=MappingProxyType({"compression": never}),
)
