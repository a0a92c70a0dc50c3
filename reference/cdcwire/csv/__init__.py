"""CSV files of the storage sink: row changes as records, one file a table.

``decode`` and ``encode`` are the wire, without loss; ``to_events`` and ``from_events`` lead to and
from the neutral model. The page of the format is docs/formats/csv.md.
"""

from cdcwire.csv.batching import from_events
from cdcwire.csv.events import from_event, read_events, to_events
from cdcwire.csv.explain import explain
from cdcwire.csv.format import FORMAT
from cdcwire.csv.message import Field, File, Operation, Record
from cdcwire.csv.settings import OPTIONS, Settings, read_settings
from cdcwire.csv.tables import Definitions
from cdcwire.csv.wire import decode, encode, read_records

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
