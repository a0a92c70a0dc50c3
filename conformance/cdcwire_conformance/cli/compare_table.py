"""The arguments of ``cdcwire compare`` when the right side is a table."""

from __future__ import annotations

from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.sources.tables import TableUrl, parse_table_url
from cdcwire_conformance.usage import UsageError

_NOT_FOR_TABLES = (
    *("follow", "allow_repeats", "no_order", "no_split"),
    *("no_before", "map_table", "ddl_events"),
)


def table_argument(arguments: CompareArguments) -> TableUrl | None:
    """Return the table on the right; None for a feed.

    For a table, the options of the right side become those of the left, so that the rest of the
    command has two feeds. Raises: UsageError, SourceError.
    """
    if parse_table_url(arguments.left) is not None:
        raise UsageError("a table is the second argument, after the feed")
    table = parse_table_url(arguments.right)
    if table is None:
        return None
    for name in _NOT_FOR_TABLES:
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} does not go with a table")
    if arguments.pair_by != "position":
        raise UsageError("--pair-by does not go with a table: last rows pair by key")
    if arguments.on_error == "row":
        raise UsageError("--on-error row does not go with a table: all messages are needed")
    for name in [name for name in vars(arguments) if name.startswith("right_")]:
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')}: the right side is a table")
        setattr(arguments, name, getattr(arguments, name.replace("right_", "left_")))
    arguments.right = arguments.left
    arguments.mode = "final"
    return table


def needs(table: TableUrl | None) -> list[str]:
    """Return what Spark needs a connector for."""
    return [] if table is None else [name for name in (table.scheme, table.connector) if name]
