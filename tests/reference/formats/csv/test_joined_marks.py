"""An update joined from two records keeps both lists of NULLs that may be texts."""

from __future__ import annotations

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import event_of
from cdcwire.model.events import RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.model.steps import join_halves
from cdcwire.registry import get_format

COLUMNS = (
    Column("id", IntType(32), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("a", TextType(10), nullable=True),
    Column("b", TextType(10), nullable=True),
)
CONTEXT = Context(
    options={"quote": "", "null": "NULL", "output-old-value": True},
    tables=(Table("t", "s", None, COLUMNS, ("id",)),),
)


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        ("NULL,x", "y,x", "a"),
        ("y,x", "NULL,x", "a"),
        ("NULL,x", "y,NULL", "a,b"),
        ("NULL,NULL", "NULL,x", "a,b"),
        ("x,NULL", "NULL,NULL", "a,b"),
        ("x,y", "y,x", None),
    ],
)
def test_joined_update_has_the_marks_of_both_records(
    before: str, after: str, marks: str | None
) -> None:
    file = StoredFile("x.csv", f"D,t,s,true,1,{before}\r\nI,t,s,true,1,{after}\r\n".encode())
    format_ = get_format("csv")
    (fast,) = map(event_of, format_.decoder(CONTEXT, joins_halves=True)(file))
    (plain,) = join_halves(format_.to_events(file, context=CONTEXT))
    assert fast == plain
    assert isinstance(fast, RowChange)
    assert fast.half is None
    found = fast.extra.get("ambiguous_null")
    assert found == marks if marks is None else sorted(str(found).split(",")) == marks.split(",")
