"""The files that ``cdcwire compare`` writes of a result, here or at a URL, cases among them.

Each has the record of the run: date, command line, versions, options and inputs.
"""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire import __version__
from cdcwire.cli.context import parse_option_arguments
from cdcwire.console.problems import UsageError
from cdcwire.console.visible import without_secrets
from cdcwire.files.feed_file import FEED_FILE, PREFIX_FEED_FILE, TABLES_FILE
from cdcwire.files.local_files import is_inside, is_new_or_empty, write_whole
from cdcwire.files.stores import directory_of, has_password, is_url, open_store
from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_rules import Masking
from cdcwire_conformance.cli.usage import check_apart, check_writable
from cdcwire_conformance.corpus.case import CorpusError
from cdcwire_conformance.sources.source_urls import Source

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


_FILES = ("json", "html", "junit")
_FILES_OF_FOLLOW = ("metrics", "state")


def check_case_argument(arguments: CompareArguments, *, has_table: bool) -> None:
    """Check that cases can be saved. Raises: UsageError, StoreError."""
    if not arguments.save_case:
        return
    if has_table:
        raise UsageError("--save-case: a table has no messages; compare two feeds")
    folder = directory_of(arguments.save_case)
    if folder is None:
        raise UsageError("--save-case: cases are written to a directory of this machine")
    # A case of another run may have values that this run masks.
    if not is_new_or_empty(Path(folder)):
        raise UsageError(f"--save-case: {folder} already exists; name a new or an empty directory")


def saved_lines(
    target: str | None, found: Comparison, opened: Sequence[ComparedFeeds], masking: Masking
) -> list[str]:
    """Save cases, if that is wanted. Returns: the lines about them. Raises: UsageError.

    ``opened``: both feeds, unless a feed was compared with a table.
    """
    folder = None if target is None else directory_of(target)
    if folder is None:
        return []
    from cdcwire_conformance.compare.case_saving import save_differences

    mask = masking.case_mask
    try:
        saved = save_differences(
            found,
            opened[0],
            Path(folder),
            key=None if mask is None else mask.key,
            columns=masking.masked_columns,
        )
    except OSError as error:
        raise UsageError(f"--save-case: {error.filename or folder}: {error.strerror}") from error
    return [*(f"saved {file}" for file in saved.files), *saved.lines]


def check_reports(arguments: CompareArguments) -> None:
    """Check that each report can be made and written, so that no work is lost at its end.

    Raises: UsageError, StoreError, MissingExtraError.
    """
    if arguments.html:
        from cdcwire_conformance.output.html.render import require_jinja

        require_jinja()
    if arguments.follow and (arguments.html or arguments.junit):
        raise UsageError("--html and --junit do not go with --follow; --json writes its windows")
    for name in (*_FILES, "differences"):
        if has_password(getattr(arguments, name) or ""):
            raise UsageError(f"--{name}: a URL may be shown, so it takes no password")
    for name in _FILES:
        target = getattr(arguments, name)
        if target:
            setattr(arguments, name, directory_of(target) or target)
    names = (*_FILES, *_FILES_OF_FOLLOW)
    check_apart({f"--{name}": getattr(arguments, name) for name in names})
    for name in _FILES:
        target = getattr(arguments, name)
        if not target:
            continue
        if not is_url(target):
            check_writable(Path(target), f"--{name}")
        elif arguments.follow:
            raise UsageError("--json of --follow grows line by line; it needs a file, not a URL")
        else:
            folder, file = _parts(target)
            try:
                open_store(folder).look(file)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise UsageError(f"--{name}: {target} can't be reached: {reason}") from error


def check_feeds_kept(arguments: CompareArguments, sources: Iterable[Source]) -> None:
    """Check that no report replaces a file of a feed. Raises: UsageError."""
    for name in (*_FILES, *_FILES_OF_FOLLOW):
        target = getattr(arguments, name)
        if not target or not Path(target).is_file():
            continue
        for source in sources:
            if source.folder and not is_url(source.folder) and _has_file(source, target):
                raise UsageError(f"--{name}: {target} is a file of {source}; name another file")


def _has_file(source: Source, file: str) -> bool:
    if not is_inside(Path(source.folder), file):
        return False
    names = (*source.files, FEED_FILE, PREFIX_FEED_FILE, TABLES_FILE)
    real = os.path.realpath(file)
    return any(os.path.realpath(os.path.join(source.folder, name)) == real for name in names)


def write_reports(arguments: CompareArguments, found: Comparison, masking: Masking) -> None:
    """Write the reports that were asked for. Raises: UsageError, StoreError."""
    for name in _FILES:
        target = getattr(arguments, name)
        if target:
            _write(target, _maker(name)(masking.shown(found, target)))


def _maker(name: str) -> Callable[[Comparison], str]:
    if name == "json":
        from cdcwire_conformance.compare.document import json_text

        return json_text
    if name == "html":
        from cdcwire_conformance.compare.page import html_text

        return html_text
    from cdcwire_conformance.compare.document import junit_text

    return junit_text


def _write(target: str, text: str) -> None:
    content = text.encode("utf-8", "backslashreplace")
    if directory_of(target) is None:
        folder, name = _parts(target)
        open_store(folder).put(name, content)
        return
    try:
        write_whole(Path(target), content)
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}") from error


def _parts(url: str) -> tuple[str, str]:
    folder, _, name = url.rpartition("/")
    if not name or folder.endswith("/"):
        raise UsageError(f"{url}: the name of a file is missing: s3://BUCKET/report.html")
    return folder, name
