"""The suite's facts about one format, declared once as ``SUITE`` in the format's own package.

General modules ask this object and never the format's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.registry import package_of
from cdcwire_conformance.known_wrong.decoder import KnownWrong
from cdcwire_conformance.known_wrong.lenient import Liberties
from cdcwire_conformance.mutations import FormatRules

if TYPE_CHECKING:
    from cdcwire.arrow.batches import BatchBuilder
    from cdcwire.arrow.column_decoders import MessageColumns, StoredColumns


@dataclass(frozen=True, slots=True)
class SizeClaim:
    """A published claim: raw messages of a binary format can be smaller than compressed JSON."""

    source: str
    subject: str
    compression: str


@dataclass(frozen=True, slots=True)
class SizeFacts:
    """The facts about a format for a report of sizes.

    ``color``: of its bars; an empty text takes one that is free. ``note``: a paragraph for readers
    of the figures. ``has_one_row_per_message``: messages stay short with every batch size.
    ``is_json_baseline``: the JSON that other formats are compared with; one format is. ``claim``:
    checked against that JSON.
    """

    color: str = ""
    note: str = ""
    has_one_row_per_message: bool = False
    is_json_baseline: bool = False
    claim: SizeClaim | None = None


@dataclass(frozen=True, slots=True)
class FormatSuite:
    """The facts about one format that corpus, judge, Arrow and reports need.

    ``mutations``: rules that derive malformed messages from legal ones. ``known_wrong``: decoders
    with one fault each; the corpus has to catch every one of them. ``liberties``: what a lenient
    reader need not check; the corpus must not ask it for that. ``stored_columns``: makes the reader
    of data files by columns; None: they are read row by row. ``message_columns``: the same for the
    messages of one table. ``size``: what a report of sizes says of it. ``command``: the module of
    the format's separate command, which is called by the format's name; it is imported when it is
    called.
    """

    mutations: FormatRules
    known_wrong: tuple[KnownWrong, ...]
    liberties: Liberties
    stored_columns: Callable[[Context], StoredColumns] | None = None
    size: SizeFacts = SizeFacts()
    message_columns: Callable[[BatchBuilder, Context], MessageColumns] | None = None
    command: str | None = None


def get_suite(format_name: str) -> FormatSuite:
    """Return the suite's part of a format. Raises: ValueError for an unknown format."""
    package = package_of(format_name)
    suite = import_module(f"cdcwire_conformance.formats.{package}.suite").SUITE
    assert isinstance(suite, FormatSuite)
    return suite
