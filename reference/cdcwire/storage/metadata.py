"""The ``metadata`` file: the checkpoint, and what is complete below it."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.strict_json import JsonObject, JsonRules, Number, json_kind, read_json
from cdcwire.storage.paths import MAX_U64

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
