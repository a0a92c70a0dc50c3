"""Definitions that a feed sends, next to those of the caller."""

from __future__ import annotations

from cdcwire.core.context import Context, with_sent_tables
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType, TextType

NUMBERS = Table("t", "d", columns=(Column("a", IntType(32)),), version=9)
TEXTS = Table("t", "d", columns=(Column("a", TextType()),), version=9)
OTHER = Table("u", "d", columns=(Column("a", TextType()),))


def test_definition_of_the_feed_replaces_that_of_its_version() -> None:
    assert with_sent_tables(Context(tables=(TEXTS, OTHER)), [NUMBERS]).tables == (OTHER, NUMBERS)


def test_repeated_definition_counts_where_it_is_last() -> None:
    assert with_sent_tables(Context(), [NUMBERS, TEXTS, NUMBERS]).tables == (TEXTS, NUMBERS)


def test_feed_without_definitions_leaves_the_context() -> None:
    context = Context(tables=(OTHER,))
    assert with_sent_tables(context, [Table("t", "d", columns=())]) is context
