"""The figures as Markdown: readable on a terminal, in a pull request and in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.output.markdown import inline
from cdcwire_conformance.size.compressions import RAW
from cdcwire_conformance.size.results import (
    Cell,
    Claim,
    SizeResults,
    WorkloadSizes,
    claims,
    json_baseline,
)
from cdcwire_conformance.suite import SizeClaim, get_suite

_LINE_LENGTH = 88
_SHORT_OF = 0.9  # a batch counts as full when it has so much of the rows it may have
_SUMMARY_BATCH = 16


def markdown(results: SizeResults) -> str:
    """Return the document. Equal figures give equal text."""
    return "\n".join(_lines(results)) + "\n"


def summary_batch(batches: Sequence[int]) -> int:
    """Return the batch size for what shows one only: TiCDC's default, or the one next to it."""
    return min(batches, key=lambda batch: (abs(batch - _SUMMARY_BATCH), batch))


def _lines(results: SizeResults) -> Iterator[str]:
    yield "# Bytes per row"
    yield ""
    yield from _introduction(results)
    yield ""
    yield from _summary(results)
    found = list(claims(results))
    for published in dict.fromkeys(claim.published for claim in found):
        yield ""
        yield from _claims(published, [claim for claim in found if claim.published == published])
    for workload in results.workloads:
        yield ""
        yield from _workload(workload, results)


def _introduction(results: SizeResults) -> Iterator[str]:
    yield "The tables give the bytes of each message, key and value, divided by its rows. Each"
    yield "message is compressed alone, key and value together. Kafka compresses batches, so a"
    yield "producer saves at least as much. Kafka's own framing is not counted."
    yield ""
    yield "The batch is the largest number of rows in a message. A message that exceeds"
    yield f"{_mebibytes(results)} is sent before. Seed {results.seed}. {_settings(results)}"
    for name in FORMAT_NAMES:
        note = get_suite(name).size.note
        if note and name in results.formats:
            yield ""
            yield from wrap(note, _LINE_LENGTH)


def _mebibytes(results: SizeResults) -> str:
    size = results.max_message_bytes
    return f"{size >> 20} MiB" if size % (1 << 20) == 0 else f"{size:,} bytes"


def _settings(results: SizeResults) -> str:
    parts = [
        f"{each.name}: {each.setting} ({each.library})"
        for each in results.compressions
        if each.name != RAW
    ]
    text = f"Compressions: {'; '.join(parts)}." if parts else ""
    if results.options:
        given = ", ".join(f"`{name}={value}`" for name, value in results.options.items())
        text = f"{text} Options: {given}."
    return text.strip()


def _summary(results: SizeResults) -> Iterator[str]:
    batch = summary_batch(results.batches)
    compressed = next((name for name in results.compression_names if name != RAW), None)
    columns = [RAW] if compressed is None else [RAW, compressed]
    yield f"## At {_rows(batch)} a message"
    yield ""
    header = ["workload"]
    for name in columns:
        header += [f"{each}{_behind(name)}" for each in results.formats]
    body = []
    for workload in results.workloads:
        line = [inline(workload.name)]
        for name in columns:
            cells = (workload.cell(each, batch) for each in results.formats)
            line += ["" if cell is None else _number(cell.bytes_per_row(name)) for cell in cells]
        body.append(line)
    yield from table(header, body)


def _behind(compression: str) -> str:
    return "" if compression == RAW else f", {compression}"


def _claims(published: SizeClaim, found: Sequence[Claim]) -> Iterator[str]:
    json_format, compression, subject = json_baseline(), published.compression, published.subject
    formats = tuple(dict.fromkeys(claim.format for claim in found))
    yield f"## Where raw {subject} beats compressed JSON"
    yield ""
    yield from wrap(
        f"{published.source} says that raw {subject} can be smaller than JSON with {compression}. "
        f"The claim holds where raw {subject} takes at most 1.00 times the bytes of {json_format} "
        f"with {compression}. The last columns list the compressions with which the JSON is not "
        "smaller.",
        _LINE_LENGTH,
    )
    yield ""
    for name in formats:
        yield f"- `{name}`: {_verdict([claim for claim in found if claim.format == name])}."
    yield ""
    header = ["workload", "batch", f"{json_format}, {compression}"]
    for name in formats:
        header += [f"{name}, raw", "times", "holds"]
    header += [f"{name} beats JSON with" for name in formats]
    words = {0, len(header) - 1, len(header) - len(formats)}
    words |= {3 * (at + 1) + 2 for at in range(len(formats))}
    yield from table(header, list(_claim_lines(found)), words)


def _claim_lines(found: Sequence[Claim]) -> Iterator[list[str]]:
    """Yield a line for each workload and batch size, with the claims of all formats."""
    for workload, batch in dict.fromkeys((claim.workload, claim.batch) for claim in found):
        of_line = [claim for claim in found if (claim.workload, claim.batch) == (workload, batch)]
        line = [inline(workload), str(batch), _number(of_line[0].compressed_json)]
        for claim in of_line:
            line += [_number(claim.raw), f"{claim.ratio:.2f}", "yes" if claim.holds else "no"]
        yield line + [", ".join(claim.smaller_than) or "none" for claim in of_line]


def _verdict(found: Sequence[Claim]) -> str:
    """Return in words at which batch sizes the claim holds how often."""
    parts = []
    for batch in dict.fromkeys(claim.batch for claim in found):
        of_batch = [claim for claim in found if claim.batch == batch]
        holding = sum(claim.holds for claim in of_batch)
        parts.append(f"{holding} of {len(of_batch)} with batches of {batch:,}")
    return f"holds for {', '.join(parts)}"


def _workload(workload: WorkloadSizes, results: SizeResults) -> Iterator[str]:
    yield f"## {inline(workload.name)}"
    yield ""
    yield f"{inline(workload.title[:1].upper() + workload.title[1:])}. {workload.rows:,} rows."
    yield ""
    names = results.compression_names
    body = []
    for batch in workload.batches:
        for format_name in results.formats:
            cell = workload.cell(format_name, batch)
            if cell is not None:
                sizes = [_number(cell.bytes_per_row(name)) for name in names]
                body.append([str(batch), format_name, *sizes, _relation(cell, workload)])
    yield from table(["batch", "format", *map(_title, names), "raw of JSON"], body, left={1})
    yield from _remarks(workload)


def _remarks(workload: WorkloadSizes) -> Iterator[str]:
    remarks = [f"{inline(note)[:1].upper()}{inline(note)[1:]}." for note in workload.notes]
    received = workload.received
    if received is not None:
        figures = ", ".join(
            f"{_title(name)} {_number(received.bytes_per_row(name))}" for name in received.sizes
        )
        remarks.append(
            f"As it came, in {received.format} with {received.rows_per_message:.1f} rows per "
            f"message: {figures}."
        )
    measured = {cell.format for cell in workload.cells}
    for refused in workload.refused:
        reason = inline(refused.reason)
        if refused.format in measured:
            remarks.append(
                f"{refused.rows:,} rows that {refused.format} can't carry are left out "
                f"everywhere; the first: {reason}."
            )
        else:
            number = f"{refused.rows:,} of " if refused.rows < workload.rows else ""
            remarks.append(f"{refused.format} can't carry {number}these rows; the first: {reason}.")
    remarks += _short_batches(workload)
    for remark in remarks:
        yield ""
        yield remark


def _short_batches(workload: WorkloadSizes) -> Iterator[str]:
    """Yield a sentence about messages that hold fewer rows than they may."""
    short: dict[str, None] = {}
    for cell in workload.cells:
        facts = get_suite(cell.format).size
        has_one_row = cell.messages >= cell.rows and facts.has_one_row_per_message
        if cell.rows_per_message < cell.batch * _SHORT_OF and not has_one_row:
            short[f"{cell.rows_per_message:.0f} of {cell.batch:,} ({cell.format})"] = None
    if short:
        yield f"Messages hold fewer rows than they may: {', '.join(short)}."


def _relation(cell: Cell, workload: WorkloadSizes) -> str:
    """Return the raw size as a share of the JSON's."""
    json_cell = workload.cell(json_baseline(), cell.batch)
    if json_cell is None:
        return ""
    return f"{cell.sizes[RAW] / json_cell.sizes[RAW]:.2f}"


def table(
    header: Sequence[str], body: Sequence[Sequence[str]], left: set[int] | None = None
) -> Iterator[str]:
    """Yield a Markdown table whose columns are aligned. ``left``: those that hold words."""
    words = {0} if left is None else left
    rows = [list(header), *map(list, body)]
    widths = [max(3, *(len(row[at]) for row in rows)) for at in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if at in words else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    yield line(rows[0])
    rules = ("-" * w if at in words else "-" * (w - 1) + ":" for at, w in enumerate(widths))
    yield f"| {' | '.join(rules)} |"
    yield from map(line, rows[1:])


def _title(compression: str) -> str:
    return "raw" if compression == RAW else compression


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def _number(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
