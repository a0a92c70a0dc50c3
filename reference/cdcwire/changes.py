"""Changes with rows in the user's type, and records that can't be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from cdcwire.core.errors import DecodeError
from cdcwire.core.rows import Row
from cdcwire.core.typed_rows import TypedRows
from cdcwire.extras import names_the_extra
from cdcwire.model.events import (
    NO_EXTRA,
    Extra,
    Half,
    Op,
    Path,
    Position,
    RowChange,
    Sent,
    Table,
    path_text,
)
from cdcwire.model.slotted import slotted

if TYPE_CHECKING:
    from cdcwire.arrow.feed import FeedRows

R = TypeVar("R")


@slotted(frozen=True, slots=True)
class Change(Generic[R]):
    """One changed row: a ``RowChange`` with its states before and after in the user's type.

    ``before`` and ``after``: None for a state that the record does not have.
    """

    op: Op
    table: Table
    before: R | None
    after: R | None
    position: Position
    half: Half | None = None
    sent: Sent | None = None
    extra: Extra = field(default_factory=lambda: NO_EXTRA)


@dataclass(frozen=True, slots=True)
class Bad:
    """A record whose bytes break the format, as ``on_error`` gets it.

    ``where``: file and line, for a feed in files.
    """

    record: object
    error: DecodeError
    where: str = ""

    @property
    def offset(self) -> int:
        """The byte where reading stopped, counted from 0 in the key, value or file."""
        return self.error.offset

    @property
    def path(self) -> Path:
        """The path to the value that is wrong, outermost step first."""
        return self.error.path

    @property
    def clause(self) -> str:
        """The clause of the format's page that the bytes break."""
        return self.error.clause

    def headers(self) -> list[tuple[str, bytes]]:
        """Return headers for a dead-letter topic: ``cdcwire.error``, offset, path and clause."""
        texts = {
            "error": str(self.error),
            "offset": str(self.offset),
            "path": path_text(self.path),
            "clause": self.clause,
        }
        return [(f"cdcwire.{name}", text.encode()) for name, text in texts.items()]


OnError: TypeAlias = "Literal['raise', 'skip'] | Callable[[Bad], None]"


def typed_change(change: Any, rows: TypedRows[Any]) -> Any:
    """Return a change with its rows in a type; any other event unchanged. Raises: TypeError."""
    if isinstance(change, Row):
        table = change.table
        old, new = change.old_layout, change.new_layout
        return Change(
            change.op,
            table,
            None if old is None else rows.of_layout(old, change.old or (), table),
            None if new is None else rows.of_layout(new, change.new or (), table),
            change.position,
            change.half,
            change.sent,
            change.extra or NO_EXTRA,
        )
    if isinstance(change, RowChange):
        before, after = (
            None if image is None else rows.of_image(image, change.table)
            for image in (change.before, change.after)
        )
        return Change(
            change.op,
            change.table,
            before,
            after,
            change.position,
            change.half,
            change.sent,
            change.extra,
        )
    return change


def feed_rows(name: str, definitions: Iterable[Table], *, are_whole: bool = False) -> FeedRows:
    """Return a place for rows that become batches. Raises: ModuleNotFoundError."""
    with names_the_extra(name):
        from cdcwire.arrow.feed import FeedRows
    return FeedRows(definitions, are_whole=are_whole)
