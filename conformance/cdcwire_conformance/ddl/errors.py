"""The one error of this package: a text that is not a table definition, and where."""

from __future__ import annotations


class DdlError(ValueError):
    """A DDL can't be read. ``line`` and ``column`` count characters from 1.

    ``file`` is the name of the file, where there is one.
    """

    def __init__(self, problem: str, line: int, column: int, file: str | None = None) -> None:
        super().__init__(problem, line, column, file)
        self.problem = problem
        self.line = line
        self.column = column
        self.file = file

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}: {self.problem}"
        return place if self.file is None else f"{self.file}: {place}"

    def in_file(self, file: str) -> DdlError:
        """Return the same error with the name of its file."""
        return DdlError(self.problem, self.line, self.column, file)


class NoTableError(DdlError):
    """A text defines no table."""

    def __init__(self) -> None:
        super().__init__("there is no CREATE TABLE here", 1, 1)
