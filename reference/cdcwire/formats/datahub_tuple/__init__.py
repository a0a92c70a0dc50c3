"""DataHub Tuple: changes of one table as rows of a topic with a fixed schema.

``decode`` and ``record_of`` are the rows of bodies, without loss. ``to_events`` and
``from_events`` are the neutral events. The page of the format is docs/formats/datahub-tuple.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.datahub.tuple_topic import (
        SchemaMismatchError,
        Topic,
        TupleRow,
        UnsupportedInTupleError,
    )
    from cdcwire.formats.datahub_tuple.events import from_event, to_event
    from cdcwire.formats.datahub_tuple.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.datahub_tuple.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.datahub_tuple.topic import find_table, topic_of
    from cdcwire.formats.datahub_tuple.wire import decode, record_of, row_of
else:
    __getattr__, __dir__ = exports(
        __name__,
        ".settings",
        ".wire",
        "cdcwire.datahub.tuple_topic",
        ".events",
        ".topic",
        ".format",
    )

__all__ = [
    "FORMAT",
    "OPTIONS",
    "SchemaMismatchError",
    "Settings",
    "Topic",
    "TupleRow",
    "UnsupportedInTupleError",
    "decode",
    "explain",
    "find_table",
    "from_event",
    "from_events",
    "read_settings",
    "record_of",
    "row_of",
    "to_event",
    "to_events",
    "topic_of",
]
