"""``cdcwire new``: the skeleton of a golden case or of a format, for contributors."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

from cdcwire.cli.arguments import (
    flag,
    one_of,
    positional,
    repeated,
    with_value,
)
from cdcwire.cli.auto import use_identified
from cdcwire.cli.context import UsageError, WholeContextArguments, context_from
from cdcwire.console.problems import format_argument
from cdcwire.console.visible import visible
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.nearest import did_you_mean
from cdcwire.files.local_files import is_inside, read_inside
from cdcwire.files.messages_io import read_messages
from cdcwire.identify import Sample, identify_messages
from cdcwire.identify.auto import with_found
from cdcwire.registry import FORMAT_NAMES, get_format, unknown_format
from cdcwire_conformance.cli.usage import golden_root
from cdcwire_conformance.corpus.case import CorpusError, Expect, Level
from cdcwire_conformance.corpus.clauses import pages_folder, read_clauses
from cdcwire_conformance.corpus.files import FolderFiles
from cdcwire_conformance.corpus.store import corpus_version, golden_folder, retired_ids
from cdcwire_conformance.corpus.unfinished import messages_near, missing_text
from cdcwire_conformance.skeletons.case import (
    MOST_MESSAGES,
    CaseSkeleton,
    Given,
    LackingError,
    case_skeleton,
    name_from,
)
from cdcwire_conformance.skeletons.format import NotWrittenError, checkout_folder, write_format

NAME = "new"
HELP = "write the skeleton of a golden case or of a format"
DESCRIPTION = """\
Write the skeleton of a golden case from bytes, or the files of a new format. This is for
contributors with a checkout.
Everything that can be derived is filled in. The output lists all that is still missing.
"""
EXAMPLES = """\
examples:
  cdcwire new case golden/canal-json/rows/two-keys.bin
  cdcwire new case captured.bin --format canal-json --group rows --name two-keys
  cdcwire new case feed.jsonl --group rows --origin 'producer: Canal 1.1.7, flatMessage=true'
  cdcwire new format toy-lines
"""
_CASE = """\
Write the JSON of a golden case from bytes, and the bytes where the golden folder does not have
them. FILE is a value's bytes or a file of messages as JSON lines.

A FILE in the golden folder is a case already named: golden/FORMAT/GROUP/NAME.bin. Any other FILE
needs --group. The format and its options are identified, or given with --format and --option.

The reference gives the form of the events: operation, names and types. Values stay blank. Work
them out from the format's document, and check the form as well.
"""
_FORMAT = """\
Write the files of a new format: codec, suite, generators, page and a test. Add it to the registry.
Every verb then knows the format. Its decoder refuses every message until you write it.
"""
_ID_PART = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ID_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")
_OF_MESSAGE = re.compile(r"(?:\.[0-9]+\.(?:key|value))?\.bin$")


class CaseArguments(WholeContextArguments):
    """The arguments of ``cdcwire new case``."""

    file: str = positional("FILE", "the bytes, or messages as JSON lines")
    root: str | None = with_value("DIR", "the golden folder (default: that of the checkout)")
    format: str | None = with_value(
        "FORMAT",
        "the format (default: from the place of FILE, else identified)",
        type=format_argument,
    )
    group: str | None = with_value("GROUP", "the folder of the case, such as rows")
    name: str | None = with_value("NAME", "its name (default: that of FILE)")
    title: str | None = with_value("TEXT", "one line (default: the words of the name)")
    level: Level | None = one_of(get_args(Level), "(default: should)")
    expect: Expect | None = one_of(
        get_args(Expect), "(default: accept if the reference reads the bytes, else reject)"
    )
    clause: list[str] = repeated("ID", "a clause that it tests (may be given again)")
    origin: str = with_value(
        "TEXT", "document: …, producer: … with version and settings, or derived: …", default=""
    )
    hex: bool = flag("FILE holds hexadecimal digits")
    key: str | None = with_value("FILE", "the Kafka key of a file of bytes")
    path: str | None = with_value("PATH", "the path below its storage prefix, for a file of one")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of ``cdcwire new`` and their arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    case = verbs.add_parser(
        "case",
        help="write the skeleton of a golden case from bytes",
        description=_CASE,
    )
    case.set_defaults(run_verb=_new_case)
    CaseArguments.add_to(case)
    format_ = verbs.add_parser(
        "format",
        help="write the files of a new format into the checkout",
        description=_FORMAT,
    )
    format_.set_defaults(run_verb=_new_format)
    format_.add_argument("name", metavar="NAME", help="the id of the format, such as toy-lines")


def run(arguments: argparse.Namespace) -> int:
    """Write the skeleton. Returns 0. Raises: UsageError."""
    try:
        code: int = arguments.run_verb(arguments)
    except (CorpusError, NotWrittenError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    return code


def _new_case(arguments: argparse.Namespace) -> int:
    root = golden_folder(golden_root(arguments))
    _check_clauses(arguments.clause)
    file = Path(arguments.file)
    context = context_from(arguments)
    is_golden = is_inside(root, file)
    messages, context = (_in_golden if is_golden else _elsewhere)(arguments, root, context)
    if arguments.path is not None:
        messages = [_at_path(messages, arguments.path)]
    case_id = _checked_id(arguments, root)
    given = Given(
        corpus_version(root),
        arguments.title,
        arguments.level,
        arguments.expect,
        arguments.origin,
        tuple(arguments.clause),
    )
    try:
        skeleton = case_skeleton(get_format(arguments.format), case_id, messages, context, given)
    except LackingError as error:
        raise UsageError(f"{arguments.file}: {error}") from error
    written = skeleton.write(root)
    _print(skeleton, [str(root / name) for name in written])
    return 0


def _new_format(arguments: argparse.Namespace) -> int:
    for file in write_format(arguments.name, checkout_folder()):
        print(visible(f"written: {file}"))
    print("next: write wire.py and events.py; docs/how-to/add-a-format.md has an example")
    return 0


def _in_golden(
    arguments: argparse.Namespace, root: Path, context: Context
) -> tuple[list[Message], Context]:
    """Set format, group and name by the place of a file, and return its messages.

    Raises: UsageError.
    """
    file = Path(arguments.file).resolve()
    parts = file.relative_to(root.resolve()).parts
    if len(parts) != 3 or not _OF_MESSAGE.search(parts[2]):
        raise UsageError(f"{arguments.file}: its place is not {root}/FORMAT/GROUP/NAME.bin")
    name = _OF_MESSAGE.sub("", parts[2])
    for option, own in (("format", parts[0]), ("group", parts[1]), ("name", name)):
        if getattr(arguments, option) not in (None, own):
            raise UsageError(f"--{option}: the place of {arguments.file} says {own}")
        setattr(arguments, option, own)
    if arguments.key is not None or arguments.hex:
        raise UsageError(
            f"{arguments.file}: a file of the golden folder has neither --key nor --hex"
        )
    if arguments.format not in FORMAT_NAMES:
        raise UsageError(f"{arguments.file}: {unknown_format(arguments.format)}")
    near = messages_near("/".join((parts[0], parts[1], name)), FolderFiles(root))
    if not near:
        raise UsageError(f"{arguments.file}: no such file")
    is_file = "queue" not in get_format(arguments.format).carriers
    folder = f"{parts[0]}/{parts[1]}"
    messages = list[Message]()
    for item in near:
        key, value = (
            None if item[part] is None else read_inside(root, f"{folder}/{item[part]}")
            for part in ("key", "value")
        )
        messages.append(
            StoredFile(parts[2], value) if is_file and value else KafkaMessage(key, value)
        )
    samples = [Sample(name, (message,)) for message in messages]
    for candidate in identify_messages(samples, context).candidates:
        if candidate.format == arguments.format:
            context = replace(context, options=with_found(candidate, context.options))
    return messages, context


def _elsewhere(
    arguments: argparse.Namespace, root: Path, context: Context
) -> tuple[list[Message], Context]:
    """Identify a file outside of the golden folder, and return its messages. Raises: UsageError."""
    if arguments.format is None:
        context = use_identified(arguments, f"{NAME} case", arguments.file, context)
    arguments.name = arguments.name or name_from(Path(arguments.file).name.partition(".")[0])
    if arguments.group is None:
        folder = root / arguments.format
        groups = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        known = f"; groups of {arguments.format}: {', '.join(groups)}" if groups else ""
        raise UsageError(f"--group is missing{known}")
    format_ = get_format(arguments.format)
    read = read_messages(
        arguments.file, hex=arguments.hex, key=arguments.key, carriers=format_.carriers
    )
    messages = list[Message]()
    for _, message in read:
        messages.append(message)
        if len(messages) > MOST_MESSAGES:
            raise UsageError(f"{arguments.file}: a case has at most {MOST_MESSAGES} messages")
    if not messages:
        raise UsageError(f"{arguments.file}: there are no messages in it")
    return messages, context


def _at_path(messages: list[Message], path: str) -> Message:
    value = messages[0].value
    if len(messages) > 1 or value is None:
        raise UsageError("--path is for one file of a storage prefix")
    return StoredFile(path, value)


def _checked_id(arguments: argparse.Namespace, root: Path) -> str:
    """Return the id of the case, which has the right form and is new. Raises: UsageError."""
    for option, form in (("group", _ID_PART), ("name", _ID_NAME)):
        part = getattr(arguments, option)
        if not form.fullmatch(part):
            raise UsageError(f"--{option}: {part!r:.80} is not lower-case words with hyphens")
    case_id = "/".join((arguments.format, arguments.group, arguments.name))
    reason = retired_ids(root).get(case_id)
    if reason is not None:
        raise UsageError(f"{case_id}: this id is retired and never used again: {reason}")
    if (root / f"{case_id}.json").exists():
        raise UsageError(f"{root / case_id}.json: already exists")
    return case_id


def _check_clauses(clauses: list[str]) -> None:
    known = read_clauses(pages_folder()) if clauses else {}
    for clause in clauses:
        if clause not in known:
            raise UsageError(f"--clause: {clause!r:.80} is on no page{did_you_mean(clause, known)}")


def _print(skeleton: CaseSkeleton, written: list[str]) -> None:
    case = skeleton.case
    for file in written:
        print(visible(f"written: {file}"))
    print(visible(f"level {case.level}, expect {case.expect}, since {case.since}"))
    if skeleton.problem is not None:
        print(visible(f"the reference refuses the bytes: {skeleton.problem}"))
    if ("clause",) in skeleton.missing and skeleton.shown:
        print(visible(f"clauses that the bytes show: {', '.join(skeleton.shown)}"))
    if skeleton.missing:
        print(visible(f"still missing: {missing_text(skeleton.missing)}"))
    print("next: complete the JSON, then run `cdcwire corpus rebuild` and `cdcwire corpus check`")
