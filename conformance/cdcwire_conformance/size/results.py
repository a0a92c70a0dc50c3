"""The results of a measurement: the bytes for each workload, format and batch size; as JSON too.

``document`` gives them as JSON; ``schemas/size.schema.json`` is its schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cdcwire.console.visible import visible_document
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.size.compressions import RAW, Compression
from cdcwire_conformance.suite import SizeClaim, get_suite


@dataclass(frozen=True, slots=True)
class Cell:
    """One format with one batch size. ``sizes``: all bytes, by the name of the compression."""

    format: str
    batch: int
    rows: int
    messages: int
    sizes: Mapping[str, int]

    def bytes_per_row(self, compression: str = RAW) -> float:
        """Return the mean number of bytes per row under a compression."""
        return self.sizes[compression] / self.rows

    @property
    def rows_per_message(self) -> float:
        """The mean number of rows per message."""
        return self.rows / self.messages


@dataclass(frozen=True, slots=True)
class Refused:
    """Rows that a format can't carry, with the first reason. They are left out for all formats."""

    format: str
    rows: int
    reason: str


@dataclass(frozen=True, slots=True)
class WorkloadSizes:
    """``rows``: those that were measured. ``received``: a feed as it came, before anything else."""

    name: str
    title: str
    rows: int
    cells: tuple[Cell, ...]
    refused: tuple[Refused, ...] = ()
    received: Cell | None = None
    notes: tuple[str, ...] = ()

    def cell(self, format_name: str, batch: int) -> Cell | None:
        """Return the cell of a format and batch size; None if it was not measured."""
        for cell in self.cells:
            if (cell.format, cell.batch) == (format_name, batch):
                return cell
        return None

    @property
    def batches(self) -> tuple[int, ...]:
        """The batch sizes that were measured, in order."""
        return tuple(dict.fromkeys(cell.batch for cell in self.cells))


@dataclass(frozen=True, slots=True)
class SizeResults:
    """All figures of one run, and what they depend on."""

    seed: int
    formats: tuple[str, ...]
    batches: tuple[int, ...]
    compressions: tuple[Compression, ...]
    options: Mapping[str, str]
    max_message_bytes: int
    workloads: tuple[WorkloadSizes, ...]

    @property
    def compression_names(self) -> tuple[str, ...]:
        """The names of the compressions, in order."""
        return tuple(compression.name for compression in self.compressions)


@dataclass(frozen=True, slots=True)
class Claim:
    """Compares a raw binary format with compressed JSON, for one workload and batch.

    ``published``: the claim that is checked. ``smaller_than``: the compressions of the JSON that
    the raw format is no larger than.
    """

    published: SizeClaim
    workload: str
    batch: int
    format: str
    raw: float
    compressed_json: float
    smaller_than: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """The raw size divided by the size of the compressed JSON."""
        return self.raw / self.compressed_json

    @property
    def holds(self) -> bool:
        """True if the raw format is no larger than the compressed JSON."""
        return self.raw <= self.compressed_json


def json_baseline() -> str:
    """Return the name of the JSON format that others are compared with."""
    return next(name for name in FORMAT_NAMES if get_suite(name).size.is_json_baseline)


def claims(results: SizeResults) -> Iterator[Claim]:
    """Yield where published claims of size hold and where not, as far as both were measured."""
    claimed = {name: get_suite(name).size.claim for name in FORMAT_NAMES}
    against = json_baseline()
    for workload in results.workloads:
        for batch in results.batches:
            json_cell = workload.cell(against, batch)
            for name, claim in claimed.items():
                cell = workload.cell(name, batch)
                if claim is None or cell is None or json_cell is None:
                    continue
                if claim.compression in results.compression_names:
                    yield _claim(claim, workload.name, cell, json_cell, results.compression_names)


def _claim(
    published: SizeClaim, workload: str, cell: Cell, json_cell: Cell, compressions: tuple[str, ...]
) -> Claim:
    smaller = (
        other
        for other in compressions
        if other != RAW and cell.sizes[RAW] <= json_cell.sizes[other]
    )
    return Claim(
        published,
        workload,
        cell.batch,
        cell.format,
        cell.bytes_per_row(),
        json_cell.bytes_per_row(published.compression),
        tuple(smaller),
    )


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
