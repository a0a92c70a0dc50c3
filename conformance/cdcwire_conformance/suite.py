"""What the suite knows of one format, declared once as ``SUITE`` in the format's own package.

General modules ask this object and never the format's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from cdcwire.core.format import Context
from cdcwire.core.registry import package_of
from cdcwire_conformance.corpus.mutations.rules import FormatRules
from cdcwire_conformance.known_wrong.decoder import KnownWrong

if TYPE_CHECKING:
    from cdcwire_conformance.arrow.stored_columns import StoredColumns


@dataclass(frozen=True, slots=True)
class FormatSuite:
    """What corpus, judge, Arrow and reports need to know of one format.

    ``mutations``: rules that derive malformed messages from legal ones.
    ``known_wrong``: decoders with one fault each; the corpus has to catch every one of them.
    ``stored_columns``: makes the reader of data files by columns; None: they are read row by row.
    """

    mutations: FormatRules
    known_wrong: tuple[KnownWrong, ...]
    stored_columns: Callable[[Context], StoredColumns] | None = None


def get_suite(format_name: str) -> FormatSuite:
    """Return the suite's part of a format. Raises: ValueError for an unknown format."""
    package = package_of(format_name)
    suite = import_module(f"cdcwire_conformance.formats.{package}.suite").SUITE
    assert isinstance(suite, FormatSuite)
    return suite
