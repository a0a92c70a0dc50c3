"""The wire's own values of a CSV file: what its bytes say, nothing less.

A field keeps its bytes as they are in the file, still doubled or escaped. Reading them loses some
information: whether the field was quoted, and how NULL was distinguished from text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Operation: TypeAlias = Literal["I", "U", "D"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field. ``raw``: its bytes, without the quotes around them if it ``is_quoted``."""

    raw: bytes
    is_quoted: bool


Handle: TypeAlias = int | str | bytes


@dataclass(frozen=True, slots=True)
class Record:
    """One record. ``fields`` are the columns of the table, in its order.

    ``commit_ts``, ``is_update`` and ``handle_key``: None where the settings leave them out.
    ``handle_key``: the integer handle, or the text of a clustered key, bytes if it is not UTF-8.
    """

    op: Operation
    table: str
    schema: str
    commit_ts: int | None
    is_update: bool | None
    handle_key: Handle | None
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class File:
    """One data file. ``header``: its first line without the terminator, None without header."""

    records: tuple[Record, ...]
    header: bytes | None = None
