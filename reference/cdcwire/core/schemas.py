"""Schemas that messages name by an id, and that are found elsewhere: in files, in a registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.message import Message

SchemaId: TypeAlias = "int | str"


@dataclass(frozen=True, slots=True)
class SchemaUse:
    """How the messages of a format name the schemas that decode them.

    ``file_suffix``: ends the path of a schema file. ``schema_file``: the id and the text of a
    schema file; None for any other message. ``head_bytes``: how many of the first bytes of a key or
    value name its schema. ``schema_id``: the id that these bytes name (raises DecodeError).
    ``find``: the text of an id in ``Context.schemas``; None if there is no such id.
    """

    file_suffix: str
    schema_file: Callable[[Message], tuple[str, str] | None]
    head_bytes: Callable[[Context], int]
    schema_id: Callable[[bytes, Context], SchemaId]
    find: Callable[[Mapping[str, str], SchemaId], str | None]
