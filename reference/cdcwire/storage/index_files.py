"""The index file of a data directory: the name of its latest data file, and where to go on."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.storage.paths import PathLayout, data_name, parse_data_name

CLAUSE = "storage: index files"
MAX_INDEX_BYTES = 256


def read_index(value: bytes, layout: PathLayout, dispatcher: str | None = None) -> int:
    """Return the file number that an index file names.

    Shape: the base name of a data file, with or without one LF after it.
    ``dispatcher``: of the index file's own name; the data file's name must have the same.
    Raises: DecodeError.
    Source: storage, "index files".
    """
    if len(value) > MAX_INDEX_BYTES:
        problem = f"an index file of {len(value)} bytes; {MAX_INDEX_BYTES} are allowed"
        raise DecodeError(problem, MAX_INDEX_BYTES, "storage: limits")
    end = len(value) - value.endswith(b"\n")
    for offset, byte in enumerate(value[:end]):
        if not 0x21 <= byte <= 0x7E:
            problem = f"byte 0x{byte:02x} can't be part of the name of a data file"
            raise DecodeError(problem, offset, CLAUSE)
    name = value[:end].decode("ascii")
    parsed = parse_data_name(name, layout)
    if parsed is None or parsed[1] != dispatcher:
        expected = data_name(1, layout, dispatcher)
        raise DecodeError(f"{name!r:.80} is not a name such as {expected!r}", 0, CLAUSE)
    return parsed[0]


def write_index(number: int, layout: PathLayout, dispatcher: str | None = None) -> bytes:
    """Return the index file that names the data file ``number``."""
    return f"{data_name(number, layout, dispatcher)}\n".encode("ascii")


def resume(number: int | None, exists_and_not_empty: bool) -> int:
    """Return the number of the next file, by the number in the index file; None: there is no index.

    A file that the index names and that is missing or empty was never finished: its number is used.
    """
    if number is None:
        return 1
    return number + 1 if exists_and_not_empty else number
