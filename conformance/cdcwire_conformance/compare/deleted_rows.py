"""The old rows of deletes and updates that a feed has, table by table, as its rows show it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire.model.events import TableName
from cdcwire_conformance.decode.describe import Described
from cdcwire_conformance.decode.row_facts import POSITION, Between


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """The deletes of a feed's tables.

    ``key_only``: tables that have a delete with the columns of its key only. ``read_whole``: tables
    of such deletes, whose other rows show that they are to be read whole. ``between``: positions
    between which the setting of a table was another one. There updates have no old row, and a
    delete may have its key only. ``whole``: a delete is not said to have its key only. ``any``:
    there is a delete.
    """

    key_only: frozenset[TableName] = frozenset()
    read_whole: frozenset[TableName] = frozenset()
    between: Mapping[TableName, tuple[Between, ...]] = field(default_factory=dict)
    whole: bool = False
    any: bool = False


def deleted_rows(format_: Format, tables: Collection[Described]) -> DeletedRows:
    """Return what the rows of a feed show of its deletes."""
    key_only = frozenset(_name(each) for each in tables if each.has_key_deletes)
    has_whole = any(each.has_whole_deletes for each in tables)
    has_any = bool(key_only) or has_whole
    if not whole_deletes(format_):
        return DeletedRows(key_only, whole=has_whole, any=has_any)
    # In rows by themselves, no update has an old row, and that shows nothing.
    has_old_rows = any(each.facts.old_images for each in tables)
    known = {_name(each): each.facts.old_rows.key_only() if has_old_rows else () for each in tables}
    whole = {_name(each) for each in tables if each.has_whole_deletes}
    read_whole = frozenset(name for name in key_only & whole if known[name] is not None)
    between = {name: found for name, found in known.items() if found and name not in key_only}
    between |= {name: found for name in read_whole if (found := known[name])}
    return DeletedRows(key_only - read_whole, read_whole, between, any=has_any)


def whole_deletes(format_: Format) -> dict[str, OptionValue]:
    """Return the option by which all deletes are read whole, if a format has one."""
    carried = format_.carries.fields["before of delete"]
    return dict([carried.setting]) if carried.verdict == "option" else {}


def between_text(between: Iterable[Between]) -> str:
    """Return positions as a report names them: ``after lsn 7, between lsn 20 and 30``."""
    return ", ".join(_texts(between))


def _texts(between: Iterable[Between]) -> Iterator[str]:
    for before, after in between:
        if before is None and after is None:
            yield "everywhere"
        elif before is None:
            yield f"before {POSITION} {after}"
        elif after is None:
            yield f"after {POSITION} {before}"
        else:
            yield f"between {POSITION} {before} and {after}"


def _name(described: Described) -> TableName:
    return described.table.schema, described.table.table
