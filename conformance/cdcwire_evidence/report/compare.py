"""The chapter about DataFrames: feeds of one stream in several formats, compared on Spark.

The stream is written in each format and compared, as it is and with five differences planted on one
side. The chapter fails unless the first compare as equal, and of the second exactly the planted
differences are named. Unless it is to be quick, pairs of formats that carry less are compared too.
Without PySpark or Java it is not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from cdcwire.core.format import Context
from cdcwire.core.registry import get_format
from cdcwire.model.events import Image, RowChange, Value
from cdcwire.model.text import Json
from cdcwire_conformance.sources.messages_io import write_messages
from cdcwire_evidence.report.compare_pairs import pairs_lines, run_compare
from cdcwire_evidence.report.part import NotRun, Part, PlantedResult, table
from cdcwire_generators.workloads import workload, workload_tables

TITLE = "DataFrames: two protocols, one answer"
LEFT, RIGHTS = "craft", ("craft-proposal", "open-protocol")
WORKLOAD, SEED = "proposal-29", 7
ROWS, ROWS_WHEN_QUICK = 5000, 1000
_EQUAL, _DIFFERENT = 0, 1
_COUNTS = ("same", "changed", "only_left", "only_right", "doubled_left", "doubled_right")

Named: TypeAlias = "tuple[str, str, str | None]"  # verdict, commit_ts, column of a change


@dataclass(frozen=True, slots=True)
class Planted:
    """A stream with five differences, and how a comparison has to name them."""

    changes: tuple[RowChange, ...]
    named: frozenset[Named]


def compare_part(quick: bool, folder: Path) -> Part:
    """Compare the feeds, equal ones and those with planted differences."""
    rows = ROWS_WHEN_QUICK if quick else ROWS
    part = Part(TITLE, f"cdcwire compare {LEFT}:file:LEFT {RIGHTS[-1]}:file:RIGHT")
    if find_spec("pyspark") is None:
        part.not_run.append(
            NotRun("comparison on Spark", "PySpark is not installed", "pip install '.[spark]'")
        )
        return part
    changes = tuple(e for e in workload(WORKLOAD, rows, SEED) if isinstance(e, RowChange))
    planted = plant(changes)
    _write(folder / LEFT, LEFT, changes)
    results = []
    shown: list[str] = []
    for suffix, content, named in (
        ("", changes, frozenset()),
        ("-planted", planted.changes, planted.named),
    ):
        for name in RIGHTS:
            _write(folder / f"{name}{suffix}", name, content)
            code, said, document = _compare(folder, f"{name}:file:{folder / f'{name}{suffix}'}")
            if document is None:
                if _is_without_java(said):
                    part.not_run.append(
                        NotRun("comparison on Spark", said.partition(": ")[2], "install Java 17")
                    )
                    return part
                part.failed = True
                part.lines = ["It could not be run:", "", "```", said, "```"]
                return part
            reported = named_by(document)
            found = len(named & reported)
            part.planted.append(
                PlantedResult(LEFT, name, (), len(named), found, len(reported - named))
            )
            is_right = code == (_DIFFERENT if named else _EQUAL) and reported == named
            part.asked += 1
            part.passed += is_right
            if not is_right:
                part.attention.append(
                    f"{LEFT} and {name}: {found} of {len(named)} planted "
                    f"differences found, {len(reported - named)} others reported"
                )
            results.append((f"{name}{suffix}", document, is_right))
            shown = said.splitlines()
    part.lines = _lines(rows, results, [line.replace(f"{folder}/", "") for line in shown])
    if not quick:
        lines, failed = pairs_lines(folder)
        part.lines += ["", *lines]
        part.failed |= failed
    return part


def plant(changes: tuple[RowChange, ...]) -> Planted:
    """Return the changes with three of them changed in one column each, one lost, one doubled."""
    planted = list(changes)
    named: set[Named] = set()
    step = len(changes) // 6
    edits: tuple[tuple[str, Callable[[Value], Value]], ...] = (
        ("c10", lambda value: f"{value} "),  # a space at the end
        ("c20", lambda value: Decimal(f"{value}0")),  # 1.000 becomes 1.0000
        ("c5", lambda value: None),
    )
    for number, (column, edit) in enumerate(edits, 1):
        index = _first_with(changes, number * step, column)
        planted[index] = _edited(changes[index], column, edit)
        named.add(("changed", str(changes[index].position.commit_ts), column))
    lost, doubled = 4 * step, 5 * step
    planted.insert(doubled, changes[doubled])
    named.add(("doubled", str(changes[doubled].position.commit_ts), None))
    del planted[lost]
    named.add(("only left", str(changes[lost].position.commit_ts), None))
    return Planted(tuple(planted), frozenset(named))


def named_by(document: Json) -> frozenset[Named]:
    """Return the differences that the document of a comparison names."""
    found: set[Named] = set()
    for each in (d for t in document["tables"] for d in t["differences"]):
        verdict, position = each["verdict"], each["position"]["commit_ts"]
        columns = [c["column"] for c in each["columns"]] if verdict == "changed" else [None]
        found |= {(verdict, position, column) for column in columns}
    return frozenset(found)


def _first_with(changes: tuple[RowChange, ...], start: int, column: str) -> int:
    """Return the first change from a place on that sets a column to a value."""
    for index in range(start, len(changes)):
        after = changes[index].after
        if after is not None and after[column] is not None:
            return index
    raise ValueError(f"no change after {start} sets {column}")


def _edited(change: RowChange, column: str, edit: Callable[[Value], Value]) -> RowChange:
    assert change.after is not None
    names = [each.name for each in change.after.columns]
    pairs = zip(names, change.after.values, strict=True)
    values = tuple(edit(value) if name == column else value for name, value in pairs)
    return replace(change, after=Image(change.after.columns, values))


def _write(folder: Path, name: str, changes: Iterable[RowChange]) -> None:
    folder.mkdir()
    context = Context(tables=workload_tables(WORKLOAD))
    write_messages(
        str(folder / "messages.jsonl"), get_format(name).from_events(changes, context=context)
    )


def _compare(folder: Path, right: str) -> tuple[int, str, Json]:
    """Return exit code, text and document; without a document the text is the error's line."""
    return run_compare(folder, f"{LEFT}:file:{folder / LEFT}", right)


def _is_without_java(line: str) -> bool:
    return "Spark needs Java" in line


def _lines(rows: int, results: list[tuple[str, Json, bool]], shown: list[str]) -> list[str]:
    generate = f"cdcwire generate FORMAT --workload {WORKLOAD} --rows {rows} --seed {SEED} --to DIR"
    body = []
    for right, document, is_right in results:
        counts = {name: sum(t["counts"][name] for t in document["tables"]) for name in _COUNTS}
        body.append(
            (
                right,
                "equal" if document["equal"] else "different",
                f"{counts['same']:,}",
                f"{counts['changed']:,}",
                f"{counts['only_left'] + counts['only_right']:,}",
                f"{counts['doubled_left'] + counts['doubled_right']:,}",
                "yes" if is_right else "**no**",
            )
        )
    head = ("right", "verdict", "same", "changed", "on one side only", "doubled", "as planted")
    document = results[0][1]
    position, *key = document["tables"][0]["paired_by"]
    facts = [name for name in document["compared"] if name != "half"]
    return [
        f"{rows:,} changes of the 29-column table (`{generate}`), decoded by Spark on this machine "
        f"and compared with `{LEFT}` on the left. Rows pair by {position} and the key "
        f"({', '.join(key)}); compared are {', '.join(facts)}, the images column by "
        "column. The feeds named *planted* have five differences. Three changes have another value "
        "in one column: a trailing space in a text, one more digit of scale in a decimal, NULL for "
        "a value. One change is lost and one is repeated. *As planted*: exactly these are named.",
        "",
        *table(head, body),
        "",
        f"The output of the last comparison (exit code {_DIFFERENT}):",
        "",
        "```",
        *shown,
        "```",
    ]
