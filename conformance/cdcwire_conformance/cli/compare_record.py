"""The record of a run of ``compare``: date, command line, versions, options and inputs."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from cdcwire import __version__
from cdcwire.cli.context import parse_option_arguments
from cdcwire.console.visible import without_secrets
from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.corpus.case import CorpusError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdcwire_conformance.compare.feed import OpenedFeed
    from cdcwire_conformance.compare.feeds import ComparedFeeds
    from cdcwire_conformance.compare.record import InputFile
    from cdcwire_conformance.compare.result import Comparison

_SIDES = ("left", "right")
_COMMAND_LINE = "command line"
_FOUND = "found in the messages"


@dataclass(slots=True)
class RunNotes:
    """The beginning of a run: when it was, its command, and where the options were found.

    ``definitions``: the files of --ddl and --tables.
    """

    date: str
    command: str
    definitions: tuple[str, ...] = ()
    origins: dict[str, dict[str, str]] = field(default_factory=lambda: {s: {} for s in _SIDES})

    def note(self, arguments: CompareArguments, origin: str) -> None:
        """Note where the options came from that the arguments have by now."""
        for side in _SIDES:
            given = [*arguments.option, *getattr(arguments, f"{side}_option")]
            for name in parse_option_arguments(given):
                self.origins[side].setdefault(name.rpartition(".")[2], origin)

    def note_configuration(self, arguments: CompareArguments) -> None:
        """Note the options that a configuration gave."""
        for side in _SIDES:
            own = getattr(arguments, f"{side}_option")
            for name in parse_option_arguments(own):
                origin = _configuration(arguments, side)
                self.origins[side].setdefault(name.rpartition(".")[2], origin)

    def note_found(self, arguments: CompareArguments) -> None:
        """Note the options that the messages showed."""
        self.note(arguments, _FOUND)


def begin_notes(arguments: CompareArguments) -> RunNotes:
    """Return the notes of a run that begins now."""
    words = getattr(arguments, "words", None)  # None: of a notebook
    command = "" if words is None else shlex.join(["cdcwire", "compare", *words])
    now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    files = tuple(filter(None, (arguments.context_ddl, arguments.tables)))
    notes = RunNotes(now, without_secrets(command), files)
    notes.note(arguments, _COMMAND_LINE)
    return notes


def _configuration(arguments: CompareArguments, side: str) -> str:
    names = ("changefeed", "sink_uri", "connector")
    given = [(name, getattr(arguments, f"{side}_{name}")) for name in names]
    shown = [f"{name.replace('_', ' ')} {without_secrets(value)}" for name, value in given if value]
    return " and ".join(shown)


def with_record(
    found: Comparison,
    notes: RunNotes,
    read: Sequence[ComparedFeeds | OpenedFeed],
    session: SparkSession | None = None,
    files: Iterable[InputFile] = (),
) -> Comparison:
    """Return the comparison with its record.

    ``read``: both feeds, or the feed that was compared with a table. ``session``: of Spark.
    ``files``: of the table.
    """
    from cdcwire_conformance.compare.feeds import ComparedFeeds
    from cdcwire_conformance.compare.record import InputRecord, RunRecord
    from cdcwire_conformance.compare.recording import file_here, record_of, with_files

    left, right = InputRecord(found.left), InputRecord(found.right)
    for each in read:
        if isinstance(each, ComparedFeeds):
            left = record_of(each.left, notes.origins["left"])
            right = record_of(each.right, notes.origins["right"])
        else:
            left = record_of(each, notes.origins["left"])
            right = replace(right, rows=sum(t.counts.right for t in found.tables if t.counts))
            right = with_files(right, files)
    versions = [*_versions(), *([] if session is None else [("Spark", session.version)])]
    definitions = tuple(file_here(name, name) for name in notes.definitions)
    record = RunRecord(notes.date, notes.command, tuple(versions), left, right, definitions)
    return replace(found, record=record)


def _versions() -> list[tuple[str, str]]:
    found = [("cdcwire", __version__), ("Python", platform.python_version())]
    from cdcwire_conformance.corpus.store import corpus_version

    with suppress(CorpusError):  # a damaged corpus is reported where it is used
        found.insert(1, ("corpus", corpus_version()))
    with suppress(PackageNotFoundError):
        found.append(("pyarrow", version("pyarrow")))
    return found
