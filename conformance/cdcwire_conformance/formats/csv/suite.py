"""The suite's facts about csv."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.formats.csv.settings import read_settings
from cdcwire.formats.csv.tables import Definitions
from cdcwire_conformance.formats.csv.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.csv.lenient import LIBERTIES
from cdcwire_conformance.formats.csv.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.column_decoders import StoredColumns


def _stored_columns(context: Context) -> StoredColumns:
    from cdcwire_conformance.formats.csv.arrow_batches import CsvColumns

    return CsvColumns(Definitions(context.tables), read_settings(context))


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    stored_columns=_stored_columns,
    size=SizeFacts(
        color="#6a9f58",
        note=(
            "A batch of `csv` is a file of one table. With the producer's default settings "
            "its records have neither commit timestamps nor old values."
        ),
    ),
)
