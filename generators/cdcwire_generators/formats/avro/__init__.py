"""The generators' facts about avro."""

from types import MappingProxyType

from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.formats.avro.round_trip import AvroRoundTrip

GENERATORS = FormatGenerators(
    # A column comes from its declaration; a row that is deleted needs a handle key.
    feed=FeedTraits(
        "mysql indexed",
        "checkpoint",
        has_field_names=True,
        needs_key=True,
        is_plausible=True,
        takes_tables=True,
    ),
    round_trip=AvroRoundTrip,
    option_values=MappingProxyType(
        {
            "namespace": ("default", "ns", "a.b", ""),
            "topic": ("{schema}_{table}", "fixed.topic", "{schema}.x.{table}", ""),
            "dialect": ("", "shipped", "float-as-double", "padded-bit", "shipped,padded-bit"),
        }
    ),
)
