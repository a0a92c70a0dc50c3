"""``cdcwire compare``: compares two feeds and reports where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cdcwire.cli.auto import source_identified
from cdcwire.cli.configuration import configure_sides
from cdcwire.cli.context import (
    UsageError,
    context_from,
    parse_option_arguments,
    schemas_at,
)
from cdcwire.core.context import EVERYTHING, Context
from cdcwire.core.nearest import did_you_mean
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.extras import load_extra
from cdcwire.files.stores import scheme_of
from cdcwire.identify.auto import AUTO_SOURCE
from cdcwire.registry import get_format
from cdcwire_conformance.cli.colours import print_lines
from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_engine import (
    load_engine,
    runs_embedded,
    spark_settings,
    table_argument,
)
from cdcwire_conformance.cli.compare_reports import (
    begin_notes,
    check_case_argument,
    check_feeds_kept,
    check_reports,
)
from cdcwire_conformance.cli.compare_rules import Masking, masking_from, meaning_from, window_from
from cdcwire_conformance.cli.compare_run import Work, announced, compared, on_spark
from cdcwire_conformance.cli.follow import (
    check_follow_arguments,
    check_followed,
    check_topics,
    follow,
)
from cdcwire_conformance.cli.progress import without_logs
from cdcwire_conformance.cli.recorded import schemas_near, with_recorded
from cdcwire_conformance.sources.source_urls import Source, parse_source
from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_conformance.spark.java import java_ends_on_interrupt
from cdcwire_conformance.spark.reading.samples import SparkSamples
from cdcwire_conformance.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.compare.rules import CompareOptions
    from cdcwire_conformance.sources.tables import TableUrl

NAME = "compare"
MOST_USED = (
    *("--option", "--left-option", "--right-option", "--tables", "--ddl", "--include"),
    *("--columns", "--mode", "--common", "--html", "--json", "--engine"),
)
HELP = "compare two feeds, in the same or different formats"
DESCRIPTION = """\
Decode two feeds in any two formats and compare their row changes, table by table.

LEFT and RIGHT are FORMAT:PLACE. The format auto finds the format and its options in the messages.
A directory with feed.json, as generate writes it, needs no options. A place is one of these:

    file:DIR, file:FILE       messages as JSON lines, or *.parquet with
                              Kafka's columns; csv, canal-json: also a
                              storage prefix
    kafka://HOST:PORT/TOPIC   the topic up to its present end; also a
                              pattern (shop.*), or topics with commas
                              between them. ?from=, to=, from-ms= and
                              to-ms= choose a part
    s3a://BUCKET/DIR          as file:DIR; also hdfs:// and others that
                              Spark reads

RIGHT may also be a table. Its rows are compared with the last row of each key of LEFT:

    csv-table:FILE            a CSV file with a header; the types are those
                              of the feed or of --ddl
    parquet:DIR, delta:DIR, iceberg:DIR, table:NAME
    jdbc:URL?table=NAME       the environment variable
                              CDCWIRE_TABLE_PASSWORD has the password

Tables and columns are compared first. If they differ, no row is read. Rows pair by their key and
the first position that both formats carry. An update of a key equals its delete and insert. These
count as differences: NULL and an absent column, -0.0 and 0.0, 1.0 and 1.00, a row sent twice and
once. DDL and progress events are counted.

With --mode final, compare the last row of each key instead. With --from and --to, compare only
the changes between two positions. With --follow, compare two topics while they grow.

Exit code 0: the feeds are equal. 1: they differ, or --on-error row met a message that can't be
read. 2: the comparison could not run, or it stopped at such a message.
"""
EXAMPLES = """\
examples:
  cdcwire compare auto:file:a auto:file:b
  cdcwire compare debezium-json:file:a canal-json:file:b --html found.html
  cdcwire compare 'debezium-json:kafka://broker1/shop.public.*' \\
    canal-json:kafka://broker1/shop
  cdcwire compare maxwell-json:file:a csv-table:orders.csv --ddl shop.sql \\
    --csv-null ''
  cdcwire compare canal-json:file:a \\
    'jdbc:mariadb://db:3306/shop?table=orders&user=reader'
  cdcwire compare canal-json:file:a canal-json:file:b --mode final

more examples:
  cdcwire compare auto:file:a auto:file:b --left-changefeed old.toml \\
    --right-changefeed new.toml
  cdcwire compare simple:file:a simple:file:b --include shop.orders \\
    --limit 100 --json found.json
  cdcwire compare canal-json:file:a open-protocol:file:b \\
    --right-option output-old-value=false
  cdcwire compare canal-json:file:a canal-json:file:b --columns id,price \\
    --on-error row
  cdcwire compare csv:file:a canal-json:file:b \\
    --left-option include-commit-ts=true --left-option output-old-value=true \\
    --right-option enable-tidb-extension=true
  cdcwire compare avro:file:a canal-json:file:b \\
    --option enable-tidb-extension=true \\
    --left-schema http://user:password@registry:8081
  cdcwire compare 'canal-json:kafka://broker1:9092,broker2:9092/orders' \\
    'open-protocol:kafka://broker1:9092/orders-old?from-ms=1760000000000'
  cdcwire compare canal-json:file:a canal-json:file:b --differences found
  cdcwire compare simple:file:a open-protocol:file:b \\
    --from 449226000000000000 --to 449227000000000000 --allow-repeats
  cdcwire compare simple:kafka://broker1/orders \\
    open-protocol:kafka://broker1/orders-old --follow --every 60 \\
    --state orders.state --json windows.jsonl --metrics orders.prom
  cdcwire compare canal-json:kafka://broker1/orders iceberg:s3a://lake/orders
  cdcwire compare simple:file:a open-protocol:file:b --mask \\
    --redact email,phone --html found.html
  cdcwire compare canal-json:file:a open-protocol:file:b --save-case found --mask
  cdcwire compare simple:file:a simple:file:b --mask-key mask.key \\
    --json s3://reports/found.json
  cdcwire compare simple:file:a simple:file:b --master 'local[2]' \\
    --conf spark.driver.memory=4g
"""

EQUAL, DIFFERENT = 0, 1
add_arguments = CompareArguments.add_to


def run(arguments: CompareArguments) -> int:
    """Compare the two feeds and print the result. Returns the exit code. Raises: UsageError."""
    with without_logs(), java_ends_on_interrupt():
        work = prepared(arguments)
        from cdcwire_conformance.compare.report import text  # after the check of its libraries

        if arguments.follow:
            check_followed(work)
            with on_spark(work) as (spark, report, progress):
                return follow(work, spark, report, progress)
        found, _ = compared(work)
    print_lines(text(found).removesuffix("\n").split("\n"))
    return EQUAL if found.is_equal else DIFFERENT


def prepared(arguments: CompareArguments) -> Work:
    """Check all arguments and find the formats of the feeds. Raises: UsageError and others."""
    if arguments.limit < 0:
        raise UsageError("--limit is a number from 0")
    check_follow_arguments(arguments)
    masking = masking_from(arguments)
    check_reports(arguments)
    settings = spark_settings(arguments.conf)
    table = table_argument(arguments)
    notes = begin_notes(arguments)
    configure_sides(arguments, NAME)
    notes.note_configuration(arguments)
    _identify_sides(arguments, settings, table)
    notes.note_found(arguments)
    sources = parse_source(arguments.left), parse_source(arguments.right)
    check_topics(arguments, sources)
    check_feeds_kept(arguments, sources)
    options = _options(arguments, [source.format.name for source in sources])
    context = context_from(arguments, None)
    schemas = _schemas(arguments, context, sources)
    is_embedded = runs_embedded(arguments, sources, table)
    check_case_argument(arguments, has_table=table is not None)
    load_engine(arguments, sources, table, is_embedded=is_embedded)
    sides = list(zip(sources, options, schemas, strict=True))
    left, right, compare_options = _asked(arguments, context, sides, masking)
    return Work(
        arguments, masking, left, right, table, compare_options, settings, is_embedded, notes
    )


def _identify_sides(
    arguments: CompareArguments, settings: Mapping[str, str], table: TableUrl | None
) -> None:
    """Replace auto in both sources by the format found, and add the options found."""
    schemes = {
        scheme_of(each.removeprefix(AUTO_SOURCE)) for each in (arguments.left, arguments.right)
    }

    def session(scheme: str) -> SparkSession:
        load_extra("pyspark", "spark", "compare")
        return spark_session(
            arguments.master,
            with_connectors(settings, schemes, report=announced),
            "cdcwire compare",
        )

    for side in ("left", "right"):
        source, own = getattr(arguments, side), getattr(arguments, f"{side}_option")
        if not source.startswith(AUTO_SOURCE):
            continue
        context = _context_of(arguments, side, parse_option_arguments(own))
        source, found = source_identified(NAME, source, context, SparkSamples(session))
        setattr(arguments, side, source)
        words = parse_option_arguments([*arguments.option, *own])
        given = {name.rpartition(".")[2] for name in words}
        added = [f"{name}={found[name]}" for name in found if name.rpartition(".")[2] not in given]
        setattr(arguments, f"{side}_option", [*added, *own])
        if table is not None:  # both sides are LEFT, and its format is found now
            arguments.right, arguments.right_option = arguments.left, arguments.left_option


def _context_of(arguments: CompareArguments, side: str, own: Mapping[str, OptionValue]) -> Context:
    context = context_from(arguments, None)
    place = getattr(arguments, f"{side}_schema")
    schemas = schemas_at(place, arguments) if place else context.schemas
    return replace(context, options=own, schemas=schemas)


def _asked(
    arguments: CompareArguments,
    context: Context,
    sides: Sequence[tuple[Source, Mapping[str, OptionValue], Mapping[str, str]]],
    masking: Masking,
) -> tuple[ComparedFeed, ComparedFeed, CompareOptions]:
    """Return both feeds, and what is wanted of their comparison."""
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.compare.rules import CompareOptions, terms_of

    selection = context.selection
    # Workers find their compressions themselves; what to select is a wish.
    context = replace(context, selection=EVERYTHING, compressions={})
    own = [replace(context, options=chosen, schemas=schemas) for _, chosen, schemas in sides]
    left, right = (
        ComparedFeed(source, with_recorded(NAME, source.folder, source.format.name, known))
        for (source, _, _), known in zip(sides, own, strict=True)
    )
    meaning = meaning_from(arguments, left.source.format, right.source.format)
    terms = terms_of(left.side, right.side, meaning=meaning)
    compare_options = CompareOptions(
        definitions=context.tables,
        include=selection.tables,
        columns=selection.columns,
        limit=arguments.limit,
        exact=arguments.exact,
        split_keys=not arguments.no_split,
        common=arguments.common,
        on_error=masking.on_error(arguments.on_error),
        temporal=arguments.temporal,
        time_zone=arguments.time_zone,
        look_into_text=arguments.look_into_text,
        mode=arguments.mode,
        window=window_from(arguments, terms.rules.position),
        order=not arguments.no_order,
        allow_repeats=arguments.allow_repeats,
        differences_to=arguments.differences,
        min_rows=arguments.min_rows,
        strict_types=arguments.strict_types,
        ddl_events=arguments.ddl_events,
        meaning=meaning,
        mask=masking.mask_for(arguments.differences),
    )
    return left, right, compare_options


def _options(arguments: CompareArguments, formats: Sequence[str]) -> list[dict[str, OptionValue]]:
    """Return each side's options. One given for both belongs to the side whose format has it."""
    both = parse_option_arguments(arguments.option)
    found = []
    unknown = dict(both)
    anywhere = set[str]()
    for name, own in zip(formats, (arguments.left_option, arguments.right_option), strict=True):
        known = {option.name for option in get_format(name).options}
        anywhere |= known
        shared = {key: value for key, value in both.items() if _name_of(key) in known}
        for key in shared:
            unknown.pop(key, None)
        chosen = {**shared, **parse_option_arguments(own)}
        try:
            parse_options(get_format(name).options, chosen)
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from error
        found.append(chosen)
    if unknown:
        name = next(iter(unknown))
        raise UsageError(
            f"neither {' nor '.join(formats)} has an option {name!r}{did_you_mean(name, anywhere)}"
        )
    return found


def _schemas(
    arguments: CompareArguments, context: Context, sources: Sequence[Source]
) -> list[Mapping[str, str]]:
    """Return where each side's schemas are. A side's own place goes before the common one."""
    found = []
    for source, own in zip(sources, (arguments.left_schema, arguments.right_schema), strict=True):
        place = own or (None if arguments.schema else schemas_near(NAME, source))
        found.append(schemas_at(place, arguments) if place else context.schemas)
    return found


def _name_of(option: str) -> str:
    return option.rpartition(".")[2]  # a section of the configuration may stand before it
