"""``cdcwire size``: measure the bytes per row of the formats, raw and compressed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from cdcwire.cli.arguments import repeated, with_value
from cdcwire.cli.context import (
    CodecArguments,
    UsageError,
    context_from,
    parse_option_arguments,
)
from cdcwire.console.problems import DEFAULT_SCHEMA, integer_argument, jobs_argument
from cdcwire.ddl import read_ddl_file
from cdcwire.files.local_files import write_whole
from cdcwire.model.events import Table
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.size import (
    COMPRESSION_NAMES,
    DEFAULT_BATCHES,
    DEFAULT_ROWS,
    Input,
    SizeResults,
    feed_input,
    json_text,
    markdown,
    measure,
    named_inputs,
    picture,
    table_input,
)
from cdcwire_conformance.size.inputs import parse_source
from cdcwire_generators.workloads import WORKLOAD_NAMES

_FORMATS, _COMPRESSIONS = ",".join(FORMAT_NAMES), ",".join(COMPRESSION_NAMES)
_BATCHES = ",".join(map(str, DEFAULT_BATCHES))
NAME = "size"
HELP = "measure the bytes per row of the formats, raw and compressed"
DESCRIPTION = f"""\
Measure the bytes per row of each format, for batches of several sizes, raw and with the usual
compressions. One seed gives the same figures every time.

Without --workload, --ddl and --feed all workloads are measured: {", ".join(WORKLOAD_NAMES)}.
The key and the value of each message are counted; each message is compressed separately. Kafka's
framing is not counted. Workloads with wide rows use fewer rows.
"""
EXAMPLES = """\
examples:
  cdcwire size                                             all workloads, as Markdown
  cdcwire size --ddl shop.sql --picture sizes.svg          your own tables, random rows
  cdcwire size --feed open-protocol:file:feed --json f.json  your own rows, in the other formats too
"""


class SizeArguments(CodecArguments):
    """The arguments of ``cdcwire size``."""

    workload: list[str] = repeated(
        "NAME", "measure this workload (may be given again)", choices=WORKLOAD_NAMES
    )
    ddl: str | None = with_value(
        "FILE", "measure each table of these CREATE TABLE statements; with --feed: its tables"
    )
    feed: str | None = with_value("FORMAT:file:DIR", "measure the rows of these messages")
    rows: int = with_value(
        "N", f"default: {DEFAULT_ROWS}", type=integer_argument, default=DEFAULT_ROWS
    )
    sample: int = with_value(
        "N",
        f"measure up to N rows of a feed (default: {DEFAULT_ROWS})",
        type=integer_argument,
        default=DEFAULT_ROWS,
    )
    seed: int = with_value("S", "seed (default: 1)", type=integer_argument, default=1)
    formats: str = with_value("A,B,…", f"default: {_FORMATS}", default=_FORMATS)
    batches: str = with_value("N,M,…", f"rows per message (default: {_BATCHES})", default=_BATCHES)
    compressions: str = with_value("A,B,…", f"default: {_COMPRESSIONS}", default=_COMPRESSIONS)
    jobs: int = with_value(
        "N",
        "processes at once (default: one per core)",
        type=jobs_argument,
        default=os.cpu_count() or 1,
    )
    markdown: str | None = with_value("FILE", "also write the Markdown to FILE")
    json: str | None = with_value("FILE", "write the figures as JSON")
    picture: str | None = with_value("FILE", "draw the figures, as .svg or .png")


add_arguments = SizeArguments.add_to


def run(arguments: SizeArguments) -> int:
    """Measure the sizes of the formats and write the results. Returns 0. Raises: UsageError."""
    if arguments.rows < 1 or arguments.sample < 1:
        raise UsageError("--rows and --sample are numbers from 1")
    if arguments.picture and not arguments.picture.lower().endswith((".svg", ".png")):
        raise UsageError("--picture is a file that ends in .svg or .png")
    with ProgressLine() as progress:
        try:
            results = measure(
                list(_sources(arguments)),
                formats=_names(arguments.formats),
                batches=_batches(arguments.batches),
                compression_names=_names(arguments.compressions),
                options=parse_option_arguments(arguments.option),
                seed=arguments.seed,
                jobs=arguments.jobs,
                watch=progress.show,
            )
        except ValueError as error:
            if type(error).__module__.startswith("cdcwire"):
                raise
            raise UsageError(str(error)) from error
    _write(results, arguments)
    return 0


def _sources(arguments: SizeArguments) -> Iterator[Callable[[], Input]]:
    """Yield what makes the rows that are to be measured."""
    rows, seed = arguments.rows, arguments.seed
    is_all = not (arguments.workload or arguments.ddl or arguments.feed)
    yield from named_inputs(
        WORKLOAD_NAMES if is_all else tuple(dict.fromkeys(arguments.workload)), rows, seed
    )
    tables = read_ddl_file(arguments.ddl, DEFAULT_SCHEMA) if arguments.ddl else ()
    if not arguments.feed:
        yield from (partial(table_input, table, rows, seed) for table in tables)
        return
    yield partial(_feed_input, arguments.feed, arguments, tables)


def _feed_input(feed: str, arguments: SizeArguments, tables: tuple[Table, ...]) -> Input:
    """Return the rows of the feed. Another process makes its own context: none can be pickled."""
    context = context_from(arguments)
    options = get_format(parse_source(feed)[0]).options
    known = {option.name for option in options}
    chosen = {name: value for name, value in context.options.items() if name in known}
    with_tables = replace(context, options=chosen, tables=tables or context.tables)
    return feed_input(feed, arguments.sample, with_tables)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _batches(text: str) -> list[int]:
    if not all(name.isascii() and name.isdigit() and len(name) < 10 for name in _names(text)):
        raise UsageError(f"--batches {text!r} is not a list of numbers")
    return [int(name) for name in _names(text)]


def _write(results: SizeResults, arguments: SizeArguments) -> None:
    text = markdown(results)
    try:
        for file, content in ((arguments.markdown, text), (arguments.json, json_text(results))):
            if file:
                write_whole(Path(file), content.encode())
        if arguments.picture:
            picture(results, arguments.picture)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    print(text, end="")
