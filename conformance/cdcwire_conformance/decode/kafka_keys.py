"""Kafka keys that contradict the row of their message.

A key is read only if its bytes differ from the expected ones. These are the bytes of an earlier key
with the values of the row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, islice
from typing import Any, TypeAlias

from cdcwire.arrow.batches import MessagePlace
from cdcwire.core.comparing import KeyContent, KeyReader
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import Row
from cdcwire.model.events import RowChange, TableName
from cdcwire.model.kinds import UNAVAILABLE, Column

FIRST_SHOWN = 5
MAX_DIGESTS = 1 << 14  # of one feed, to be compared
_DIGEST_BYTES = 16
_PLAIN_TEXT = re.compile(r"[\w.:+ -]*", re.ASCII)  # JSON writes it as it is
_JSON_STARTS = (b"{", b"[")
_MAX_TABLES = 1 << 10
_NO_COLUMN = -1
_MAX_FORMS = 1 << 4  # of the keys of one table
_ABSENT, _ABSENT_EARLIER = "absent", "absent earlier"

Image: TypeAlias = "tuple[tuple[Column, ...], tuple[Any, ...]]"
_Columns: TypeAlias = "tuple[Column, ...]"
_Places: TypeAlias = "tuple[_Columns, _Columns, tuple[int, ...]]"  # of a key's columns in a row
_Template: TypeAlias = "tuple[tuple[str, ...], tuple[bytes, ...]]"  # names, and the bytes around


@dataclass(frozen=True, slots=True)
class KeyContradiction:
    """A column, or with ``column`` None a table, that a key names otherwise than its row.

    ``in_key`` and ``in_row``: the values as text; None: NULL. The first may also say that the key
    lacks the column, or that earlier keys of the table lack it.
    """

    place: MessagePlace
    table: TableName
    column: str | None
    in_key: str | None
    in_row: str | None


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The columns that keys of a table name, and the first row with such a key: its texts."""

    names: frozenset[str]
    place: MessagePlace
    row: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """The Kafka keys of a share of a feed.

    ``keyed``: rows by table whose message has a key, and ``bare`` those without. ``unread``: rows
    whose key has a value that can't be compared with the row, or no value. ``contradicting``: rows
    whose key contradicts them. ``digests``: of these, without repeats, at most ``MAX_DIGESTS``.
    ``first``: of these. ``forms``: of the keys of each table, in the order of the feed.
    """

    keyed: Counter[TableName] = field(default_factory=Counter)
    bare: Counter[TableName] = field(default_factory=Counter)
    unread: int = 0
    contradicting: int = 0
    digests: frozenset[int] = frozenset()
    first: tuple[KeyContradiction, ...] = ()
    forms: Mapping[TableName, tuple[KeyForm, ...]] = field(default_factory=dict)

    def with_forms(self) -> KeyFacts:
        """Return the facts of a whole feed: a key of another form than the first contradicts it."""
        others = {table: forms for table, forms in self.forms.items() if len(forms) > 1}
        digests = (
            _digest((table, sorted(sorted(each.names) for each in forms)))
            for table, forms in others.items()
        )
        more = (each for table, forms in others.items() for each in _other_forms(table, forms))
        return replace(
            self,
            contradicting=self.contradicting + sum(len(forms) - 1 for forms in others.values()),
            digests=self._digests(frozenset(digests)),
            first=tuple(islice(chain(self.first, more), FIRST_SHOWN)),
        )

    def joined(self, other: KeyFacts) -> KeyFacts:
        """Return the facts of both shares."""
        return KeyFacts(
            self.keyed + other.keyed,
            self.bare + other.bare,
            self.unread + other.unread,
            self.contradicting + other.contradicting,
            self._digests(other.digests),
            (*self.first, *other.first)[:FIRST_SHOWN],
            {
                table: _joined_forms(self.forms.get(table, ()), other.forms.get(table, ()))
                for table in (*self.forms, *other.forms)
            },
        )

    def _digests(self, others: frozenset[int]) -> frozenset[int]:
        """Return the digests of both. Beyond the most they are not compared, so any will do."""
        if not others or len(self.digests) >= MAX_DIGESTS:
            return self.digests
        return self.digests | others if self.digests else others


def _joined_forms(ours: tuple[KeyForm, ...], theirs: tuple[KeyForm, ...]) -> tuple[KeyForm, ...]:
    known = {each.names for each in ours}
    return (*ours, *(each for each in theirs if each.names not in known))[:_MAX_FORMS]


def _other_forms(table: TableName, forms: tuple[KeyForm, ...]) -> Iterator[KeyContradiction]:
    """Yield each column that keys of a table have and earlier ones lack, or the other way round."""
    earlier: frozenset[str] = frozenset()
    for form in forms:
        for name in sorted(earlier ^ form.names) if earlier else ():
            in_key = _ABSENT if name not in form.names else _ABSENT_EARLIER
            in_row = form.row.get(name, _text(UNAVAILABLE))
            yield KeyContradiction(form.place, table, name, in_key, in_row)
        earlier |= form.names


@dataclass(slots=True)
class KeyChecking:
    """The check of a feed's keys. It remembers the form of the keys of each table."""

    read: KeyReader
    _keyed: Counter[TableName] = field(default_factory=Counter)
    _bare: Counter[TableName] = field(default_factory=Counter)
    _digests: set[int] = field(default_factory=set)
    _first: list[KeyContradiction] = field(default_factory=list)
    _contradicting: int = 0
    _unread: int = 0
    _templates: dict[TableName, _Template] = field(default_factory=dict)
    _known: dict[TableName, _Places] = field(default_factory=dict)
    _forms: dict[TableName, dict[frozenset[str], KeyForm]] = field(default_factory=dict)

    def check(self, message: Message, change: Row | RowChange, place: MessagePlace) -> None:
        """Compare the key of a message with its row."""
        if not isinstance(message, KafkaMessage):
            return
        table = change.table.schema, change.table.name or ""
        if message.key is None:
            self._bare[table] += 1
            return
        self._keyed[table] += 1
        image = _image_of(change)
        if image is None:
            return
        template = self._templates.get(table)
        if template is None or message.key != _filled(template, image):
            self._read(message, table, image, place)

    def found(self) -> KeyFacts:
        """Return the facts of all messages so far."""
        return KeyFacts(
            Counter(self._keyed),
            Counter(self._bare),
            self._unread,
            self._contradicting,
            frozenset(self._digests),
            tuple(self._first),
            {table: tuple(forms.values()) for table, forms in self._forms.items()},
        )

    def _read(
        self, message: KafkaMessage, table: TableName, image: Image, place: MessagePlace
    ) -> None:
        assert message.key is not None
        try:
            content = self.read(message)
        except DecodeError:
            content = None  # decoding the row reports what breaks the format
        if content is None:
            self._unread += 1
            return
        self._look_at_form(content, table, image, place)
        places = self._places_of(content, table, image)
        compared, different = _compared(content, image, places)
        names_other = content.table is not None and content.table != table
        if different or names_other:
            self._contradicting += 1
            self._keep(content, table, image, places)
            if len(self._first) < FIRST_SHOWN:
                self._first += _contradictions(content, table, image, different, place)
        elif compared < len(places) or not places:
            self._unread += 1
        else:
            self._learn(message.key, table, image, places)

    def _look_at_form(
        self, content: KeyContent, table: TableName, image: Image, place: MessagePlace
    ) -> None:
        """Keep the columns of a key, if no key of its table had just these before."""
        names = frozenset(column.name for column in content.columns.columns)
        known = self._forms.setdefault(table, {})
        if names not in known and len(known) < _MAX_FORMS:
            row = {column.name: _text(value) for column, value in zip(*image, strict=True)}
            known[names] = KeyForm(names, place, row)

    def _places_of(self, content: KeyContent, table: TableName, image: Image) -> tuple[int, ...]:
        """Return where each column of a key is in its row."""
        known = self._known.get(table)
        columns = content.columns.columns, image[0]
        if known is None or known[0] is not columns[0] or known[1] is not columns[1]:
            if len(self._known) >= _MAX_TABLES:
                self._known.clear()
            self._known[table] = known = (*columns, tuple(_places(content, image)))
        return known[2]

    def _keep(
        self, content: KeyContent, table: TableName, image: Image, places: tuple[int, ...]
    ) -> None:
        if len(self._digests) < MAX_DIGESTS:
            rows = (None if n == _NO_COLUMN else _text(image[1][n]) for n in places)
            keys = map(_text, content.columns.values)
            self._digests.add(_digest((content.table, table, *keys, *rows)))

    def _learn(self, key: bytes, table: TableName, image: Image, places: tuple[int, ...]) -> None:
        """Remember the bytes around the values of a key that equals its row."""
        if not key.startswith(_JSON_STARTS):
            return
        names = tuple(image[0][place].name for place in places)
        template: list[bytes] = []
        rest = key
        for name in names:
            text = _plain(_value_of(image, name))
            if text is None or key.count(text) != 1 or text not in rest:
                return
            before, rest = rest.split(text, 1)
            template.append(before)
        if len(self._templates) >= _MAX_TABLES:
            self._templates.clear()
        self._templates[table] = names, (*template, rest)


def _compared(
    content: KeyContent, image: Image, places: tuple[int, ...]
) -> tuple[int, list[tuple[int, Any]]]:
    """Return how many columns of a key were compared, and number and value of those that differ."""
    compared, different = 0, []
    for own, number in zip(content.columns.values, places, strict=True):
        if number == _NO_COLUMN:
            continue
        value = image[1][number]
        if own is UNAVAILABLE or value is UNAVAILABLE or not _is_comparable(own, value):
            continue
        compared += 1
        is_other = own != value and (own == own or value == value)  # NaN equals NaN
        if is_other and not _is_wrapped(own, value):
            different.append((number, own))
    return compared, different


def _contradictions(
    content: KeyContent,
    table: TableName,
    image: Image,
    different: list[tuple[int, Any]],
    place: MessagePlace,
) -> Iterator[KeyContradiction]:
    """Yield each part of a key that names another row."""
    if content.table is not None and content.table != table:
        key, row = (".".join(filter(None, name)) for name in (content.table, table))
        yield KeyContradiction(place, table, None, key, row)
    for number, own in different:
        texts = _text(own), _text(image[1][number])
        yield KeyContradiction(place, table, image[0][number].name, *texts)


def _places(content: KeyContent, image: Image) -> Iterator[int]:
    """Yield where each column of a key is in its row. A key may have names in lower case."""
    names = [column.name for column in image[0]]
    lower = {name.lower(): number for number, name in enumerate(names)}
    exact = {name: number for number, name in enumerate(names)}
    for column in content.columns.columns:
        yield exact.get(column.name, lower.get(column.name, _NO_COLUMN))


def _is_wrapped(own: Any, value: Any) -> bool:
    """Return whether a key has the bits of an unsigned integer, whose type only the row knows."""
    return isinstance(own, int) and isinstance(value, int) and own < 0 and own + (1 << 64) == value


def _is_comparable(own: Any, value: Any) -> bool:
    """Return whether both values have one form. Without schema a key may be less precise."""
    if own is None or value is None:
        return True
    if isinstance(own, int) and isinstance(value, int):
        return True
    return type(own) is type(value)


def _filled(template: _Template, image: Image) -> bytes | None:
    """Return the key of a row; None if a value is not plain."""
    names, around = template
    parts = [around[0]]
    for name, after in zip(names, around[1:], strict=True):
        text = _plain(_value_of(image, name))
        if text is None:
            return None
        parts += (text, after)
    return b"".join(parts)


def _value_of(image: Image, name: str) -> Any:
    for column, value in zip(*image, strict=True):
        if column.name == name:
            return value
    return UNAVAILABLE


def _plain(value: Any) -> bytes | None:
    """Return a value as JSON writes it between quotes or by itself; None if that is not sure."""
    if type(value) is int:
        return b"%d" % value
    if type(value) is str and value and _PLAIN_TEXT.fullmatch(value):
        return value.encode()
    return None


def _image_of(change: Row | RowChange) -> Image | None:
    """Return the row of a change: the new one, or the one that was deleted."""
    if isinstance(change, Row):
        if change.new_layout is not None and change.new is not None:
            return change.new_layout.columns, change.new_layout.model_values(change.new)
        if change.old_layout is not None and change.old is not None:
            return change.old_layout.columns, change.old_layout.model_values(change.old)
        return None
    image = change.after or change.before
    return None if image is None else (image.columns, image.values)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.hex() if isinstance(value, bytes) else str(value)


def _digest(parts: object) -> int:
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=_DIGEST_BYTES).digest(), "big")
