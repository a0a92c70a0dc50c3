"""CDL JSON, message_version 1.0: decoder and encoder.

``decode`` and ``encode`` are the wire layer, ``to_events`` and ``from_events`` the neutral model.
"""

from cdcwire.formats.cdl_json.events import from_events, to_events
from cdcwire.formats.cdl_json.explain import explain
from cdcwire.formats.cdl_json.message import Change, Message, Row, Tombstone
from cdcwire.formats.cdl_json.settings import DEFAULT_SETTINGS, Settings, read_settings
from cdcwire.formats.cdl_json.wire import decode, encode

__all__ = [
    "DEFAULT_SETTINGS",
    "Change",
    "Message",
    "Row",
    "Settings",
    "Tombstone",
    "decode",
    "encode",
    "explain",
    "from_events",
    "read_settings",
    "to_events",
]
