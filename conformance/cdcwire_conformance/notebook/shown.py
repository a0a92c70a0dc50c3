"""The result of a comparison as a notebook shows it: as a page, as text, and as DataFrames."""

from __future__ import annotations

import argparse
import html
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from cdcwire.console.problems import UsageError
from cdcwire.console.visible import visible_lines
from cdcwire.extras import MissingExtraError, load_extra, load_library
from cdcwire_conformance.compare.document import document
from cdcwire_conformance.compare.page import html_text
from cdcwire_conformance.compare.report import text
from cdcwire_conformance.compare.result import Comparison, Counts
from cdcwire_conformance.compare.shown_text import key_text

if TYPE_CHECKING:
    import pandas as pd
    import pyspark.sql
    from pyspark.sql import SparkSession

    from cdcwire.model.text import Json

_HEIGHT = "32rem"
_FRAMES = "A DataFrame"


class OwnFolder:
    """A temporary directory that goes with this object."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="cdcwire-differences-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class NotebookComparison:
    """The result of a comparison. A notebook shows it as a page; print shows it as text.

    ``result``: counts, patterns and the first differing rows. ``folder``: where all differences are
    as Parquet; None if they were not written. ``spark``: the session that compared; None for the
    embedded engine.
    """

    result: Comparison
    folder: str | None
    spark: SparkSession | None = None
    _owned: OwnFolder | None = None

    @property
    def is_equal(self) -> bool:
        """True if the feeds have equal tables with changes, and everything could be read."""
        return self.result.is_equal

    @property
    def document(self) -> dict[str, Json]:
        """The result as the JSON document that ``--json`` writes."""
        return document(self.result)

    @property
    def tables(self) -> pd.DataFrame:
        """A row for each table, with its counts. Raises: MissingExtraError without pandas."""
        return _frame(table_rows(self.result), TABLE_COLUMNS)

    @property
    def patterns(self) -> pd.DataFrame:
        """A row for each pattern of each table. Raises: MissingExtraError without pandas."""
        return _frame(pattern_rows(self.result), PATTERN_COLUMNS)

    @property
    def differences(self) -> pd.DataFrame | pyspark.sql.DataFrame:
        """All differences, a row for each column that differs.

        Returns: a DataFrame of Spark if Spark compared, else one of pandas. Raises:
        MissingExtraError without pandas; LookupError if the differences were not written.
        """
        if self.folder is None:
            raise LookupError(
                "the differences were not kept: pass differences=DIR to compare, a new directory "
                "that all workers of the cluster reach"
            )
        if self.spark is not None:
            return self.spark.read.parquet(self.folder)
        load_library("pandas", "pandas", _FRAMES)
        arrow = load_extra("pyarrow.parquet", "compare", _FRAMES)
        found: pd.DataFrame = arrow.read_table(self.folder).to_pandas()
        return found

    def __repr__(self) -> str:
        return visible_lines(text(self.result))

    def _repr_html_(self) -> str:
        """Return the page in a separate frame, or the text if pages can't be made here."""
        try:
            page = html_text(self.result)
        except MissingExtraError as error:
            return f"<pre>{html.escape(repr(self))}</pre><p>{html.escape(str(error))}</p>"
        return (
            f'<iframe sandbox="" srcdoc="{html.escape(page)}" title="Comparison" '
            f'style="width: 100%; height: {_HEIGHT}; border: 0"></iframe>'
        )


def _frame(rows: Iterable[Sequence[object]], columns: Sequence[str]) -> pd.DataFrame:
    load_library("pandas", "pandas", _FRAMES)
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns))


COUNT_NAMES = tuple(asdict(Counts()))
TABLE_COLUMNS = ("table", "equal", *COUNT_NAMES, "differing", "schema_differences", "notes")
PATTERN_COLUMNS = ("table", "column", "type", "cause", "text", "count", "option", "example")


def table_rows(found: Comparison) -> Iterator[tuple[object, ...]]:
    """Yield ``TABLE_COLUMNS`` of each table. A table that was not read has no counts, but None."""
    for table in found.tables:
        counts = dict.fromkeys(COUNT_NAMES) if table.counts is None else asdict(table.counts)
        differing = None if table.counts is None else table.differing
        lines = ("\n".join(each) for each in (table.schema_differences, table.notes))
        yield (table.table, table.is_equal, *counts.values(), differing, *lines)


def pattern_rows(found: Comparison) -> Iterator[tuple[object, ...]]:
    """Yield a row for each pattern of each table, with ``PATTERN_COLUMNS``."""
    for table in found.tables:
        for each in table.patterns:
            example = key_text(each.examples[0].key) if each.examples else None
            yield (
                table.table,
                each.column,
                each.type,
                each.kind,
                each.text,
                each.count,
                each.option,
                example,
            )


Single: TypeAlias = "str | int | float | os.PathLike[str]"
OptionValue: TypeAlias = "Single | bool | Iterable[Single] | Mapping[str, Single | bool] | None"


class OptionParser(argparse.ArgumentParser):
    """A parser that raises its errors and does not end the process."""

    def error(self, message: str) -> NoReturn:
        """Raise the error. Raises: UsageError."""
        raise UsageError(message)


def parsed(
    parser: argparse.ArgumentParser, places: Sequence[str], options: Mapping[str, OptionValue]
) -> argparse.Namespace:
    """Return the arguments of a command, from its positional arguments and options by name.

    Raises: TypeError for an unknown option, or a value of another type; UsageError.
    """
    words = [word for name, value in options.items() for word in _words(parser, name, value)]
    return parser.parse_args([*words, "--", *places])


def _words(parser: argparse.ArgumentParser, name: str, value: OptionValue) -> Iterator[str]:
    """Yield an option as words of the command line."""
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    action = next((each for each in parser._actions if flag in each.option_strings), None)
    if action is None or isinstance(action, argparse._HelpAction):
        raise TypeError(f"compare has no option {name}")
    if value is None:
        return
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise TypeError(f"{name} is True or False")
        if value:
            yield flag
    elif isinstance(action, argparse._AppendAction):
        yield from (f"{flag}={each}" for each in _several(name, value))
    elif name == "columns" and not isinstance(value, str):
        yield f"{flag}={','.join(_several(name, value))}"
    elif isinstance(value, (str, int, float, os.PathLike)) and not isinstance(value, bool):
        yield f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"
    else:
        raise TypeError(f"{name} is one value")


def _several(name: str, value: OptionValue) -> Iterator[str]:
    """Yield the values of an option that may be given again: of one text, of texts, of pairs."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield f"{key}={str(each).lower() if isinstance(each, bool) else each}"
    elif isinstance(value, Iterable):
        yield from map(str, value)
    else:
        raise TypeError(f"{name} is a text, a list of texts, or a dict")
