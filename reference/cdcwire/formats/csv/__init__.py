"""CSV files of the storage sink: row changes as records, one file per table.

``decode`` and ``encode`` are the wire, without loss; ``to_events`` and ``from_events`` lead to and
from the neutral model. The page of the format is docs/formats/csv.md.
"""

from cdcwire.formats.csv.events import from_event, read_events
from cdcwire.formats.csv.explain import explain
from cdcwire.formats.csv.format import FORMAT, from_events, to_events
from cdcwire.formats.csv.message import Field, File, Operation, Record
from cdcwire.formats.csv.settings import OPTIONS, Settings, read_settings
from cdcwire.formats.csv.tables import Definitions
from cdcwire.formats.csv.wire import decode, encode, read_records

__all__ = [
    "FORMAT",
    "OPTIONS",
    "Definitions",
    "Field",
    "File",
    "Operation",
    "Record",
    "Settings",
    "decode",
    "encode",
    "explain",
    "from_event",
    "from_events",
    "read_events",
    "read_records",
    "read_settings",
    "to_events",
]
