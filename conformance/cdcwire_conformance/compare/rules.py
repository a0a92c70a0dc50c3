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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cdcwire.arrow.types import SchemaError, Temporal
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.core.orders import Order
from cdcwire.format import Format
from cdcwire.model.carries import Carries
from cdcwire.model.events import Table, TableName
from cdcwire.storage.paths import OF_PATHS
from cdcwire_conformance.compare.masking import Mask
from cdcwire_conformance.compare.meaning import NO_MEANING, Meaning
from cdcwire_conformance.compare.orders import BothFacts
from cdcwire_conformance.decode.reading import OnError
from cdcwire_conformance.decode.row_facts import FIELDS, KEY_ONLY, Between

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

    def defined_in(self, *feeds: Callable[[Iterable[Table]], Iterable[Table]]) -> CompareOptions:
        """Return the options with the definitions as each feed completes them."""
        found = dict.fromkeys(table for defined in feeds for table in defined(self.definitions))
        return replace(self, definitions=tuple(found))

    @property
    def hides_values(self) -> bool:
        """Return whether errors of messages must not quote them."""
        return self.mask is not None or bool(self.meaning.redacted)


DEFAULT_OPTIONS = CompareOptions()


DeletedColumns: TypeAlias = Literal["all", "key"]

CHANGED_ONLY = "only-output-updated-columns"
"""The option with which updates have the old values of changed columns only."""


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """The rules of a comparison.

    ``position``: the order that pairs rows together with their key, a column of frames; None: rows
    pair by the ordinal of the change of their key. ``split_keys``: an update of a key is compared
    as delete and insert. ``splits_unique_keys``: this holds for any primary or unique key. Else it
    holds only for the handle key: a side has no old values, and its producer splits no other.
    ``fields``: event fields that are compared in addition to op and images. ``in_seconds``:
    ``commit_ms`` is compared without the part below a second. ``folds_ops``: a side can't
    distinguish insert from update, so that both count as "upsert". ``has_old_values``: before
    images of updates are compared. ``deleted_columns``: those compared of a delete.
    ``key_only_between``: positions between which only the key of a delete is compared, and no
    before image of an update.
    ``fills_unchanged``: columns that only an after image has are unchanged in its before image, and
    an update that changes nothing counts as an insert. ``has_bare_deletes``: on a side deletes have
    neither position nor fields. They pair by their key, the last position that it had before, and
    the number of its deletes since then. ``has_bare_reads``: rows of snapshots have no position
    that two feeds share, and pair likewise. ``has_reads_as_inserts``: a feed has them as inserts.
    So the first insert of a key may have the position of a snapshot, which orders no change.
    ``numbers_ties``: a position is that of a transaction, in which changes of a key pair by their
    order. ``in_halves``: a side sends an update as two
    records. An update with both images then counts as two records, each under the key of that
    image. ``joins_halves``: only one side does. The other side may send an update of a key as a
    delete and an insert. So two records of one sequence id with different keys count as these.
    ``leaves_deletes``: deletes are not compared, as bare ones are in no window.
    ``is_final``: what is compared is the last row of each key. ``against_table``: the right side is
    a table, which has rows without a history.
    ``leaves_left_over``: rows that only the right side has are not compared.
    """

    position: str | None = "commit_ts"
    split_keys: bool = True
    splits_unique_keys: bool = True
    fields: tuple[str, ...] = ()
    in_seconds: bool = False
    folds_ops: bool = False
    has_old_values: bool = True
    deleted_columns: DeletedColumns = "all"
    key_only_between: tuple[Between, ...] = ()
    fills_unchanged: bool = False
    has_bare_deletes: bool = False
    has_bare_reads: bool = False
    has_reads_as_inserts: bool = False
    numbers_ties: bool = False
    in_halves: bool = False
    joins_halves: bool = False
    leaves_deletes: bool = False
    is_final: bool = False
    against_table: bool = False
    leaves_left_over: bool = False

    @property
    def bare_ops(self) -> tuple[str, ...]:
        """The operations without a position and fields, which pair by what came before them."""
        deletes = ("delete",) if self.has_bare_deletes else ()
        return (*deletes, "read") if self.has_bare_reads else deletes

    @property
    def cuts_deletes(self) -> bool:
        """Return whether only the key is compared of all or some deletes."""
        return self.deleted_columns == "key" or bool(self.key_only_between)

    def is_cut_at(self, position: int | str | None) -> bool:
        """Return whether old rows at a position are left out, except for the key of a delete."""
        return isinstance(position, int) and any(
            (before is None or before < position) and (after is None or position < after)
            for before, after in self.key_only_between
        )

    @property
    def compared(self) -> tuple[str, ...]:
        """The parts of an event that make two rows equal."""
        return ("op", "half", *self.fields, "before", "after")


@dataclass(frozen=True, slots=True)
class Terms:
    """The rules of a pair of formats, and what they leave out: names and reasons.

    ``order``: the one that gives the position. ``passed_over``: the other ones, with the reason.
    """

    rules: ComparisonRules
    left_out: tuple[tuple[str, str], ...]
    order: Order | None = None
    passed_over: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One side's format with its options, which may be only those that differ from the default.

    ``is_stored``: its files are in a prefix, where paths give the partition. An option only says
    what rows may lack: ``has_old_images`` and ``has_whole_deletes`` say what some rows have. So do
    ``has_placed_deletes`` and ``has_bare_deletes`` of deletes with and without a position.
    ``shown``: the op and members of positions that rows have. ``has_upserts``: a row hides its op.
    """

    format: Format
    options: Mapping[str, OptionValue]
    is_stored: bool = False
    has_old_images: bool = False
    has_whole_deletes: bool = False
    has_placed_deletes: bool = False
    has_bare_deletes: bool = False
    shown: frozenset[str] = frozenset()
    has_upserts: bool = False

    @property
    def lacks_places_of_deletes(self) -> bool:
        """Return whether a delete may have no position."""
        may_lack = not self.format.comparing.deletes_have_position(self.values)
        return may_lack and (self.has_bare_deletes or not self.has_placed_deletes)

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
        return self.format.comparing.sends_changed_columns(self.values)

    @property
    def hides_updates(self) -> bool:
        """Return whether an update looks like an insert, as it does without its old values.

        Source: open-protocol, "row value". Other formats send the op of each row, or of some.
        """
        old_values = self.carries.fields["before of update"]
        return self.has_upserts or (
            not self.format.comparing.sends_operation
            and old_values.verdict == "option"
            and not self.values.get(old_values.detail)
            and not self.has_old_images
        )

    @property
    def hides_idle_updates(self) -> bool:
        """Return whether an update that changes nothing looks like an insert.

        Source: open-protocol, "row value".
        """
        return not self.format.comparing.sends_operation and self.sends_changed_columns

    def lacks_order(self, order: Order) -> str | None:
        """Return why the changes of the side have no place in an order; None if they may have."""
        if order not in self.format.comparing.orders:
            return f"{self.format.name} has none"
        return None if order.number is None else self.lacks(order.number)

    def lacks(self, field: str) -> str | None:
        """Return why an event field does not come through; None if it does."""
        verdict = self.carries.fields[field]
        if field == "commit_ms" and self.format.comparing.commit_ms_in_seconds:
            return None
        if field == "op" and self.format.comparing.snapshot_rows_are_inserts:
            return None  # reads are compared as inserts anyway
        if self.is_stored and field == "partition":
            verdict = OF_PATHS
        if field == "before of update" and self.has_old_images:
            return None
        if field in self.shown and verdict.verdict in ("option", "no"):
            return None
        if verdict.verdict == "option":
            name, value = verdict.setting
            if self.values.get(name) == value:
                return None
            return f"{self.format.name} sends them only with option {verdict.detail}"
        if verdict.verdict == "exact":
            return None
        return f"{self.format.name}{f': {verdict}' if verdict.detail else ' has none'}"


def terms_of(
    left: Side,
    right: Side,
    *,
    split_keys: bool = True,
    is_windowed: bool = False,
    meaning: Meaning = NO_MEANING,
    facts: BothFacts | None = None,
) -> Terms:
    """Return what feeds of two formats with these options can be compared by.

    A column that neither has is not left out: there is nothing to compare. ``is_windowed``: only
    changes of some positions are compared. ``meaning``: the user's rules for pairs and old values.
    ``facts``: about the rows of both feeds; None: not known.
    """
    left_out: list[tuple[str, str]] = []
    refused: dict[str, str] = {}  # fields that the user leaves out, with the option
    if not meaning.has_before:
        refused["before of update"] = "--no-before"
    if meaning.pairs_by_key:
        refused |= dict.fromkeys(FIELDS, "--pair-by key")

    def have_both(field: str, name: str) -> bool:
        if field in refused and not (left.lacks(field) and right.lacks(field)):
            left_out.append((name, refused[field]))
        if field in refused:
            return False
        reasons = [reason for side in (left, right) if (reason := side.lacks(field)) is not None]
        if len(reasons) == 1:
            left_out.append((name, reasons[0]))
        return not reasons

    choice = _order_of(left, right, meaning, facts, is_windowed=is_windowed)
    order, passed_over = choice
    left_out += passed_over
    has_old_values = have_both("before of update", "before images of updates")
    splits_unique_keys = has_old_values or (
        meaning.has_before
        and all(
            side.format.comparing.splits_unique_keys or side.lacks("before of update") is None
            for side in (left, right)
        )
    )
    deleted = _deleted_columns(left, right)
    if deleted == "key":
        left_out.append(("columns of deletes beyond the key", "a side sends the key only"))
    fields = tuple(name for name in FIELDS if have_both(name, name))
    for name, reason in _fields_apart(left, right, fields, facts):
        left_out.append((name, reason))
        fields = tuple(each for each in fields if each != name)
    in_seconds = [side.format.comparing.commit_ms_in_seconds for side in (left, right)]
    if "commit_ms" in fields and in_seconds[0] != in_seconds[1]:
        side = left if in_seconds[0] else right
        left_out.append(("commit_ms below a second", f"{side.format.name} has whole seconds"))
    in_halves = [side.format.comparing.updates_are_two_records for side in (left, right)]
    is_folding = [side.lacks("op") or side.hides_updates for side in (left, right)]
    if not has_old_values:  # the other side does not tell which updates change nothing
        is_folding += [side.hides_idle_updates for side in (left, right)]
    folds_ops = any(is_folding)
    if folds_ops:
        left_out.append(("insert against update", "a side writes both alike"))
    bare = [side for side in (left, right) if side.lacks_places_of_deletes]
    has_bare_deletes = bool(bare and (order or fields))
    leaves_deletes = bool(bare) and is_windowed
    if leaves_deletes:
        reason = f"{bare[0].format.name} has no position of them, so that no window has them"
        left_out.append(("deletes", reason))
    elif has_bare_deletes and (len(bare) == 1 or any(side.has_placed_deletes for side in bare)):
        names = " and ".join((*([order.name] if order else []), *fields))
        some = "has not all" if bare[0].has_placed_deletes else "has none"
        reason = f"{bare[0].format.name} {some}; they pair by key and what came before"
        left_out.append((f"{names} of deletes", reason))
    has_bare_reads = facts is not None and facts.has_bare_reads
    if has_bare_reads and (order or fields):
        names = " and ".join((*([order.name] if order else []), *fields))
        reason = "two snapshots have different ones; they pair by key and what came before"
        left_out.append((f"{names} of rows of snapshots", reason))
    fills_unchanged = left.sends_changed_columns or right.sends_changed_columns
    if fills_unchanged and has_old_values and not folds_ops:
        reason = f"with {CHANGED_ONLY} both are written alike"
        left_out.append(("updates that change nothing against inserts", reason))
    rules = ComparisonRules(
        position=order.name if order else None,
        split_keys=split_keys,
        splits_unique_keys=splits_unique_keys,
        fields=fields,
        in_seconds=any(in_seconds) and "commit_ms" in fields,
        folds_ops=folds_ops,
        has_old_values=has_old_values,
        deleted_columns=deleted,
        fills_unchanged=fills_unchanged,
        has_bare_deletes=has_bare_deletes,
        has_bare_reads=has_bare_reads,
        has_reads_as_inserts=facts is not None and facts.has_reads_as_inserts,
        numbers_ties=order is not None and order.ties == "feed",
        in_halves=any(in_halves),
        joins_halves=split_keys and in_halves[0] != in_halves[1],
        leaves_deletes=leaves_deletes,
    )
    return Terms(rules, tuple(left_out), order, tuple(passed_over))


def _order_of(
    left: Side, right: Side, meaning: Meaning, facts: BothFacts | None, *, is_windowed: bool
) -> tuple[Order | None, list[tuple[str, str]]]:
    """Return the order by which rows pair, and the preferred ones that they can't pair by.

    An order that no row has is not named if there is another one.
    Raises: SchemaError where the only orders have values that can't be ordered.
    """
    passed_over: list[tuple[str, str]] = []
    unused: list[str] = []
    unreadable: str | None = None
    chosen: Order | None = None
    for order in dict.fromkeys((*left.format.comparing.orders, *right.format.comparing.orders)):
        reasons = [each for side in (left, right) if (each := side.lacks_order(order)) is not None]
        if len(reasons) == len((left, right)):
            continue
        if facts is not None and facts.is_in_no_row(order):
            if not reasons:
                unused.append(order.name)
            elif facts.is_in_reads(order):
                passed_over.append((order.name, reasons[0]))
            continue
        if meaning.pairs_by_key:
            passed_over.append((order.name, "--pair-by key"))
        elif reasons:
            if facts is not None or order.number is not None:
                passed_over.append((order.name, reasons[0]))
        elif is_windowed and order.number is None:
            passed_over.append((order.name, "it is not one number, so it has no windows"))
        elif facts is not None and (reason := facts.reason_against(order)) is not None:
            passed_over.append((order.name, reason))
            unreadable = unreadable or facts.unreadable(order)
        else:
            chosen = order
            break
    if chosen is None and unreadable is not None:
        raise SchemaError(
            f"nothing was decided: {unreadable}; --pair-by key compares in the feeds' order"
        )
    if chosen is None and unused:
        has_changes = facts is None or facts.left.changes + facts.right.changes
        if has_changes:
            passed_over.append((", ".join(unused), "no row of either feed has it"))
        elif facts is not None and facts.left.reads + facts.right.reads:
            passed_over.append((", ".join(unused), "all rows come from snapshots"))
    return chosen, passed_over


def _fields_apart(
    left: Side, right: Side, fields: Iterable[str], facts: BothFacts | None
) -> Iterator[tuple[str, str]]:
    """Yield the fields that both formats have and that these feeds do not share, with why."""
    meanings = [side.format.comparing.transaction_ids for side in (left, right)]
    for name in fields:
        reason = None if facts is None else facts.reason_against_field(name)
        if reason is None and name == "tx_id" and meanings[0] != meanings[1]:
            reason = f"{meanings[0]} on the left, {meanings[1]} on the right"
        if reason is not None:
            yield name, reason


def _deleted_columns(left: Side, right: Side) -> DeletedColumns:
    """Return the columns of deletes that are compared.

    Where an option says which columns a delete has, each table's rows show it.
    """
    for side in (left, right):
        is_by_option = side.carries.fields["before of delete"].verdict == "option"
        lacks = side.lacks("before of delete") is not None and not is_by_option
        if (side.values.get(KEY_ONLY) or lacks) and not side.has_whole_deletes:
            return "key"
    return "all"


def final_rules(rules: ComparisonRules) -> ComparisonRules:
    """Return the rules by which last rows are compared, of those for changes."""
    return replace(
        rules,
        split_keys=True,
        splits_unique_keys=True,
        fields=(),
        has_old_values=True,
        deleted_columns="all",
        folds_ops=False,
        joins_halves=False,  # the record before deletes its key anyway
        is_final=True,
    )
