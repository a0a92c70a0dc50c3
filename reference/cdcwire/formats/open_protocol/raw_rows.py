"""Rows whose values are still text of the message, for readers that convert a column at once.

The decoder checks the message as the fast decoder does, but not the values. A value is the text of
a number or the inside of a string. The reader has to check and convert it. Messages that are not
as usual are left to ``RowDecoder``.
"""

from __future__ import annotations

from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Layout, Row
from cdcwire.formats.open_protocol.fast import RowDecoder
from cdcwire.formats.open_protocol.row_patterns import VECTOR, Groups, RowFunction

_MAX_LAYOUTS = 256  # whose forms are remembered


class RawRowDecoder(RowDecoder):
    """Reads messages up to the values of their rows. It takes no selection of columns."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._forms: dict[Layout, bytes] = {}

    def raw_rows(self, message: KafkaMessage) -> list[Row] | None:
        """Return the rows of a message; None if it is to be decoded value by value."""
        try:
            found = self._usual(message)
        except IRREGULARITIES:
            return None
        return [row for row in found if isinstance(row, Row)]

    def forms_of(self, layout: Layout) -> bytes:
        """Return the form of each column's values. Raises: KeyError for a forgotten layout."""
        return self._forms[layout]

    def _row_function(self, forms: bytes, wanted: tuple[int, ...], layout: Layout) -> RowFunction:
        if VECTOR in forms:
            raise Irregular
        if len(self._forms) >= _MAX_LAYOUTS:
            self._forms.clear()
        self._forms[layout] = forms
        return _as_they_are


def _as_they_are(groups: Groups) -> Groups:
    return groups
