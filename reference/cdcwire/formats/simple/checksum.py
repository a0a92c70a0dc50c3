"""The checksums of a row, as TiDB makes them (``cdcwire.mysql.row_checksum``).

The columns go in by their ids, which a message does not give. Here they go in by the order of the
table schema. That is another order if a column was added in another place than the end.
"""

from __future__ import annotations

import zlib

from cdcwire.apache_avro.schema import Branch
from cdcwire.core.errors import DecodeError
from cdcwire.core.json_strings import read_base64
from cdcwire.formats.simple.definitions import Definition, Definitions, definition_of_row
from cdcwire.formats.simple.message import BAD_BYTE, CHECKSUM, CellValue, Dml, Row, Timestamp
from cdcwire.formats.simple.values import read_value
from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.row_checksum import float_bytes, number_bytes, text_bytes, vector_bytes

_NUMBERS = (kinds.IntType, kinds.YearType, kinds.BitType, kinds.EnumType, kinds.SetType)


def warnings_of(row: Dml, definitions: Definitions) -> tuple[str, ...]:
    """Return what the checksums of a row give reason to doubt.

    A row without some columns of its table has no checksum that could be made again. A checksum of
    0 says that TiDB wrote the row without one.
    """
    stated = row.checksum
    if stated is None:
        return ()
    found = []
    if stated.corrupted:
        found.append(f"the producer says that the row is corrupted ({CHECKSUM})")
    if row.handle_key_only or row.claim_check_location:
        return tuple(found)
    for name, cells, sum_ in (
        ("current", row.data, stated.current),
        ("previous", row.old, stated.previous),
    ):
        made = row_checksum(row, cells, definitions) if cells is not None and sum_ else None
        if made is not None and made != sum_:
            problem = f"checksum {name} is {sum_}, and that of the row in the order of its table"
            found.append(f"{problem} is {made} ({CHECKSUM})")
    return tuple(found)


def row_checksum(row: Dml, cells: Row, definitions: Definitions) -> int | None:
    """Return the checksum of one side of a row; None where it can't be made."""
    names = {cell.name for cell in cells}
    place, version = (row.database, row.table), (row.schema_version, row.offset)
    try:
        definition = definition_of_row(definitions, place, version, names)
    except DecodeError:
        return None
    if names != definition.columns.keys():
        return None
    return _checksum(cells, definition)


def _checksum(cells: Row, definition: Definition) -> int | None:
    crc = 0
    for cell in sorted(cells, key=lambda cell: definition.places[cell.name]):
        if cell.value is None:
            continue
        try:
            data = _bytes_of(definition.columns[cell.name], cell.value)
        except ValueError:
            return None
        crc = zlib.crc32(data, crc)
    return crc


def _bytes_of(column: Column, value: CellValue) -> bytes:
    """Return what a value adds. Raises: ValueError, for a value whose bytes are not known."""
    kind = column.type
    if isinstance(kind, _NUMBERS):
        number = read_value(column, value, 0)
        if not isinstance(number, int):
            raise ValueError("it is not a number")
        return number_bytes(number)
    if isinstance(kind, kinds.FloatType):
        return float_bytes(read_value(column, value, 0))
    if isinstance(kind, kinds.VectorType):
        return vector_bytes(read_value(column, value, 0))
    if isinstance(value, Timestamp):
        text = temporal_text(kinds.TimestampType(zone=value.location), value.value, "+00:00")
        if text is None:
            raise ValueError("it is not an instant")
        return text_bytes(text.encode())
    if isinstance(kind, kinds.BytesType) and isinstance(value, str):
        return text_bytes(read_base64(value, 0, CHECKSUM))
    raw = value.value if isinstance(value, Branch) else value
    if isinstance(raw, str) and BAD_BYTE not in raw:
        raw = raw.encode()
    if not isinstance(raw, bytes):
        raise ValueError("its bytes are not known")
    return text_bytes(raw)
