"""Pages as data for the template: tables, groups of failures and the data of cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote

from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus.clauses import pages_folder, read_clauses

State: TypeAlias = Literal["good", "bad", "none"]
NOT_ASKED = ("", "not claimed", "skipped", "not run")
BAD_RESULTS = ("failed", "crashed", "timed out")
EXPECTED_FAILURE = "expected failure"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a matrix: how many cases passed of those asked. ``link``: filters of the list."""

    text: str
    state: State = "none"
    link: str = ""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A question and the cells of each column. ``parts``: rows that belong to the question."""

    title: str
    cells: tuple[Cell, ...]
    parts: tuple[MatrixRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """Questions by readers, or by the kind of case."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]

    def without_empty_columns(self) -> Matrix:
        """Return the matrix without the columns that have no text in any row."""
        kept = [
            at for at in range(len(self.columns)) if any(row.cells[at].text for row in self.rows)
        ]

        def narrowed(row: MatrixRow) -> MatrixRow:
            cells = tuple(row.cells[at] for at in kept)
            return MatrixRow(row.title, cells, tuple(map(narrowed, row.parts)))

        columns = tuple(self.columns[at] for at in kept)
        return Matrix(self.title, columns, tuple(map(narrowed, self.rows)))


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group of failures on the page."""

    section: str
    number: int
    part: str
    expected: str
    got: str
    first: str
    notes: str
    link: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``data`` is what the script needs: readers, rows and details of the cases."""

    title: str
    verdict: str
    state: State
    about: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    data: Mapping[str, Json]
    groups: tuple[GroupLine, ...] = ()
    not_run: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


def link_to(**filters: str) -> str:
    """Return the address of the list of cases with these filters."""
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in filters.items())


def counted_cell(results: Iterable[str], **filters: str) -> Cell:
    """Return the cell for cases with these results: a link to the failed ones, if there are any."""
    asked = [result for result in results if result not in NOT_ASKED]
    if not asked:
        return Cell("")
    passed = sum(result == "passed" for result in asked)
    text = f"{passed:,}/{len(asked):,}"
    if passed == len(asked):
        return Cell(text, "good", link_to(**filters, result="passed"))
    return Cell(text, "bad", link_to(**filters, result="not passed"))


def reader_matrix(title: str, readers: Sequence[str], rows: Sequence[Mapping[str, Json]]) -> Matrix:
    """Return the matrix of formats and their clauses by readers."""

    def cells(chosen: Sequence[Mapping[str, Json]], **filters: str) -> tuple[Cell, ...]:
        return tuple(
            counted_cell((row["results"][at] for row in chosen), **filters, reader=str(at))
            for at in range(len(readers))
        )

    by_format: dict[str, list[Mapping[str, Json]]] = {}
    for row in rows:
        by_format.setdefault(row["format"], []).append(row)
    lines = []
    places = {name: place for place, name in enumerate(FORMAT_NAMES)}
    for name in sorted(by_format, key=lambda name: places.get(name, len(places))):
        found = by_format[name]
        by_clause: dict[str, list[Mapping[str, Json]]] = {}
        for row in found:
            for clause in row["clauses"]:
                by_clause.setdefault(clause, []).append(row)
        parts = tuple(
            MatrixRow(clause, cells(by_clause[clause], format=name, clause=clause))
            for clause in sorted(by_clause)
        )
        lines.append(MatrixRow(name, cells(found, format=name), parts))
    return Matrix(title, tuple(readers), tuple(lines))


def clause_texts(wanted: Iterable[str]) -> dict[str, str]:
    """Return what the pages say under these clauses."""
    known = read_clauses(pages_folder())
    return {name: known[name].text for name in sorted(set(wanted)) if name in known}
