"""The generators' facts about craft-proposal."""

from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import RoundTrip


class ProposalRoundTrip(RoundTrip):
    """The Craft proposal, whose events have a row id."""

    row_extra = event_extra = ("row_id",)


GENERATORS = FormatGenerators(feed=FeedTraits(progress="resolved"), round_trip=ProposalRoundTrip)
