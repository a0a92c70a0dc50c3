"""The figures as one JSON document; ``schemas/size.schema.json`` is its schema."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from cdcwire.console.visible import visible_document
from cdcwire.model.text import Json
from cdcwire_conformance.size.results import Cell, SizeResults, WorkloadSizes, claims

DOCUMENT_VERSION = 1


def json_text(results: SizeResults) -> str:
    """Return the document as text. Equal figures give equal text."""
    return visible_document(document(results))


def document(results: SizeResults) -> dict[str, Json]:
    """Return the document of a measurement. Sizes are whole bytes of all rows."""
    return {
        "size": DOCUMENT_VERSION,
        "measured": "key and value of each message, compressed message by message",
        "seed": results.seed,
        "formats": list(results.formats),
        "batches": list(results.batches),
        "options": dict(results.options),
        "max_message_bytes": results.max_message_bytes,
        "compressions": [
            {"name": each.name, "setting": each.setting, "library": each.library}
            for each in results.compressions
        ],
        "workloads": [_workload(workload) for workload in results.workloads],
        "claims": [
            {
                "workload": claim.workload,
                "batch": claim.batch,
                "format": claim.format,
                "ratio": round(claim.ratio, 6),
                "holds": claim.holds,
                "no_larger_than_json_with": list(claim.smaller_than),
            }
            for claim in claims(results)
        ],
    }


@cache
def schema() -> Json:
    """Return the schema of the document."""
    file = files("cdcwire_conformance.size").joinpath("schemas/size.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


def _workload(workload: WorkloadSizes) -> dict[str, Json]:
    return {
        "name": workload.name,
        "title": workload.title,
        "rows": workload.rows,
        "cells": [_cell(cell) for cell in workload.cells],
        "received": None if workload.received is None else _cell(workload.received),
        "refused": [
            {"format": each.format, "rows": each.rows, "reason": each.reason}
            for each in workload.refused
        ],
        "notes": list(workload.notes),
    }


def _cell(cell: Cell) -> dict[str, Json]:
    return {
        "format": cell.format,
        "batch": cell.batch,
        "rows": cell.rows,
        "messages": cell.messages,
        "bytes": dict(cell.sizes),
        "bytes_per_row": {name: round(cell.bytes_per_row(name), 3) for name in cell.sizes},
    }
