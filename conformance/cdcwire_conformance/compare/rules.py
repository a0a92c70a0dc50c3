"""The options of a comparison, and the rules that follow from the formats' losses.

A window has the changes from position ``start`` up to, but not including, ``end``. The position is
the one by which rows pair (``ComparisonRules.position``). The windows ``[a, b)`` and ``[b, c)``
together have each change of ``[a, c)`` exactly once, with two exceptions:

- a change without a position (NULL), though its format has one, is in every window;
- a delete of a format whose deletes have no position is in no window. The deletes of the other side
  are then not compared either, and ``not compared:`` says so.

Columns and fields that one side can't carry are left out on both sides, and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cdcwire.core.format import Format, TableName
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.model.carries import Carries
from cdcwire.model.events import Table
from cdcwire_conformance.arrow.types import Temporal
from cdcwire_conformance.compare.masking import Mask
from cdcwire_conformance.compare.meaning import NO_MEANING, Meaning
from cdcwire_conformance.spark.decode.reading import OnError

Mode: TypeAlias = Literal["events", "final"]

DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Window:
    """Positions from ``start`` up to, but not including, ``end``; None: no bound.

    ``has_unplaced``: it has changes without a position, and what can't be read.
    Raises: ValueError for a window that can't hold anything.
    """

    start: int | None = None
    end: int | None = None
    has_unplaced: bool = True

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"a window from {self.start} to {self.end} holds nothing")

    def __str__(self) -> str:
        start = [] if self.start is None else [f"from {self.start}"]
        end = [] if self.end is None else [f"below {self.end}"]
        return " and ".join(start + end) or "all"

    def has(self, position: int) -> bool:
        """Return whether the window has a position."""
        starts = self.start is None or position >= self.start
        return starts and (self.end is None or position < self.end)

    @property
    def is_bounded(self) -> bool:
        """Return whether any change is outside."""
        return self.start is not None or self.end is not None


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """The options of a comparison.

    ``definitions``: tables as a DDL defines them. ``include`` and ``columns``: compare only these;
    None: all. ``common``: compare the common columns if schemas differ. ``look_into_text``: find
    the columns that hold ill-formed text, in a pass that decodes everything. ``window``: compare
    only changes in it. ``mode``: compare all changes, or the last row of each key. ``order``: find
    changes that come too late among those of their key. ``allow_repeats``: a row that is sent again
    later is not a difference. ``differences_to``: a directory to which all differences are written
    as Parquet. ``min_rows``: feeds with fewer changes on a side are never equal. ``strict_types``:
    column types that differ are a difference, even if they have a type in common. ``ddl_events``:
    compare the statements of schema changes. ``meaning``: what the user says of both feeds.
    ``mask``: hides all values in ``differences_to``, and those that errors in a state file quote.
    """

    definitions: tuple[Table, ...] = ()
    include: frozenset[TableName] | None = None
    columns: frozenset[str] | None = None
    limit: int = DEFAULT_LIMIT
    exact: bool = False
    split_keys: bool = True
    common: bool = False
    on_error: OnError = "stop"
    temporal: Temporal = "text"
    time_zone: str = "UTC"
    look_into_text: bool = False
    window: Window | None = None
    mode: Mode = "events"
    order: bool = True
    allow_repeats: bool = False
    differences_to: str | None = None
    min_rows: int = 1
    strict_types: bool = False
    ddl_events: bool = False
    meaning: Meaning = NO_MEANING
    mask: Mask | None = None

    @property
    def hides_values(self) -> bool:
        """Return whether errors of messages must not quote them."""
        return self.mask is not None or bool(self.meaning.redacted)


DEFAULT_OPTIONS = CompareOptions()


PositionName: TypeAlias = Literal["commit_ts", "sequence_id", "lsn"]
DeletedColumns: TypeAlias = Literal["all", "key"]

POSITIONS: tuple[PositionName, ...] = ("commit_ts", "sequence_id", "lsn")
_COMPARED_FIELDS = ("tx_id", "commit_ms", "partition")  # sent_ms is another one in every feed
_KEY_ONLY = "delete-only-output-handle-key-columns"
_CHANGED_ONLY = "only-output-updated-columns"


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """The rules of a comparison.

    ``position``: pairs rows together with their key; None: rows pair by the ordinal of the change
    of their key. ``split_keys``: an update of a key is compared as delete and insert. This holds
    for any primary or unique key. Where a side has no old values it holds only for the handle key,
    since the producer of that side splits its change. ``fields``: event fields that are compared in
    addition to op and images. ``folds_ops``: a side can't distinguish insert from update, so that
    both count as "upsert". ``has_old_values``: before images of updates are compared.
    ``deleted_columns``: those compared of a delete. ``fills_unchanged``: columns that only an after
    image has are unchanged in its before image, and an update that changes nothing counts as an
    insert. ``has_bare_deletes``: on a side deletes have neither position nor fields. They pair by
    their key, the last position that it had before, and the number of its deletes since then.
    ``in_halves``: a side sends an update as two records. An update with both images then counts as
    two records, each under the key of that image. ``leaves_deletes``: deletes are not compared, as
    bare ones are in no window. ``is_final``: what is compared is the last row of each key.
    ``against_table``: the right side is a table, which has rows without a history.
    ``leaves_left_over``: rows that only the right side has are not compared.
    """

    position: PositionName | None = "commit_ts"
    split_keys: bool = True
    fields: tuple[str, ...] = ()
    folds_ops: bool = False
    has_old_values: bool = True
    deleted_columns: DeletedColumns = "all"
    fills_unchanged: bool = False
    has_bare_deletes: bool = False
    in_halves: bool = False
    leaves_deletes: bool = False
    is_final: bool = False
    against_table: bool = False
    leaves_left_over: bool = False

    @property
    def compared(self) -> tuple[str, ...]:
        """The parts of an event that make two rows equal."""
        return ("op", "half", *self.fields, "before", "after")


@dataclass(frozen=True, slots=True)
class Terms:
    """The rules of a pair of formats, and what they leave out: names and reasons."""

    rules: ComparisonRules
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One side's format with its options, which may be only those that differ from the default.

    ``is_stored``: its files are in a prefix, where paths give the partition.
    """

    format: Format
    options: Mapping[str, OptionValue]
    is_stored: bool = False

    @property
    def carries(self) -> Carries:
        """The fields and the column types that the format carries."""
        return self.format.carries

    @property
    def values(self) -> Mapping[str, OptionValue]:
        """The value of each option of the format."""
        return parse_options(self.format.options, self.options)

    @property
    def sends_changed_columns(self) -> bool:
        """Return whether old images have only the columns that an update changed."""
        return self.format.sends_changed_columns(self.values)

    @property
    def hides_updates(self) -> bool:
        """Return whether an update looks like an insert, as it does without its old values.

        Source: open-protocol, "row value". Formats that send the op do not hide it.
        """
        old_values = self.carries.fields["before of update"]
        return (
            not self.format.sends_operation
            and old_values.verdict == "option"
            and not self.values.get(old_values.detail)
        )

    @property
    def hides_idle_updates(self) -> bool:
        """Return whether an update that changes nothing looks like an insert.

        Source: open-protocol, "row value".
        """
        return not self.format.sends_operation and self.sends_changed_columns

    def lacks(self, field: str) -> str | None:
        """Return why an event field does not come through; None if it does."""
        verdict = self.carries.fields[field]
        if field == "op" and self.format.snapshot_rows_are_inserts:
            return None  # reads are compared as inserts anyway
        if self.is_stored and field == "partition":
            return None
        if verdict.verdict == "option":
            name, value = verdict.setting
            if self.values.get(name) == value:
                return None
            return f"{self.format.name} has them only with option {verdict.detail}"
        if verdict.verdict == "exact":
            return None
        return (
            f"{self.format.name}: {verdict}" if verdict.detail else f"{self.format.name} has none"
        )


def terms_of(
    left: Side,
    right: Side,
    *,
    split_keys: bool = True,
    is_windowed: bool = False,
    meaning: Meaning = NO_MEANING,
) -> Terms:
    """Return what feeds of two formats with these options can be compared by.

    A column that neither has is not left out: there is nothing to compare. ``is_windowed``: only
    changes of some positions are compared. ``meaning``: the user's rules for pairs and old values.
    """
    left_out: list[tuple[str, str]] = []
    refused: dict[str, str] = {}  # fields that the user leaves out, with the option
    if not meaning.has_before:
        refused["before of update"] = "--no-before"
    if meaning.pairs_by_key:
        refused |= dict.fromkeys((*POSITIONS, *_COMPARED_FIELDS), "--pair-by key")

    def have_both(field: str, name: str) -> bool:
        if field in refused and not (left.lacks(field) and right.lacks(field)):
            left_out.append((name, refused[field]))
        if field in refused:
            return False
        reasons = [reason for side in (left, right) if (reason := side.lacks(field)) is not None]
        if len(reasons) == 1:
            left_out.append((name, reasons[0]))
        return not reasons

    positions = [name for name in POSITIONS if have_both(name, name)]
    has_old_values = have_both("before of update", "before images of updates")
    deleted = _deleted_columns(left, right)
    if deleted == "key":
        left_out.append(("columns of deletes beyond the key", "a side sends the key only"))
    fields = tuple(name for name in _COMPARED_FIELDS if have_both(name, name))
    is_folding = [side.lacks("op") or side.hides_updates for side in (left, right)]
    if not has_old_values:  # the other side does not tell which updates change nothing
        is_folding += [side.hides_idle_updates for side in (left, right)]
    folds_ops = any(is_folding)
    if folds_ops:
        left_out.append(("insert against update", "a side writes both alike"))
    bare = [side for side in (left, right) if not side.format.deletes_have_position]
    has_bare_deletes = bool(bare and (positions or fields))
    leaves_deletes = bool(bare) and is_windowed
    if leaves_deletes:
        reason = f"{bare[0].format.name} has no position of them, so that no window has them"
        left_out.append(("deletes", reason))
    elif has_bare_deletes and len(bare) == 1:
        names = " and ".join((*positions[:1], *fields))
        reason = f"{bare[0].format.name} has none; they pair by key and what came before"
        left_out.append((f"{names} of deletes", reason))
    fills_unchanged = left.sends_changed_columns or right.sends_changed_columns
    if fills_unchanged and has_old_values and not folds_ops:
        reason = f"with {_CHANGED_ONLY} both are written alike"
        left_out.append(("updates that change nothing against inserts", reason))
    rules = ComparisonRules(
        position=positions[0] if positions else None,
        split_keys=split_keys,
        fields=fields,
        folds_ops=folds_ops,
        has_old_values=has_old_values,
        deleted_columns=deleted,
        fills_unchanged=fills_unchanged,
        has_bare_deletes=has_bare_deletes,
        in_halves=any(side.format.updates_are_two_records for side in (left, right)),
        leaves_deletes=leaves_deletes,
    )
    return Terms(rules, tuple(left_out))


def _deleted_columns(left: Side, right: Side) -> DeletedColumns:
    for side in (left, right):
        if side.values.get(_KEY_ONLY) or side.lacks("before of delete") is not None:
            return "key"
    return "all"


def final_rules(rules: ComparisonRules) -> ComparisonRules:
    """Return the rules by which last rows are compared, of those for changes."""
    return replace(
        rules,
        split_keys=True,
        fields=(),
        has_old_values=True,
        deleted_columns="all",
        folds_ops=False,
        is_final=True,
    )
