"""The suite's facts about avro, and the rules of its derived cases.

A record ends where its bytes end, and no record begins another, so that neither a cut nor a byte
more is ever legal. Other changes, in key and value alike:

* The first bytes of the envelope, and the id to one that no registry gives.
* The branch of a union to one that it does not have.
* A length to one that is negative, asks for all memory, or is one off. One off in the middle of a
  record shifts the bytes after it, which may be legal by chance.
* The bytes of a BIT or of a DECIMAL to none.
* A number, a length or a branch to a varint of eleven bytes.
* The operation and the flag of damaged rows to undefined values.
* A member of a DDL is left out.

Three things are not changed: white space after a DDL's JSON, which may be cut; a value of Glue cut
to nine bytes; columns of unknown types. The cut value of Glue is a delete with its timestamp under
the test options. The bytes of columns of unknown types do not say what they are.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial

from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.families.avro import (
    of_branch,
    of_envelope,
    of_length,
    of_number,
    replaced,
    varint_at,
    zigzag,
)
from cdcwire_conformance.families.connect import reads_int_as_long
from cdcwire_conformance.formats.avro.known_wrong import KNOWN_WRONG
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text
from cdcwire_conformance.mutations import Change, FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_WHITE_SPACE = b" \t\r\n"
_DELETE_BYTE = b"\x03"
_DELETE_BYTES = 9
_NUMBERS = frozenset({"avro: integer values", "avro: year values"})
# Strings and bytes; a BIGINT UNSIGNED is a string by mode, which its bytes show.
_WITH_LENGTH = frozenset(
    {
        *("avro: bigint unsigned", "avro: decimal values", "avro: decimal text"),
        *("avro: text values", "avro: binary values", "avro: bit values"),
        *("avro: enum and set values", "avro: temporal values", "avro: json values"),
        "avro: vector values",
    }
)
_NEVER_EMPTY = frozenset({"avro: decimal values", "avro: bit values"})
_TEXTS_OF_EXTENSION = frozenset({"_tidb_op", "_tidb_row_level_checksum"})
_DDL_MEMBERS = frozenset({"query", "type", "schema", "table", "commitTs"})


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a part may end: a DDL before the white space after its JSON."""
    if any(span.clause == "avro: ddl" for span in spans):
        return range(len(raw.rstrip(_WHITE_SPACE)), len(raw))
    return ()


def legal_cut(message: Message, part: str, size: int) -> bool:
    """Return whether this is a value of Glue cut to the size of a delete with its timestamp."""
    if part != "value" or size != _DELETE_BYTES or not isinstance(message, KafkaMessage):
        return False
    return message.key is not None and (message.value or b"").startswith(_DELETE_BYTE)


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a key or of a value."""
    for span in spans:
        name = str(span.path[-1])
        if span.clause in ("avro: envelope", "avro: glue envelope") or name == "kind":
            yield from of_envelope(raw, span, name)
        elif span.clause == "avro: ddl":
            if name in _DDL_MEMBERS:
                title = f"the member {name} is left out"
                made = raw[: span.start] + raw[span.end :]
                yield Change("member", span.start, "-1", title, made)
        elif span.clause in ("avro: union index", "avro: null and defaults"):
            yield from of_branch(raw, span)
        elif span.clause in _NUMBERS:
            yield from of_number(raw, span)
        elif span.clause in ("avro: extension fields", "avro: row checksum"):
            yield from _of_extension(raw, span, name)
        elif span.clause in _WITH_LENGTH:
            yield from _of_text(raw, span)


def _of_text(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield the changes of a string or bytes; a BIGINT UNSIGNED may be a long, by mode."""
    end, _ = varint_at(raw, span.start)
    if end == span.end and span.clause == "avro: bigint unsigned":
        yield from of_number(raw, span)
    else:
        yield from of_length(raw, span, is_never_empty=span.clause in _NEVER_EMPTY)


def _of_extension(raw: bytes, span: Span, name: str) -> Iterator[Change]:
    if name in _TEXTS_OF_EXTENSION:
        yield from of_length(raw, span)
    elif name != "_tidb_corrupted":
        yield from of_number(raw, span)
    if name == "_tidb_op":
        title = "the operation is X"
        made = replaced(raw, span, zigzag(1) + b"X")
        yield Change("tag", span.start, "=X", title, made, feature="op")


RULES = FormatRules(
    parts=("key", "value"), legal_cut=legal_cut, legal_sizes=legal_sizes, changes=changes
)

_TEXTS = frozenset({"avro: text values", "avro: ddl"})
LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("avro: decimal text", "avro: bigint unsigned", "avro: vector values"),
            *("avro: integer values", "avro: column types", "avro: schema limits"),
        }
    ),
    scalars=frozenset({"avro: ddl"}),
    mend=partial(mend_text, texts=_TEXTS),
    forgives=reads_int_as_long,
    is_framed=True,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#967bb6",
        note=(
            "`avro` has one row per message, without its old values. Its schemas are in a "
            "registry and are not counted: a message has only their ids."
        ),
        has_one_row_per_message=True,
    ),
    command="cdcwire_conformance.formats.avro.command",
)
