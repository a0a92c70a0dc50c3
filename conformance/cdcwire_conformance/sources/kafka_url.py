"""The URL of a topic and of the part of it to read.

``kafka://HOST:PORT/TOPIC``; several brokers are separated by commas; the default port is 9092.
Parameters follow a ``?``, with ``&`` between them:

- ``from`` and ``to``: ``earliest``, ``latest``, an offset for all partitions, or offsets by
  partition as in ``0:100,2:50``. Partitions that are not named are read from their beginning, to
  their end. ``to`` is the first offset that is not read.
- ``from-ms`` and ``to-ms``: milliseconds since 1970, by the timestamps that Kafka has of records.
  Each partition is read from its first record at or after the first time. The first record at or
  after the second time is not read.
- ``config``: a file of properties for Kafka's clients, as its own tools take it, for brokers that
  need authentication. Passwords do not belong in a URL, which is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlsplit

SCHEME = "kafka"
DEFAULT_PORT = 9092
MAX_OFFSET = 2**63 - 1

_NAMES = ("from", "to", "from-ms", "to-ms", "config")
_BROKER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/@]+)(?::([0-9]{1,5}))?")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_NUMBER = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a range begins or ends: at the first record of this time or later."""

    ms: int


Edge: TypeAlias = Literal["earliest", "latest"]
# One offset for all partitions, offsets by partition, a time, or where the topic begins or ends.
Bound: TypeAlias = "int | Mapping[int, int] | Moment | Edge"


class OffsetRange(NamedTuple):
    """The records of a partition from ``start`` up to, not with, ``end``."""

    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic and the part of it that is wanted.

    ``ranges``: which records these are, once the brokers were asked.
    """

    brokers: tuple[str, ...]
    topic: str
    start: Bound = "earliest"
    end: Bound = "latest"
    config: str | None = None
    ranges: tuple[OffsetRange, ...] | None = field(default=None)

    def __str__(self) -> str:
        """Return the URL; with ranges one that means the same records whenever it is read."""
        start, end = self.start, self.end
        if self.ranges is not None:
            start = {each.partition: each.start for each in self.ranges}
            end = {each.partition: each.end for each in self.ranges}
        query = [*_query_of("from", start, "earliest"), *_query_of("to", end, "latest")]
        if self.config is not None:
            query.append(f"config={quote(self.config)}")
        url = f"{SCHEME}://{','.join(self.brokers)}/{self.topic}"
        return f"{url}?{'&'.join(query)}" if query else url

    def with_ranges(self, ranges: tuple[OffsetRange, ...]) -> KafkaTopic:
        """Return the topic with these offset ranges."""
        return replace(self, ranges=ranges)


def parse_kafka_url(url: str) -> KafkaTopic:
    """Return what a URL says. Raises: ValueError; the text is one line for the user."""
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError("passwords have no place in a URL; name a file of properties by config=")
    brokers = tuple(_broker(text) for text in parts.netloc.split(","))
    topic = unquote(parts.path.removeprefix("/"))
    if not _TOPIC.fullmatch(topic):
        found = f"{topic!r:.80} is not a topic" if topic else "a topic is missing"
        raise ValueError(f"{found}, as in {SCHEME}://HOST:PORT/TOPIC")
    if parts.fragment:
        raise ValueError("a URL of a topic has no #")
    query = _query(parts.query)
    return KafkaTopic(
        brokers,
        topic,
        _bound(query, "from", "earliest"),
        _bound(query, "to", "latest"),
        query.get("config"),
    )


def _broker(text: str) -> str:
    found = _BROKER.fullmatch(text)
    port = DEFAULT_PORT if found is None or found[2] is None else int(found[2])
    if found is None or not 0 < port < 1 << 16:
        raise ValueError(f"{text!r:.80} is not a broker, as in {SCHEME}://HOST:PORT/TOPIC")
    return f"{found[1]}:{port}"


def _query(text: str) -> dict[str, str]:
    query: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in _NAMES:
            raise ValueError(f"{name!r:.80} is not one of {', '.join(_NAMES)}")
        if name in query:
            raise ValueError(f"{name} is duplicated")
        query[name] = value
    if query.get("config") == "":
        raise ValueError("config names no file")
    return query


def _bound(query: Mapping[str, str], name: str, default: Edge) -> Bound:
    text, ms = query.get(name), query.get(f"{name}-ms")
    if text is not None and ms is not None:
        raise ValueError(f"{name} and {name}-ms exclude each other")
    if ms is not None:
        return Moment(_number(ms, f"{name}-ms"))
    if text is None:
        return default
    if text in ("earliest", "latest"):
        return "earliest" if text == "earliest" else "latest"
    if ":" not in text:
        return _number(text, name)
    offsets: dict[int, int] = {}
    for each in text.split(","):
        partition, _, offset = each.partition(":")
        number = _number(partition, name)
        if number in offsets:
            raise ValueError(f"{name} has partition {number} twice")
        offsets[number] = _number(offset, name)
    return offsets


def _number(text: str, name: str) -> int:
    if _NUMBER.fullmatch(text) and int(text) <= MAX_OFFSET:
        return int(text)
    if name.endswith("-ms"):
        raise ValueError(f"{name}={text:.40} is not a number of milliseconds since 1970")
    raise ValueError(f"{name}={text:.40} is not earliest, latest, an offset, or 0:100,1:50")


def _query_of(name: str, bound: Bound, default: Edge) -> list[str]:
    if bound == default:
        return []
    if isinstance(bound, Moment):
        return [f"{name}-ms={bound.ms}"]
    if isinstance(bound, Mapping):
        return [f"{name}={','.join(f'{number}:{offset}' for number, offset in bound.items())}"]
    return [f"{name}={bound}"]
