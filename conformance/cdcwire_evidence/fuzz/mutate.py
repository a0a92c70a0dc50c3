"""One change of an input, chosen by one number: bytes, structure, or what decoding needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Literal, TypeAlias, get_args

from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionError, parse_options
from cdcwire.model.events import Event, Table
from cdcwire.model.kinds import Column
from cdcwire.registry import get_format
from cdcwire_conformance.mutations import number_changes
from cdcwire_conformance.suite import get_suite
from cdcwire_evidence.fuzz.edits import edit_bytes, edit_json, is_json
from cdcwire_evidence.fuzz.event_edits import decoded, edited
from cdcwire_evidence.fuzz.inputs import (
    MOST_LAYERS,
    SIGN,
    Input,
    first_inputs,
    option_texts,
    other_carrier,
    parts_of,
    with_part,
)

# The message, its events, or what decoding needs: options, schemas, definitions, files, the path.
Kind: TypeAlias = Literal["message", "events", "surroundings"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def number_of(kind: Kind, chance: Random) -> int:
    """Return a number that chooses a change of this kind."""
    return chance.getrandbits(30) * len(KINDS) + KINDS.index(kind)


def mutated(given: Input, number: int) -> Input:
    """Return an input with one change; the number alone chooses it."""
    chance = Random(number)
    kind = KINDS[number % len(KINDS)]
    change = _change_message
    if kind == "events":
        change = _change_events
    elif kind == "surroundings" and _has_surroundings(given):
        change = chance.choice(_SURROUNDINGS)
    return replace(change(given, chance), trail=(*given.trail, number))


def made_again(name: str) -> Input:
    """Return the input of a name. Raises: LookupError where there is no such case."""
    case, _, trail = name.partition(SIGN)
    cases = first_inputs(case.partition("/")[0])
    found = next((each for each in cases if each.case == case), None)
    if found is None:
        raise LookupError(f"no golden case {case!r} is small enough to be an input")
    for number in filter(None, trail.split(".")):
        found = mutated(found, int(number))
    return found


def _has_surroundings(given: Input) -> bool:
    has_options = bool(get_format(given.format).options)
    return bool(given.tables or given.schemas or given.blobs or has_options)


def _other(given: Input, chance: Random) -> Input:
    return chance.choice(first_inputs(given.format))


class _Key:
    """An input and a part of it, compared by the name."""

    __slots__ = ("given", "index", "part", "value")

    def __init__(self, given: Input, index: int, part: str) -> None:
        self.given, self.index, self.part = given, index, part
        self.value = (given.case, given.trail, index, part)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


def _change_events(given: Input, chance: Random) -> Input:
    """Change the events and encode them. If that gives no message, change bytes instead."""
    events = _decoded(_Key(given, given.index, "events"))
    changed = edited(given, events, chance) if events else None
    return _change_message(given, chance) if changed is None else changed


@lru_cache(maxsize=64)
def _decoded(key: _Key) -> tuple[Event, ...]:
    return tuple(decoded(key.given))


def _change_message(given: Input, chance: Random) -> Input:
    index = given.index if chance.random() < 0.8 else chance.randrange(len(given.messages))
    message = given.messages[index]
    parts = parts_of(message)
    if not parts:
        return _with(given, index, with_part(message, "value", chance.randbytes(4)))
    part = chance.choice(list(parts))
    kind = chance.random()
    if kind < 0.02:  # null
        return _with(given, index, with_part(message, part, None))
    if kind < 0.022:
        return _with(given, index, other_carrier(message))
    if kind < 0.03 and isinstance(message, KafkaMessage) and message.key is None:
        key = parts_of(_other(given, chance).message).get("key", b"{}")
        return _with(given, index, with_part(message, "key", key))
    raw = parts[part]
    if chance.random() < 0.25:
        ruled = _by_rule(given, index, part, chance)
        if ruled is not None:
            return _with(given, index, with_part(message, part, ruled))
    others = parts_of(_other(given, chance).message)
    other = others.get(part, raw)
    return _with(given, index, with_part(message, part, _changed(given, part, raw, other, chance)))


def _changed(given: Input, part: str, raw: bytes, other: bytes, chance: Random) -> bytes:
    """Return changed bytes: as they are, or inside what packs them."""
    close: list[Callable[[bytes], bytes]] = []
    layers = get_suite(given.format).mutations.layers
    while len(close) < MOST_LAYERS and chance.random() < 0.7:
        inside = list(layers(part, raw, given.context()))
        if not inside:
            break
        layer = chance.choice(inside)
        raw = layer.inner
        close.append(layer.close)
    change = edit_json if is_json(raw) and chance.random() < 0.75 else edit_bytes
    raw = change(raw, other, chance)
    for around in reversed(close):
        raw = around(raw)
    return raw


def _by_rule(given: Input, index: int, part: str, chance: Random) -> bytes | None:
    """Return bytes that a rule of the format's own makes; None where no rule applies."""
    changes = _ruled(_Key(given, index, part))
    return chance.choice(changes) if changes else None


@lru_cache(maxsize=2048)
def _ruled(key: _Key) -> tuple[bytes, ...]:
    given = key.given
    format_, rules = get_format(given.format), get_suite(given.format).mutations
    message = given.messages[key.index]
    raw = parts_of(message)[key.part]
    try:
        context = format_.prepared(given.messages, given.context())
        explanation = format_.explain(message, context=context)
        options = parse_options(format_.options, given.options)
    except OptionError:
        return ()
    if explanation.error is not None or not rules.is_read(explanation.spans):
        return ()
    spans = [span for span in explanation.spans if span.part == key.part]
    numbers = number_changes(rules, explanation, key.part, raw)
    found = [change.raw for change in (*numbers, *rules.changes(raw, spans, options))]
    for span in spans:  # a field that is missing, or is there twice
        found.append(raw[: span.start] + raw[span.end :])
        found.append(raw[: span.end] + raw[span.start :])
    return tuple(found)


def _with(given: Input, index: int, message: Message) -> Input:
    messages = (*given.messages[:index], message, *given.messages[index + 1 :])
    return replace(given, messages=messages)


def _change_options(given: Input, chance: Random) -> Input:
    known = option_texts(given.format)
    if not known:
        return given
    name = chance.choice(list(known))
    return replace(given, options={**given.options, name: chance.choice(known[name])})


def _change_schemas(given: Input, chance: Random) -> Input:
    if not given.schemas:
        return given
    name = chance.choice(list(given.schemas))
    other = _other(given, chance).schemas
    source = chance.choice(list(other.values())) if other else "{}"
    text = given.schemas[name]
    if chance.random() < 0.1:
        return replace(given, schemas={**given.schemas, name: source})
    raw = edit_json(text.encode(), source.encode(), chance)
    return replace(given, schemas={**given.schemas, name: raw.decode("utf-8", "replace")})


def _change_blobs(given: Input, chance: Random) -> Input:
    if not given.blobs:
        return given
    name = chance.choice(list(given.blobs))
    if chance.random() < 0.05:
        return replace(given, blobs={k: v for k, v in given.blobs.items() if k != name})
    raw = given.blobs[name]
    change = edit_json if is_json(raw) else edit_bytes
    return replace(given, blobs={**given.blobs, name: change(raw, raw, chance)})


def _change_path(given: Input, chance: Random) -> Input:
    message = given.message
    if not isinstance(message, StoredFile):
        return given
    other = _other(given, chance).message
    path = message.path.encode()
    spliced = other.path.encode() if isinstance(other, StoredFile) else path
    path = edit_bytes(path, spliced, chance) if chance.random() < 0.7 else spliced
    return _with(given, given.index, StoredFile(path.decode("utf-8", "replace"), message.value))


def _change_tables(given: Input, chance: Random) -> Input:
    if not given.tables:
        return given
    index = chance.randrange(len(given.tables))
    table = _changed_table(given.tables[index], _columns(given.format), chance)
    if table is None:
        return replace(given, tables=(*given.tables[:index], *given.tables[index + 1 :]))
    return replace(given, tables=(*given.tables[:index], table, *given.tables[index + 1 :]))


@lru_cache(maxsize=32)
def _columns(format_name: str) -> tuple[Column, ...]:
    """Return the columns of all definitions in the corpus of a format."""
    tables = (table for each in first_inputs(format_name) for table in each.tables)
    return tuple(column for table in tables for column in table.columns or ())


def _changed_table(table: Table, known: tuple[Column, ...], chance: Random) -> Table | None:
    columns = list(table.columns or ())
    kind = chance.randrange(9)
    if kind == 0:
        return None
    if kind == 1 or not columns:
        return replace(table, columns=chance.choice((None, (), known[:1])))
    at = chance.randrange(len(columns))
    if kind == 2:
        columns.pop(at)
    elif kind == 3:
        columns.insert(at, chance.choice(columns))
    elif kind == 4:
        chance.shuffle(columns)
    elif kind == 5:
        columns[at] = replace(chance.choice(known), name=columns[at].name)
    elif kind == 6:
        columns[at] = chance.choice(known)
    elif kind == 7:
        names = [column.name for column in columns]
        return replace(table, key=chance.choice((None, (), ("no",), (chance.choice(names),))))
    else:
        return replace(table, version=chance.choice((None, 0, 1, (1 << 63) - 1)))
    return replace(table, columns=tuple(columns))


_SURROUNDINGS = (
    _change_options,
    _change_options,
    _change_schemas,
    _change_schemas,
    _change_tables,
    _change_tables,
    _change_blobs,
    _change_path,
)
