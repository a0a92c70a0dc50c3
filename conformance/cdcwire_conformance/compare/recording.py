"""Makes the record of an input: its files with their sums, its options, and its extent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from hashlib import sha256

from cdcwire.core.options import parse_options
from cdcwire.core.orders import shown_place
from cdcwire.files.stores import SourceError, Store, is_url, path_under, size_and_sum
from cdcwire.model.instants import ms_of_tso
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.record import (
    DEFAULT_ORIGIN,
    InputBounds,
    InputFile,
    InputPart,
    InputRecord,
    UsedOption,
)
from cdcwire_conformance.decode.row_facts import joined_facts

_FEED_FILE = "feed.json"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def record_of(feed: OpenedFeed, origins: Mapping[str, str]) -> InputRecord:
    """Return the record of a feed. It reads each file once more, for its sum.

    ``origins``: where options were found, by their names. Others were found in ``feed.json``.
    """
    opened = feed.opened
    files = tuple(_files(feed))
    topic = opened.source.topic
    ranges, name = ((), "") if topic is None else (topic.ranges or (), topic.topic)
    extent = feed.facts.extent
    is_prefix = opened.prefix is not None
    return InputRecord(
        str(opened.source),
        tuple(_options(feed, origins)),
        files,
        _sum_of(files),
        tuple(
            InputPart(each.topic or name, each.partition, each.start, each.end) for each in ranges
        ),
        None if is_prefix else extent.messages,
        sum(feed.facts.rows.values()),
        (*_places(feed), *_bounds(extent.bounds)),
        opened.prefix.checkpoint if opened.prefix is not None else None,
    )


def _options(feed: OpenedFeed, origins: Mapping[str, str]) -> Iterable[UsedOption]:
    format_, given = feed.source.format, feed.opened.context.options
    values = parse_options(format_.options, given)
    for option in format_.options:
        value = values[option.name]
        if value is None or value == "":
            continue
        is_given = option.name in given
        origin = origins.get(option.name, _FEED_FILE) if is_given else DEFAULT_ORIGIN
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield UsedOption(option.name, text, origin)


def _files(feed: OpenedFeed) -> Iterable[InputFile]:
    source, prefix, store = feed.source, feed.opened.prefix, feed.opened.store
    names = source.files if prefix is None else tuple(file.name for file in prefix.files)
    for name in names:
        if store is not None and is_url(source.folder):
            yield file_in(store, name.removeprefix(f"{source.folder}/"))
            continue
        path = name if os.path.isabs(name) else path_under(source.folder, name)
        yield file_here(path, os.path.relpath(path, source.folder))


def file_in(store: Store, name: str) -> InputFile:
    """Return a file of a store. One that can't be read any more has neither size nor sum."""
    try:
        return InputFile(name, *store.sum_of(name))
    except SourceError:
        return InputFile(name, None, None)


def file_here(path: str, name: str) -> InputFile:
    """Return a file of this machine. ``name``: as it is shown. Raises: OSError."""
    with open(path, "rb") as file:
        return InputFile(name, *size_and_sum(file))


def with_files(found: InputRecord, files: Iterable[InputFile]) -> InputRecord:
    """Return the record of an input with its files, in the order of their names."""
    known = tuple(sorted(files, key=lambda each: each.name))
    return replace(found, files=known, sha256=_sum_of(known))


def _sum_of(files: tuple[InputFile, ...]) -> str | None:
    if not files or any(file.sha256 is None for file in files):
        return None
    lines = "".join(f"{file.sha256}  {file.name}\n" for file in files)
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def _places(feed: OpenedFeed) -> Iterable[InputBounds]:
    """Yield the first and the last place in each order of several members, such as a binlog."""
    facts = joined_facts(feed.facts.of_rows.values())
    for order in feed.source.format.comparing.orders:
        found = facts.order(order.name)
        if found.range is not None and len(order.members) > 1 and len(found.scopes) <= 1:
            yield InputBounds(order.name, *(shown_place(str(place)) for place in found.range))


def _bounds(bounds: Mapping[str, tuple[int, int]]) -> Iterable[InputBounds]:
    for name, (low, high) in bounds.items():
        if name == "commit_ms":
            continue
        yield InputBounds(name, str(low), str(high))
    times = bounds.get("commit_ms")
    if times is None and "commit_ts" in bounds:
        low, high = bounds["commit_ts"]
        times = ms_of_tso(low), ms_of_tso(high)
    if times is not None:
        yield InputBounds("time", _time(times[0]), _time(times[1]))


def _time(ms: int) -> str:
    """Return a time in UTC; a count of milliseconds beyond the years of a calendar as it is."""
    try:
        moment = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return f"{ms} ms"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
