"""The generators' facts about csv."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from cdcwire.core.message import StoredFile
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import NO_EXTRA, Half, Image, Position, Progress, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError, Options
from cdcwire_generators.samples import Sample, has_options
from cdcwire_generators.storage import STORAGE_FEED, StoredRoundTrip, in_form, primary_names

_HANDLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


class CsvRoundTrip(StoredRoundTrip):
    """CSV: two records for an update with ``output-old-value``, else one with the new row."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        null = str(self.options["null"])
        # With a quote a bare text is NULL. Without one the escaper never writes a backslash before
        # another character than n, r, itself or the delimiter, and other settings are refused.
        self.is_ambiguous = not self.options["quote"] and "\\" not in null
        self.null = null

    def _progress(self, event: Progress) -> Progress:
        return Progress(event.what, Position(commit_ts=event.position.commit_ts))

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        is_split = bool(self.options["output-old-value"])
        if event.op not in ("insert", "update", "delete"):
            raise NotCarriedError("op")
        if event.op != "update":
            yield self._record(event, event.before or event.after)
            return
        if event.half is not None and not is_split:
            raise NotCarriedError("before of update")
        if is_split and event.half != "after":
            yield replace(self._record(event, event.before), half="before")
        if event.half != "before":
            half: Half | None = "after" if is_split else None
            yield replace(self._record(event, event.after, is_after=True), half=half)

    def _record(
        self, event: RowChange, image: Image | None, *, is_after: bool = False
    ) -> RowChange:
        if image is None:
            raise NotCarriedError("op")
        ambiguous: list[str] = []
        columns, values = [], []
        for column, value in image.pairs:
            columns.append(self._column(column, event.table))
            values.append(self._read(column, self._value(column, value), ambiguous))
        found = Image(tuple(columns), tuple(values))
        extra: dict[str, str | bytes | None] = {}
        if self.options["output-handle-key"]:
            extra["handle_key"] = self._handle(event, image)
        if ambiguous:
            extra["ambiguous_null"] = ",".join(ambiguous)
        is_delete = event.op == "delete" or (event.op == "update" and not is_after)
        commit_ts = event.position.commit_ts if self.options["include-commit-ts"] else None
        if commit_ts is None and self.options["include-commit-ts"]:
            raise NotCarriedError("commit_ts")
        key = event.table.key
        if key is None or (event.table.schema, event.table.name) in self.changed:
            key = primary_names(found.columns)  # of the schema file; it does not say the key
        return RowChange(
            Table(event.table.name, event.table.schema, key=key),
            event.op,
            found if is_delete else None,
            None if is_delete else found,
            Position(commit_ts=commit_ts, partition=self._partition(event.position)),
            extra=extra or NO_EXTRA,
        )

    def _column(self, column: Column, table: Table) -> Column:
        column = self._defined(column, table)
        return replace(column, type=in_form(column.type, "label", self.time_zone))

    def _read(self, column: Column, value: Value, ambiguous: list[str]) -> Value:
        """Return a value as its field is read, where the text of NULL may be a value too."""
        if not self.is_ambiguous or not self._may_be_null_text(column.type):
            return value
        is_null = value is None or self._text(value) == self.null
        if column.nullable is False:
            if value is None:
                raise NotCarriedError("NULL")
            return value
        if is_null:
            ambiguous.append(column.name)
        return None if is_null else value

    def _may_be_null_text(self, kind: kinds.Type) -> bool:
        if isinstance(kind, kinds.JsonType):
            return self.null != ""
        return isinstance(kind, (kinds.TextType, kinds.BytesType, kinds.EnumType, kinds.SetType))

    def _text(self, value: Value) -> str | None:
        if isinstance(value, str):
            return value
        if not isinstance(value, bytes):
            return None
        if self.options["binary-encoding-method"] == "hex":
            return value.hex()
        return base64.b64encode(value).decode()

    def _handle(self, event: RowChange, image: Image) -> str:
        given = event.extra.get("handle_key")
        if given is not None:
            text = given if isinstance(given, str) else ""
            if text[:1] == "{" and text[-1:] == "}":
                return text
            if not _HANDLE.fullmatch(text) or not -(1 << 63) <= int(text) < 1 << 63:
                raise NotCarriedError("handle_key")
            return text
        key = event.table.key or primary_names(image.columns)
        if len(key) == 1 and key[0] in image:
            column = next(c for c in image.columns if c.name == key[0])
            value = image[key[0]]
            if isinstance(column.type, kinds.IntType) and isinstance(value, int):
                return str(value - (1 << 64) if value >> 63 > 0 else value)
        raise NotCarriedError("handle_key")


def _has_ambiguous_null(sample: Sample) -> bool:
    return any("ambiguous_null" in row.extra for row in sample.rows())


def _has_long_delimiter(sample: Sample) -> bool:
    return len(str(sample.options.get("delimiter", ","))) > 1


def _has_other_files(sample: Sample) -> bool:
    """Return whether a sample has files without rows: schema files, indexes, the checkpoint."""
    return any(
        isinstance(file, StoredFile) and not file.path.endswith(".csv") for file in sample.messages
    )


GENERATORS = FormatGenerators(
    feed=replace(STORAGE_FEED, progress="checkpoint"),
    round_trip=CsvRoundTrip,
    option_values=MappingProxyType(
        {
            "delimiter": (",", "\t", "|", ";", "||", "|+|", "a", "\\", " "),
            "quote": ('"', "", "'", "$"),
            "null": ("\\N", "NULL", "", "null", "\\\\", "x|", "-"),
        }
    ),
    features=MappingProxyType(
        {
            "empty quote": has_options("quote", ("",)),
            "delimiter of several characters": _has_long_delimiter,
            "files": _has_other_files,
        }
    ),
    choices=MappingProxyType({"ambiguous-null": _has_ambiguous_null}),
)
