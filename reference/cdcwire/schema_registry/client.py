"""A registry with Confluent's interface, asked as TiCDC asks it.

Ids never change their meaning, so every text is requested once. Every schema is registered once
under a subject. Both are remembered up to a limit. TiCDC also wants ``{}`` from the address itself
before it starts; other registries answer a page there, so ``check_root`` is for who asks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import quote

from cdcwire.apache_avro.registries import ACCEPT, CONTENT_TYPE, registration
from cdcwire.core.caches import BoundedCache
from cdcwire.core.context import SchemaId
from cdcwire.schema_registry.address import Address, RegistryError, parse_address
from cdcwire.schema_registry.http import (
    MAX_ANSWER_BYTES,
    Answer,
    RetryPolicy,
    Transport,
)

Level: TypeAlias = Literal[
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
]
LEVELS: tuple[str, ...] = get_args(Level)

INCOMPATIBLE = 409
INVALID_SCHEMA = 422
UNKNOWN_ID = 40403
_MAX_ID = (1 << 31) - 1
_KEPT_CHARACTERS = 1 << 25
_SHOWN = 200  # characters of what a registry says
_HEADERS = {"Accept": ACCEPT, "Content-Type": CONTENT_TYPE}
_NO_REGISTRY = "see whether this is the root of the registry's interface"
_ADVICE: Mapping[int, str] = MappingProxyType(
    {
        401: "give user and password in the address, before the host: user:password@host",
        403: "this user may not do that",
        404: _NO_REGISTRY,
        INCOMPATIBLE: "the subject's compatibility level refuses the schema: "
        "run `cdcwire avro evolve` to find the DDL that caused it",
        INVALID_SCHEMA: "the registry does not take this for an Avro schema",
        429: "it is asked too often: try again later",
    }
)


class ConfluentRegistry:
    """A ``SchemaSource`` at an address such as ``http://user:password@host:8081``.

    ``ca_file``: certificates of authorities in PEM form, in place of the system's. ``max_bytes``:
    the longest answer that is read.
    """

    def __init__(
        self,
        address: str | Address,
        patience: RetryPolicy | None = None,
        ca_file: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self.address = parse_address(address) if isinstance(address, str) else address
        self._transport = Transport(
            self.address, patience or RetryPolicy(), ca_file, sleep, max_bytes
        )
        self._texts: BoundedCache[SchemaId, str] = BoundedCache(_KEPT_CHARACTERS)
        self._ids: BoundedCache[tuple[str, str], SchemaId] = BoundedCache(_KEPT_CHARACTERS)

    def __repr__(self) -> str:
        return f"ConfluentRegistry({self.address.base!r})"

    @property
    def requests(self) -> int:
        """How many requests were sent so far; what is remembered needs none."""
        return self._transport.requests

    def remembers(self, schema_id: SchemaId) -> bool:
        """Return whether the text of an id needs no request."""
        return schema_id in self._texts

    def get(self, schema_id: SchemaId) -> str | None:
        """Return the text of an id, None if the registry says that there is none.

        Raises: RegistryError.
        """
        known = self._texts.get(schema_id)
        if known is not None:
            return known
        path = f"/schemas/ids/{quote(str(schema_id), safe='')}"
        answer = self._transport.send("GET", path, None, _HEADERS)
        if answer.status == 404 and self._code(answer) == UNKNOWN_ID:
            return None
        text = self._object(answer, path).get("schema")
        if not isinstance(text, str):
            raise self._odd(path, "an answer without a schema", answer)
        self._texts.keep(schema_id, text, len(text))
        return text

    def register(self, subject: str, text: str) -> SchemaId:
        """Return the id of a text under a subject, which becomes its newest version if it is new.

        Raises: RegistryError; its ``status`` is 409 for a text that the subject's level refuses,
        and 422 for a text that is not a schema.
        """
        known = self._ids.get((subject, text))
        if known is not None:
            return known
        request = registration(subject, text)
        answer = self._transport.send(request.method, request.path, request.body, _HEADERS)
        schema_id = self._object(answer, request.path).get("id")
        if type(schema_id) is not int or not 0 < schema_id <= _MAX_ID:
            raise self._odd(request.path, "an answer without an id from 1", answer)
        self._ids.keep((subject, text), schema_id, len(text))
        return schema_id

    def check_root(self) -> None:
        """Do what TiCDC does at its start: refuse an address that does not answer ``{}``.

        Raises: RegistryError.
        """
        answer = self._transport.send("GET", "", None, _HEADERS)
        if self._object(answer, "") != {}:
            raise self._odd("", "an answer other than {}, so that TiCDC would not start", answer)

    def level(self) -> str:
        """Return the compatibility level of subjects without a separate level."""
        found = self._object(self._transport.send("GET", "/config", None, _HEADERS), "/config")
        level = found.get("compatibilityLevel")
        return level if isinstance(level, str) else "unknown"

    def set_level(self, level: Level, subject: str | None = None) -> None:
        """Set the compatibility level of all subjects, or of one. Raises: RegistryError."""
        path = "/config" if subject is None else f"/config/{quote(subject, safe='')}"
        body = json.dumps({"compatibility": level}).encode()
        self._object(self._transport.send("PUT", path, body, _HEADERS), path)

    def versions(self, subject: str) -> tuple[int, ...]:
        """Return the numbers of a subject's versions. Raises: RegistryError."""
        path = f"/subjects/{quote(subject, safe='')}/versions"
        found = self._json(self._transport.send("GET", path, None, _HEADERS), path)
        return tuple(each for each in found if type(each) is int) if _is_list(found) else ()

    def _object(self, answer: Answer, path: str) -> Mapping[str, Any]:
        found = self._json(answer, path)
        if not isinstance(found, dict):
            raise self._odd(path, "an answer that is not a JSON object", answer)
        return found

    def _json(self, answer: Answer, path: str) -> Any:
        """Return the JSON of an answer of 200. Raises: RegistryError for all others."""
        if answer.status != 200:
            raise self._refusal(answer, path)
        found = _parsed(answer.body)
        if found is _NO_JSON:
            raise self._odd(path, "an answer that is not JSON", answer)
        return found

    def _refusal(self, answer: Answer, path: str) -> RegistryError:
        found = _parsed(answer.body)
        said = found.get("message") if isinstance(found, dict) else None
        what = f"it answers {answer.status}"
        if isinstance(said, str) and said:
            what += f": {self._shown(said)}"
        advice = _ADVICE.get(answer.status, "see the registry's log")
        code = self._code(answer)
        if answer.status == 404 and code is not None:
            advice = "there is no such thing in the registry"
        return RegistryError(what, f"{self.address}{path}", advice, answer.status, code)

    def _odd(self, path: str, problem: str, answer: Answer) -> RegistryError:
        begin = self._shown(answer.body[: 4 * _SHOWN].decode("utf-8", "replace"))
        what = f"{problem}: {begin[:60]!r}" if begin else f"{problem}: nothing"
        return RegistryError(what, f"{self.address}{path}", _NO_REGISTRY, answer.status)

    def _shown(self, said: str) -> str:
        """Return what a registry said as one short line without credentials."""
        hidden = self.address.hidden_in(said)
        line = "".join(char if char.isprintable() else " " for char in hidden)
        return " ".join(line.split())[:_SHOWN]

    @staticmethod
    def _code(answer: Answer) -> int | None:
        found = _parsed(answer.body)
        code = found.get("error_code") if isinstance(found, dict) else None
        return code if type(code) is int else None


_NO_JSON = object()


def _parsed(body: bytes) -> object:
    try:
        return cast(object, json.loads(body))
    except (ValueError, RecursionError):
        return _NO_JSON


def _is_list(found: object) -> bool:
    return isinstance(found, list)
