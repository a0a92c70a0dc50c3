"""Blob messages against a strict JSON Schema for each op.

The schemas are data beside this file: what the reference writer may give, so that a member which a
reader passes over is a problem here. ``parts`` holds what they share. Comparing needs the package
``jsonschema``, which ``pip install '.[check]'`` brings.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cdcwire.console.problems import json_problem
from cdcwire.datahub.ops import OPS
from cdcwire.extras import requirements_of
from cdcwire.model.text import Json

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

PARTS = "parts"
PREFIX = "urn:cdcwire:datahub-blob:"
_MAX_PROBLEMS = 20


class CheckerMissingError(RuntimeError):
    """The package that compares documents with schemas is not installed."""


@cache
def schema(name: str) -> dict[str, Json]:
    """Return the schema of an op (``INSERT``), or ``parts``. Raises: ValueError for others."""
    if name != PARTS and name not in OPS:
        raise ValueError(f"there is no schema for {name!r:.60}")
    file = files("cdcwire_evidence.datahub").joinpath(f"schemas/{name}.schema.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def problems_of(value: bytes) -> tuple[str, ...]:
    """Return what breaks the schema of a message's own op, each with its place; () if nothing does.

    Raises: CheckerMissingError.
    """
    try:
        message = json.loads(value)
    except ValueError as error:
        return (json_problem(error),)
    payload = message.get("payload") if isinstance(message, dict) else None
    op = payload.get("op") if isinstance(payload, dict) else None
    if not isinstance(op, str) or op not in OPS:
        return (f"payload.op: {op!r:.60} is not defined",)
    return problems_with(op, message)


def problems_with(op: str, message: Json) -> tuple[str, ...]:
    """Return what breaks the schema of ``op`` in a message. Raises: CheckerMissingError."""
    found = []
    for error in _validator(op).iter_errors(message):
        steps = (
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
        )
        found.append(f"{''.join(steps).lstrip('.') or 'message'}: {error.message[:200]}")
        if len(found) == _MAX_PROBLEMS:
            break
    return tuple(found)


@cache
def _validator(op: str) -> Draft202012Validator:
    try:
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource
    except ImportError as error:
        raise CheckerMissingError(
            "comparing with the schemas needs the package jsonschema: "
            f"pip install {requirements_of('check')}"
        ) from error
    registry: Registry[Any] = Registry().with_resource(
        f"{PREFIX}{PARTS}", Resource.from_contents(schema(PARTS))
    )
    return Draft202012Validator(schema(op), registry=registry)
