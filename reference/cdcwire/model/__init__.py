"""The neutral model: the events and types that every format is translated to and from."""

from cdcwire.model.carries import Carries, CarryVerdict
from cdcwire.model.events import (
    Event,
    Expression,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kind_text import kind_text, parse_kind
from cdcwire.model.kinds import ABSENT, UNAVAILABLE, Column, Type

__all__ = [
    "ABSENT",
    "UNAVAILABLE",
    "Carries",
    "CarryVerdict",
    "Column",
    "Event",
    "Expression",
    "Image",
    "Marker",
    "Position",
    "Progress",
    "RowChange",
    "SchemaChange",
    "Table",
    "Type",
    "kind_text",
    "parse_kind",
]
