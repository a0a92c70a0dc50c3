"""CSV files of the storage sink: row changes as records, one file per table.

``decode`` and ``encode`` are the wire, without loss. ``to_events`` and ``from_events`` are the
neutral events. The page of the format is docs/formats/csv.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.csv.events import from_event, read_events
    from cdcwire.formats.csv.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.csv.message import Field, File, Operation, Record
    from cdcwire.formats.csv.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.csv.tables import Definitions
    from cdcwire.formats.csv.wire import decode, encode, read_records
else:
    __getattr__, __dir__ = exports(
        __name__, ".message", ".settings", ".wire", ".events", ".tables", ".format"
    )

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
