"""The generators' facts about avro."""

from types import MappingProxyType

from cdcwire.model.kinds import DecimalType
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.formats.avro.round_trip import AvroRoundTrip
from cdcwire_generators.samples import Sample, has_options, never


def _has_long_decimals(sample: Sample) -> bool:
    return any(
        isinstance(kind, DecimalType) and (kind.precision or 0) > 38 for kind in sample.types()
    )


GENERATORS = FormatGenerators(
    # A column comes from its declaration. A row that is deleted needs a key; with old rows, that is
    # from the new architecture, only a primary key is one.
    feed=FeedTraits(
        "mysql indexed",
        "checkpoint",
        has_field_names=True,
        needs_key=True,
        needs_primary_key=True,
        is_plausible=True,
        takes_tables=True,
    ),
    round_trip=AvroRoundTrip,
    option_values=MappingProxyType(
        {
            "namespace": ("default", "ns", "a.b", ""),
            "topic": ("{schema}_{table}", "fixed.topic", "{schema}.x.{table}", ""),
            "dialect": ("", "shipped", "float-as-double", "ticdc", "shipped,ticdc"),
        }
    ),
    features=MappingProxyType(
        {
            "decimal over 38 digits": _has_long_decimals,
            "no tidb extension": has_options("enable-tidb-extension", (None, False)),
            "before value": has_options("avro-include-before-value", (True,)),
            "foreign types": never,
        }
    ),
    # Avro does not have names that begin with a dot; libraries may refuse them.
    choices=MappingProxyType({"empty-namespace": has_options("namespace", ("",))}),
)
