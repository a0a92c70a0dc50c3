"""What the generators know of craft."""

from cdcwire_generators.feeds import Feed
from cdcwire_generators.formats import FormatGenerators

GENERATORS = FormatGenerators(feed=Feed(progress="resolved"))
