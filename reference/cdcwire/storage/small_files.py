"""The small files of a prefix: ``metadata`` with the checkpoint, and the index of a directory.

An index file names the latest data file, and so where a writer goes on. ``is_expired`` says which
files ``file-expiration-days`` deletes.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.strict_json import JsonObject, JsonRules, Number, json_kind, read_json
from cdcwire.model.instants import ms_of_tso
from cdcwire.storage.paths import (
    MAX_U64,
    DataPath,
    IndexPath,
    PathLayout,
    data_name,
    parse_data_name,
    parse_path,
)

CLAUSE = "storage: metadata"
MEMBER = "checkpoint-ts"
MAX_METADATA_BYTES = 4096
_RULES = JsonRules(CLAUSE, CLAUSE, "storage: limits", max_depth=8)


def read_metadata(value: bytes) -> int:
    """Return the checkpoint. White space of JSON is allowed, a second member is not.

    Raises: DecodeError.
    Source: storage, "metadata".
    """
    if len(value) > MAX_METADATA_BYTES:
        problem = f"a metadata file of {len(value)} bytes; {MAX_METADATA_BYTES} are allowed"
        raise DecodeError(problem, MAX_METADATA_BYTES, "storage: limits")
    document = read_json(value, _RULES)
    if not isinstance(document.value, JsonObject):
        problem = f"the file holds {json_kind(document.value)}, not an object"
        raise DecodeError(problem, document.start, CLAUSE)
    checkpoint: int | None = None
    for member in document.value.members:
        if member.name != MEMBER:
            problem = f"member {member.name!r:.80}; there is only {MEMBER!r}"
            raise DecodeError(problem, member.name_start, CLAUSE, (member.name,))
        number = member.value
        if not isinstance(number, Number) or not number.is_integer or number.digits > 20:
            problem = f"the checkpoint is {json_kind(number)}, not an integer of 64 bits"
            raise DecodeError(problem, member.start, CLAUSE, (MEMBER,))
        checkpoint = int(number.text)
        if not 0 <= checkpoint <= MAX_U64 or number.text.startswith("-"):
            problem = f"the checkpoint {number.text} is not in 0 to 2**64-1"
            raise DecodeError(problem, member.start, CLAUSE, (MEMBER,))
    if checkpoint is None:
        raise DecodeError(f"there is no {MEMBER!r}", document.end - 1, CLAUSE)
    return checkpoint


def write_metadata(commit_ts: int) -> bytes:
    """Return the file: no spaces, no line end. Raises: EncodeError."""
    if not 0 <= commit_ts <= MAX_U64:
        raise EncodeError(f"the checkpoint {commit_ts} is not in 0 to 2**64-1", CLAUSE)
    return f'{{"{MEMBER}":{commit_ts}}}'.encode("ascii")


def advance(stored: int | None, checkpoint: int) -> int:
    """Return the checkpoint to write: never less than the one that is stored."""
    return checkpoint if stored is None else max(stored, checkpoint)


def row_is_complete(commit_ts: int, checkpoint: int | None) -> bool:
    """Return whether all rows of this commit-ts are in the storage. No checkpoint: no limit.

    Source: storage, "metadata": commits below the checkpoint are complete.
    """
    return checkpoint is None or commit_ts < checkpoint


def schema_is_complete(version: int, checkpoint: int | None) -> bool:
    """Return whether a schema file counts: a DDL that is the checkpoint itself is done.

    Source: choice; as the newer producer's consumer, and as a DROP at the checkpoint shows.
    """
    return checkpoint is None or version <= checkpoint


INDEX_CLAUSE = "storage: index files"
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
            raise DecodeError(problem, offset, INDEX_CLAUSE)
    name = value[:end].decode("ascii")
    parsed = parse_data_name(name, layout)
    if parsed is None or parsed[1] != dispatcher:
        expected = data_name(1, layout, dispatcher)
        raise DecodeError(f"{name!r:.80} is not a name such as {expected!r}", 0, INDEX_CLAUSE)
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


def is_expired(
    path: str,
    layout: PathLayout,
    checkpoint_ts: int,
    days: int,
    utc_offset: timedelta = timedelta(0),
) -> bool:
    """Return whether a file is deleted: its date lies before the checkpoint's minus ``days``.

    Only data and index files under dates of days expire; ``days`` 0 or less turns it off.
    ``utc_offset``: of the server, whose local date counts.
    Raises: DecodeError for a path that the layout can't have.
    Source: storage, "expiration".
    """
    if days <= 0 or layout.date_separator != "day":
        return False
    parsed = parse_path(path, layout)
    if not isinstance(parsed, (DataPath, IndexPath)):
        return False
    return parsed.date < oldest_kept_date(checkpoint_ts, days, utc_offset)


def oldest_kept_date(checkpoint_ts: int, days: int, utc_offset: timedelta = timedelta(0)) -> str:
    """Return the first date that stays, as ``YYYY-MM-DD``; "" if there is none before it."""
    checkpoint_ms = ms_of_tso(checkpoint_ts)
    since_epoch = timedelta(milliseconds=checkpoint_ms) - timedelta(days=days) + utc_offset
    try:
        return (datetime(1970, 1, 1, tzinfo=timezone.utc) + since_epoch).date().isoformat()
    except OverflowError:
        return ""
