"""The rules of a comparison, from the formats of two feeds and what is known of their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from cdcwire.arrow.types import SchemaError
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.deleted_rows import between_text
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.orders import BothFacts
from cdcwire_conformance.compare.rules import (
    CompareOptions,
    ComparisonRules,
    Side,
    Terms,
    final_rules,
    terms_of,
)
from cdcwire_conformance.decode.row_facts import POSITION

NO_RULE = "no rule asks for these"
"""The reason for members of messages that are compared of no two feeds."""
_OLD_VALUES = "output-old-value"  # the option without which updates have no old row
_OF_ALL_FORMATS = (
    "definitions of columns beyond types, forms of values that are equal, "
    "forms of Kafka keys, topics and headers, unknown members"
)


def facts_of(
    left: OpenedFeed, right: OpenedFeed, names: Collection[TableName], options: CompareOptions
) -> BothFacts | None:
    """Return the facts about the rows of some tables of both feeds.

    None where both topics grow: then the position is chosen before, and a row without one is in no
    window and is reported.
    """
    window = options.window
    if window is not None and not window.has_unplaced:
        return None
    ours, theirs = left.facts_of(names), right.facts_of(names)
    return BothFacts(
        ours,
        theirs,
        window is not None,
        any(feed.side.format.comparing.snapshot_rows_are_inserts for feed in (left, right))
        or bool(ours.reads) != bool(theirs.reads),
    )


def feed_terms(
    left: Side, right: Side, options: CompareOptions, facts: BothFacts | None = None
) -> Terms:
    """Return what the feeds are compared by.

    Raises: SchemaError for a window that the formats can't have.
    """
    is_windowed = options.window is not None
    terms = terms_of(
        left,
        right,
        split_keys=options.split_keys,
        is_windowed=is_windowed,
        meaning=options.meaning,
        facts=facts,
    )
    if is_windowed and terms.rules.position is None:
        reasons = [f"{name}: {reason}" for name, reason in terms.passed_over]
        why = f" ({'; '.join(reasons)})" if reasons else ""
        raise SchemaError(f"the feeds share no position, so there is no window of them{why}")
    if options.mode == "events":
        unused = *_unused(left, right, terms, facts), *written_alike(left, right)
        left_out = *terms.left_out, *unused, *_never_asked(left, right)
        return replace(terms, left_out=left_out)
    if terms.rules.leaves_deletes:
        bare = next(side for side in (left, right) if side.lacks_places_of_deletes)
        raise SchemaError(
            f"deletes of {bare.format.name} have no position, so a window has no last rows"
        )
    left_out = *terms.passed_over, *written_alike(left, right)
    return replace(terms, rules=final_rules(terms.rules), left_out=left_out)


def _unused(
    left: Side, right: Side, terms: Terms, facts: BothFacts | None
) -> Iterator[tuple[str, str]]:
    """Yield what rows of both feeds say and the rules do not ask for, with why."""
    if facts is None:
        return
    own, chosen = (facts.left, facts.right), terms.order
    if chosen is not None:
        orders = dict.fromkeys((*left.format.comparing.orders, *right.format.comparing.orders))
        passed = {name for name, _ in terms.left_out}
        for order in orders:
            is_there = any(each.order(order.name).changes for each in own)
            is_part = {each.name for each in order.members} <= {m.name for m in chosen.members}
            if is_there and not is_part and order.name not in passed:
                yield order.name, f"rows pair by {chosen.name}"
    reads = [side for side, each in zip(("left", "right"), own, strict=True) if each.reads]
    if facts.has_reads_as_inserts and reads:
        sides = "both feeds have" if len(reads) > 1 else f"the {reads[0]} feed has"
        yield "rows of snapshots against inserts", f"{sides} rows of snapshots"


def written_alike(*sides: Side) -> list[tuple[str, str]]:
    """Return values that the messages of a side can't distinguish, with its format."""
    found = [(side, side.format.comparing.written_alike(side.values)) for side in sides]
    named = [(what, f"{side.format.name} writes both alike") for side, what in found if what]
    return list(dict.fromkeys(named))


def _never_asked(left: Side, right: Side) -> Iterator[tuple[str, str]]:
    """Yield the members of messages that no rule asks for, whatever two feeds have."""
    for format_ in {side.format.name: side.format for side in (left, right)}.values():
        if format_.comparing.not_compared:
            names = ", ".join(format_.comparing.not_compared)
            yield names, f"{NO_RULE} of {format_.name}"
    yield _OF_ALL_FORMATS, NO_RULE


def rules_of_table(
    rules: ComparisonRules, name: TableName, left: OpenedFeed, right: OpenedFeed
) -> tuple[ComparisonRules, list[tuple[str, str]]]:
    """Return the rules of one table, and what they leave out of it.

    Some deletes have their key only, by the settings of the table in its database, which may alter
    from one position to another. Its updates may
    then come without old values too. If all updates of a table lack them in such a feed, they are
    not compared.
    """
    if rules.is_final:
        return rules, []
    left_out: list[tuple[str, str]] = []
    sides = (("left", left, left.own_name(name)), ("right", right, right.own_name(name)))
    for side, feed, own in sides:
        if rules.deleted_columns == "all" and own in feed.facts.deletes.key_only:
            carried = feed.side.carries.fields["before of delete"]
            reason = f"the {side} feed sends the key only"
            is_known = not feed.side.format.comparing.deletes_have_position(feed.side.values)
            # A message with a place does not say whether it has the row.
            if carried.verdict == "option" and not is_known:
                reason = f"those of the {side} feed are read only with option {carried.detail}"
            left_out.append(("columns of deletes beyond the key", reason))
            rules = replace(rules, deleted_columns="key")
        is_bare = own in feed.facts.lacks_old_images and (
            feed.side.has_upserts
            or feed.side.lacks("before of delete") is not None
            or feed.side.values.get(_OLD_VALUES) is False
        )
        if rules.has_old_values and is_bare:
            reason = f"no update of the {side} feed has one"
            left_out.append(("before images of updates", reason))
            rules = replace(rules, has_old_values=False, splits_unique_keys=False)
        between = feed.facts.deletes.between.get(own, ())
        reason = f"the {side} feed may lack them {between_text(between)}"
        is_by_position = rules.position == POSITION and not rules.in_halves
        if between and not is_by_position:
            reason += f", and rows do not pair by {POSITION}"
        if between and rules.deleted_columns == "all" and own in feed.facts.deletes.read_whole:
            left_out.append(("columns of deletes beyond the key", reason))
        if between and rules.has_old_values:
            left_out.append(("before images of updates", reason))
        if is_by_position:
            rules = replace(rules, key_only_between=(*rules.key_only_between, *between))
        elif between:
            rules = replace(
                rules, deleted_columns="key", has_old_values=False, splits_unique_keys=False
            )
    return rules, left_out
