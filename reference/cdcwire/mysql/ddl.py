"""TiDB's numbers of DDL actions, and the neutral kind of change that each one is.

Source: the storage sink design; TiDB's list of actions as TiCDC's Canal-JSON groups it.
"""

from __future__ import annotations

from cdcwire.model.events import SchemaChangeKind

_KINDS: dict[SchemaChangeKind, tuple[int, ...]] = {
    "create": (3,),
    "rename": (14, 47),
    "cindex": (7, 9, 32),
    "dindex": (8, 10, 33),
    "erase": (4,),
    "truncate": (11,),
    "alter": (5, 6, 12, 13, 15, 17, 18, 19, 20, 22, 23, 37, 38, 41, 61, 64, 71, 72),
}
_KIND_BY_CODE: dict[int, SchemaChangeKind] = {
    code: kind for kind, codes in _KINDS.items() for code in codes
}


def schema_change_kind(code: int) -> SchemaChangeKind:
    """Return the neutral kind of a DDL code; "query" for every code that no other kind names."""
    return _KIND_BY_CODE.get(code, "query")
