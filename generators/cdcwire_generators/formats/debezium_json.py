"""The generators' facts about debezium-json.

A delete has its key alone, unless the producer is known to send whole rows. An update of a key is a
delete, a tombstone and an insert.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import get_args

from cdcwire.debezium.settings import Dialect
from cdcwire_generators.connect.debezium import (
    DEBEZIUM_CHOICES,
    DEBEZIUM_FEATURES,
    DEBEZIUM_FEED,
    DEBEZIUM_LOSSY,
    DEBEZIUM_OPTIONS,
    TICDC_OPTIONS,
    DebeziumRoundTrip,
)
from cdcwire_generators.connect.round_trip import CONNECT_OPTIONS
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import Options
from cdcwire_generators.samples import never


def _is_read(options: Options) -> bool:
    """Return False if a reader does not learn what it has to know.

    A strict reader does not take CDL's message of a connector that CDL lacks. A row by itself
    without schema has a table only if the transform adds it, and a tombstone has no added fields.
    """
    is_bare = options.get("transforms") == "unwrap" and options.get("schemas-enable") == "false"
    if is_bare and "table" not in str(options.get("add-fields")):
        return False
    if is_bare and "delete-tombstone-handling-mode" in options:
        return False
    is_of_cdl = options.get("connector", "postgresql") == "postgresql"
    return is_of_cdl or options.get("dialect") != "cdl" or options.get("lint") != "strict"


GENERATORS = FormatGenerators(
    feed=DEBEZIUM_FEED,
    round_trip=DebeziumRoundTrip,
    option_values=MappingProxyType(
        {
            **CONNECT_OPTIONS,
            **DEBEZIUM_OPTIONS,
            "key-converter": ("json",),
            # TiCDC's messages have their own tests: they carry less than the table of this format.
            "dialect": tuple(name for name in get_args(Dialect) if name != "ticdc"),
            **TICDC_OPTIONS,
            "debezium-include-start-ts": (False,),
            "large-message-handle-compression": ("none",),
        }
    ),
    lossy_values=MappingProxyType(
        {
            **DEBEZIUM_LOSSY,
            "schemas-enable": ("false",),
            "key-converter": ("string",),
            "debezium-include-start-ts": (True,),
        }
    ),
    is_read=_is_read,
    features=MappingProxyType(
        {**DEBEZIUM_FEATURES, "schemas off": never, "definitions": never, "string keys": never}
    ),
    choices=DEBEZIUM_CHOICES,
)
