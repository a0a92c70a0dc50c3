"""Debezium Avro: the envelope of Debezium in Avro, with its schemas in a registry.

``decode`` and ``encode`` are the wire layer. ``to_events`` and ``from_events`` are the neutral
events. The page of the format is docs/formats/debezium-avro.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.debezium_avro.avro_schema import avro_text
    from cdcwire.formats.debezium_avro.connect_schema import plan_of_text
    from cdcwire.formats.debezium_avro.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.debezium_avro.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.debezium_avro.wire import Datum, decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__,
        ".settings",
        ".wire",
        ".connect_schema",
        ".avro_schema",
        ".format",
    )

__all__ = [
    "FORMAT",
    "OPTIONS",
    "Datum",
    "Settings",
    "avro_text",
    "decode",
    "encode",
    "explain",
    "from_events",
    "plan_of_text",
    "read_settings",
    "to_events",
]
