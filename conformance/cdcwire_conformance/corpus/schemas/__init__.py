"""The JSON Schemas of a case file and of the index, as data of the package."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from cdcwire.model.text import Json


@cache
def schema(name: str) -> Json:
    """Return the schema of this name: ``case`` or ``index``."""
    file = files("cdcwire_conformance.corpus.schemas").joinpath(f"{name}.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))
