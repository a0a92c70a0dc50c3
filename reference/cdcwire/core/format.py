"""The interface of a format for everything that is not a codec: runner, command line, Spark.

The codecs' own packages offer more (``craft.decode`` gives the wire's values). A ``Format`` is the
common face: messages to neutral events and back, an explanation of bytes, options and losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from cdcwire.core.compiled import FastDecoder, FastEncoder
from cdcwire.core.configuration import Connector
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import DecodedExplanation, Explanation
from cdcwire.core.guess import Guess
from cdcwire.core.limits import MAX_DECOMPRESSED_BYTES, SizeLimitError
from cdcwire.core.message import Message
from cdcwire.core.options import Option, OptionValue, parse_options
from cdcwire.core.reader import Span
from cdcwire.core.registry import get_format
from cdcwire.core.rows import Row, event_of
from cdcwire.model.carries import Carries
from cdcwire.model.events import Column, Event, Table, Value

if TYPE_CHECKING:
    from cdcwire.core.schemas import SchemaUse
    from cdcwire.storage.form import StoredForm

Carrier: TypeAlias = Literal["queue", "storage"]
TableName: TypeAlias = "tuple[str | None, str]"  # schema, table
MessageDecoder: TypeAlias = Callable[[Message], Iterable[Row | Event]]
MessageEncoder: TypeAlias = Callable[[Iterable[Row | Event]], Iterator[Message]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables and columns that are wanted; None means all. The rest is skipped, undecoded.

    Examples:
        >>> selection = Selection(tables=frozenset({("shop", "orders")}))
        >>> selection.wants("shop", "customers")
        False

    """

    tables: frozenset[TableName] | None = None
    columns: frozenset[str] | None = None

    def wants(self, schema: str | None, table: str) -> bool:
        """Return whether the rows of a table are wanted."""
        return self.tables is None or (schema, table) in self.tables


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Compression:
    """The two functions of one compression, which the standard library lacks.

    ``decompress`` raises ValueError for bytes that are not compressed so. ``decompress_within``
    does the same within a size: it raises SizeLimitError before it allocates more.
    ``limit``: the largest size of a result, in bytes.
    """

    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]
    decompress_within: Callable[[bytes, int], bytes] | None = None
    limit: int = MAX_DECOMPRESSED_BYTES

    def open(self, data: bytes) -> bytes:
        """Return decompressed bytes. Raises: SizeLimitError beyond the limit, ValueError."""
        if self.decompress_within is not None:
            return self.decompress_within(data, self.limit)
        raw = self.decompress(data)
        if len(raw) > self.limit:
            raise SizeLimitError(self.limit)
        return raw


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that a codec needs in addition to the bytes.

    ``options``: the producer's settings. ``tables``: definitions, where the bytes need one.
    ``schemas``: Avro schema texts by id. ``blobs``: claim-check files by location.
    ``compressions``: functions by the names of the option ``large-message-handle-compression``.

    Examples:
        >>> context = Context(options={"max-batch-size": 2})
        >>> context.options["max-batch-size"]
        2

    """

    options: Mapping[str, OptionValue] = field(default_factory=lambda: MappingProxyType({}))
    tables: tuple[Table, ...] = ()
    schemas: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    blobs: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    selection: Selection = EVERYTHING
    compressions: Mapping[str, Compression] = field(default_factory=lambda: MappingProxyType({}))


NO_CONTEXT = Context()


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


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its codec, options and losses, and the facts that general code asks for.

    Codec.
    ``to_events``, ``from_events`` and the method ``explain`` are the functions that the format's
    package exports by the same names.
    ``spans``: yields the spans of a message while it reads it, those of the key before those of the
    value. It may raise DecodeError, and may read past what decoding refuses. ``cuts_spans``:
    whether ``explain`` drops the spans after an error; not if the error is in another file.
    ``prepared`` adds to the context what some messages say about others, such as table definitions
    in schema files. Call it once with every message of a feed. It ignores broken messages; decoding
    them reports the error. ``warnings``: what decoding a message ignores, as the format permits.

    ``identify``: what a message of unknown origin shows of this format; None if nothing. It never
    raises.

    For people.
    ``name``: the id on the command line. ``title``: the name in reports. ``page``: its page under
    docs/formats. ``shared_pages``: the pages whose clauses it shares with other formats.

    Configuration that users already have.
    ``protocols``: the format's names as the protocol of a TiCDC changefeed. ``connectors``: the
    connectors of Kafka Connect that write or read it. Options declare the settings that give them.

    Testees.
    ``features``: the parts of the format that a testee may decline, with a line each. ``choices``:
    what this codec does where the format is open, by the subjects of the golden cases.
    ``fixes_bytes``: "by value" if producers may write the same event in different bytes.

    Feeds.
    ``needs_tables``: decoding needs table definitions. ``schemas``: how messages name schemas that
    are stored elsewhere; None if they name none. ``has_claim_checks``: a message may name a file
    that holds the row. ``carriers``: queue (``KafkaMessage``), storage (``StoredFile``) or both.
    ``stored``: the form of its data files; None if it has none. ``topic_tables``: the definitions
    that a topic may have, if a topic holds one table that its bytes do not name (raises
    OptionError). ``shard_text``: the text of a key value that selects a topic's shard; None without
    shards.

    Rows at speed, see ``decoder`` and ``encoder``.
    ``fast_decoder``, ``fast_encoder``: make them, if the format has them. ``skips_columns``: the
    fast decoder does not read columns that are not selected. ``joins_halves``: the fast decoder
    gives the two records of an update as one change.

    Facts for comparing feeds.
    ``sends_operation``: if False, an update is a row with an old value. ``deletes_have_position``:
    if False, a delete is a key and nothing else. ``updates_are_two_records``: an update is sent as
    a "before" and an "after" record. ``snapshot_rows_are_inserts``: rows of a snapshot are sent as
    inserts, not as reads. ``sends_changed_columns``: given the value of every option, whether old
    images have only the columns that an update changed. ``rewrite_name``: the name that is written
    for a table or column whose own name the format cannot write; None if it writes all names.
    """

    name: str
    title: str
    page: str
    to_events: ToEvents
    from_events: FromEvents
    spans: Callable[[Message, Context], Iterator[Span]]
    options: tuple[Option, ...]
    carries: Carries
    features: Mapping[str, str]
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: Callable[[Message, Context], tuple[str, ...]] = lambda message, context: ()
    cuts_spans: Callable[[DecodeError], bool] = _is_in_the_message
    identify: Callable[[Message], Guess | None] = lambda message: None
    prepared: Callable[[Iterable[Message], Context], Context] = _unchanged
    needs_tables: bool = False
    carriers: tuple[Carrier, ...] = ("queue",)
    has_claim_checks: bool = False
    shared_pages: tuple[str, ...] = ()
    fixes_bytes: Literal["yes", "by value"] = "yes"
    fast_decoder: Callable[[Context], FastDecoder] | None = None
    fast_encoder: Callable[[Context], FastEncoder[object]] | None = None
    skips_columns: bool = False
    joins_halves: bool = False
    topic_tables: Callable[[Context], tuple[Table, ...]] | None = None
    stored: StoredForm | None = None
    shard_text: Callable[[Column, Value], str | None] | None = None
    sends_operation: bool = True
    deletes_have_position: bool = True
    updates_are_two_records: bool = False
    snapshot_rows_are_inserts: bool = False
    sends_changed_columns: Callable[[Mapping[str, OptionValue]], bool] = lambda options: False
    rewrite_name: Callable[[str], str] | None = None
    schemas: SchemaUse | None = None
    protocols: tuple[str, ...] = ()
    connectors: tuple[Connector, ...] = ()

    def __reduce__(self) -> tuple[Callable[[str], Format], tuple[str]]:
        """Return how another process gets the format: by its name, as functions can't travel."""
        return get_format, (self.name,)

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

    def decoder(self, context: Context) -> MessageDecoder:
        """Return the fastest decoder of messages to rows and events.

        Keep it for a whole feed: it remembers the layouts of tables. It accepts and rejects the
        same bytes as ``to_events``, and raises the same DecodeError. It is not thread-safe.
        Raises: OptionError for an unknown option or value.
        """
        if self.fast_decoder is not None:
            return self.fast_decoder(context).decode
        parse_options(self.options, context.options)
        return lambda message: self.to_events(message, context=context)

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
