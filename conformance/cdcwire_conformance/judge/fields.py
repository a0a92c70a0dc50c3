"""The spans of DataHub's bodies in one shape, whatever encoding the service was spoken to in.

A field of the record that gives event ``n`` has the path ``("records", n, name)``; a record that is
one run of bytes has ``("records", n)``. What is around fields has a path of no record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cdcwire.core.errors import Path
from cdcwire.core.reader import Span


def record_fields(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with the paths that say of which record they are a field."""
    numbers: dict[Path, int] = {}
    for span in spans:
        record = _record_of(span.path)
        if record is not None:
            numbers.setdefault(record, len(numbers))
    return list(_renamed(spans, numbers))


def _record_of(path: Path) -> Path | None:
    match path:
        case ("Records" | "records", int(), *_):
            return path[:2]
        case ("batches", int(), "records", int(), *_):
            return path[:4]
        case _:
            return None


def _renamed(spans: Iterable[Span], numbers: dict[Path, int]) -> Iterable[Span]:
    for span in spans:
        record = _record_of(span.path)
        if record is None:
            yield span
            continue
        number = numbers[record]
        match span.path[len(record) :]:
            case ("Data", int()):  # JSON has the values by their places
                yield replace(span, path=("records", number, span.text.partition(": ")[0]))
            case ("Data",) if "base64" in span.text:
                yield replace(span, path=("records", number))
            case ("data", 0):
                yield replace(span, path=("records", number))
            case ("data",) if record[0] == "batches" and span.text.endswith("bytes'"):
                yield replace(span, path=("records", number))
            case ("data", str(name)):
                yield replace(span, path=("records", number, name))
            case (str(name),) if record[0] == "batches":
                yield replace(span, path=("records", number, name))
            case _:
                yield replace(span, path=("frame", *span.path))
