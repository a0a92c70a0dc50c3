"""The generators' facts about each format, declared once in the format's own module.

General modules ask ``get_generators`` and never spell a format's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType

from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire.registry import package_of
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.round_trip import Options, RoundTrip
from cdcwire_generators.samples import Need


@dataclass(frozen=True, slots=True)
class FormatGenerators:
    """The facts about one format that strategies, workloads and laws need.

    ``feed``: what its producer sends. ``round_trip``: what becomes of events that are encoded and
    decoded. ``option_values``: values to draw for options that do not list theirs.
    ``lossy_values``: values of options through which a round trip loses or adds more than
    ``round_trip`` knows; only comparisons draw them. ``features``: which samples need a feature,
    where its name does not say so (``cdcwire_generators.features``). ``choices``: which samples
    need the reading of a choice, by its subject. ``is_read``: a strict reader with the same
    settings takes what is written.
    """

    feed: FeedTraits
    round_trip: Callable[[Format, Options, FeedTraits], RoundTrip] = RoundTrip
    option_values: Mapping[str, tuple[OptionValue, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    lossy_values: Mapping[str, tuple[OptionValue, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    features: Mapping[str, Need] = field(default_factory=lambda: MappingProxyType({}))
    choices: Mapping[str, Need] = field(default_factory=lambda: MappingProxyType({}))
    is_read: Callable[[Options], bool] = lambda options: True


def get_generators(format_name: str) -> FormatGenerators:
    """Return what the generators know of a format. Raises: ValueError for an unknown format."""
    found = import_module(f"cdcwire_generators.formats.{package_of(format_name)}").GENERATORS
    assert isinstance(found, FormatGenerators)
    return found


def clauses_of(format_name: str) -> tuple[str, ...]:
    """Return how the clauses begin that errors of a format may name."""
    pages = (format_name, *get_generators(format_name).feed.shared_clauses)
    return tuple(f"{page}: " for page in pages)
