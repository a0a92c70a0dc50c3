"""The figures as Markdown: readable on a terminal, in a pull request and in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdcwire_conformance.size.compressions import RAW
from cdcwire_conformance.size.report import (
    CLAIM_AGAINST,
    Cell,
    Claim,
    SizeReport,
    WorkloadSizes,
    claims,
)

_SHORT_OF = 0.9  # a batch counts as full when it has so much of the rows it may have
_SUMMARY_BATCH = 16


def markdown(report: SizeReport) -> str:
    """Return the document. Equal figures give equal text."""
    return "\n".join(_lines(report)) + "\n"


def summary_batch(batches: Sequence[int]) -> int:
    """Return the batch size for what shows one only: TiCDC's default, or the one next to it."""
    return min(batches, key=lambda batch: (abs(batch - _SUMMARY_BATCH), batch))


def _lines(report: SizeReport) -> Iterator[str]:
    yield "# Bytes per row"
    yield ""
    yield from _introduction(report)
    yield ""
    yield from _summary(report)
    found = list(claims(report))
    if found:
        yield ""
        yield from _claims(found)
    for workload in report.workloads:
        yield ""
        yield from _workload(workload, report)


def _introduction(report: SizeReport) -> Iterator[str]:
    yield "Counted are the bytes of each message's key and value, divided by its rows. Compressed"
    yield "is message by message, key and value together: the least that a Kafka producer saves,"
    yield "whose batch has at least one message. Kafka's own framing is not counted."
    yield ""
    yield "A batch is the number of rows that a message may have; a message is sent once it is"
    yield f"beyond {_mebibytes(report)}. Seed {report.seed}. {_settings(report)}"
    if "csv" in report.formats:
        yield ""
        yield "Of `csv` a batch is a file of one table. With the producer's defaults its records"
        yield "have neither commit timestamps nor old values."
    if "canal-json" in report.formats:
        yield ""
        yield "`canal-json` has one row a message, so its figures are the same with every batch."
    if "avro" in report.formats:
        yield ""
        yield "`avro` has one row a message too, without its old values. Its schemas, which a"
        yield "registry has, are not counted: a message has their number only."
    if "datahub-tuple" in report.formats:
        yield ""
        yield "Of `datahub-tuple` a batch is a body of one topic, which has one table; its encoding"
        yield "is JSON unless an option says otherwise. The topic's definition is not counted."
    if "datahub-blob" in report.formats:
        yield ""
        yield "`datahub-blob` has a record a row, so its figures are the same with every batch, and"
        yield "each record says the columns and their types. An update is two records in both."
    if {"cdl-json", "debezium-json"} & set(report.formats):
        yield ""
        yield "`cdl-json` and `debezium-json` have one row a message, and with it the schema of its"
        yield "table, unless the option schemas-enable is false. Of a delete Debezium needs the key"
        yield "only, and writes the whole row that it is given. CDL keeps milliseconds: rows with"
        yield "more digits of a second are left out."


def _mebibytes(report: SizeReport) -> str:
    size = report.max_message_bytes
    return f"{size >> 20} MiB" if size % (1 << 20) == 0 else f"{size:,} bytes"


def _settings(report: SizeReport) -> str:
    parts = [
        f"{each.name}: {each.setting} ({each.library})"
        for each in report.compressions
        if each.name != RAW
    ]
    text = f"Compressions: {'; '.join(parts)}." if parts else ""
    if report.options:
        given = ", ".join(f"`{name}={value}`" for name, value in report.options.items())
        text = f"{text} Options: {given}."
    return text.strip()


def _summary(report: SizeReport) -> Iterator[str]:
    batch = summary_batch(report.batches)
    compressed = next((name for name in report.compression_names if name != RAW), None)
    columns = [RAW] if compressed is None else [RAW, compressed]
    yield f"## At {_rows(batch)} a message"
    yield ""
    header = ["workload"]
    for name in columns:
        header += [f"{each}{_behind(name)}" for each in report.formats]
    body = []
    for workload in report.workloads:
        line = [_inline(workload.name)]
        for name in columns:
            cells = (workload.cell(each, batch) for each in report.formats)
            line += ["" if cell is None else _number(cell.bytes_per_row(name)) for cell in cells]
        body.append(line)
    yield from table(header, body)


def _behind(compression: str) -> str:
    return "" if compression == RAW else f", {compression}"


def _claims(found: Sequence[Claim]) -> Iterator[str]:
    json_format, compression = CLAIM_AGAINST
    formats = tuple(dict.fromkeys(claim.format for claim in found))
    yield "## Where raw Craft beats compressed JSON"
    yield ""
    yield f"The Craft proposal says that raw Craft can be smaller than JSON with {compression}. It"
    yield f"holds where raw Craft takes at most 1.00 times the bytes of {json_format} with"
    yield f"{compression}. The last columns tell with which compressions the JSON is no smaller."
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
        line = [_inline(workload), str(batch), _number(of_line[0].compressed_json)]
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


def _workload(workload: WorkloadSizes, report: SizeReport) -> Iterator[str]:
    yield f"## {_inline(workload.name)}"
    yield ""
    yield f"{_inline(workload.title[:1].upper() + workload.title[1:])}. {workload.rows:,} rows."
    yield ""
    names = report.compression_names
    body = []
    for batch in workload.batches:
        for format_name in report.formats:
            cell = workload.cell(format_name, batch)
            if cell is not None:
                sizes = [_number(cell.bytes_per_row(name)) for name in names]
                body.append([str(batch), format_name, *sizes, _relation(cell, workload)])
    yield from table(["batch", "format", *map(_title, names), "raw of JSON"], body, left={1})
    yield from _remarks(workload)


def _remarks(workload: WorkloadSizes) -> Iterator[str]:
    remarks = [f"{_inline(note)[:1].upper()}{_inline(note)[1:]}." for note in workload.notes]
    received = workload.received
    if received is not None:
        figures = ", ".join(
            f"{_title(name)} {_number(received.bytes_per_row(name))}" for name in received.sizes
        )
        remarks.append(
            f"As it came, in {received.format} with {received.rows_per_message:.1f} rows a "
            f"message: {figures}."
        )
    measured = {cell.format for cell in workload.cells}
    for refused in workload.refused:
        reason = _inline(refused.reason)
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


# Formats of one row a message, or one half of it; the introduction says so.
_OF_ONE_ROW = ("canal-json", "avro", "datahub-blob", "cdl-json", "debezium-json")


def _short_batches(workload: WorkloadSizes) -> Iterator[str]:
    """Yield a sentence about messages that hold fewer rows than they may."""
    short: dict[str, None] = {}
    for cell in workload.cells:
        has_one_row = cell.messages >= cell.rows and cell.format in _OF_ONE_ROW
        if cell.rows_per_message < cell.batch * _SHORT_OF and not has_one_row:
            short[f"{cell.rows_per_message:.0f} of {cell.batch:,} ({cell.format})"] = None
    if short:
        yield f"Messages hold fewer rows than they may: {', '.join(short)}."


def _relation(cell: Cell, workload: WorkloadSizes) -> str:
    """Return the raw size as a share of the JSON's."""
    json_cell = workload.cell(CLAIM_AGAINST[0], cell.batch)
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


def _inline(text: str) -> str:
    escaped = "".join(f"\\{sign}" if sign in "\\`*_|<>[]" else sign for sign in text)
    return " ".join(escaped.split())
