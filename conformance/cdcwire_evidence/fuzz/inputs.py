"""The inputs of the fuzzer: the messages of a case, and all that decoding them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random

from cdcwire.compressions import known_compressions
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Table
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case, CorpusError
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.suite import get_suite

SIGN = "#"
MAX_BYTES = 1 << 14  # of a case that inputs are made from; growth is measured separately
MAX_MESSAGES = 4
MOST_LAYERS = 3  # frames and compressions around each other that are looked into


@dataclass(frozen=True, slots=True)
class Input:
    """One input. ``name``: the case and the changes. ``index``: the message that is decoded."""

    case: str
    trail: tuple[int, ...]
    format: str
    messages: tuple[Message, ...]
    index: int
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    schemas: Mapping[str, str] = field(default_factory=dict)
    blobs: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The line that makes this input again: ``craft/rows/insert#17.4``."""
        return f"{self.case}{SIGN}{'.'.join(map(str, self.trail))}"

    @property
    def message(self) -> Message:
        """The message that is decoded."""
        return self.messages[self.index]

    @property
    def size(self) -> int:
        """The bytes of the message and of everything that is read with it."""
        texts = sum(map(len, self.schemas.values())) + sum(map(len, self.blobs.values()))
        return texts + sum(map(size_of, self.messages))

    def context(self) -> Context:
        """Return the context as a user gives it, before ``Format.prepared``."""
        return Context(
            self.options,
            self.tables,
            self.schemas,
            self.blobs,
            compressions=known_compressions(),
        )


def size_of(message: Message) -> int:
    """Return the bytes of a message."""
    key = message.key if isinstance(message, KafkaMessage) else None
    return len(key or b"") + len(message.value or b"")


@cache
def first_inputs(format_name: str) -> tuple[Input, ...]:
    """Return an input for each golden case of a format, unchanged, in the order of the ids."""
    found = []
    for case in sorted(load_cases((format_name,)), key=lambda case: case.id):
        made = _input_of(case)
        if made is not None and made.size <= MAX_BYTES:
            found.append(made)
    return tuple(found)


def _input_of(case: Case) -> Input | None:
    """Return the input of a case; None for a case whose bytes are not all in it."""
    try:
        context = case.context()
    except CorpusError:
        return None
    if not case.messages:
        return None
    index = Random(case.id).randrange(len(case.messages))
    messages = case.messages
    if len(messages) > MAX_MESSAGES:  # the files that describe others come first, or are few
        first = max(0, min(index, len(messages) - MAX_MESSAGES))
        messages, index = messages[first : first + MAX_MESSAGES], index - first
    return Input(
        case.id,
        (),
        case.format,
        messages,
        index,
        context.options,
        context.tables,
        context.schemas,
        context.blobs,
    )


def parts_of(message: Message) -> dict[str, bytes]:
    """Return the parts of a message that hold bytes."""
    sides = {"value": message.value}
    if isinstance(message, KafkaMessage):
        sides["key"] = message.key
    return {name: side for name, side in sides.items() if side is not None}


def unpacked_size(given: Input) -> int:
    """Return the most bytes that a part of the message has without its frames and compression."""
    layers, context = get_suite(given.format).mutations.layers, given.context()
    largest = 0
    for part, raw in parts_of(given.message).items():
        inside = [raw]
        for _ in range(MOST_LAYERS):
            largest = max(largest, *map(len, inside))
            inside = [layer.inner for outer in inside for layer in layers(part, outer, context)]
            if not inside:
                break
    return largest


def with_part(message: Message, part: str, raw: bytes | None) -> Message:
    """Return a message with other bytes in one part."""
    if isinstance(message, StoredFile):
        return StoredFile(message.path, raw or b"")
    if part == "key":
        return KafkaMessage(raw, message.value, message.headers)
    return KafkaMessage(message.key, raw, message.headers)


def other_carrier(message: Message) -> Message:
    """Return a file with the value of a message, or a message with the bytes of a file."""
    if isinstance(message, StoredFile):
        return KafkaMessage(None, message.value)
    return StoredFile("stray", message.value or b"")


@cache
def option_texts(format_name: str) -> Mapping[str, tuple[OptionValue, ...]]:
    """Return the values that each option has in the corpus, and its allowed values."""
    found: dict[str, dict[OptionValue, None]] = {}
    for option in get_format(format_name).options:
        values = found.setdefault(option.name, {})
        values[option.default] = None
        if option.values:
            values.update(dict.fromkeys(option.values))
        elif isinstance(option.default, bool):
            values.update({True: None, False: None})
        elif isinstance(option.default, int):
            values.update(dict.fromkeys((0, 1, 2, 10, 1 << 31)))
    for each in first_inputs(format_name):
        for name, value in each.options.items():
            found.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in found.items()}
