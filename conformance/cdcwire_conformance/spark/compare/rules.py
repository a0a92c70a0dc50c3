"""What two feeds are compared by: the rules, and how the formats' losses make them.

What one side can't carry is left out on both sides, and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.format import Format
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.model.carries import Carries

PositionName: TypeAlias = Literal["commit_ts", "sequence_id", "lsn"]
DeletedColumns: TypeAlias = Literal["all", "key"]

POSITIONS: tuple[PositionName, ...] = ("commit_ts", "sequence_id", "lsn")
_COMPARED_FIELDS = ("tx_id", "commit_ms", "partition")  # sent_ms is another one in every feed
_KEY_ONLY = "delete-only-output-handle-key-columns"
_CHANGED_ONLY = "only-output-updated-columns"


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """What a comparison goes by.

    ``position``: pairs rows beside their key; None: rows pair by the ordinal of the change of
    their key. ``split_keys``: an update that changes a key is compared as delete and insert: any
    primary or unique key, but where a side has no old values only the handle key, whose change the
    producer of that side splits.
    ``fields``: event fields that are compared beside op and images. ``folds_ops``: a side can't
    tell insert from update, so that both count as "upsert". ``has_old_values``: before images of
    updates are compared. ``deleted_columns``: those compared of a delete. ``fills_unchanged``:
    columns that only an after image has are unchanged in its before image, and an update that
    changes nothing counts as an insert. ``has_bare_deletes``: on a side deletes have neither
    position nor fields; they pair by their key, the last position that it had before, and how many
    deletes of it came since. ``in_halves``: a side sends an update as two records, so that an
    update with both images counts as its two halves, each under the key of its own image.
    ``leaves_deletes``: deletes are not compared, as bare ones are in no window. ``is_final``: what
    is compared is the last row of each key.
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

    ``is_stored``: its files are in a prefix, where paths tell the partition.
    """

    format: Format
    options: Mapping[str, OptionValue]
    is_stored: bool = False

    @property
    def carries(self) -> Carries:
        return self.format.carries

    def option(self, name: str) -> OptionValue | None:
        """Return an option's value; None if the format has no such option."""
        if all(option.name != name for option in self.format.options):
            return None
        return parse_options(self.format.options, self.options)[name]

    @property
    def sends_changed_columns(self) -> bool:
        """Return whether old images have only the columns that an update changed."""
        values = parse_options(self.format.options, self.options)
        return self.format.sends_changed_columns(values)

    @property
    def hides_updates(self) -> bool:
        """Return whether an update looks like an insert, as it does without its old values.

        Source: open-protocol, "row value". Formats that send the op do not hide it.
        """
        old_values = self.carries.fields["before of update"]
        return (
            not self.format.sends_operation
            and old_values.verdict == "option"
            and not self.option(old_values.detail)
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
            if self.option(name) == value:
                return None
            return f"{self.format.name} has them only with option {verdict.detail}"
        if verdict.verdict == "exact":
            return None
        return (
            f"{self.format.name}: {verdict}" if verdict.detail else f"{self.format.name} has none"
        )


def terms_of(
    left: Side, right: Side, *, split_keys: bool = True, is_windowed: bool = False
) -> Terms:
    """Return what feeds of two formats with these options can be compared by.

    What neither has is not left out: there is nothing to compare. ``is_windowed``: only changes of
    some positions are compared.
    """
    left_out: list[tuple[str, str]] = []

    def have_both(field: str, name: str) -> bool:
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
        if side.option(_KEY_ONLY) or side.lacks("before of delete") is not None:
            return "key"
    return "all"
