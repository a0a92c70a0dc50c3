"""``auto:`` in place of a format: what a directory says of itself, or its messages show."""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.core.options import OptionValue
from cdcwire.files.feed_file import read_feed_file
from cdcwire.files.stores import directory_of
from cdcwire.identify.ranking import Candidate
from cdcwire.identify.report import PlaceReport

AUTO = "auto"
AUTO_SOURCE = f"{AUTO}:"


def recorded_format(place: str) -> str | None:
    """Return the format that the directory of a feed names. Raises: SourceError; UsageError."""
    folder = None if place.startswith("kafka:") else directory_of(place)
    found = None if folder is None else read_feed_file(folder)
    return None if found is None else found.format


def unclear(place: str, report: PlaceReport) -> str:
    """Return why no format was found in a place, as the text of an error."""
    names = ", ".join(each.format for each in report.result.candidates)
    why = f"it may be {names}" if names else "it shows the signs of no format"
    return (
        f"{place}: the format is not clear: {why}; `cdcwire identify` says more; give the format "
        "in place of auto"
    )


def with_found(found: Candidate, options: Mapping[str, OptionValue]) -> Mapping[str, OptionValue]:
    """Return the options of the user, and those found for all others."""
    given = {name.rpartition(".")[2] for name in options}
    return {**{k: v for k, v in found.options.items() if k not in given}, **options}
