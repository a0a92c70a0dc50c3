"""Every line of a conversation against the JSON Schemas (``cdcwire verify --check-protocol``).

The schemas are data in this directory. Comparing needs the package ``jsonschema``, which ``pip
install '.[check]'`` brings; without it nothing else is missing.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cdcwire.extras import requirements_of
from cdcwire.model.text import Json
from cdcwire_conformance.protocol.answers import ProtocolError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

SCHEMA_NAMES = (
    *("start", "start-answer", "decode-request", "encode-request", "answer-events"),
    *("answer-messages", "rejected", "message", "event", "value", "table", "results"),
)


class CheckerMissingError(RuntimeError):
    """The package that compares documents with schemas is not installed."""


def schema(name: str) -> dict[str, Json]:
    """Return a schema of the protocol by its name, for example ``event``."""
    text = (
        files("cdcwire_conformance.protocol")
        .joinpath(f"schemas/{name}.schema.json")
        .read_text(encoding="utf-8")
    )
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


class ProtocolChecker:
    """Compares documents with the schemas. Raises (on creation): CheckerMissingError."""

    def __init__(self) -> None:
        _validator("start")

    def check_start(self, document: Json) -> None:
        """Check the answer to start. Raises: ProtocolError."""
        self.check("start-answer", document)

    def check_answer(self, document: Json, cmd: str, *, needs_seq: bool = True) -> None:
        """Check the answer to decode or encode. Raises: ProtocolError."""
        if not needs_seq and isinstance(document, dict):
            document = {"seq": 0, **document}
        answered = "answer-events" if cmd == "decode" else "answer-messages"
        self.check("rejected" if "rejected" in document else answered, document)

    def check(self, name: str, document: Json) -> None:
        """Compare a document with a schema. Raises: ProtocolError that names place and rule."""
        from jsonschema.exceptions import best_match

        error = best_match(_validator(name).iter_errors(document))
        if error is None:
            return
        place = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
        ).lstrip(".")
        raise ProtocolError(
            f"the answer breaks {name}.schema.json at {place or 'the top'}: {error.message[:300]}"
        )


@cache
def _validator(name: str) -> Draft202012Validator:
    try:
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource
    except ImportError as error:
        raise CheckerMissingError(
            "comparing with the schemas needs the package jsonschema: "
            f"pip install {requirements_of('check')}"
        ) from error
    registry: Registry[Any] = Registry().with_resources(
        (f"{each}.schema.json", Resource.from_contents(schema(each))) for each in SCHEMA_NAMES
    )
    return Draft202012Validator(schema(name), registry=registry)
