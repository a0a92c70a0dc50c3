"""A format's rules for its derived cases: which parts can be cut, which numbers can be wrong.

Every reading of the format's page rejects the bytes that a rule makes, unless the rule says that
they may be legal by chance (``is_certain``). Such bytes are decoded before they become a case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.core.strict_json import Number
from cdcwire.model.events import Path, path_text

Kind: TypeAlias = Literal["length", "count", "size", "tag"]

BOMB_COUNT = 1 << 40
_MAX_DIGITS = 20
BOMB_SIZE = 1 << 63

LONG_PART = 2048  # bytes; up to here every byte and every number counts


@dataclass(frozen=True, slots=True)
class Site:
    """A number in a legal message: its span, its value, and all spans to look around.

    ``spans`` has the first span of each path: a DDL's event type, not the DDL's own type after it.
    """

    raw: bytes
    span: Span
    number: int
    spans: Mapping[Path, Span]

    def number_at(self, *path: str | int) -> int | None:
        """Return the number of another field, None where there is no such field."""
        span = self.spans.get(path)
        return None if span is None else number_of(span)


def anywhere(site: Site) -> bool:
    """Return True for every site."""
    return True


Rewrite: TypeAlias = Callable[[Site, int], "bytes | None"]
"""Returns the part's bytes with another number at the site, and all sizes around it put right; None
where this number can't be written there."""


@dataclass(frozen=True, slots=True)
class NumberRule:
    """A kind of number, and what it is changed to.

    ``path``: a pattern for its whole path as text. ``steps`` are added to it, ``values`` take its
    place. ``bomb``: a value that would ask for all memory. ``applies`` excepts the sites where the
    change would be legal. ``is_certain`` False: chance may make the change legal. ``clauses``:
    those of its span; None: any.
    """

    path: str
    kind: Kind
    steps: tuple[int, ...] = ()
    values: tuple[int, ...] = ()
    bomb: int | None = None
    applies: Callable[[Site], bool] = anywhere
    is_certain: bool = True
    clauses: frozenset[str] | None = None

    def fits(self, span: Span) -> bool:
        """Return whether the rule applies to the number at a span, by its path and clause."""
        has_clause = self.clauses is None or span.clause in self.clauses
        return has_clause and bool(re.fullmatch(self.path, path_text(span.path)))


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a part: the kind of fault, its byte, the part's new bytes.

    ``detail`` is the end of the id: ``+1`` of ``length:31+1``. ``feature``: what a testee that
    does not notice it declines.
    """

    kind: str
    offset: int
    detail: str
    title: str
    raw: bytes
    is_certain: bool = True
    feature: str | None = None

    @property
    def name(self) -> str:
        """The end of the id of the case that is derived by this change."""
        return f"{self.kind}:{self.offset}{self.detail}"


def reads_as_json(text: bytes) -> bool:
    """Return whether JSON parsers read a text; some of them accept ``NaN`` too.

    A value that has lost its quotes is then a number for a text, which a reader may take.
    """
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _no_size(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    return ()


def _no_change(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    return iter(())


def _no_number(site: Site, number: int) -> bytes | None:
    return None


@dataclass(frozen=True, slots=True)
class Layer:
    """Bytes inside a frame, a checksum or a compression.

    ``close`` packs other bytes in the same way, with lengths and checksums that fit.
    """

    inner: bytes
    close: Callable[[bytes], bytes]


def _no_layer(part: str, raw: bytes, context: Context) -> Iterator[Layer]:
    return iter(())


@dataclass(frozen=True, slots=True)
class FormatRules:
    """The rules of one format.

    ``parts``: the parts of a message whose every byte counts. ``legal_cut``: whether a message is
    still legal when this part is cut to this size; ``legal_sizes``: all such sizes at once, where
    the spans give them. ``trailing``: the bytes appended to a part. ``changes``: what else can be
    made wrong at these spans, with all options of the format. ``long_part``: bytes from which on a
    part is cut at the borders of its fields only. ``is_read``: whether readers look into a message
    with these spans at all. ``layers``: what packs the bytes of a part, for changes inside it.
    """

    parts: tuple[str, ...]
    rewrite: Rewrite = _no_number
    numbers: tuple[NumberRule, ...] = ()
    legal_cut: Callable[[Message, str, int], bool] = lambda message, part, size: False
    trailing: bytes = b"\x00"
    legal_sizes: Callable[[bytes, Sequence[Span]], Container[int]] = _no_size
    changes: Callable[[bytes, Sequence[Span], Mapping[str, OptionValue]], Iterator[Change]] = (
        _no_change
    )
    long_part: int = LONG_PART
    is_read: Callable[[Sequence[Span]], bool] = lambda spans: True
    layers: Callable[[str, bytes, Context], Iterator[Layer]] = _no_layer


def number_changes(
    rules: FormatRules, explanation: Explanation, part: str, raw: bytes
) -> Iterator[Change]:
    """Yield what the rules make of the numbers of one part, in the order of the bytes."""
    ordered = sorted(
        (span for span in explanation.spans if span.part == part), key=lambda span: span.start
    )
    spans: dict[Path, Span] = {}
    for span in ordered:
        spans.setdefault(span.path, span)
    for span in chosen_spans(ordered, len(raw)):
        number = number_of(span)
        if number is None:
            continue
        site = Site(raw, span, number, spans)
        for rule in rules.numbers:
            if rule.fits(span) and rule.applies(site):
                yield from _changes(rules.rewrite, rule, site)


def chosen_spans(spans: list[Span], size: int, long_part: int = LONG_PART) -> list[Span]:
    """Return the spans of a part at which cases are derived.

    A short part has cases at all spans. A long part has them at the first two and the last two
    spans of each clause whose paths differ only in their indexes.
    """
    if size <= long_part:
        return spans
    alike: dict[tuple[str, ...], list[Span]] = {}
    for span in spans:
        names = tuple(step for step in span.path if isinstance(step, str))
        alike.setdefault((*names, span.clause), []).append(span)
    chosen = [span for group in alike.values() for span in (*group[:2], *group[2:][-2:])]
    return sorted(chosen, key=lambda span: span.start)


def _changes(rewrite: Rewrite, rule: NumberRule, site: Site) -> Iterator[Change]:
    field = path_text(site.span.path)
    start = site.span.start
    wanted = [(f"{step:+}", site.number + step) for step in rule.steps]
    wanted += [(f"={value}", value) for value in rule.values if value != site.number]
    for sign, number in wanted:
        raw = rewrite(site, number)
        if raw is not None:
            title = f"{field} is {number} in place of {site.number}"
            yield Change(rule.kind, start, sign, title, raw, rule.is_certain)
    if rule.bomb is not None:
        raw = rewrite(site, rule.bomb)
        if raw is not None:
            title = f"{field} is {rule.bomb} in place of {site.number}"
            yield Change("bomb", start, "", title, raw, rule.is_certain)


def number_of(span: Span) -> int | None:
    """Return the value of a span that is an integer, None for other values."""
    value = span.value
    if isinstance(value, Number) and value.is_integer and value.digits <= _MAX_DIGITS:
        return int(value.text)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
