"""The rules of Debezium Avro: keys and values after the ids of their schemas.

A datum ends where its bytes end, and no datum begins another, so that neither a cut nor a byte more
is ever legal. Other changes, in key and value alike:

* The first bytes of the framing, and the id to one that no registry gives.
* The branch of a union to one that it does not have.
* A length to one that is negative, asks for all memory, or is one off. One off in the middle of a
  datum shifts the bytes after it, which may be legal by chance.
* A number, a length or a branch to a varint of eleven bytes.
* The operation and the status of a transaction to undefined ones.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules
from cdcwire_conformance.families.avro_mutations import (
    of_branch,
    of_envelope,
    of_length,
    of_number,
    replaced,
    varint_at,
    zigzag,
)

_NO_BRANCH = 63  # unions of several types are read too
_FRAMINGS = frozenset({"avro: envelope", "avro: glue envelope", "debezium-avro: framing"})
_TAGS: Mapping[tuple[str, ...], bytes] = {("value", "op"): b"x", ("value", "status"): b"ABORT"}


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a part may end before its end: nowhere."""
    return ()


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a key or of a value."""
    is_row = options.get("transforms") == "unwrap"  # whose members may have any text
    for span in spans:
        if span.clause in _FRAMINGS:
            yield from of_envelope(raw, span, str(span.path[-1]))
        elif span.clause == "avro: union index":
            yield from of_branch(raw, span, beyond=_NO_BRANCH)
        elif span.clause == "avro: lengths":
            yield from of_number(raw, span)
        elif isinstance(span.value, (str, bytes)):
            yield from _of_text(raw, span)
            tag = None if is_row else _TAGS.get(tuple(map(str, span.path)))
            if tag is not None:
                title = f"{span.path[-1]} is {tag.decode()}"
                made = replaced(raw, span, zigzag(len(tag)) + tag)
                yield Change("tag", span.start, f"={tag.decode()}", title, made)
        elif isinstance(span.value, int) and not isinstance(span.value, bool):
            yield from of_number(raw, span)


def _of_text(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield the changes of a string or bytes, but not of Avro's enums and of fixed bytes."""
    end, length = varint_at(raw, span.start)
    if end + length == span.end:
        yield from of_length(raw, span)


RULES = FormatRules(parts=("key", "value"), legal_sizes=legal_sizes, changes=changes)
