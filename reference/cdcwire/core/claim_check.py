"""Claim-check files: a full message stored outside the queue, as one JSON object of base64.

    {"key":"<Kafka key>","value":"<Kafka value>"}

A message without a key has the member ``null``. Producers name a file by a random UUID. A codec has
neither a clock nor random numbers, so the name here is a UUID made from the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import Span
from cdcwire.core.strict_json import JsonObject, JsonRules, json_kind, read_json
from cdcwire.model.events import Step

_NAMESPACE = UUID("6f6b9d1e-1f0c-5b0a-9d5e-0c3f5a7e2b61")


def read_claim_check(data: bytes, clause: str, rules: JsonRules) -> tuple[bytes | None, bytes]:
    """Return the Kafka key and value that a file holds. The key may be null.

    ``clause``: the one of the format that speaks of claim checks; ``rules``: its limits.
    Raises: DecodeError, with offsets in the file.
    """
    own_rules = JsonRules(
        clause, clause, rules.limits_clause, rules.max_depth, rules.max_name_bytes
    )
    document = read_json(data, own_rules)
    if not isinstance(document.value, JsonObject):
        problem = f"it is {json_kind(document.value)}, not an object"
        raise DecodeError(problem, document.start, clause)
    known = document.value.by_name
    sides: list[bytes | None] = []
    for name in ("key", "value"):
        member = known.get(name)
        if member is None:
            raise DecodeError(f"member {name!r} is missing", document.end - 1, clause)
        with step(name):
            if member.value is None and name == "key":
                sides.append(None)
            elif isinstance(member.value, str):
                sides.append(read_base64(member.value, member.start, clause))
            else:
                problem = f"it is {json_kind(member.value)}, not a string"
                raise DecodeError(problem, member.start, clause)
    key, value = sides
    return key, value or b""


@contextmanager
def reading_claim_check(*path: Step) -> Iterator[None]:
    """Say of an error in a claim-check file that its byte is one of that file.

    ``path`` leads from the message to the location of the file.
    """
    with step("claim_check", *path):
        try:
            yield
        except DecodeError as error:
            raise error.outside(0, "claim-check file") from error


def write_claim_check(key: bytes | None, value: bytes) -> tuple[str, bytes]:
    """Return name and content of the file that stores a message."""
    key_text = "null" if key is None else f'"{write_base64(key)}"'
    text = f'{{"key":{key_text},"value":"{write_base64(value)}"}}'
    return f"{uuid5(_NAMESPACE, text)}.json", text.encode("ascii")


def write_raw_claim_check(value: bytes) -> tuple[str, bytes]:
    """Return name and content of the file that stores the value of a message as it is."""
    return f"{uuid5(_NAMESPACE, write_base64(value))}.json", value


def location(storage_uri: str, name: str) -> str:
    """Return the location that a message names: the file below the storage's URI."""
    return f"{storage_uri.rstrip('/')}/{name}" if storage_uri else name


def names_of(location: str) -> Iterator[str]:
    """Yield the names under which the file of a location may be kept, the longest first.

    ``s3://b/p/x.json`` may be ``s3://b/p/x.json``, ``b/p/x.json``, ``p/x.json`` or ``x.json``.
    """
    yield location
    _, scheme, name = location.partition("://")
    name = name if scheme else location
    if scheme:
        yield name
    while "/" in name:
        name = name.partition("/")[2]
        yield name


@dataclass(frozen=True, slots=True)
class ClaimChecks(Mapping[str, bytes]):
    """Claim-check files by location.

    ``files``: by path; a location is looked up under each of its names. ``others``: more of them.
    ``is_feed``: the files are among the messages of the feed.
    """

    files: Mapping[str, bytes]
    others: Mapping[str, bytes] = field(default_factory=dict)
    is_feed: bool = False

    def __getitem__(self, location: str) -> bytes:
        for name in names_of(location):
            if name in self.files:
                return self.files[name]
        return self.others[location]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.others, **self.files})

    def __len__(self) -> int:
        return len({**self.others, **self.files})


def with_claim_checks(messages: Iterable[Message], context: Context) -> Context:
    """Return the context with the claim-check files among the messages of a queue."""
    files = {file.path: file.value for file in messages if isinstance(file, StoredFile)}
    return replace(context, blobs=ClaimChecks(files, context.blobs, True)) if files else context


def is_claim_check(file: StoredFile, blobs: Mapping[str, bytes]) -> bool:
    """Return whether a file is one of the feed's claim checks. Such a file has no events."""
    return isinstance(blobs, ClaimChecks) and blobs.is_feed and file.path in blobs.files


def file_spans(file: StoredFile, clause: str) -> Iterator[Span]:
    """Yield the one span of a claim-check file."""
    if file.value:
        text = "claim-check file; the message that names it has its row"
        yield Span((), 0, len(file.value), text, clause)
