"""The arguments that give a codec the facts missing from the bytes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from cdcwire.core.context import Context, Selection
from cdcwire.model.names import TableName
from cdcwire_conformance.cli.claim_checks import read_claim_checks
from cdcwire_conformance.cli.options import OptionArgument
from cdcwire_conformance.compressions import known_compressions
from cdcwire_conformance.ddl import read_ddl_file
from cdcwire_conformance.problems import positive_argument
from cdcwire_conformance.registry import MAX_ANSWER_BYTES, open_schemas
from cdcwire_conformance.usage import (
    DEFAULT_SCHEMA,
    UsageError,
    column_names,
    parse_option_arguments,
    read_tables,
)

__all__ = [
    "DEFAULT_SCHEMA",
    "UsageError",
    "add_context_arguments",
    "add_schema_arguments",
    "context_from",
    "parse_option_arguments",
    "read_tables",
    "schemas_at",
    "schemas_from",
]


def add_context_arguments(
    parser: argparse.ArgumentParser, *, has_ddl: bool = True, has_selection: bool = True
) -> None:
    """Add --option, --tables, --ddl, --schema, --blobs, --include and --columns.

    ``has_ddl``: False where a verb defines a different --ddl. ``has_selection``: False where a verb
    takes all tables and columns.
    """
    parser.add_argument(
        "--option",
        action=OptionArgument,
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the producer, spelled as in its configuration: max-batch-size=16; "
        '"--option help" or "cdcwire options FORMAT" lists them',
    )
    parser.add_argument(
        "--tables", metavar="FILE", help="table definitions, a JSON list or one per line"
    )
    if has_ddl:
        parser.add_argument(
            "--ddl",
            dest="context_ddl",
            metavar="FILE",
            help="table definitions, as CREATE TABLE statements",
        )
    add_schema_arguments(parser)
    parser.add_argument(
        "--blobs",
        metavar="DIR",
        help="directory of claim-check files: the claim-check-storage-uri, or a parent directory",
    )
    if not has_selection:
        parser.set_defaults(include=[], columns=None)
        return
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="SCHEMA.TABLE",
        help="read only this table, such as shop.orders (may be given again)",
    )
    parser.add_argument(
        "--columns", metavar="A,B,…", help="read only these columns, such as id,total"
    )


def add_schema_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --schema, --ca-file and --max-answer-bytes."""
    parser.add_argument(
        "--schema",
        metavar="PLACE",
        help="Avro schemas: a directory of files ID.avsc, or the URL of a registry, such as "
        'https://user:password@host (extra "registry")',
    )
    parser.add_argument(
        "--ca-file",
        metavar="FILE",
        help="PEM file of certificates that sign the registry's certificate",
    )
    parser.add_argument(
        "--max-answer-bytes",
        type=positive_argument,
        default=MAX_ANSWER_BYTES,
        metavar="N",
        help=f"refuse an answer of the registry of more than N bytes ({MAX_ANSWER_BYTES})",
    )


def schemas_from(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the schemas that the arguments specify. Raises: RegistryError; MissingExtraError."""
    place = getattr(arguments, "schema", None)
    return schemas_at(place, arguments) if place else {}


def schemas_at(place: str, arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the schemas at a place. Raises: RegistryError; MissingExtraError."""
    return open_schemas(place, arguments.ca_file, arguments.max_answer_bytes)


def context_from(
    arguments: argparse.Namespace, default_schema: str | None = DEFAULT_SCHEMA
) -> Context:
    """Return the context that the arguments specify. Raises: UsageError.

    ``default_schema``: of tables whose DDL names none; None where the feed gives it.
    """
    tables = read_tables(arguments.tables) if arguments.tables else ()
    if getattr(arguments, "context_ddl", None):
        tables += read_ddl_file(arguments.context_ddl, default_schema)
    return Context(
        options=parse_option_arguments(arguments.option),
        tables=tables,
        schemas=schemas_from(arguments),
        blobs=read_claim_checks(arguments.blobs),
        selection=_selection(arguments.include, arguments.columns),
        compressions=known_compressions(),
    )


def _selection(include: list[str], columns: str | None) -> Selection:
    tables: set[TableName] = set()
    for name in include:
        schema, dot, table = name.partition(".")
        if not dot or not table:
            raise UsageError(f"--include {name!r:.80} is not SCHEMA.TABLE")
        tables.add((schema or None, table))
        if "." in table:  # DATABASE.SCHEMA.TABLE
            schema, _, table = name.rpartition(".")
            tables.add((schema, table))
    names = None if columns is None else column_names("--columns", [columns], "id,total")
    return Selection(frozenset(tables) if include else None, names)
