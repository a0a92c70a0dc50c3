"""The interface of a format for everything that is not a codec: runner, command line, Spark.

The codecs' own packages offer more (``craft.decode`` gives the wire's values). A ``Format`` is the
common face: messages to neutral events and back, an explanation of bytes, options and losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from threading import local
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from cdcwire.core.comparing import Comparing
from cdcwire.core.compiled import FastDecoder, FastEncoder
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import DecodedExplanation, Explanation
from cdcwire.core.guess import Guess
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import Connector, Option, parse_options
from cdcwire.core.reader import Span
from cdcwire.core.rows import Row, event_of
from cdcwire.model.carries import Carries
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import Column, Value

if TYPE_CHECKING:
    from cdcwire.core.context import SchemaUse
    from cdcwire.storage.form import StoredForm


Carrier: TypeAlias = Literal["queue", "storage"]
MessageDecoder: TypeAlias = Callable[[Message], Iterable[Row | Event]]
MessageEncoder: TypeAlias = Callable[[Iterable[Row | Event]], Iterator[Message]]


class ToEvents(Protocol):
    """A function that translates a message into neutral events, without state between messages.

    Raises: DecodeError for bytes that break the format, OptionError for a wrong option.
    """

    def __call__(self, message: Message, /, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        """Yield the events of a message."""
        ...


class FromEvents(Protocol):
    """A function that translates neutral events into messages, batched as the producer does.

    Raises: EncodeError, with the number of the event in its path; OptionError.
    """

    def __call__(
        self, events: Iterable[Event], /, *, context: Context = NO_CONTEXT
    ) -> Iterator[Message]:
        """Yield the messages of a feed, and the files that they need."""
        ...


class Explain(Protocol):
    """A function that explains the bytes of a message. Raises: OptionError."""

    def __call__(self, message: Message, /, *, context: Context = NO_CONTEXT) -> Explanation:
        """Return the spans up to the first error, and that error."""
        ...


def _is_in_the_message(error: DecodeError) -> bool:
    return error.path[:1] != ("claim_check",)


def _unchanged(messages: Iterable[Message], context: Context) -> Context:
    return context


@dataclass(frozen=True, slots=True, repr=False)
class Format:
    """One format: its codec, options and losses, and the facts that general code asks for."""

    # For people, and on the command line.
    name: str
    title: str
    """The name in reports."""
    page: str
    """Its page under docs/formats."""

    # The codec.
    to_events: ToEvents
    """The plain decoder, which reads like the format's page: the oracle of the fast decoder."""
    from_events: FromEvents
    spans: Callable[[Message, Context], Iterator[Span]]
    """Yields the spans of a message while it reads it, those of the key before those of the value.
    It may raise DecodeError, and may read past what decoding refuses."""
    options: tuple[Option, ...]
    """The producer's settings; each also declares where users' configurations have it."""
    carries: Carries
    """The fields and kinds that survive a round trip."""

    # Testees.
    features: Mapping[str, str]
    """The parts of the format that a testee may decline, with a line each."""
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The choices of this codec where the format is open, by the subjects of the golden cases."""
    fixes_bytes: Literal["yes", "by value"] = "yes"
    """"by value" if producers may write the same event in different bytes."""
    shared_pages: tuple[str, ...] = ()
    """The pages whose clauses it shares with other formats."""

    # More of the codec.
    warnings: Callable[[Message, Context], tuple[str, ...]] = lambda message, context: ()
    """The parts of a message that decoding ignores, as the format permits."""
    cuts_spans: Callable[[DecodeError], bool] = _is_in_the_message
    """Given an error: ``explain`` drops the spans after it; not if it is in another file."""
    identify: Callable[[Message], Guess | None] = lambda message: None
    """Returns the guess from a message of unknown origin, or None. It never raises."""
    prepared: Callable[[Iterable[Message], Context], Context] = _unchanged
    """Adds the facts in some messages about others to the context, such as definitions in schema
    files. Call it once with every message of a feed. It ignores broken messages; decoding them
    reports the error."""

    # Rows at speed, see ``decoder`` and ``encoder``.
    fast_decoder: Callable[[Context], FastDecoder] | None = None
    fast_encoder: Callable[[Context], FastEncoder[object]] | None = None
    skips_columns: bool = False
    """The fast decoder does not read columns that are not selected."""
    joining_decoder: Callable[[Context], FastDecoder] | None = None
    """A fast decoder for comparisons. It gives the two records of an update as one change."""

    # Feeds.
    carriers: tuple[Carrier, ...] = ("queue",)
    """Queue (``KafkaMessage``), storage (``StoredFile``) or both."""
    needs_tables: bool = False
    """Decoding needs table definitions."""
    schemas: SchemaUse | None = None
    """How messages name schemas that are stored elsewhere; None if they name none."""
    tables_in: Callable[[KafkaMessage, Context], tuple[Table, ...]] | None = None
    """Returns the definitions of tables in a message of a queue, which other messages need. It
    ignores broken messages. None: no message has any."""
    has_claim_checks: bool = False
    """A message may name a file that holds the row."""
    topic_tables: Callable[[Context], tuple[Table, ...]] | None = None
    """The definitions that a topic may have, if a topic holds one table that its bytes do not name.
    Raises: OptionError."""
    stored: StoredForm | None = None
    """The form of its data files; None if it has none."""
    shard_text: Callable[[Column, Value], str | None] | None = None
    """The text of a key value that selects a topic's shard; None without shards."""
    comparing: Comparing = field(default_factory=Comparing)
    """The facts that a comparison of two feeds asks for."""

    # Configuration that users already have.
    protocols: tuple[str, ...] = ()
    """Its names as the protocol of a TiCDC changefeed."""
    connectors: tuple[Connector, ...] = ()
    """The connectors of Kafka Connect that write or read it."""

    def __repr__(self) -> str:
        return f"<Format {self.name}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the name in IPython and Hypothesis, which print every field otherwise."""
        printer.text(repr(self))

    def __reduce__(self) -> tuple[Callable[[str], Format], tuple[str]]:
        """Return how another process gets the format: by its module, as functions can't travel."""
        return format_in, (self.to_events.__module__,)

    def explain(self, message: Message, *, context: Context = NO_CONTEXT) -> Explanation:
        """Return the spans of every byte of a message, in the order of the bytes.

        On broken bytes: the spans up to the error, and the error that decoding raises.
        Raises: OptionError.

        Examples:
            >>> from cdcwire import KafkaMessage, craft
            >>> found = craft.explain(KafkaMessage(None, bytes.fromhex("010003010101020a09010005")))
            >>> span = found.spans[2]
            >>> span.start, span.path, span.text, span.clause
            (2, ('events', 0, 'type'), '3 (resolved)', 'craft: event types')

        """
        context = replace(context, selection=EVERYTHING)
        return DecodedExplanation(
            partial(self.spans, message, context),
            self.to_events(message, context=context),
            self.cuts_spans,
            partial(self.warnings, message, context),
        )

    @property
    def joins_halves(self) -> bool:
        """True if comparisons get the two records of an update as one change."""
        return self.joining_decoder is not None

    def decoder(self, context: Context, *, joins_halves: bool = False) -> MessageDecoder:
        """Return the fastest decoder of messages to rows and events.

        Keep it for a whole feed: it remembers the layouts of tables. It gives the same events as
        ``to_events``, and raises the same DecodeError. ``joins_halves``: the two records of an
        update may come as one change. It is not thread-safe.
        Raises: OptionError for an unknown option or value.
        """
        decode = self._decoder_of_all(context, joins_halves=joins_halves)
        if context.selection.reads:
            return decode
        return lambda message: [each for each in decode(message) if not is_read(each)]

    def _decoder_of_all(self, context: Context, *, joins_halves: bool) -> MessageDecoder:
        if joins_halves and self.joining_decoder is not None:
            return self.joining_decoder(context).decode
        if self.fast_decoder is not None:
            return self.fast_decoder(context).decode
        parse_options(self.options, context.options)
        return lambda message: self.to_events(message, context=context)

    def events(self, message: Message, *, context: Context = NO_CONTEXT) -> list[Event]:
        """Return the events of a message, as the format's package exports it: ``to_events``.

        Same events and errors as the plain decoder, but fast: each thread keeps the decoders of its
        last contexts. Bytes are decoded when it is called.
        Raises: DecodeError, OptionError.

        Examples:
            >>> from cdcwire import KafkaMessage, craft
            >>> message = KafkaMessage(None, bytes.fromhex("010003010101020a09010005"))
            >>> [event] = craft.to_events(message)
            >>> event.what, event.position.commit_ts
            ('resolved', 0)

        """
        return list(map(event_of, _kept_decoder(self, context)(message)))

    def encoder(self, context: Context) -> MessageEncoder:
        """Return the fastest encoder of rows and events to messages.

        Keep it for a whole feed: it remembers the columns of tables. It gives the same messages as
        ``from_events``, and raises the same EncodeError. It is not thread-safe.
        Raises: OptionError for an unknown option or value.
        """
        if self.fast_encoder is not None:
            return self.fast_encoder(context).encode
        parse_options(self.options, context.options)

        def encode(events: Iterable[Row | Event]) -> Iterator[Message]:
            return self.from_events(map(event_of, events), context=context)

        return encode


def is_read(event: Row | Event) -> bool:
    """Return whether an event is a row of a snapshot."""
    return isinstance(event, (Row, RowChange)) and event.op == "read"


_MAX_KEPT = 16
_OF_THREAD = local()  # fast decoders are not thread-safe


def _kept_decoder(format_: Format, context: Context) -> MessageDecoder:
    """Return the decoder of a context; make it if this thread has none for these very options.

    A context is known by its identity, and it is kept, so that no other one gets its identity.
    """
    kept: dict[tuple[str, int], tuple[Context, object, MessageDecoder]]
    kept = _OF_THREAD.__dict__.setdefault("decoders", {})
    key = format_.name, id(context)
    found = kept.get(key)
    # The mapping may be changed. Values of other types differ: 1 is not True.
    options = [(name, type(value), value) for name, value in context.options.items()]
    if found is not None and found[1] == options:
        return found[2]
    decode = format_.decoder(context)
    if len(kept) >= _MAX_KEPT:
        kept.clear()
    kept[key] = context, options, decode
    return decode


def format_in(module: str) -> Format:
    """Return the ``FORMAT`` of a module, which also has the format's ``to_events``."""
    found: Format = import_module(module).FORMAT
    return found


CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "integer ranges": "refuses a number outside the range of its column or field",
        "text shapes": "refuses a text without the form of its type: 2024-13-01 as a date",
        "json types": "refuses a number for a text, a text for a number, 1.0 for 1, and the like",
        "letter case": "refuses words of the format in other letters: insert for INSERT",
        "well-formed utf-8": "refuses texts and names that are not UTF-8",
        "lone surrogates": "refuses an escape of half a surrogate pair",
        "unique names": "refuses a duplicate member, column or field",
        "strict json": "refuses a byte order mark, NaN and other extensions of JSON",
        "strict base64": "refuses base64 without padding, with spaces, or of the URL-safe alphabet",
        "undefined types": "refuses a value of a column whose type is not defined",
        "not null": "refuses NULL where the schema forbids it",
        "limits": "refuses what is deeper, longer or larger than a limit of the page",
        "unneeded members": "refuses wrong, missing or surplus members that say nothing of the row",
        "checksums": "refuses wrong checksums and hashes, and sizes that repeat others",
        "paths": "refuses paths and index files that no producer writes",
    }
)
"""Checks that a strict reader makes and a lenient one need not: features that a testee may decline.

A message that breaks only such a check still has one reading. No case of level ``must`` asks for
them, in any format.
"""


def checks(*names: str) -> dict[str, str]:
    """Return these checks with their descriptions, for the features of a format."""
    return {name: CHECKS[name] for name in names}
