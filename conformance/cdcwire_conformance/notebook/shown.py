"""The result of a comparison as a notebook shows it: as a page, as text, and as DataFrames."""

from __future__ import annotations

import html
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdcwire_conformance.compare.document import document
from cdcwire_conformance.compare.page import html_text
from cdcwire_conformance.compare.report import text
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.extras import MissingExtraError, load_extra, load_library
from cdcwire_conformance.notebook.rows import (
    PATTERN_COLUMNS,
    TABLE_COLUMNS,
    pattern_rows,
    table_rows,
)
from cdcwire_conformance.visible import visible_lines

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
