"""The format that a feed looks like, added to an error of a side that was read as another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cdcwire.core.context import Context
from cdcwire.core.options import parse_options
from cdcwire_conformance.identify import Candidate
from cdcwire_conformance.identify.report import identify_place, option_text
from cdcwire_conformance.sources.messages_io import InputError
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.sources.stores import StoreError, is_url


@contextmanager
def named_formats(sides: Sequence[tuple[Source, Context]]) -> Iterator[None]:
    """Add to an error what the messages of its directory look like, if that is something else.

    Raises: what is raised here.
    """
    from cdcwire_conformance.decode.reading import FeedError

    try:
        yield
    except FeedError as error:
        for source, context in sides:
            if not is_url(source.folder) and source.folder and source.folder in str(error):
                found = _looks_like(source, context)
                raise FeedError(f"{error}{found}") from error
        raise


def _looks_like(source: Source, context: Context) -> str:
    """Return the end of an error's line; empty if the feed is what it was read as."""
    try:
        result = identify_place(source.path, Context(tables=context.tables)).result
    except (InputError, SourceError, StoreError, ValueError, OSError):
        return ""
    found = result.found
    if found is not None and found.format != source.format.name:
        if any(each.format == source.format.name and each.decoded for each in result.candidates):
            return f"; {source.path} has messages of {source.format.name} and {found.format}"
        return f"; {source.path} looks like {found.format}, not {source.format.name}"
    lacking = [] if found is None else list(_lacking(source, context, found))
    if found is not None and lacking and found.decoded > _decoded(source, context):
        return f"; {source.path} looks like {source.format.name} with {' '.join(lacking)}"
    if context.tables:
        return "; do the definitions of --ddl or --tables fit this feed?"
    return ""


def _decoded(source: Source, context: Context) -> int:
    """Return how many of the first messages decode with the options that they were read with."""
    format_ = source.format
    given = parse_options(format_.options, context.options)
    result = identify_place(source.path, Context(given, tables=context.tables)).result
    return max(
        (each.decoded for each in result.candidates if each.format == format_.name), default=0
    )


def _lacking(source: Source, context: Context, found: Candidate) -> Iterator[str]:
    """Yield the options that the messages show and that have another value here.

    A switch that was given and that they do not show counts too.
    """
    given = parse_options(source.format.options, context.options)
    for name, value in parse_options(source.format.options, found.options).items():
        if (name in found.options or isinstance(value, bool)) and given.get(name) != value:
            yield f"--option {option_text(name, value)}"
