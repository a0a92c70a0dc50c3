"""The rules of the storage sink's CSV, and of the files beside its data files.

A record is whole with its terminator, so a file can lose or gain any byte but at the end of a
record: such a cut leaves a shorter file that is legal. What is changed beside:

* Quotes are taken from a string, and put around what has none. Not from texts that would then be
  NULL or several fields, not around NULL, which may then be text, and not at vectors.
* A field is left out or repeated: the number of fields of a record is fixed.
* The operation is an undefined letter.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules

_STRINGS = (
    *("csv: text values", "csv: binary values", "csv: decimal values", "csv: temporal values"),
    *("csv: enum and set values", "csv: json values", "csv: record", "csv: operations"),
)
_BARE = (
    *("csv: integer values", "csv: float values", "csv: bit and year values"),
    *("csv: commit-ts", "csv: old value"),
)
_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 1024


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a file may end: after a record or the header, and as one without bytes.

    Of a file without records: before the white space at its end.
    """
    if any(span.clause.startswith("storage: ") for span in spans):
        return range(len(raw.rstrip(_WHITE_SPACE)), len(raw))
    ends: dict[tuple[str | int, ...], int] = {}
    for span in spans:
        if span.path[:1] in (("records",), ("header",)):
            ends[span.path[:2]] = max(span.end, ends.get(span.path[:2], 0))
    return frozenset({0, *ends.values()})


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of records."""
    signs = {
        name: str(options[name]).encode() for name in ("quote", "delimiter", "terminator", "null")
    }
    fields = [span for span in spans if span.path[:1] == ("records",)]
    last = {span.path[:2]: span.start for span in fields}
    for span, after in pairwise([*fields, None]):
        assert span is not None
        is_last = span.start == last[span.path[:2]]
        sign = signs["terminator"] if is_last else signs["delimiter"]
        field = raw[span.start : span.end]
        if not field.endswith(sign) or (not is_last and (after is None or after.start != span.end)):
            continue  # of a long file not all fields are here
        yield from _changes_of_field(raw, span, field[: len(field) - len(sign)], sign, signs)
        if not is_last:
            rest = raw[span.end :]
            title = f"the field at byte {span.start} is left out"
            yield Change("field", span.start, "-1", title, raw[: span.start] + rest)
            title = f"the field at byte {span.start} stands twice"
            yield Change("field", span.start, "+1", title, raw[: span.end] + field + rest)


def _changes_of_field(
    raw: bytes, span: Span, field: bytes, sign: bytes, signs: Mapping[str, bytes]
) -> Iterator[Change]:
    def changed(kind: str, detail: str, title: str, content: bytes) -> Change:
        made = raw[: span.start] + content + sign + raw[span.end :]
        return Change(kind, span.start, detail, f"{title} at byte {span.start}", made)

    quote = signs["quote"]
    if quote and span.clause in _STRINGS and _may_lose_quotes(field, signs):
        inner = field[len(quote) : -len(quote)]
        yield changed("quote", "", "no quotes", inner)
    if quote and span.clause in _BARE and field != signs["null"]:
        yield changed("quote", "", "quotes", quote + field + quote)
    if span.path[-1] == "op":
        made = raw[: span.start] + quote + b"X" + quote + sign + raw[span.end :]
        yield Change("tag", span.start, "=X", f"the operation at byte {span.start} is X", made)


def _may_lose_quotes(field: bytes, signs: Mapping[str, bytes]) -> bool:
    quote = signs["quote"]
    inner = field[1:-1]
    if len(field) < 2 or not (field.startswith(quote) and field.endswith(quote)):
        return False
    if inner == signs["null"]:
        return False
    # Where it runs into what follows, there is another fault than the one named.
    has_sign = any(signs[name] in inner for name in ("quote", "delimiter", "terminator"))
    return not has_sign and not inner.endswith((signs["delimiter"][:1], signs["terminator"][:1]))


RULES = FormatRules(
    parts=("value",), legal_sizes=legal_sizes, changes=changes, long_part=_LONG_PART
)
