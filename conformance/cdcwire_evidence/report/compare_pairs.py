"""Pairs of formats that don't carry the same: equal on what both do, and what is left out.

A stream is written in both formats of each pair and compared. The table fails the chapter unless
all pairs are equal, and so does one that leaves out other things than are known here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cdcwire.core.format import Context
from cdcwire.core.options import OptionValue
from cdcwire.core.registry import get_format
from cdcwire.model.events import RowChange
from cdcwire.model.text import Json, table_to_json
from cdcwire_conformance.sources.messages_io import write_messages
from cdcwire_evidence.report.part import table
from cdcwire_generators.workloads import workload, workload_tables

WORKLOAD, SEED, ROWS = "proposal-29", 7, 1000
_EXTENSION = "enable-tidb-extension=true"
_POSITIONS = ("commit_ts", "sequence_id", "lsn", "tx_id", "commit_ms", "sent_ms")
_KEY_ONLY = "columns of deletes beyond the key"
_OLD = "before images of updates"
_OPS = "insert against update"

Ended: TypeAlias = "tuple[int, str, Json]"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two formats, the options of both, and what a comparison of them has to leave out."""

    left: str
    right: str
    left_out: frozenset[str]
    options: tuple[str, ...] = ()


PAIRS: tuple[Pair, ...] = (
    Pair(
        "avro",
        "canal-json",
        frozenset({_OLD, _KEY_ONLY, "commit_ts and commit_ms of deletes"}),
        (_EXTENSION,),
    ),
    Pair("avro", "canal-json", frozenset({_OLD, _KEY_ONLY, _OPS, "commit_ms"})),
    Pair(
        "avro",
        "open-protocol",
        frozenset({_OLD, _KEY_ONLY, "commit_ts of deletes", "commit_ms", "partition"}),
        (_EXTENSION,),
    ),
    Pair("avro", "open-protocol", frozenset({_OLD, _KEY_ONLY, _OPS, "commit_ts", "partition"})),
    Pair("datahub-tuple", "datahub-blob", frozenset()),
    Pair("cdl-json", "debezium-json", frozenset({_KEY_ONLY})),
)


def pairs_lines(folder: Path, pairs: Sequence[Pair] = PAIRS) -> tuple[list[str], bool]:
    """Return the lines of all pairs, and whether one of them is not as it has to be."""
    tables = workload_tables(WORKLOAD)
    found = workload(WORKLOAD, ROWS, SEED, position_fields=_POSITIONS)
    changes = [event for event in found if isinstance(event, RowChange)]
    definitions = folder / "tables.json"
    definitions.write_text(json.dumps(list(map(table_to_json, tables))), encoding="utf-8")
    body = []
    failed = False
    for number, pair in enumerate(pairs):
        options = dict(option.split("=") for option in pair.options)
        sources = [
            _written(folder / f"pair-{number}-{side}", name, changes, options)
            for side, name in (("left", pair.left), ("right", pair.right))
        ]
        words = [word for option in pair.options for word in ("--option", option)]
        code, said, document = run_compare(folder, *sources, "--tables", str(definitions), *words)
        is_right = code == 0 and document is not None and _left_out(document) == pair.left_out
        failed |= not is_right
        body.append(_row(pair, document, said, is_right))
    head = (
        "left",
        "right",
        "options",
        "verdict",
        "changes",
        "rows pair by",
        "left out",
        "as known",
    )
    return [
        f"The same stream, {ROWS:,} changes of it, in formats that carry less. What one of a pair "
        "can't carry is left out on both sides, and named: this is what gets lost between them.",
        "",
        *table(head, body),
    ], failed


def run_compare(folder: Path, left: str, right: str, *more: str) -> Ended:
    """Return exit code, text and document; without a document the text is the error's line."""
    file = folder / "comparison.json"
    file.unlink(missing_ok=True)
    words = ["compare", left, right, "--json", str(file), *more]
    ended = subprocess.run(
        [sys.executable, "-m", "cdcwire_conformance", *words, "--master", "local[2]"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if not file.exists():
        return ended.returncode, (ended.stderr.splitlines() or ["no result"])[-1], None
    return ended.returncode, ended.stdout, json.loads(file.read_text(encoding="utf-8"))


def _written(
    folder: Path, name: str, changes: Iterable[RowChange], options: Mapping[str, OptionValue]
) -> str:
    folder.mkdir()
    format_ = get_format(name)
    known = {option.name for option in format_.options}
    own = {key: value for key, value in options.items() if key in known}
    context = Context(options=own, tables=workload_tables(WORKLOAD))
    write_messages(str(folder / "messages.jsonl"), format_.from_events(changes, context=context))
    return f"{name}:file:{folder}"


def _left_out(document: Json) -> frozenset[str]:
    return frozenset(each["name"] for each in document["left_out"])


def _row(pair: Pair, document: Json, said: str, is_right: bool) -> tuple[str, ...]:
    options = ", ".join(f"`{option}`" for option in pair.options)
    mark = "yes" if is_right else "**no**"
    if document is None:
        return pair.left, pair.right, options, said.replace("|", "/"), "", "", "", mark
    (compared,) = document["tables"]
    position, *key = compared["paired_by"] or ("all values",)
    by = "order of changes" if position == "ordinal" else position
    return (
        pair.left,
        pair.right,
        options,
        "equal" if document["equal"] else "different",
        f"{compared['counts']['left_rows'] if compared['counts'] else 0:,}",
        " and ".join([by, *key]),
        "; ".join(sorted(_left_out(document))) or "nothing",
        mark,
    )
