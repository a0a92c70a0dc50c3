"""The signs of a CSV file of the storage sink, and the settings that its first records show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, product

from cdcwire.core.guess import Guess, OptionValues
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.csv.settings import problem_of
from cdcwire.storage.identify import FilePlace, identify_other_file, place_of

EXTENSION = ".csv"
_HEAD = 1 << 16
_MOST_RECORDS = 64
_MOST_DELIMITER = 3
_MOST_OF_FIELD = 64  # bytes of the end of a file, in which its terminator is looked for
_MOST_LINE_END = 16
_MOST_ALTERNATIVES = 48
_OPERATIONS = b"IUD"
_HEADER = b"ticdc-meta$operation"
_HEADER_NEXT = b"ticdc-meta$table"
_COMMIT_TS = re.compile(rb"[0-9]{15,20}")
_HANDLE = re.compile(rb"-?[0-9]{1,20}|\{.*\}")
_NUMBER = re.compile(rb"-?[0-9][0-9.eE+-]*")
_LINE_END = re.compile(rb"\r?\n|\r")
_DELIMITERS = (b",", b"\t", b"|", b";", b"|+|", b"||", b"^", b"\x01", b":", b" ")
_NULLS = (b"\\N", b"NULL", b"null", b"")
_LINE_ENDS = (b"\r\n", b"\n", b"\r")


def identify(message: Message) -> Guess | None:
    """Return what shows that a file is a CSV file of the sink."""
    if not isinstance(message, StoredFile):
        return None
    other = identify_other_file(message, EXTENSION)
    if other is not None:
        return other
    place = place_of(message, EXTENSION)
    if place is None:
        return None
    if not message.value:
        evidence = f"a path of a storage sink with {EXTENSION}, without bytes"
        return None if place.path is None else Guess(
            evidence, "path", if_decoded="likely", options=place.options,
            alternatives=place.alternatives,
        )  # fmt: skip
    return _of_rows(message.value[:_HEAD], message.value, place)


def _of_rows(head: bytes, value: bytes, place: FilePlace) -> Guess | None:
    has_header = head.startswith(_HEADER)
    start, known = 0, b""
    if has_header:
        known = head[len(_HEADER) :].partition(_HEADER_NEXT)[0][: _MOST_DELIMITER + 1]
        start = _first_record(head)
    quote = _quote(head, start)
    if quote is None and not (has_header and start == len(head)):
        return None
    quote = b'"' if quote is None else quote
    delimiters = [known] if known else list(_delimiters(head, start, quote, place))
    if not delimiters:
        return None
    base: dict[str, OptionValue] = dict(place.options)
    if has_header:
        base["output-field-header"] = True
    sets = _alternatives(head, value, start, quote, delimiters, place)
    return Guess(
        _evidence(head, place, has_header),
        "value",
        start,
        if_decoded="sure" if place.path is not None else "likely",
        alone="likely" if place.path is not None or has_header else "possible",
        options=base,
        alternatives=sets or ({},),
    )


def _evidence(head: bytes, place: FilePlace, has_header: bool) -> str:
    text = "a header line of the sink" if has_header else "a record that begins with I, U or D"
    return text if place.path is None else f"{text}, and a path of a storage sink"


def _first_record(head: bytes) -> int:
    """Return where the record after the header begins; names may contain line ends."""
    ends = (found.end() for found in islice(_LINE_END.finditer(head), _MOST_RECORDS))
    return next((end for end in ends if _quote(head, end) is not None), len(head))


def _quote(head: bytes, start: int) -> bytes | None:
    """Return the quote around the operation; None without an operation."""
    first = head[start : start + 3]
    if len(first) == 3 and first[1] in _OPERATIONS and first[0] == first[2]:
        return first[:1]
    return b"" if first and first[0] in _OPERATIONS else None


def _delimiters(head: bytes, start: int, quote: bytes, place: FilePlace) -> Iterator[bytes]:
    """Yield what may be between the operation and the table, the likeliest first."""
    after = head[start + 1 + 2 * len(quote) :][:4096]
    if quote:
        found = after.find(quote, 1)
        if 0 < found <= _MOST_DELIMITER:
            yield after[:found]
        return
    if place.path is not None:
        found = after.find(place.path.table.encode("utf-8", "surrogateescape")[:64])
        if 0 < found <= _MOST_DELIMITER + 1:
            yield after[:found]
            return
    yield from sorted(
        (each for each in _DELIMITERS if after.startswith(each)), key=len, reverse=True
    )


def _alternatives(
    head: bytes, value: bytes, start: int, quote: bytes, delimiters: list[bytes], place: FilePlace
) -> tuple[OptionValues, ...]:
    found: list[OptionValues] = []
    for delimiter in delimiters:
        for end in _line_ends(value, quote, delimiter):
            rows = head[start:].split(end)[:_MOST_RECORDS]
            fields = [row.split(delimiter) for row in rows if row] or [[]]
            choices = product(
                place.alternatives,
                _meta(head, fields[0][3:], quote, start),
                _nulls(fields, quote),
                ({}, {"binary-encoding-method": "hex"}),
            )
            for layout, meta, null, binary in choices:
                texts = {"delimiter": delimiter, "quote": quote, "null": null, "terminator": end}
                if problem_of(delimiter, quote, null, end) is None:
                    found.append({**layout, **meta, **_as_text(texts), **binary})
    return tuple(found[:_MOST_ALTERNATIVES])


def _as_text(texts: dict[str, bytes]) -> dict[str, OptionValue]:
    return {name: text.decode("utf-8", "replace") for name, text in texts.items()}


def _line_ends(value: bytes, quote: bytes, delimiter: bytes) -> list[bytes]:
    """Return the terminators that the file may have: it ends in one.

    They are usual ones, a run of line ends, or what follows the last field: a text or a number.
    """
    found = [end for end in _LINE_ENDS if value.endswith(end)]
    last = value[-_MOST_OF_FIELD:]
    run = last[len(last.rstrip(b"\r\n")) :]
    for sign in filter(None, (quote, delimiter)):
        last = last.rpartition(sign)[2]
    for other in (run, last.lstrip(b"+-.0123456789")):
        if 0 < len(other) <= _MOST_LINE_END and other not in found:
            found.append(other)
    return found or [_LINE_ENDS[0]]


def _meta(
    head: bytes, fields: list[bytes], quote: bytes, start: int
) -> Iterable[dict[str, OptionValue]]:
    """Yield which fields may follow the names, the fullest first."""
    if start:  # a header names the first two
        line = head[:start]
        commits = [b"ticdc-meta$commit-ts" in line]
        updates = [b"ticdc-meta$is-update" in line]
    else:
        has_ts = bool(fields) and _COMMIT_TS.fullmatch(fields[0]) is not None
        commits = [True, False] if has_ts else [False]
        updates = [True, False]
    for commit, update in product(commits, updates):
        at = int(commit)
        if update and not (len(fields) > at and fields[at] in (b"true", b"false")):
            continue
        at += int(update)
        text = fields[at] if len(fields) > at else b""
        bare = text[len(quote) : len(text) - len(quote)] if quote else text
        is_quoted = not quote or (text.startswith(quote) and text.endswith(quote))
        handles = [False, True] if is_quoted and _HANDLE.fullmatch(bare) else [False]
        for handle in handles:
            names = {
                "include-commit-ts": commit,
                "output-old-value": update,
                "output-handle-key": handle,
            }
            yield {name: True for name, is_on in names.items() if is_on}


def _nulls(fields: list[list[bytes]], quote: bytes) -> list[bytes]:
    """Return the texts that may mean NULL: bare ones that are not numbers, the usual first."""
    bare = {
        text
        for row in fields
        for text in row[3:]
        if len(text) <= 16 and not (quote and text.startswith(quote))
    }
    if not quote:
        return [each for each in _NULLS if each in bare] or [_NULLS[0]]
    odd = [text for text in bare if not _NUMBER.fullmatch(text) and text not in (b"true", b"false")]
    usual = [each for each in _NULLS if each in odd]
    others = sorted(text for text in odd if text not in _NULLS)
    return (usual + others)[:4] or [_NULLS[0]]
