"""Malformed cases derived from the accept cases when they run; none is stored.

From each case of one message, of level must or should, come:

| id | what |
| --- | --- |
| ``<id>@cut:17`` | the value ends after 17 bytes |
| ``<id>@trailing`` | one byte more |
| ``<id>@length:31+1`` | the length at byte 31 is one more (``count``, ``size`` likewise) |
| ``<id>@tag:10=4`` | the code at byte 10 is 4, which is not defined |
| ``<id>@bomb:59`` | the count or size at byte 59 asks for more memory than there is |
| ``<id>@length:31=-1`` | the length at byte 31 is -1, 0 or 2^40 |
| ``<id>@varint:17`` | the number at byte 17 is a varint of eleven bytes |
| ``<id>@quote:17`` | the value at byte 17 has lost its quotes, and is not JSON now |
| ``<id>@field:17-1`` | the field at byte 17 is missing; ``+1``: it occurs twice |
| ``<id>@member:17-1`` | the member at byte 17 is missing |

The prefix ``key-`` means that the key is changed. A message of over 2,048 bytes is cut only near
the borders of its fields. If a kind has many fields, four of them are changed. The numbers, and the
exceptions that would be legal, are in each format's ``suite``. Every derived case is a *must
reject*, and has the options and tables of the case it comes from. ``broken_clause`` says which
clause it breaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from cdcwire.console.hexdump import message_parts
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import parse_options
from cdcwire.core.reader import Span
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case, CorpusError, Fault
from cdcwire_conformance.corpus.rebuild import explain_message
from cdcwire_conformance.corpus.store import load_case
from cdcwire_conformance.known_wrong.lenient import reads
from cdcwire_conformance.mutations import (
    FormatRules,
    chosen_spans,
    number_changes,
)
from cdcwire_conformance.suite import get_suite

SIGN = "@"


def is_base(case: Case) -> bool:
    """Return whether malformed cases are derived from this one."""
    is_legal = case.expect == "accept" and case.level in ("must", "should")
    return is_legal and len(case.messages) == 1 and case.derived is None


def derive_cases(case: Case) -> Iterator[Case]:
    """Yield the malformed cases of an accept case; nothing where none can be derived."""
    if not is_base(case):
        return
    suite = get_suite(case.format)
    rules = suite.mutations
    format_ = get_format(case.format)
    message = case.messages[0]
    context = case.context()
    options = parse_options(format_.options, case.options)
    explanation = explain_message(case, message)
    if not explanation.spans or not rules.is_read(explanation.spans):
        return
    derived = _Derivation(case)
    for part, raw in message_parts(message).items():
        if part not in rules.parts:
            continue
        prefix = "" if part == "value" else f"{part}-"
        spans = [span for span in explanation.spans if span.part == part]
        for size in _cuts(rules, message, part, raw, spans):
            cut, title = _with_part(message, part, raw[:size]), f"{part} ends after {size} bytes"
            yield derived.case(f"{prefix}cut:{size}", title, cut, Fault(part, size))
        longer, title = _with_part(message, part, raw + rules.trailing), f"a byte after the {part}"
        yield derived.case(f"{prefix}trailing", title, longer, Fault(part, None))
        chosen = chosen_spans(spans, len(raw), rules.long_part)
        for change in (
            *number_changes(rules, explanation, part, raw),
            *rules.changes(raw, chosen, options),
        ):
            changed = _with_part(message, part, change.raw)
            if change.is_certain or not reads(format_, changed, context, suite.liberties):
                fault = Fault(part, change.offset)
                made = derived.case(prefix + change.name, change.title, changed, fault)
                if change.feature is not None:
                    made = replace(made, features=(*made.features, change.feature))
                yield made


def broken_clause(format_name: str, message: Message, context: Context) -> str | None:
    """Return the clause that the reference names when it rejects a message."""
    try:
        for _ in get_format(format_name).to_events(message, context=context):
            pass
    except DecodeError as error:
        return error.clause
    except ValueError:  # a setting that the reference does not support
        pass
    return None


def clauses_of(case: Case) -> tuple[str, ...]:
    """Return the clauses that a case shows; of a malformed one the clause that it breaks."""
    if case.error is not None and "clause" in case.error:
        return (case.error["clause"],)
    if case.derived is None or case.format not in FORMAT_NAMES:
        return case.clauses
    clause = broken_clause(case.format, case.messages[0], case.context())
    return case.clauses if clause is None else (clause,)


def find_case(case_id: str, root: Path | None = None) -> Case:
    """Return a case, stored or derived. Raises: CorpusError.

    ``<id>@encode``, as reports name the other direction of a case, is the case itself.
    """
    base_id, _, name = case_id.partition(SIGN)
    base = load_case(base_id, root)
    if name in ("", "encode"):
        return base
    for case in derive_cases(base):
        if case.derived == name:
            return case
    raise CorpusError("no case is derived from this one under that name", case_id)


def _cuts(
    rules: FormatRules, message: Message, part: str, raw: bytes, spans: list[Span]
) -> Iterator[int]:
    sizes = set(range(len(raw)))
    legal = rules.legal_sizes(raw, spans)
    if len(raw) > rules.long_part:
        chosen = chosen_spans(spans, len(raw), rules.long_part)
        borders = {border for span in chosen for border in (span.start, span.end)}
        sizes &= {size for border in borders for size in (border - 1, border, border + 1)}
    for size in sorted(sizes):
        if size not in legal and not rules.legal_cut(message, part, size):
            yield size


def _with_part(message: Message, part: str, raw: bytes) -> Message:
    if isinstance(message, StoredFile):
        return StoredFile(message.path, raw)
    key, value = (raw, message.value) if part == "key" else (message.key, raw)
    return KafkaMessage(key, value, message.headers)


class _Derivation:
    """Makes the derived cases of one base case.

    ``replace`` would read every member of the base case again for each of them.
    """

    def __init__(self, base: Case) -> None:
        self._base = base
        self._shared: dict[str, Any] = {
            each.name: getattr(base, each.name) for each in fields(Case)
        }
        self._shared.update(
            level="must",
            expect="reject",
            origin=f"derived: from {base.id}",
            events=None,
            error={"message": 0},
            canonical=False,
            bugs=(),
            note=None,
            sha256={},
            files=(),
        )

    def case(self, name: str, what: str, message: Message, fault: Fault) -> Case:
        """Return the case of one change."""
        self._shared.update(
            id=f"{self._base.id}{SIGN}{name}",
            title=f"{self._base.title}; {what}",
            messages=(message,),
            derived=name,
            fault=fault,
        )
        return Case(**self._shared)
