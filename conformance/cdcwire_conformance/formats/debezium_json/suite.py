"""The suite's facts about debezium-json.

Derived cases of Debezium JSON: those of Connect's JSON, at the members that all messages need. The
members that a message needs depend on its kind: ``op`` and ``source`` are needed by changes,
``status`` and ``id`` by the borders of transactions. Each of them is looked for only where it is.
Left out, ``op`` leaves something that is not a message.
"""

from collections.abc import Iterator, Mapping, Sequence

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.model.events import Path
from cdcwire_conformance.families.connect import (
    CONNECT_SCALARS,
    CONNECT_UNCHECKED,
    LONG_PART,
    changes_of,
    legal_sizes,
)
from cdcwire_conformance.formats.debezium_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.mutations import Change, FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_NEEDED = frozenset(
    (
        *(("op",), ("source",), ("message",), ("status",), ("id",)),
        *(("source", "ts_ms"), ("source", "table")),
    )
)
_POSITIONS: frozenset[Path] = frozenset({("source", "ts_ms")})
_TAGS = {"op": "x", "status": "ABORT"}
_of_changes = changes_of(_NEEDED, _TAGS, _POSITIONS)
_of_messages_without_table = changes_of(_NEEDED - {("source", "table")}, _TAGS, _POSITIONS)
_of_rows = changes_of(frozenset(), {}, frozenset())  # rows by themselves need none of these members


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong. Logical messages and statements may be about no table."""
    if options.get("transforms") == "unwrap":
        yield from _of_rows(raw, spans, options)
        return
    has_table = not any({"message", "tableChanges"} & set(span.path) for span in spans)
    yield from (_of_changes if has_table else _of_messages_without_table)(raw, spans, options)


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether readers look into the key: any text is a key of StringConverter."""
    return not any(span.part == "key" and span.clause == "debezium-json: keys" for span in spans)


RULES = FormatRules(
    parts=("key", "value"),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=LONG_PART,
    is_read=is_read,
)


LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"debezium-json: message version"},
    scalars=CONNECT_SCALARS
    | {
        *("debezium-json: source", "debezium-json: heartbeats"),
        "debezium-json: logical messages",
    },
    mend=mend_json,
)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#7a7a7a",
        note=(
            "`debezium-json` has one row per message, with the schema of its table unless the "
            "option schemas-enable is false. A delete needs only the key; the whole row is "
            "written, as it was given."
        ),
        has_one_row_per_message=True,
    ),
)
