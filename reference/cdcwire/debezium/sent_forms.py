"""The forms of values that the model does not have, in ``extra``: offsets and placeholders.

Each is one text of JSON: an object by column, for each of the two rows.
"""

from __future__ import annotations

import json
from functools import partial

from cdcwire.connect.cdl import Row
from cdcwire.connect.images import WrittenRows
from cdcwire.core.errors import EncodeError
from cdcwire.debezium.offsets import offsets_of, with_offsets
from cdcwire.debezium.placeholders import placeholders_of, with_placeholders
from cdcwire.model.events import Extra

OFFSETS, PLACEHOLDERS = "offsets", "placeholders"
_CLAUSES = {OFFSETS: "debezium-json: connectors", PLACEHOLDERS: "debezium-json: images"}


def sent_forms(
    before: Row | None, after: Row | None, placeholder: str, wanted: frozenset[str] | None
) -> dict[str, str]:
    """Return what ``extra`` has of the forms of values; nothing where all are as usual.

    ``placeholder``: of unavailable values; "" for none. ``wanted``: the columns that are read;
    None means all.
    """
    rows = {name: row for name, row in (("before", before), ("after", after)) if row is not None}
    found = {
        OFFSETS: {name: offsets_of(row, wanted) for name, row in rows.items()},
        PLACEHOLDERS: {
            name: placeholders_of(row, placeholder, wanted) for name, row in rows.items()
        },
    }
    return {
        what: json.dumps(
            {name: of_row for name, of_row in by_row.items() if of_row},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for what, by_row in found.items()
        if any(by_row.values())
    }


def with_sent_forms(rows: WrittenRows, extra: Extra, placeholder: str) -> WrittenRows:
    """Return rows whose values have the forms that they were sent in. Raises: EncodeError."""
    steps = ((OFFSETS, with_offsets), (PLACEHOLDERS, partial(with_placeholders, placeholder)))
    for what, with_forms in steps:
        text = extra.get(what)
        if text is None:
            continue
        clause, where = _CLAUSES[what], ("extra", what)
        try:
            found = json.loads(text)
            before, after = ({**found.get(name, {})} for name in ("before", "after"))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            problem = f"{what} is not a JSON object of {what} by row and column"
            raise EncodeError(problem, clause, where) from error
        try:
            rows = with_forms(rows, before, after)
        except ValueError as error:
            raise EncodeError(str(error), clause, where) from error
    return rows
