"""The rules of the storage sink's CSV, and of the other files of a prefix.

A record is whole with its terminator. So a file can lose or gain any byte except at the end of a
record. A cut there leaves a shorter file that is legal. Half a terminator ends a record too, for
readers that know all line ends. Quotes are left alone: many readers take text without and numbers
with them. Other changes:

* A field is left out or repeated: the number of fields of a record is fixed.
* The operation is an undefined letter.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules
from cdcwire_conformance.families.mutations import is_read

_CRLF = b"\r\n"
_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 1024


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a file may end: after a record or the header, and as one without bytes.

    In a file without records: before the white space at its end.
    """
    if any(span.clause.startswith("storage: ") for span in spans):
        return range(len(raw.rstrip(_WHITE_SPACE)), len(raw))
    ends: dict[tuple[str | int, ...], int] = {}
    for span in spans:
        if span.path[:1] in (("records",), ("header",)):
            ends[span.path[:2]] = max(span.end, ends.get(span.path[:2], 0))
    halves = (end - 1 for end in ends.values() if raw[:end].endswith(_CRLF))
    return frozenset({0, *ends.values(), *halves})


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of records."""
    signs = {name: str(options[name]).encode() for name in ("quote", "delimiter", "terminator")}
    fields = [span for span in spans if span.path[:1] == ("records",)]
    last = {span.path[:2]: span.start for span in fields}
    for span, after in pairwise([*fields, None]):
        assert span is not None
        is_last = span.start == last[span.path[:2]]
        sign = signs["terminator"] if is_last else signs["delimiter"]
        field = raw[span.start : span.end]
        if not field.endswith(sign) or (not is_last and (after is None or after.start != span.end)):
            continue  # of a long file not all fields are here
        if span.path[-1] == "op":
            yield _with_unknown_operation(raw, span, sign, signs)
        if not is_last:
            rest = raw[span.end :]
            title = f"the field at byte {span.start} is left out"
            yield Change("field", span.start, "-1", title, raw[: span.start] + rest)
            title = f"the field at byte {span.start} appears twice"
            yield Change("field", span.start, "+1", title, raw[: span.end] + field + rest)


def _with_unknown_operation(
    raw: bytes, span: Span, sign: bytes, signs: Mapping[str, bytes]
) -> Change:
    content = signs["quote"] + b"X" + signs["quote"] + sign
    made = raw[: span.start] + content + raw[span.end :]
    return Change("tag", span.start, "=X", f"the operation at byte {span.start} is X", made)


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    is_read=is_read,
)
