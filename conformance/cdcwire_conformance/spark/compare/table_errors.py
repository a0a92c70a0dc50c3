"""Why a table can't be read, as one line that names where it is and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cdcwire.files.stores import SourceError
from cdcwire_conformance.sources.databases import database_problem
from cdcwire_conformance.sources.tables import TableUrl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNKNOWN_HOST = "java.net.UnknownHostException"
_SQL_ERROR = "java.sql.SQLException"
_LONGEST = 300  # characters of a reason


@contextmanager
def readable_table_errors(spark: SparkSession, table: TableUrl) -> Iterator[None]:
    """Turn the error of Spark or of a driver into one line. Raises: SourceError."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        causes = list(_causes(java))
        found = next((each for each in causes if _is_a(spark, each, _SQL_ERROR)), None)
        if found is None:
            text = causes[-1].getMessage() if causes else None
            reason = _first_line(text or str(error))
            raise SourceError(f"{table}: can't be read as a table: {reason}") from error
        last = causes[-1]
        reason = "unknown host" if _is_a(spark, last, _UNKNOWN_HOST) else last.getMessage()
        problem = database_problem(table, found.getSQLState() or "", found.getMessage(), reason)
        raise SourceError(problem) from error


def _causes(java: Any) -> Iterator[Any]:
    while java is not None:
        yield java
        java = java.getCause()


def _is_a(spark: SparkSession, java: Any, name: str) -> bool:
    from py4j.java_gateway import is_instance_of

    return bool(is_instance_of(spark.sparkContext._gateway, java, name))


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()  # Spark puts its plan below
    return lines[0][:_LONGEST] if lines else "no reason is given"
