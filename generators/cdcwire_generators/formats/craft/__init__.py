"""The generators' facts about craft."""

from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators

GENERATORS = FormatGenerators(feed=FeedTraits(progress="resolved"))
