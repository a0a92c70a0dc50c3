"""The facts about a format that a comparison of two feeds asks for.

A ``ReleaseChange`` is one: a row reads otherwise before and after a release of the producer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import Order
from cdcwire.model.events import Image, SchemaChange, TableName
from cdcwire.model.kinds import Missing

Version: TypeAlias = tuple[int, ...]
Shown: TypeAlias = "str | Missing | None"
"""A value as text; None: NULL."""
Explains: TypeAlias = Callable[[str, Shown, Shown], bool]


def explains_nothing(kind: str, before: Shown, after: Shown) -> bool:
    """Return False: the change is not one of values."""
    return False


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """A change of one release.

    ``since``: the first version that has it. ``text``: what differs, in the words of a report.
    ``orders``: names of the orders of changes of the sources that it is about. ``explains``: given
    the kind of a column and its values before and after the release, returns whether the change
    made one of the other. ``sends_truncates``: no TRUNCATE was sent before.
    """

    since: Version
    text: str
    orders: frozenset[str]
    explains: Explains = explains_nothing
    sends_truncates: bool = False

    def is_between(self, older: Version, newer: Version) -> bool:
        """Return whether only the newer version has it; numbers that are left out may be any.

        Examples:
            >>> change = ReleaseChange((2, 5, 3), "", frozenset())
            >>> change.is_between((2, 5), (3, 6)), change.is_between((2, 6), (3, 6))
            (True, False)
            >>> change.is_between((1, 9), (2, 5))
            True

        """
        return older < self.since and self.since[: len(newer)] <= newer


@dataclass(frozen=True, slots=True)
class KeyContent:
    """The statement of a Kafka key: the columns of its row, and the table if the key names it."""

    columns: Image
    table: TableName | None = None


KeyReader: TypeAlias = Callable[[KafkaMessage], KeyContent | None]


@dataclass(frozen=True, slots=True)
class Comparing:
    """How the feeds of a format differ from those of others, although they say the same."""

    orders: tuple[Order, ...] = ()
    """The orders of its changes, the preferred one first. A comparison uses the first in which
    every row of both feeds has a place."""

    transaction_ids: str = "transactions of the database"
    """The things that ``tx_id`` is a number of. Numbers of different things are not compared."""

    commit_ms_in_seconds: bool = False
    """Its times of changes are whole seconds."""

    splits_unique_keys: bool = False
    """An update of a unique key is sent as a delete and an insert."""

    sends_operation: bool = True
    """If False, an update is a row with an old value."""

    deletes_have_position: Callable[[Mapping[str, OptionValue]], bool] = lambda options: True
    """Given the value of every option: False if a delete may be a key and nothing else."""

    deletes_in_markers: Callable[[Mapping[str, OptionValue]], str | None] = lambda options: None
    """Given the value of every option: the one with which tombstones are deletes, if a delete may
    be nothing but a tombstone and they are read as markers."""

    updates_are_two_records: bool = False
    """An update is sent as a "before" and an "after" record."""

    key_rows_have_nulls: bool = False
    """A row that is cut to its key has NULL in its other columns."""

    snapshot_rows_are_inserts: bool = False
    """Rows of a snapshot are sent as inserts, not as reads."""

    describes_snapshot: Callable[[SchemaChange], bool] = lambda change: False
    """Given a schema change: it describes what a snapshot found, and was not carried out."""

    sends_changed_columns: Callable[[Mapping[str, OptionValue]], bool] = lambda options: False
    """Given the value of every option: old images have only the columns that an update changed."""

    changed_values: Callable[[Mapping[str, OptionValue]], tuple[str, ...]] = lambda options: ()
    """Given the value of every option: what the producer makes of values that it does not send as
    they are."""

    rewrite_name: Callable[[str], str] | None = None
    """The name that is written for a table or column whose own name the format cannot write. None:
    it writes all names."""

    adjusted_name: tuple[str, str, Callable[[str], str]] | None = None
    """An option and a value by which the original names of columns are read, and the name that its
    producer sends for a column."""

    key_field_option: str | None = None
    """The option that names a field of Kafka keys that is not a column."""

    written_alike: Callable[[Mapping[str, OptionValue]], str | None] = lambda options: None
    """Given the value of every option: values of a column that its messages can't distinguish."""

    not_compared: tuple[str, ...] = ()
    """The members of its messages that no comparison asks for, as people know them."""

    releases: Mapping[str, tuple[ReleaseChange, ...]] = field(default_factory=dict)
    """By the name of a producer: what its releases changed in values."""

    infers_types: Callable[[Message], bool] = lambda message: False
    """Given a message with rows: the types of its columns come from its values, except where a
    definition gives them."""

    key_reader: Callable[[Context], KeyReader] | None = None
    """Makes a function from a message to the columns that its Kafka key names; keep it for a feed.

    The function returns None for a key without columns, and raises DecodeError. None: the format's
    keys repeat nothing of a row."""
