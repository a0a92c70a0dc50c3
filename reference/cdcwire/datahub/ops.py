"""The operations of Blob messages: both published lists, and what each of them carries.

One list has UPDATE, ERASE and three more, the other the two records of an update; all are read.
Names are matched letter by letter. Source: datahub-blob, "ops".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.model.events import Half, MarkerKind, Path, SchemaChangeKind
from cdcwire.model.events import Op as RowOp

Group: TypeAlias = Literal["row", "ddl", "marker", "heartbeat"]

CLAUSE = "datahub-blob: ops"
QUERY = "QUERY"


@dataclass(frozen=True, slots=True)
class Op:
    """The contents of a message of an op. ``lists``: which of the two published lists name it."""

    name: str
    group: Group
    has_before: bool = False
    has_after: bool = False
    row_op: RowOp | None = None
    half: Half | None = None
    change: SchemaChangeKind | None = None
    marker: MarkerKind | None = None
    lists: tuple[str, ...] = ("format block", "op table")


_BLOCK = ("format block",)
_TABLE = ("op table",)


def _ddl(name: str, change: SchemaChangeKind) -> Op:
    return Op(name, "ddl", change=change, lists=_BLOCK if name == "ERASE" else (*_BLOCK, *_TABLE))


OPS: Mapping[str, Op] = MappingProxyType(
    {
        op.name: op
        for op in (
            Op("INSERT", "row", has_after=True, row_op="insert"),
            Op("UPDATE", "row", has_before=True, has_after=True, row_op="update", lists=_BLOCK),
            Op(
                "UPDATE_BEFOR", "row", has_before=True, row_op="update", half="before", lists=_TABLE
            ),
            Op("UPDATE_AFTER", "row", has_after=True, row_op="update", half="after", lists=_TABLE),
            Op("DELETE", "row", has_before=True, row_op="delete"),
            _ddl("CREATE", "create"),
            _ddl("ALTER", "alter"),
            _ddl("ERASE", "erase"),
            _ddl("QUERY", "query"),
            _ddl("TRUNCATE", "truncate"),
            _ddl("RENAME", "rename"),
            _ddl("CINDEX", "cindex"),
            _ddl("DINDEX", "dindex"),
            Op("TRANSACTION_BEGIN", "marker", marker="begin"),
            Op("TRANSACTION_END", "marker", marker="end"),
            Op("GTID", "marker", marker="gtid", lists=_BLOCK),
            Op("XACOMMIT", "marker", marker="xa_commit", lists=_BLOCK),
            Op("XAROLLBACK", "marker", marker="xa_rollback", lists=_BLOCK),
            Op("MHEARTBEAT", "heartbeat"),
        )
    }
)
HEARTBEAT = OPS["MHEARTBEAT"]
# Spellings that a lenient reader takes for another one.
LENIENT: Mapping[str, str] = MappingProxyType({"UPDATE_BEFORE": "UPDATE_BEFOR"})

_BY_ROW = {(op.row_op, op.half): op for op in OPS.values() if op.group == "row"}
_BY_CHANGE = {op.change: op for op in OPS.values() if op.group == "ddl"}
_BY_MARKER = {op.marker: op for op in OPS.values() if op.group == "marker"}


class UnknownOpError(DecodeError):
    """The message has an op of neither list; ``op`` is its name."""

    def __init__(self, op: str, offset: int, path: Path = ()) -> None:
        hint = "; option lenient-ops reads it" if op in LENIENT else ""
        super().__init__(f"the op {op!r:.60} is not defined{hint}", offset, CLAUSE, path)
        self.op = op

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.op, self.offset, self.path)


def find_op(name: str, offset: int, *, is_lenient: bool = False) -> Op:
    """Return the op of this name. Raises: UnknownOpError at ``offset``."""
    op = OPS.get(LENIENT.get(name, name) if is_lenient else name)
    if op is None:
        raise UnknownOpError(name, offset)
    return op


def op_of_row(op: RowOp, half: Half | None) -> Op | None:
    """Return the op of a row change, None if there is none (upsert, read)."""
    return _BY_ROW.get((op, half))


def op_of_change(change: SchemaChangeKind) -> Op:
    """Return the op of a schema change."""
    return _BY_CHANGE[change]


def op_of_marker(marker: MarkerKind) -> Op | None:
    """Return the op of a marker, None if there is none (logical messages, tombstones)."""
    return _BY_MARKER.get(marker)
