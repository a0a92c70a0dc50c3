"""``compare`` for notebooks: the options of the command line, and a result to look at."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from cdcwire.console.problems import UsageError
from cdcwire_conformance.cli import compare as command
from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_run import compared
from cdcwire_conformance.notebook.shown import (
    NotebookComparison,
    OptionParser,
    OptionValue,
    OwnFolder,
    parsed,
)
from cdcwire_conformance.spark.session import DEFAULT_MASTER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = "spark.master"


def compare(
    left: str | os.PathLike[str], right: str | os.PathLike[str], /, **options: OptionValue
) -> NotebookComparison:
    """Compare two feeds, or a feed and a table, as ``cdcwire compare`` does.

    ``left`` and ``right``: as on the command line, ``craft:file:DIR``. ``options``: those of the
    command line by their names, with ``_`` for ``-``: ``mode="final"``, ``exact=True``. An option
    that may be given again takes a list, and pairs a dict: ``exclude=["shop.logs"]``,
    ``precision={"made": "ms"}``. ``from_`` is ``--from``. ``differences``: keeps all differences in
    this directory; by default in one that ends with the result, if it is Spark's own machine.

    Returns: the result. Raises: TypeError for an unknown option; UsageError, SourceError,
    SchemaError, FeedError, MissingExtraError and SparkUnavailable, each with one line of text.
    """
    parser = OptionParser(prog="compare")
    CompareArguments.add_to(parser)
    given = parsed(parser, (os.fspath(left), os.fspath(right)), options)
    arguments = CompareArguments(**vars(given))
    if arguments.follow:
        raise UsageError("a notebook compares feeds as they are; --follow is for the command line")
    owned = None
    if not arguments.differences and _has_one_machine(arguments):
        owned = OwnFolder()
        arguments.differences = owned.name
    found, spark = compared(command.prepared(arguments))
    return NotebookComparison(found, arguments.differences, spark, owned)


def _has_one_machine(arguments: CompareArguments) -> bool:
    """Return whether Spark's workers, if there are any, see the same directories as this process.

    It is so in this process and in a local session: the active one, or the one that is started.
    """
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java, for any master
        return False
    session = _active_session()
    master = arguments.master or DEFAULT_MASTER if session is None else session.conf.get(_MASTER)
    return master is not None and master.startswith("local")


def _active_session() -> SparkSession | None:
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
