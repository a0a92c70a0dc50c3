"""The generators' facts about craft-proposal."""

from types import MappingProxyType

from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import RoundTrip
from cdcwire_generators.samples import Sample, never


class ProposalRoundTrip(RoundTrip):
    """The Craft proposal, whose events have a row id."""

    row_extra = event_extra = ("row_id",)


def _has_mixed_kinds(sample: Sample) -> bool:
    return len({type(event) for event in sample.read}) > 1


GENERATORS = FormatGenerators(
    feed=FeedTraits(progress="resolved"),
    round_trip=ProposalRoundTrip,
    features=MappingProxyType(
        {"row_id": never, "mixed-kinds": _has_mixed_kinds, "unknown-bits": never}
    ),
)
