"""What a measurement gives: for each workload, format and batch size the bytes it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cdcwire_conformance.size.compressions import RAW, Compression

CLAIMED = ("craft", "craft-proposal")  # formats of which the claim is checked
CLAIM_AGAINST = ("open-protocol", "zlib")


@dataclass(frozen=True, slots=True)
class Cell:
    """One format with one batch size. ``sizes``: all bytes, by the name of the compression."""

    format: str
    batch: int
    rows: int
    messages: int
    sizes: Mapping[str, int]

    def bytes_per_row(self, compression: str = RAW) -> float:
        return self.sizes[compression] / self.rows

    @property
    def rows_per_message(self) -> float:
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
        for cell in self.cells:
            if (cell.format, cell.batch) == (format_name, batch):
                return cell
        return None

    @property
    def batches(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(cell.batch for cell in self.cells))


@dataclass(frozen=True, slots=True)
class SizeReport:
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
        return tuple(compression.name for compression in self.compressions)


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether a raw binary format is no larger than compressed JSON, for one workload and batch.

    ``smaller_than``: the compressions of the JSON that the raw format is no larger than.
    """

    workload: str
    batch: int
    format: str
    raw: float
    compressed_json: float
    smaller_than: tuple[str, ...]

    @property
    def ratio(self) -> float:
        return self.raw / self.compressed_json

    @property
    def holds(self) -> bool:
        return self.raw <= self.compressed_json


def claims(report: SizeReport) -> Iterator[Claim]:
    """Give where raw Craft beats compressed JSON and where not, as far as both were measured.

    Source: the Craft proposal claims that raw Craft can be smaller than JSON with zlib.
    """
    json_format, compression = CLAIM_AGAINST
    if compression not in report.compression_names:
        return
    for workload in report.workloads:
        for batch in report.batches:
            json_cell = workload.cell(json_format, batch)
            for name in CLAIMED:
                cell = workload.cell(name, batch)
                if cell is None or json_cell is None:
                    continue
                raw = cell.sizes[RAW]
                smaller = tuple(
                    other
                    for other in report.compression_names
                    if other != RAW and raw <= json_cell.sizes[other]
                )
                against = json_cell.bytes_per_row(compression)
                yield Claim(workload.name, batch, name, cell.bytes_per_row(), against, smaller)
