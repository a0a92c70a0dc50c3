"""The chapter about DataFrames: one stream in two formats, compared on Spark, pair by pair.

The stream is written in both formats of a pair, with differences planted on the right side. A pair
passes if the comparison reports exactly these differences, and leaves out exactly what one of the
formats cannot carry. The first pair is also compared without differences. In the full report all
are, and more pairs. Without PySpark or Java the chapter is not run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.kinds import Value
from cdcwire.model.text import Json, table_to_json
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed_terms import NO_RULE
from cdcwire_conformance.output.markdown import code_block, inline
from cdcwire_evidence.report.comparer import Compared, Comparer
from cdcwire_evidence.report.part import NotRun, Part, PlantedResult, table
from cdcwire_generators.workloads import workload, workload_tables

TITLE = "DataFrames: two protocols, one answer"
SEED = 7
_EQUAL, _DIFFERENT = 0, 1
_POSITIONS = ("commit_ts", "sequence_id", "lsn", "tx_id", "commit_ms", "sent_ms")
_EXTENSION = "enable-tidb-extension=true"
_KEYS = "Kafka keys"
_DDL = "DDL events"
_KEY_ONLY = "columns of deletes beyond the key"
_OLD = "before images of updates"
_OPS = "insert against update"


@dataclass(frozen=True, slots=True)
class Stream:
    """The changes that are compared: a workload, and its columns in which differences are planted.

    ``key``, ``text``, ``decimal`` and ``nullable``: the names of columns.
    """

    workload: str
    rows: int
    key: str
    text: str
    decimal: str
    nullable: str

    def changes(self) -> list[RowChange]:
        """Return the changes, with every position that a format can carry."""
        found = workload(self.workload, self.rows, SEED, position_fields=_POSITIONS)
        return [event for event in found if isinstance(event, RowChange)]


# Spark takes longer to plan many columns than to read many rows.
QUICK = Stream("orders-10", 1000, "id", "note", "price", "quantity")
FULL = Stream("proposal-29", 5000, "c1", "c10", "c20", "c5")

Named: TypeAlias = "tuple[str, str, str | None]"  # verdict, position, column of a change


@dataclass(frozen=True, slots=True)
class Pair:
    """Two formats, the options of both, and what a comparison of them has to leave out.

    ``keeps_scale``: both formats keep 1.0 and 1.00 apart, and need no definition of the table.
    ``is_planted``: differences are planted; they need a position on both sides. ``only_full``:
    compared in the full report only.
    """

    left: str
    right: str
    left_out: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()
    keeps_scale: bool = False
    is_planted: bool = True
    only_full: bool = False


PAIRS: tuple[Pair, ...] = (
    Pair("craft", "open-protocol", frozenset({"partition"}), keeps_scale=True),
    Pair("craft", "craft-proposal", frozenset({"partition"}), keeps_scale=True),
    Pair(
        "csv",
        "canal-json",
        frozenset({"commit_ms", "partition"}),
        (_EXTENSION, "include-commit-ts=true", "output-old-value=true"),
    ),
    Pair(
        "avro",
        "canal-json",
        frozenset({_OLD, _KEY_ONLY, _KEYS, _DDL, "commit_ts and commit_ms of deletes"}),
        (_EXTENSION,),
    ),
    Pair("datahub-tuple", "datahub-blob"),
    Pair("cdl-json", "debezium-json", frozenset({_KEYS})),
    Pair(
        "avro",
        "open-protocol",
        frozenset({_OLD, _KEY_ONLY, _KEYS, _DDL, "commit_ts of deletes", "commit_ms", "partition"}),
        (_EXTENSION,),
        only_full=True,
    ),
    Pair(
        "avro",
        "canal-json",
        frozenset({_OLD, _KEY_ONLY, _KEYS, _DDL, _OPS, "commit_ms"}),
        is_planted=False,
        only_full=True,
    ),
    Pair(
        "avro",
        "open-protocol",
        frozenset({_OLD, _KEY_ONLY, _KEYS, _DDL, _OPS, "commit_ts", "partition"}),
        is_planted=False,
        only_full=True,
    ),
)


class Comparing(Protocol):
    """Compares two feeds, as ``Comparer`` does."""

    def compare(self, left: str, right: str, *more: str) -> Compared:
        """Return exit code, text and document; without a document the text is the error's line."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """A planted difference: the verdict that is expected, the change, and its column."""

    verdict: str
    change: RowChange
    column: str | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    """The result of one comparison."""

    pair: Pair
    planted: Sequence[Difference]
    document: Json
    said: str
    is_right: bool


def compare_part(
    quick: bool,
    folder: Path,
    pairs: Sequence[Pair] = PAIRS,
    comparer: Callable[[], AbstractContextManager[Comparing]] = Comparer,
) -> Part:
    """Compare the feeds of each pair."""
    left, right = pairs[0].left, pairs[0].right
    part = Part(TITLE, f"cdcwire compare {left}:file:LEFT {right}:file:RIGHT")
    if find_spec("pyspark") is None:
        part.not_run.append(
            NotRun("comparison on Spark", "PySpark is not installed", "pip install '.[spark]'")
        )
        return part
    stream = QUICK if quick else FULL
    changes, defined = stream.changes(), workload_tables(stream.workload)
    tables = folder / "tables.json"
    definitions = list(map(table_to_json, defined))
    tables.write_text(json.dumps(definitions), encoding="utf-8")
    results: list[_Row] = []
    with comparer() as comparing:
        for pair, is_planted in _comparisons(pairs, quick):
            planted: list[Difference] = []
            content = changes
            if is_planted:
                planted, content = plant(stream, changes, pair.keeps_scale)
            sides = folder / str(len(results))
            words = [
                _written(sides / "left", pair.left, changes, pair.options, defined),
                _written(sides / "right", pair.right, content, pair.options, defined),
                *(() if pair.keeps_scale else ("--tables", str(tables))),
                *(word for option in pair.options for word in ("--option", option)),
            ]
            code, said, document = comparing.compare(*words)
            if document is None and "Spark needs Java" in said:
                why = said.partition(": ")[2]
                part.not_run.append(NotRun("comparison on Spark", why, "install Java 17"))
                return part
            said = said.replace(f"{sides}/", "")
            results.append(_judged(part, pair, planted, (code, said, document)))
    part.lines = _lines(stream, results)
    return part


def _comparisons(pairs: Sequence[Pair], quick: bool) -> Iterable[tuple[Pair, bool]]:
    """Yield each comparison: a pair, and whether differences are planted."""
    for number, pair in enumerate(pairs):
        if quick and pair.only_full:
            continue
        if not quick or number == 0:
            yield pair, False
        if pair.is_planted:
            yield pair, True


def _judged(part: Part, pair: Pair, planted: Sequence[Difference], found: Compared) -> _Row:
    """Count one comparison as a check of the chapter."""
    code, said, document = found
    part.asked += 1
    if document is None:
        part.attention.append(f"{pair.left} and {pair.right}: {said}")
        return _Row(pair, planted, None, said, False)
    expected, reported = expected_names(planted, document), named_by(document)
    hits = len(expected & reported)
    part.planted.append(
        PlantedResult(
            pair.left, pair.right, pair.options, len(planted), hits, len(reported - expected)
        )
    )
    left_out = _left_out(document)
    is_right = (
        code == (_DIFFERENT if planted else _EQUAL)
        and len(expected) == len(planted)
        and reported == expected
        and left_out == pair.left_out
    )
    part.passed += is_right
    if not is_right:
        part.attention.append(
            f"{pair.left} and {pair.right}: {hits} of {len(planted)} planted differences found, "
            f"{len(reported - expected)} others reported, left out: "
            f"{'; '.join(sorted(left_out)) or 'nothing'}"
        )
    return _Row(pair, planted, document, said, is_right)


def plant(
    stream: Stream, changes: Sequence[RowChange], keeps_scale: bool
) -> tuple[list[Difference], list[RowChange]]:
    """Return the differences, and the changes with them.

    Three or four changes have another value in one column, one is lost, one is repeated.
    """
    edits: list[tuple[str, Callable[[Value], Value]]] = [
        (stream.text, lambda value: f"{value} "),  # a space at the end
        (stream.decimal, _with_another_last_digit),
        (stream.nullable, lambda value: None),
    ]
    if keeps_scale:
        edits.append((stream.decimal, lambda value: Decimal(f"{value}0")))  # 1.00 becomes 1.000
    content: list[tuple[RowChange, ...]] = [(change,) for change in changes]
    planted: list[Difference] = []
    step = len(changes) // (len(edits) + 3)

    def free(column: str) -> int:
        """Return the next change that is not planted yet, sets a column and keeps its key."""
        start = (len(planted) + 1) * step
        for index in range(start, len(changes)):
            before, after = changes[index].before, changes[index].after
            keeps_key = before is None or after is None or before[key] == after[key]
            is_set = after is not None and after[column] is not None
            if is_set and keeps_key and content[index] == (changes[index],):
                return index
        raise ValueError(f"no change after {start} sets {column}")

    key = stream.key
    for column, edit in edits:
        index = free(column)
        content[index] = (_edited(changes[index], column, edit),)
        planted.append(Difference("changed", changes[index], column))
    index = free(key)
    content[index] = ()
    planted.append(Difference("only left", changes[index]))
    index = free(key)
    content[index] = (changes[index], changes[index])
    planted.append(Difference("doubled", changes[index]))
    return planted, list(chain.from_iterable(content))


def expected_names(planted: Iterable[Difference], document: Json) -> frozenset[Named]:
    """Return how a comparison has to name these differences, by the position that pairs rows."""
    position = _position(document)
    return frozenset(
        (each.verdict, str(getattr(each.change.position, position, None)), each.column)
        for each in planted
    )


def named_by(document: Json) -> frozenset[Named]:
    """Return the differences that the document of a comparison names."""
    position = _position(document)
    found: set[Named] = set()
    for each in (d for t in document["tables"] for d in t["differences"]):
        verdict, place = each["verdict"], str(each["position"].get(position))
        columns = [c["column"] for c in each["columns"]] if verdict == "changed" else [None]
        found |= {(verdict, place, column) for column in columns}
    return frozenset(found)


def _position(document: Json) -> str:
    paired_by = document["tables"][0]["paired_by"] if document["tables"] else None
    return str(paired_by[0]) if paired_by else ""


def _with_another_last_digit(value: Value) -> Value:
    assert isinstance(value, Decimal)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return value - Decimal(1).scaleb(exponent) * (1 if value > 0 else -1)


def _edited(change: RowChange, column: str, edit: Callable[[Value], Value]) -> RowChange:
    assert change.after is not None
    names = [each.name for each in change.after.columns]
    pairs = zip(names, change.after.values, strict=True)
    values = tuple(edit(value) if name == column else value for name, value in pairs)
    return replace(change, after=Image(change.after.columns, values))


def _written(
    folder: Path,
    name: str,
    changes: Iterable[RowChange],
    given: Iterable[str],
    tables: tuple[Table, ...],
) -> str:
    """Write a feed. Returns: its source, as the command line has it."""
    folder.mkdir(parents=True)
    format_ = get_format(name)
    known = {option.name for option in format_.options}
    options: Mapping[str, OptionValue] = dict(option.split("=") for option in given)
    own = {key: value for key, value in options.items() if key in known}
    context = Context(options=own, tables=tables)
    write_messages(str(folder / "messages.jsonl"), format_.encoder(context)(changes))
    return f"{name}:file:{folder}"


def _left_out(document: Json) -> frozenset[str]:
    """Return what these two feeds lose, without what is compared of no two feeds."""
    return frozenset(
        each["name"] for each in document["left_out"] if not each["reason"].startswith(NO_RULE)
    )


def _lines(stream: Stream, results: Sequence[_Row]) -> list[str]:
    generate = (
        f"cdcwire generate FORMAT --workload {stream.workload} --rows {stream.rows} "
        f"--seed {SEED} --to DIR"
    )
    head = ("left", "right", "options", "planted", "found", "same", "rows pair by", "left out", "")
    shown = next((each.said for each in results if each.planted), "")
    return [
        f"{stream.rows:,} changes of the workload (`{generate}`), written in both formats and "
        "compared by one Spark session on this machine. On the right side, differences are "
        "planted: other values in one column (a space at the end of a text, another last digit, "
        "NULL for a value, and a digit more of scale where both formats keep it), a lost change, "
        "a repeated change. A pair passes if exactly these are found, and if exactly what one "
        "format cannot carry is left out.",
        "",
        *table(head, map(_cells, results)),
        "",
        f"The output of the first comparison with differences (exit code {_DIFFERENT}):",
        "",
        *code_block(shown.splitlines()),
    ]


def _cells(result: _Row) -> tuple[str, ...]:
    pair, document = result.pair, result.document
    options = ", ".join(f"`{option}`" for option in pair.options)
    mark = "as planted" if result.is_right else "**no**"
    if document is None:
        said = inline(result.said)
        return pair.left, pair.right, options, str(len(result.planted)), "", "", "", said, mark
    counts = [each["counts"] for each in document["tables"] if each["counts"]]
    paired_by = document["tables"][0]["paired_by"] if document["tables"] else None
    position, *key = paired_by or ("all values",)
    by = "order of changes" if position == "ordinal" else position
    return (
        pair.left,
        pair.right,
        options,
        f"{len(result.planted)}",
        f"{len(named_by(document))}",
        f"{sum(each['same'] for each in counts):,}",
        " and ".join([by, *key]),
        "; ".join(sorted(_left_out(document))) or "nothing",
        mark,
    )
