"""``cdcwire tables``: definitions of a feed, a dump or a database, as ``--tables`` reads them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from cdcwire.cli.auto import source_identified
from cdcwire.cli.context import ContextArguments, UsageError, context_from, table_text
from cdcwire.console.problems import meant_or_met
from cdcwire.console.visible import print_error
from cdcwire.core.context import EVERYTHING
from cdcwire.ddl import read_ddl_file
from cdcwire.ddl.schemas import schema_notes
from cdcwire.extras import load_extra
from cdcwire.files.local_files import write_whole
from cdcwire.model.events import Table
from cdcwire.model.text import table_to_json
from cdcwire_conformance.cli.recorded import with_recorded
from cdcwire_conformance.cli.usage import check_writable
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.sources.tables import TableUrl, parse_table_url

NAME = "tables"
HELP = "write the table definitions of a feed, a dump or a database"
DESCRIPTION = """\
Write the table definitions of a feed, of a dump or of a database, in the form that --tables reads.

SOURCE is a feed as FORMAT:file:DIR, whose messages describe their columns, or a file of SQL: the
dump of a database by mariadb-dump, mysqldump or pg_dump, or CREATE TABLE statements. Or it is a
table of a database, such as jdbc:mariadb://HOST:PORT/DATABASE?table=NAME&user=NAME. Its definition
comes from the catalogue, and the password is in CDCWIRE_TABLE_PASSWORD. A feed shows
the tables that it has rows of. Tables without rows are those that its schema changes describe, as
in Debezium's topic of schema changes. With --ddl its definitions are completed by a dump.

Exit code: 0 written, 2 could not run, as with a source without tables.
"""
EXAMPLES = """\
examples:
  cdcwire tables debezium-json:file:feed --to tables.json
  cdcwire tables shop.sql --to tables.json
  cdcwire tables 'jdbc:postgresql://db:5432/shop?table=public.orders&user=reader' --to tables.json
  cdcwire tables canal-json:file:feed --ddl shop.sql --include shop.orders
  cdcwire compare maxwell-json:file:other debezium-json:file:feed --tables tables.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire tables``."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a feed as FORMAT:file:DIR, a file of SQL, or a table of a database as jdbc:…",
    )
    parser.add_argument(
        "--to", metavar="FILE", help="write the definitions to FILE (default: standard output)"
    )
    ContextArguments.add_to(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the definitions. Returns 0."""
    if arguments.to is not None:
        check_writable(Path(arguments.to), "--to")
    table = parse_table_url(arguments.source)
    if table is not None:
        found = _of_database(arguments, table)
    else:
        is_dump = Path(arguments.source).is_file()
        found = _of_dump(arguments) if is_dump else _of_feed(arguments)
    if not found:
        raise UsageError(f"{arguments.source}: no table; nothing was written")
    text = _text_of(found)
    if arguments.to is None:
        sys.stdout.write(text)
    else:
        write_whole(Path(arguments.to), text.encode())
        print(f"wrote {len(found)} {'table' if len(found) == 1 else 'tables'} to {arguments.to}")
    return 0


def _of_database(arguments: argparse.Namespace, table: TableUrl) -> list[Table]:
    if table.kind != "jdbc":
        raise UsageError(f"{table}: only the table of a database, jdbc:…, has a catalogue")
    selection = context_from(arguments).selection
    load_extra("pyspark", "spark", "the table of a database")
    from cdcwire_conformance.spark.compare.catalogue import table_of_database
    from cdcwire_conformance.spark.compare.table_errors import readable_table_errors
    from cdcwire_conformance.spark.jars import with_connectors
    from cdcwire_conformance.spark.session import readable_errors, spark_session

    settings = with_connectors({}, [table.connector])
    spark = spark_session("local[1]", settings, "cdcwire tables")
    with readable_errors(), readable_table_errors(spark, table):
        return _chosen([table_of_database(spark, table)], selection.columns)


def _of_dump(arguments: argparse.Namespace) -> list[Table]:
    if arguments.context_ddl or arguments.tables:
        raise UsageError(f"{arguments.source} is a file of SQL: --ddl and --tables are for feeds")
    selection = context_from(arguments).selection
    found = []
    tables = read_ddl_file(arguments.source)
    for table in tables:
        # A dump may name no schema; then the name of the table has to do.
        names = {name for _, name in selection.tables or ()}
        is_wanted = selection.tables is None or (table.schema, table.name) in selection.tables
        if is_wanted or (table.schema is None and table.name in names):
            found.append(table)
    if not found and selection.tables:
        wanted = ", ".join(sorted(map(table_text, selection.tables)))
        meant = meant_or_met(
            wanted, (table_text((each.schema, each.name or "")) for each in tables)
        )
        raise UsageError(f"{arguments.source}: there is no table {wanted}{meant}")
    return _chosen(found, selection.columns)


def _chosen(tables: Sequence[Table], names: frozenset[str] | None) -> list[Table]:
    """Return the tables with the chosen columns only. Raises: UsageError for an unknown column."""
    if names is None:
        return list(tables)
    known = {column.name for table in tables for column in table.columns or ()}
    strange = sorted(names - known)
    if tables and strange:
        meant = meant_or_met(strange[0], known)
        raise UsageError(f"--columns: no table has a column {strange[0]}{meant}")
    return [
        replace(table, columns=tuple(c for c in table.columns or () if c.name in names))
        for table in tables
    ]


def _of_feed(arguments: argparse.Namespace) -> list[Table]:
    place, context = arguments.source, context_from(arguments, None)
    place, options = source_identified(NAME, place, context)
    context = replace(context, options=options)
    source = parse_source(place)
    selection, context = context.selection, replace(context, selection=EVERYTHING)
    context = with_recorded(NAME, source.folder, source.format.name, context)
    load_extra("pyarrow", "spark", "reading the tables of a feed")
    from cdcwire.arrow.types import SchemaError
    from cdcwire_conformance.decode.describe import survey_feed, tables_met
    from cdcwire_conformance.decode.opening import open_source
    from cdcwire_conformance.decode.other_events import declared_columns, tables_after
    from cdcwire_conformance.decode.reading import FeedError

    try:
        opened = open_source(source, context, include=selection.tables)
        surveyed = survey_feed(opened, include=selection.tables, definitions=context.tables)
    except (SchemaError, FeedError) as error:
        raise UsageError(str(error)) from error
    for line in schema_notes(context.tables, opened.names):
        print_error(f"cdcwire tables: note: {line}")
    statements = surveyed.others.statements
    found = []
    for each in surveyed.tables:
        table = each.table
        declared = declared_columns(statements, (table.schema, table.table), table.columns)
        columns = tuple(declared.get(column.name, column) for column in table.columns)
        found.append(Table(table.table, table.schema, columns=columns, key=table.key))
        inferred = [n for n in table.column_names if n in each.inferred and n not in declared]
        if inferred:
            names = "all columns" if len(inferred) == len(columns) else ", ".join(inferred)
            print_error(
                f"cdcwire tables: note: {table}: the messages have no types; those of {names} are "
                "taken from values. Check them, or give a dump with --ddl"
            )
    with_rows = {(table.schema, table.name) for table in found}
    found += [
        Table(table.name, table.schema, columns=table.columns, key=table.key)
        for table in tables_after(statements)
        if (table.schema, table.name) not in with_rows and selection.wants_rows_of(table)
    ]
    if not found and selection.tables:
        met = map(table_text, tables_met(opened))
        wanted = arguments.include[0]
        raise UsageError(f"{source}: no rows of {wanted}{meant_or_met(wanted, met)}")
    return _chosen(found, selection.columns)


def _text_of(tables: Iterable[Table]) -> str:
    """Return a JSON list, one table per line."""
    lines = (json.dumps(table_to_json(table), ensure_ascii=False) for table in tables)
    return "[\n" + ",\n".join(lines) + "\n]\n"
