"""The kinds that the values of each column have in a feed, as far as these meet only with loss.

Without types in its messages, a column may have 1 in one row and "1" in another. Both are read as
text then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column

KindWords: TypeAlias = Mapping[str, frozenset[str]]
"""The words for the kinds of each column. A part of a column is ``v.member`` or ``v[]``."""

_NUMBERS = (kinds.IntType, kinds.FloatType, kinds.DecimalType, kinds.BitType, kinds.YearType)
_TEXTS = (kinds.EnumType, kinds.SetType, kinds.TextType)


def kind_words(columns: Iterable[Column]) -> KindWords:
    """Return the words for the kinds of some columns, each met once."""
    return {path: frozenset({word}) for each in columns for path, word in _parts(each)}


def joined_words(first: KindWords, second: KindWords) -> KindWords:
    """Return the words of both."""
    paths = dict.fromkeys((*first, *second))
    return {each: first.get(each, frozenset()) | second.get(each, frozenset()) for each in paths}


def mixed_words(words: KindWords) -> KindWords:
    """Return the columns that have values of several kinds."""
    return {path: each for path, each in words.items() if len(each) > 1}


def _parts(column: Column) -> Iterator[tuple[str, str]]:
    """Yield a column and its parts, with a word for each. A NULL fits every kind."""
    kind, name = column.type, column.name
    if isinstance(kind, _NUMBERS):
        yield name, "number"
    elif isinstance(kind, _TEXTS):
        yield name, "text"
    elif isinstance(kind, kinds.StructType):
        yield name, "struct"
        for each in kind.columns:
            yield from _parts(Column(f"{name}.{each.name}", each.type))
    elif isinstance(kind, (kinds.ArrayType, kinds.MapType)):
        item = kind.item if isinstance(kind, kinds.ArrayType) else kind.value
        yield name, "array" if isinstance(kind, kinds.ArrayType) else "map"
        yield from _parts(Column(f"{name}[]", item))
    elif not isinstance(kind, kinds.UnknownType):
        yield name, kind_text(kind).partition("(")[0]
