"""The URL of topics and of the part of them to read.

``kafka://HOST:PORT/TOPIC``; several brokers are separated by commas; the default port is 9092.
Several topics are separated by commas too. A ``*`` in a name stands for any characters. It never
matches the two underscores of Kafka's own topics. Parameters follow a ``?``, with ``&`` between
them:

- ``from`` and ``to``: ``earliest``, ``latest``, an offset for all partitions, or offsets by
  partition as in ``0:100,2:50``, with several topics ``orders/0:100,items/0:50``. Partitions that
  are not named are read from their beginning, to their end. ``to`` is the first offset that is not
  read.
- ``from-ms`` and ``to-ms``: milliseconds since 1970, by the timestamps that Kafka has of records.
  Each partition is read from its first record at or after the first time. The first record at or
  after the second time is not read.
- ``config``: a file of properties for Kafka's clients, as its own tools take it, for brokers that
  need authentication. Passwords do not belong in a URL, which is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlsplit

SCHEME = "kafka"
DEFAULT_PORT = 9092
MAX_OFFSET = 2**63 - 1

_NAMES = ("from", "to", "from-ms", "to-ms", "config")
_BROKER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/@]+)(?::([0-9]{1,5}))?")
_TOPIC = re.compile(r"[A-Za-z0-9._*-]{1,249}")
_NUMBER = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a range begins or ends: at the first record of this time or later."""

    ms: int


class TopicPartition(NamedTuple):
    """A partition of one topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}"


Edge: TypeAlias = Literal["earliest", "latest"]
# One offset for all partitions, offsets by partition, a time, or where the topic begins or ends.
Bound: TypeAlias = "int | Mapping[int, int] | Mapping[TopicPartition, int] | Moment | Edge"


class OffsetRange(NamedTuple):
    """The records of a partition from ``start`` up to, not with, ``end``.

    ``topic``: None for the only topic of a URL.
    """

    partition: int
    start: int
    end: int
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic, or several, and the part that is wanted.

    ``topic``: a name, several with commas between them, or names with ``*``. ``ranges``: which
    records these are, once the brokers were asked.
    """

    brokers: tuple[str, ...]
    topic: str
    start: Bound = "earliest"
    end: Bound = "latest"
    config: str | None = None
    ranges: tuple[OffsetRange, ...] | None = field(default=None)

    def __str__(self) -> str:
        """Return the URL; with ranges one that means the same records whenever it is read."""
        if self.ranges is None:
            query = _query_of("from", self.start, "earliest") + _query_of("to", self.end, "latest")
        else:
            starts = [(self._place(each), each.start) for each in self.ranges]
            ends = [(self._place(each), each.end) for each in self.ranges]
            query = [f"from={_listed(starts)}", f"to={_listed(ends)}"]
        if self.config is not None:
            query.append(f"config={quote(self.config)}")
        url = f"{SCHEME}://{','.join(self.brokers)}/{','.join(self.names)}"
        return f"{url}?{'&'.join(query)}" if query else url

    @property
    def is_one(self) -> bool:
        """True if it is one topic, whatever other topics the brokers have."""
        return not {",", "*"} & set(self.topic)

    @property
    def has_pattern(self) -> bool:
        """True if only the brokers know the names of the topics."""
        return "*" in self.topic

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the topics; with ``*`` until the brokers were asked."""
        if self.is_one or self.ranges is None:
            return tuple(self.topic.split(","))
        return tuple(dict.fromkeys(each.topic or "" for each in self.ranges))

    @property
    def pattern(self) -> str:
        """Return a regular expression of the names, for Python and for Java."""
        return "|".join(
            ("(?!__)" if name.startswith("*") else "") + ".*".join(map(re.escape, name.split("*")))
            for name in self.topic.split(",")
        )

    def _place(self, range_: OffsetRange) -> int | TopicPartition:
        if range_.topic is None or len(self.names) == 1:
            return range_.partition
        return TopicPartition(range_.topic, range_.partition)

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
    names = topic.split(",")
    for name in names:
        if not _TOPIC.fullmatch(name):
            found = f"{name!r:.80} is not a topic" if topic else "a topic is missing"
            raise ValueError(f"{found}, as in {SCHEME}://HOST:PORT/TOPIC")
    if len(set(names)) < len(names):
        raise ValueError("a topic is named twice")
    if parts.fragment:
        raise ValueError("a URL of a topic has no #")
    query = _query(parts.query)
    whole = KafkaTopic(brokers, topic, config=query.get("config"))
    offsets = _offsets if whole.is_one else _offsets_of_topics
    start = _bound(query, "from", "earliest", offsets)
    return replace(whole, start=start, end=_bound(query, "to", "latest", offsets))


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


def _bound(
    query: Mapping[str, str], name: str, default: Edge, offsets: Callable[[str, str], Bound]
) -> Bound:
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
    return offsets(text, name)


def _offsets(text: str, name: str) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for each in text.split(","):
        partition, _, offset = each.partition(":")
        number = _number(partition, name)
        if number in found:
            raise ValueError(f"{name} has partition {number} twice")
        found[number] = _number(offset, name)
    return found


def _offsets_of_topics(text: str, name: str) -> Mapping[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    for each in text.split(","):
        topic, slash, rest = each.partition("/")
        if not slash:
            raise ValueError(f"{name}={each:.40} names no topic, as in orders/0:100,items/1:50")
        for number, offset in _offsets(rest, name).items():
            place = TopicPartition(topic, number)
            if place in found:
                raise ValueError(f"{name} has {place} twice")
            found[place] = offset
    return found


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
        return [f"{name}={_listed(bound.items())}"]
    return [f"{name}={bound}"]


def _listed(offsets: Iterable[tuple[int | TopicPartition, int]]) -> str:
    return ",".join(f"{place}:{offset}" for place, offset in offsets)
