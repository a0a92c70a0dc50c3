"""The Kafka keys of two feeds: those that contradict their rows, and whether both feeds have these.

A key that agrees with its row is equal to that of the other feed's row, because rows pair by their
key columns. So only the others have to be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.arrow.schema import name_text
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.result import (
    REDACTED,
    Comparison,
    KafkaKeys,
    KeyContradiction,
    RowPlace,
    Shown,
    SideName,
    beginning_of,
)
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.decode.kafka_keys import MAX_DIGESTS

_NAME = "Kafka keys"
_LONGEST = 200  # characters of a value


def with_kafka_keys(
    found: Comparison, left: OpenedFeed, right: OpenedFeed, options: CompareOptions
) -> Comparison:
    """Return the comparison with the keys of both feeds, and with why they were not compared."""
    ours, theirs = left.facts.keys, right.facts.keys
    keys = KafkaKeys(
        (ours.keyed.total(), theirs.keyed.total()),
        (ours.contradicting, theirs.contradicting),
        (*first_of("left", left, options.meaning), *first_of("right", right, options.meaning)),
    )
    reason = _not_compared(left, right, options)
    if reason is None:
        differ = ours.digests != theirs.digests
        return replace(found, keys=replace(keys, differ=differ), compared=(*found.compared, _NAME))
    has_keys = ours.keyed or theirs.keyed
    left_out = (*found.left_out, (_NAME, reason)) if has_keys else found.left_out
    return replace(found, keys=keys, left_out=left_out)


def keys_against_table(found: Comparison, feed: OpenedFeed, meaning: Meaning) -> Comparison:
    """Return the comparison of a feed with a table, which has no keys of messages."""
    own = feed.facts.keys
    if not own.keyed:
        return found
    keys = KafkaKeys(
        (own.keyed.total(), 0), (own.contradicting, 0), tuple(first_of("left", feed, meaning))
    )
    return replace(found, keys=keys, left_out=(*found.left_out, (_NAME, "a table has none")))


def _not_compared(left: OpenedFeed, right: OpenedFeed, options: CompareOptions) -> str | None:
    """Return why keys are not compared; None if they are."""
    if left.source.format.name != right.source.format.name:
        return "the formats differ"
    with_keys = {*left.facts.keys.keyed, *right.facts.keys.keyed}
    for side, feed in (("left", left), ("right", right)):
        keys = feed.facts.keys
        if not keys.keyed:
            return f"the {side} feed has none"
        # Messages of a table without a key have none in either feed.
        without = sum(number for table, number in keys.bare.items() if table in with_keys)
        if without:
            return f"{without:,} messages of the {side} feed have none"
        if keys.unread:
            return f"{keys.unread:,} of the {side} feed can't be compared with their rows"
        if len(keys.digests) >= MAX_DIGESTS:
            return f"more than {MAX_DIGESTS:,} of the {side} feed contradict their rows"
    if options.mode == "final":
        return "last rows have none"
    if options.window is not None and options.window.is_bounded:
        return "they are looked at without the window"
    return None


def first_of(side: SideName, feed: OpenedFeed, meaning: Meaning) -> Iterator[KeyContradiction]:
    """Yield the first contradictions of a feed, with their places."""
    found = feed.facts.keys.first
    places = feed.with_lines(
        RowPlace(at.file, at.line, at.topic, at.partition, at.offset)
        for at in (each.place for each in found)
    )
    for each, place in zip(found, places, strict=True):
        values = (
            REDACTED
            if each.column is not None and _is_redacted(each.table, each.column, meaning)
            else beginning_of(Shown(text), _LONGEST)
            for text in (each.in_key, each.in_row)
        )
        yield KeyContradiction(side, name_text(each.table), place, each.column, *values)


def _is_redacted(table: TableName, column: str, meaning: Meaning) -> bool:
    return bool({column, f"{name_text(table)}.{column}"} & meaning.redacted)
