"""What a format offers to everything that is not a codec: the runner, the command line, Spark.

The codecs' own packages offer more (``craft.decode`` gives the wire's values). A ``Format`` is the
common face: messages to neutral events and back, an explanation of bytes, options and losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from cdcwire.core.compiled import FastDecoder
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.options import Option, OptionValue, parse_options
from cdcwire.core.reader import Span
from cdcwire.core.rows import Row
from cdcwire.model.carries import Carries
from cdcwire.model.events import Column, Event, Table, Value

if TYPE_CHECKING:
    from cdcwire.core.schemas import SchemaUse
    from cdcwire.storage.form import StoredForm

Carrier: TypeAlias = Literal["queue", "storage"]
TableName: TypeAlias = "tuple[str | None, str]"  # schema, table
MessageDecoder: TypeAlias = Callable[[Message], Iterable[Row | Event]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables and columns that are wanted; None means all. The rest is skipped, undecoded."""

    tables: frozenset[TableName] | None = None
    columns: frozenset[str] | None = None

    def wants(self, schema: str | None, table: str) -> bool:
        return self.tables is None or (schema, table) in self.tables


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Compression:
    """The two functions of one compression, which the standard library lacks.

    ``decompress`` raises ValueError for bytes that are not compressed so. How large its result may
    get is its own business.
    """

    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Context:
    """What a codec is told beside the bytes.

    ``options``: the producer's settings. ``tables``: definitions, where the bytes need one.
    ``schemas``: Avro schema texts by id. ``blobs``: claim-check files by location.
    ``compressions``: functions by the names of the option ``large-message-handle-compression``.
    """

    options: Mapping[str, OptionValue] = field(default_factory=lambda: MappingProxyType({}))
    tables: tuple[Table, ...] = ()
    schemas: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    blobs: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    selection: Selection = EVERYTHING
    compressions: Mapping[str, Compression] = field(default_factory=lambda: MappingProxyType({}))


NO_CONTEXT = Context()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The spans of a message in the order of its bytes, and the error that ended them, if any."""

    spans: tuple[Span, ...]
    error: DecodeError | None = None
    warnings: tuple[str, ...] = ()


def _as_told(messages: Iterable[Message], context: Context) -> Context:
    return context


@dataclass(frozen=True, slots=True)
class Format:
    """One format. ``decode`` keeps no state between messages; ``encode`` batches as its producer.

    ``name``: as on the command line. ``title``: for people. ``page``: its page under docs/formats.
    ``shared_pages``: the pages, by name, whose clauses it shares with other formats.
    ``features``: what a testee may declare not to have, with a line each. ``choices``: what this
    codec does where the format leaves it open, by the subjects of the golden cases. ``warnings``:
    what decoding a message passes over, as the format allows it to. ``prepared``: the context with
    what some of the messages tell about others (table definitions in schema files); who has all
    messages of a feed calls it once, and decodes each by what it returned. It passes over messages
    that are broken: decoding them says so. ``needs_tables``: whether decoding needs definitions of
    tables beside the bytes. ``carriers``: where its messages travel; those of a storage sink are
    files (``StoredFile``), those of a queue ``KafkaMessage``.

    ``fast_decoder``: makes the measured decoder, where the format has one; see ``decoder``.
    ``skips_columns``: that decoder ignores columns that are not selected, so that a pass without
    columns is cheap. ``joins_halves``: it gives two adjacent records, the halves of an update, as
    one change. ``topic_tables``: for formats whose topics hold one table each, which the bytes do
    not name: the definitions that a topic may have (raises OptionError); else None.
    ``stored``: how it is stored in the files of a prefix; None: it is not. ``shard_text``: the text
    of a key column's value by which a row goes to a shard of its topic; None: there are no shards.

    Facts for comparing feeds. ``sends_operation``: False: an update is a row with an old value.
    ``deletes_have_position``: False: a delete is a key without anything else.
    ``updates_are_two_records``: an update is sent as its "before" and "after" halves.
    ``snapshot_rows_are_inserts``: rows of a snapshot are sent as inserts, not as reads.
    ``sends_changed_columns``: given the value of every option: whether old images have only the
    columns that an update changed. ``rewrite_name``: what the format makes of a name of a table or
    column that it can't write; None: it writes all names. ``schemas``: how messages name schemas
    that are found elsewhere; None: they need none.
    """

    name: str
    title: str
    page: str
    decode: Callable[[Message, Context], Iterator[Event]]
    encode: Callable[[Iterable[Event], Context], Iterator[Message]]
    explain: Callable[[Message, Context], Explanation]
    options: tuple[Option, ...]
    carries: Carries
    features: Mapping[str, str]
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: Callable[[Message], tuple[str, ...]] = lambda message: ()
    prepared: Callable[[Iterable[Message], Context], Context] = _as_told
    needs_tables: bool = False
    carriers: tuple[Carrier, ...] = ("queue",)
    has_claim_checks: bool = False
    shared_pages: tuple[str, ...] = ()
    fixes_bytes: Literal["yes", "by value"] = "yes"
    fast_decoder: Callable[[Context], FastDecoder] | None = None
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

    def decoder(self, context: Context) -> MessageDecoder:
        """Return the fastest decoder of messages to rows and events.

        Keep it for a whole feed: it remembers the layouts of tables. It accepts and rejects the
        same bytes as ``decode``, and raises the same DecodeError. It is not thread-safe.
        Raises: OptionError for an unknown option or value.
        """
        if self.fast_decoder is not None:
            return self.fast_decoder(context).decode
        parse_options(self.options, context.options)
        return lambda message: self.decode(message, context)
