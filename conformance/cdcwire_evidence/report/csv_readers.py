"""The chapter about CSV readers: what those that people use make of TiCDC's files.

Each reader of ``adapters/`` is put to the golden cases of ``csv`` that are about data files, with
the settings that a careful user would choose. Its failures are not failures of cdcwire:
the chapter is there to show them. A reader that is not installed is not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cdcwire.core.message import StoredFile
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.difference import quoted
from cdcwire_conformance.run.results import Outcome
from cdcwire_evidence.report.part import Part
from cdcwire_evidence.report.readers import (
    Fits,
    Questions,
    ThirdPartyReader,
    ask_readers,
    clauses_fit,
    reader_settings,
)

TITLE = "CSV readers on TiCDC's files"
_COMMAND = "cdcwire verify csv --no-derived -- COMMAND"

_PIP = "pip install -r adapters/python/requirements.txt"
_NPM = "npm ci in adapters/javascript"

READERS = (
    ThirdPartyReader(
        "Python csv",
        ("python", "adapters/python/read_csv_module.py"),
        _PIP,
        "delimiter, quotechar, strict; text with `errors=surrogateescape`; escapechar `\\` without "
        "quotes, unless the null text has one; QUOTE_NOTNULL for an empty null text (3.13)",
    ),
    ThirdPartyReader(
        "pandas",
        ("python", "adapters/python/read_pandas.py"),
        _PIP,
        "sep, quotechar, na_values of columns that can be NULL, keep_default_na off; Int8…UInt64, "
        "float64, all else object; `encoding_errors=surrogateescape`; escapechar as above",
    ),
    ThirdPartyReader(
        "pyarrow",
        ("python", "adapters/python/read_pyarrow.py"),
        _PIP,
        "delimiter, quote_char, newlines_in_values, null_values, quoted_strings_can_be_null off; "
        "exact integers, decimal128, text as binary; escape_char as above",
    ),
    ThirdPartyReader(
        "DuckDB",
        ("python", "adapters/python/read_duckdb.py"),
        _PIP,
        "auto_detect off, columns, delim, quote, escape, new_line, nullstr, allow_quoted_nulls "
        "off; escape `\\` with strict_mode off without quotes, unless the null text has one",
    ),
    ThirdPartyReader(
        "polars",
        ("python", "adapters/python/read_polars.py"),
        _PIP,
        "separator, quote_char, eol_char, schema; null_values of columns that can be NULL, or "
        "empty_string_is_null for an empty null text; extra and missing columns raise",
    ),
    ThirdPartyReader(
        "csv-parse",
        ("node", "adapters/javascript/csv_parse.js"),
        _NPM,
        "delimiter, quote, record_delimiter, `encoding: null`; NULL by `cast`, which knows of "
        "quotes",
    ),
    ThirdPartyReader(
        "Papa Parse",
        ("node", "adapters/javascript/papaparse.js"),
        _NPM,
        "delimiter, quoteChar, newline; UTF-8 checked before; errors are errors",
    ),
)


# ---- questions -------------------------------------------------------------------------------


def _option(case: Case, name: str, default: str) -> str:
    found = {key.rpartition(".")[2]: value for key, value in case.options.items()}
    return str(found.get(name, default))


def _clause(*names: str) -> Fits:
    return clauses_fit("csv", *names)


def _value(*names: str) -> Fits:
    is_about = _clause(*names)
    return lambda case: case.group == "values" and is_about(case)


def _is_bare(case: Case) -> bool:
    return _option(case, "quote", '"') == ""


def _is_long(case: Case) -> bool:
    return len(_option(case, "delimiter", ",")) > 1


NULL_QUESTION = "quoted: NULL against text that may be it, empty text"

# What a reader makes of valid files; a case counts for the first question that it fits.
VALID: tuple[tuple[str, Fits], ...] = (
    ("no quotes: NULL against text that may be it", _clause("ambiguous null")),
    ("ill-formed UTF-8", lambda case: "ill-formed" in case.name),
    ("header line", _clause("header line")),
    ("no quotes, long delimiter", lambda case: _is_bare(case) and _is_long(case)),
    ("no quotes: backslash, CR, LF, delimiter escaped", _is_bare),
    ("long delimiter", _is_long),
    (NULL_QUESTION, _clause("null values")),
    ("integers, to all 64 bits unsigned", _value("integer values")),
    ("BIT and YEAR", _value("bit and year values")),
    ("decimals, to 65 digits", _value("decimal values")),
    ("floats, `-0`, exponents", _value("float values")),
    ("dates and times, zero dates", _value("temporal values")),
    ("base64 and hex", _clause("binary values")),
    ("ENUM and SET", _value("enum and set values")),
    ("JSON and VECTOR", _value("json values", "vector values")),
    ("commit-ts, is-update, handle key", _clause("commit-ts", "old value", "handle key")),
    ("terminators", _clause("terminator")),
    ("texts: quotes, CR, LF, delimiters, controls", _clause("text values", "quoted fields")),
    ("other settings", _clause("settings")),
    ("versions of a definition, virtual columns", _clause("schema", "virtual columns")),
    ("other records", lambda case: True),
)
# Whether it notices broken ones. Values that are read as text are left out: what is wrong with
# them is not the reader's to know.
BROKEN: tuple[tuple[str, Fits], ...] = (
    ("refuses: a quoted number, a bare text", _clause("kinds of fields")),
    ("refuses: quotes and escapes that are broken", _clause("quoted fields", "bare fields")),
    ("refuses: files cut off, other terminators", _clause("terminator")),
    ("refuses: header lines of other columns", _clause("header line")),
    ("refuses: too few or too many fields", _clause("record", "virtual columns")),
    (
        "refuses: invalid commit-ts, is-update, operation",
        _clause("operations", "commit-ts", "old value", "handle key"),
    ),
    (
        "refuses: numbers that the column can't have",
        _clause("integer values", "bit and year values", "float values", "decimal values"),
    ),
)


def question_of(case: Case) -> str | None:
    """Return the question that a case counts for; None if it asks nothing of a reader."""
    if not _is_about_a_data_file(case):
        return None
    questions = BROKEN if case.expect == "reject" else VALID
    return next((title for title, fits in questions if fits(case)), None)


def _is_about_a_data_file(case: Case) -> bool:
    return (
        case.expect != "encode"
        and case.level != "may"
        and len(case.messages) == 1
        and isinstance(case.messages[0], StoredFile)
        and case.messages[0].path.endswith(".csv")
        and any(clause.startswith("csv: ") for clause in case.clauses)
        and not _clause("refused settings")(case)
    )


# ---- the chapter -----------------------------------------------------------------------------


def csv_readers_part(
    cases: Iterable[Case], quick: bool, readers: Sequence[ThirdPartyReader] = READERS
) -> Part:
    """Put each reader to the cases, and show what it makes of them."""
    part = Part(TITLE, _COMMAND)
    asked = QUESTIONS.of(cases)
    head = (
        f"{len(asked)} golden cases of data files. A cell: how many cases of a question the "
        "reader answers as the format says; **bold** where all. Many cases have a quoted text "
        "that looks like NULL. A reader that gives NULL for it but is otherwise right fails only "
        "the question about that. The settings are those that a careful user would "
        "choose; `docs/csv-readers.md` says what to do about the rest."
    )
    ask_readers(part, QUESTIONS, asked, readers, head, reader_settings(quick))
    return part


def _is_passed(outcome: Outcome) -> bool:
    return outcome.verdict == "passed" or (
        question_of(outcome.case) != NULL_QUESTION and _lacks_nothing_but_null(outcome)
    )


def _lacks_nothing_but_null(outcome: Outcome) -> bool:
    """Return whether all that is wrong is NULL where a text looks like it."""
    text = quoted(_option(outcome.case, "null", "\\N"))
    return bool(outcome.differences) and all(
        difference.got == "NULL" and text in difference.expected
        for difference in outcome.differences
    )


QUESTIONS = Questions(
    "csv",
    "files",
    tuple(title for title, _ in VALID),
    tuple(title for title, _ in BROKEN),
    question_of,
    _is_passed,
)
