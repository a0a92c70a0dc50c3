"""Where schemas come from: an interface for registries, and a source that lives in memory.

A registry gives the text of an id and an id for a text. Ids never change their meaning.
"""

from __future__ import annotations

import uuid
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, TypeVar, cast

from cdcwire.apache_avro.registries import Registry
from cdcwire.apache_avro.schema import CLAUSE as SCHEMA_TEXT
from cdcwire.apache_avro.schema import parse_schema
from cdcwire.apache_avro.schema_json import schema_text
from cdcwire.core.context import Context, SchemaId
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import Message, StoredFile

CLAUSE = "avro: registry"
# Schemas that a feed in files has next to its messages: schemas/ID.avsc.
SCHEMAS = "schemas"
SCHEMA_SUFFIX = ".avsc"

_MAX_ID = (1 << 31) - 1
_Plan = TypeVar("_Plan")
_NAMESPACE = uuid.UUID("00000000-0000-0000-0000-000000000000")


class SchemaSource(Protocol):
    """A registry, as far as a codec needs it."""

    def get(self, schema_id: SchemaId) -> str | None:
        """Return the text of an id, None if there is no such id."""
        ...

    def register(self, subject: str, text: str) -> SchemaId:
        """Return the id of a text under a subject; an equal text has the same id again."""
        ...


class MemorySource:
    """Schemas in memory. A text that is new gets the next free number, from 1.

    ``known``: texts by the text of their ids. With Glue, a new id is a UUID made from the text.
    ``by_text``: schemas are equal only if their texts are; otherwise if TiCDC writes one text.
    """

    def __init__(
        self,
        known: Mapping[str, str] | None = None,
        registry: Registry = "confluent",
        *,
        by_text: bool = False,
    ) -> None:
        self.by_text = by_text
        self.registry = registry
        self._texts: dict[SchemaId, str] = {}
        self._ids: dict[str, SchemaId] = {}
        self._ids_of_equal: dict[str, SchemaId] | None = None
        self._next = 1
        for name, text in (known or {}).items():
            self._keep(_id_of(name), text)
        self._new: list[tuple[SchemaId, str]] = []

    @property
    def texts(self) -> dict[str, str]:
        """The texts by the text of their ids, as ``Context.schemas`` takes them."""
        return {str(schema_id): text for schema_id, text in self._texts.items()}

    def take_new(self) -> list[tuple[SchemaId, str]]:
        """Return ids and texts that were registered since this was asked last."""
        found, self._new = self._new, []
        return found

    def get(self, schema_id: SchemaId) -> str | None:
        """Return the text of an id; None if there is no such id."""
        return self._texts.get(schema_id)

    def register(self, subject: str, text: str) -> SchemaId:
        """Return the id of a text, the known one of an equal schema; ``subject`` is ignored.

        Raises: EncodeError when no id is free.
        """
        found = self._ids.get(text)
        if found is None and not self.by_text:
            found = self._equal().get(_common_text(text) or "")
        if found is None:
            found = self._new_id(text)
            self._keep(found, text)
            self._new.append((found, text))
        self._ids.setdefault(text, found)
        return found

    def _keep(self, schema_id: SchemaId, text: str) -> None:
        self._texts[schema_id] = text
        self._ids.setdefault(text, schema_id)
        common = None if self._ids_of_equal is None else _common_text(text)
        if self._ids_of_equal is not None and common is not None:
            self._ids_of_equal.setdefault(common, schema_id)

    def _equal(self) -> dict[str, SchemaId]:
        """Return the ids by texts in which equal schemas are equal."""
        if self._ids_of_equal is None:
            self._ids_of_equal = {}
            for schema_id, text in self._texts.items():
                common = _common_text(text)
                if common is not None:
                    self._ids_of_equal.setdefault(common, schema_id)
        return self._ids_of_equal

    def _new_id(self, text: str) -> SchemaId:
        if self.registry == "glue":
            return str(uuid.uuid5(_NAMESPACE, text))
        while self._next in self._texts:
            self._next += 1
        if self._next > _MAX_ID:
            raise EncodeError("all numbers of schemas are used", CLAUSE)
        return self._next


class KnownSchemas:
    """The schemas of a mapping, for reading: each is looked up when it is needed, none is copied.

    ``texts``: by the text of their ids, UUIDs in small letters, as ``Context.schemas`` has them.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def get(self, schema_id: SchemaId) -> str | None:
        """Return the text of an id; None if there is no such id."""
        found = self._texts.get(str(schema_id))
        if found is None and isinstance(schema_id, str):
            return self._texts.get(schema_id.upper())
        return found

    def register(self, subject: str, text: str) -> SchemaId:
        """Reject every registration. Raises: EncodeError."""
        raise EncodeError("schemas that are only read take no new one", CLAUSE)


def plan_of_id(
    source: SchemaSource, schema_id: SchemaId, place: int, plan_of_text: Callable[[str], _Plan]
) -> _Plan:
    """Return the plan of the text of an id that is at ``place``, as are all errors.

    Raises: DecodeError, also for an unknown id.
    """
    text = source.get(schema_id)
    if text is None:
        problem = f"schema id {schema_id} is not known; pass schemas (--schema)"
        raise DecodeError(problem, place, CLAUSE)
    try:
        return plan_of_text(text)
    except DecodeError as error:
        in_text = f"byte {error.offset} of the text: " if error.clause == SCHEMA_TEXT else ""
        problem = f"schema {schema_id}: {in_text}{error.problem}"
        raise DecodeError(problem, place, error.clause, error.path) from None


def _id_of(name: str) -> SchemaId:
    if name.isascii() and name.isdigit() and len(name) <= 10:
        return int(name)
    return name.lower()


def _common_text(text: str) -> str | None:
    """Return one text for all that say the same; None if it is not a record's schema."""
    try:
        return schema_text(parse_schema(text))
    except (DecodeError, EncodeError):
        return None


def with_schema_files(messages: Iterable[Message], source: MemorySource) -> Iterator[Message]:
    """Yield messages, each after the files of the schemas that it is the first to need."""
    for message in messages:
        for schema_id, text in source.take_new():
            yield StoredFile(f"{SCHEMAS}/{schema_id}{SCHEMA_SUFFIX}", text.encode("utf-8"))
        yield message


def schema_of(message: Message) -> tuple[str, str] | None:
    """Return id and text of a schema file among the messages; None for any other message."""
    if not isinstance(message, StoredFile):
        return None
    folder, _, name = message.path.rpartition("/")
    if folder != SCHEMAS or not name.endswith(SCHEMA_SUFFIX):
        return None
    # Bytes that are not UTF-8 are not a schema either; the error is found where it is needed.
    return name[: -len(SCHEMA_SUFFIX)], message.value.decode("utf-8", "replace")


def with_prepared_schemas(messages: Iterable[Message], context: Context) -> Context:
    """Return the context with the schemas of the files among the messages."""
    found = dict(filter(None, map(schema_of, messages)))
    if not found:
        return context
    if isinstance(context.schemas, (dict, MappingProxyType)):
        return replace(context, schemas={**context.schemas, **found})
    # The schemas of a registry can be asked for, and not listed.
    given = cast("dict[str, str]", context.schemas)
    return replace(context, schemas=ChainMap(found, given))
