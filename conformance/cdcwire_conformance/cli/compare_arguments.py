"""The arguments of ``cdcwire compare``."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from cdcwire.cli.arguments import (
    Arguments,
    Declared,
    flag,
    one_of,
    positional,
    repeated,
    with_value,
)
from cdcwire.cli.configuration import add_configuration_arguments
from cdcwire.cli.context import ContextArguments
from cdcwire.console.problems import integer_argument, jobs_argument, number_argument
from cdcwire.registry import FORMAT_NAMES

if TYPE_CHECKING:
    from cdcwire.arrow.types import Temporal
    from cdcwire_conformance.compare.rules import Mode
    from cdcwire_conformance.decode.reading import OnError

AUTO, EMBEDDED, SPARK = "auto", "embedded", "spark"
MAX_BYTES = 1 << 30  # of both feeds, for the embedded engine
MOST_BY_DEFAULT = 8  # processes; each takes 150 to 250 MB
EVERY_SECONDS = 10.0
KEY_VARIABLE = "CDCWIRE_MASK_KEY"
_FEEDS = tuple(f"{name}:file:" for name in (*FORMAT_NAMES, "auto"))
_BINARY = (
    "read the bytes of this column of the {} feed from their text, hex or base64 (may be given "
    "again)"
)


class FeedArguments(Arguments):
    """The two sides."""

    left: str = positional("LEFT", "a feed, FORMAT:PLACE, such as canal-json:file:DIR", _FEEDS)
    right: str = positional("RIGHT", "the other feed, or a table, such as csv-table:FILE", _FEEDS)


class _Sides(Declared):
    """The arguments of the left side, and the same of the right side."""

    def add_to(self, group: argparse._ActionsContainer, dest: str) -> None:
        for side in ("left", "right"):
            given = repeated("NAME=VALUE", f"a setting of the {side} side's producer only")
            given.add_to(group, f"{side}_option")
            place = with_value("PLACE", f"as --schema, of the {side} side only")
            place.add_to(group, f"{side}_schema")
            add_configuration_arguments(group, side)


class SideArguments(Arguments):
    """What is known of one side only."""

    left_option: list[str]
    right_option: list[str]
    left_schema: str | None
    right_schema: str | None
    sides = _Sides(None, "", {})


class ChangeArguments(Arguments):
    """The choice of changes and of their comparison."""

    mode: Mode = one_of(
        ("events", "final"),
        "compare all changes (the default), or the last row of each key",
        default="events",
    )
    start: str | None = with_value(
        "N|TIME",
        "only changes from this position on: the commit_ts, sequence_id or lsn that both "
        "feeds carry. A commit_ts may be an ISO time: 2024-04-13T09:20:00Z (without zone: UTC)",
        name="from",
    )
    end: str | None = with_value(
        "N|TIME", "only changes before this position, in the same form", name="to"
    )
    allow_repeats: bool = flag(
        "count changes that a feed sends again later, but not as differences; doubles differ"
    )
    no_order: bool = flag(
        "do not check the order of the changes of a key (faster where a key has many)"
    )
    differences: str | None = with_value(
        "DIR", "write all differences as Parquet to this directory, which is new or empty"
    )
    limit: int = with_value(
        "N", "differences shown per table (default: 20)", type=integer_argument, default=20
    )
    exact: bool = flag("group by all columns, not by 128 bits of hash")
    common: bool = flag("where the schemas differ, compare the tables and columns that both have")
    no_split: bool = flag("treat an update of a key as one change, not as a delete and an insert")
    on_error: OnError = one_of(
        ("stop", "row"),
        "at an unreadable message: stop (default), or count it and go on",
        default="stop",
    )
    look_into_text: bool = flag(
        "scan for text that is not UTF-8 first, and compare such columns as bytes"
    )
    temporal: Temporal = one_of(
        ("text", "native"),
        "compare dates and times as MySQL's texts (default), or as Spark's types",
        default="text",
    )
    time_zone: str = with_value(
        "ZONE",
        "time zone of texts without one, where the other side has one (default: UTC)",
        default="UTC",
    )
    csv_null: str | None = with_value(
        "TEXT",
        "text without quotes that is NULL in a table csv-table:FILE: --csv-null '' or "
        "--csv-null '\\N' (default: empty fields are refused)",
    )


class ReportArguments(Arguments):
    """The files of the result."""

    json: str | None = with_value("FILE", "write the result as JSON")
    html: str | None = with_value("FILE", "write the result as one HTML page (extra html)")
    junit: str | None = with_value("FILE", "write the result as JUnit XML, a test case per table")


class EngineArguments(Arguments):
    """Where rows are compared."""

    engine: str = one_of(
        (AUTO, EMBEDDED, SPARK),
        "where rows are compared: embedded in this process without Java, or on Spark. The "
        f"default, auto, is embedded for directories with at most {MAX_BYTES >> 30} GiB: two "
        "feeds, or a feed and Parquet files. It reads the table of a database too",
        default=AUTO,
    )
    jobs: int = with_value(
        "N",
        "processes that read large directories without Spark. 1: this one alone (default: "
        f"processors, up to {MOST_BY_DEFAULT})",
        type=jobs_argument,
        default=min(os.cpu_count() or 1, MOST_BY_DEFAULT),
    )
    master: str | None = with_value("URL", "Spark's master (default: local[*])")
    conf: list[str] = repeated("KEY=VALUE", "a setting of Spark: spark.driver.memory=4g")


class RuleArguments(Arguments, title="expected differences, and stricter rules"):
    """Rules that accept or refuse a kind of difference."""

    exclude: list[str] = repeated("SCHEMA.TABLE", "do not compare this table (may be given again)")
    ignore_column: list[str] = repeated(
        "COLUMN",
        "do not compare this column: updated_at, or shop.orders.updated_at for one table "
        "(may be given again)",
    )
    map_table: list[str] = repeated(
        "LEFT=RIGHT",
        "compare a table with one of another name on the right: shop.orders=dw.orders. "
        "Compare two whole databases: crm.*=crm2.* (may be given again)",
    )
    map_column: list[str] = repeated(
        "LEFT=RIGHT",
        "compare a column with one of another name on the right: made_at=created_at, or "
        "shop.orders.made_at=created_at for one table (may be given again)",
    )
    as_text: list[str] = repeated(
        "COLUMN",
        "compare this column by the text of its values, on both sides (may be given again)",
    )
    precision: list[str] = repeated(
        "COLUMN=ms",
        "compare the times of this column only down to s, ms or us: made_at=ms (may be given "
        "again)",
    )
    ignore_scale: list[str] = repeated(
        "COLUMN",
        "compare the numbers of this column without zeros at the end of their decimals: 1.50 "
        "equals 1.5 (may be given again)",
    )
    left_binary: list[str] = repeated("COLUMN=hex", _BINARY.format("left"))
    right_binary: list[str] = repeated("COLUMN=hex", _BINARY.format("right"))
    no_before: bool = flag("do not compare before images of updates")
    without_snapshots: bool = flag(
        "leave out rows of snapshots, if one feed began later or without a snapshot; the report "
        "counts them"
    )
    pair_by: str = one_of(
        ("position", "key"),
        "pair rows by position and key (default), or by key and the order of its changes: "
        "for feeds of two clusters, whose positions never match",
        default="position",
    )
    profile: str | None = with_value(
        "LEFT:RIGHT",
        "the releases of both producers, debezium-2.7:debezium-3.6: show the differences that "
        "they explain, and do not count them",
    )
    min_rows: int = with_value(
        "N",
        "stop with exit code 2 if nothing differs but a side has fewer than N changes (default: 1)",
        type=integer_argument,
        default=1,
    )
    ignore_unread: bool = flag(
        "accept files that may have rows and are not read, in the directory of a feed; the "
        "verdict names them"
    )
    strict_types: bool = flag(
        "report columns of different types as a difference, even if they can be compared"
    )
    ddl_events: bool = flag(
        "compare the statements of DDL events too; without it they are only counted"
    )


class MaskingArguments(Arguments, title="personal data"):
    """The values of rows that are hidden."""

    redact: list[str] = repeated(
        "COLUMN,...",
        "never show values of these columns, only NULL and absent: email,phone, or "
        "shop.orders.email for one table (may be given again)",
    )
    mask: bool | None = flag(
        "show keyed hashes in place of all values, with their lengths; equal values have "
        "equal hashes. The default masks only what --html, --json, --junit and --differences "
        "write to a bucket or another URL",
        argparse.BooleanOptionalAction,
    )
    mask_key: str | None = with_value(
        "FILE|env",
        "key of the hashes, at least 16 bytes: the content of FILE, or with env the variable "
        f"{KEY_VARIABLE}. Hashes of two runs are comparable only with the same key (default: a "
        "random key of this run)",
    )


class SavingArguments(Arguments):
    """What is kept for a bug report."""

    save_case: str | None = with_value(
        "DIR",
        "write the messages of the shown differences as golden cases of both sides into "
        "DIR, for a bug report: --save-case found --mask. DIR is new or empty. `cdcwire corpus "
        "check --root DIR` checks the cases. It needs two feeds in files",
    )


class FollowArguments(Arguments, title="topics that grow"):
    """How growing topics are compared."""

    follow: bool = flag(
        "compare two topics while they grow, until --windows, Ctrl-C or SIGTERM. Each round "
        "compares the rows below the position that both have reached; --json appends a line per "
        "window"
    )
    every: float | None = with_value(
        "SECONDS",
        f"look for new records at this interval in seconds (default: {EVERY_SECONDS:.0f})",
        type=number_argument,
    )
    windows: int | None = with_value(
        "N", "end after N windows (default: no limit)", type=integer_argument
    )
    state: str | None = with_value("FILE", "keep the progress in FILE, and continue from it")
    metrics: str | None = with_value(
        "FILE",
        "keep counts, lags and positions in FILE, as Prometheus reads them: --metrics "
        "/var/lib/node_exporter/cdcwire.prom. The file is replaced at each round",
    )
    idle: float | None = with_value(
        "SECONDS",
        "without events of progress: stop waiting for a partition after this many seconds "
        "without a new record",
        type=number_argument,
    )
    by_rows: bool = flag(
        "don't wait for events of progress (resolved timestamps), use the rows themselves"
    )


class CompareArguments(
    FeedArguments,
    ContextArguments,
    SideArguments,
    ChangeArguments,
    ReportArguments,
    EngineArguments,
    RuleArguments,
    MaskingArguments,
    SavingArguments,
    FollowArguments,
):
    """All arguments of ``cdcwire compare``."""
