"""The suite's facts about craft-proposal.

Derived cases follow the proposal. A reader of the proposal ignores surplus bytes inside a stated
size, undefined group and event types, and size tables that are not needed. So fewer numbers have
one right value than in the shipped format:

* Undefined event and group types are legal, so they give no case.
* A length or a size that is too small leaves surplus; one that is too large may end in surplus. So
  off by one may be legal by chance. The sizes of keys and of values add up exactly, and are sure.
* The group tables of an event of unknown type say nothing.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.reader import Reader
from cdcwire.format import Format
from cdcwire.formats.craft.profile import PROPOSAL, present
from cdcwire.formats.craft.proposal.events import events_of
from cdcwire.formats.craft.proposal.wire import decode, read_message
from cdcwire.formats.craft.settings import read_settings
from cdcwire.model.events import Event
from cdcwire_conformance.formats.craft.known_wrong import (
    CRAFT_FAULTS,
    groups_by_position,
    wire_faults,
)
from cdcwire_conformance.formats.craft.mutations import (
    COLUMN,
    GROUP,
    TablesLayout,
    has_bytes,
    is_null,
    is_one,
    rewriter,
)
from cdcwire_conformance.formats.craft.suite import CLAIM, mend_version_or_text
from cdcwire_conformance.known_wrong.decoder import KnownWrong, right, wrong_decoder
from cdcwire_conformance.known_wrong.lenient import Liberties
from cdcwire_conformance.mutations import (
    BOMB_COUNT,
    BOMB_SIZE,
    FormatRules,
    NumberRule,
    Site,
)
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_EVENT = r"events\[\d+\]"
_NAME_LENGTH = rf"(?:{_EVENT}\.(?:schema|table)|{COLUMN}\.name)\.length"
_GROUP_COUNT = r"size_tables\.groups\[\d+\]\.count"
_GROUP_SIZE = r"size_tables\.groups\[\d+\]\[\d+\]"
_KNOWN_EVENT_TYPES = (1, 2, 3)


def _is_of_known_event(site: Site) -> bool:
    """Return whether the group table of this number belongs to an event of a defined type."""
    return site.number_at("events", site.span.path[2], "type") in _KNOWN_EVENT_TYPES


RULES = FormatRules(
    parts=("value",),
    rewrite=rewriter(
        TablesLayout("keys", "values", fixed=(("version",), ("number_of_pairs",)), has_deltas=False)
    ),
    numbers=(
        NumberRule("number_of_pairs", "count", steps=(-1, 1)),
        NumberRule(_EVENT + r"\.query\.length", "length", steps=(-1, 1), is_certain=False),
        NumberRule(_EVENT + r"\.query\.length", "length", bomb=BOMB_SIZE),
        NumberRule(GROUP + r"\.count", "count", steps=(-1,), applies=is_one),
        NumberRule(GROUP + r"\.count", "count", steps=(1,), is_certain=False),
        NumberRule(GROUP + r"\.count", "count", bomb=BOMB_COUNT),
        NumberRule(COLUMN + r"\.length", "length", steps=(-1,), applies=is_null),
        NumberRule(
            COLUMN + r"\.length", "length", steps=(-1, 1), applies=has_bytes, is_certain=False
        ),
        NumberRule(COLUMN + r"\.length", "length", bomb=BOMB_SIZE - 1),
        NumberRule(_NAME_LENGTH, "length", steps=(-1, 1), is_certain=False),
        NumberRule(_NAME_LENGTH, "length", bomb=BOMB_SIZE),
        NumberRule(r"size_tables\.(?:keys|values)\.count", "count", steps=(-1, 1), bomb=BOMB_COUNT),
        NumberRule(r"size_tables\.(?:keys|values)\[\d+\]", "size", steps=(-1, 1), bomb=BOMB_SIZE),
        NumberRule(_GROUP_COUNT, "count", steps=(-1, 1), is_certain=False),
        NumberRule(_GROUP_COUNT, "count", bomb=BOMB_COUNT),
        NumberRule(_GROUP_SIZE, "size", steps=(-1, 1), is_certain=False),
        NumberRule(_GROUP_SIZE, "size", bomb=BOMB_SIZE, applies=_is_of_known_event),
        NumberRule("tail", "size", steps=(-1, 1), bomb=BOMB_SIZE),
    ),
)


def _events_of(reader: Reader, context: Context) -> list[Event]:
    decoded = read_message(reader, context.selection)
    return list(events_of(decoded, read_settings(context)))


def _with_another_name(error: DecodeError, value: bytes) -> bytes:
    """Return a message whose second column of one name has another name of the same size."""
    if error.path[-1:] != ("name",):
        raise error
    first = bytes((value[error.offset] ^ 1,))
    return value[: error.offset] + first + value[error.offset + 1 :]


@wrong_decoder("a group may have a column twice")
def repeated_columns_accepted(format_: Format, message: Message, context: Context) -> list[Event]:
    """Rename the second of two columns with one name, then decode."""
    try:
        return right(format_, message, context)
    except DecodeError as error:
        other = _with_another_name(error, present(message.value, PROPOSAL))
        return right(format_, replace(message, value=other), context)


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CRAFT_FAULTS,
    *wire_faults(_events_of, PROPOSAL),
    groups_by_position(decode, events_of),
    repeated_columns_accepted,
)


_TEXTS = frozenset(
    {
        "craft-proposal: ddl events",
        "craft-proposal: strings",
        "craft-proposal: names",
        "craft-proposal: string arrays",
        "craft-proposal: values",
    }
)

LIBERTIES = Liberties(mend=mend_version_or_text("craft-proposal: version", b"\x00\x01", _TEXTS))
SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(color="#7fb7dd", claim=CLAIM),
)
