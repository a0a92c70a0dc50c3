"""The rules of ``compare`` for windows, expected differences and hidden values."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from cdcwire.console.interrupts import Terminated
from cdcwire.console.problems import UsageError, column_names
from cdcwire.extras import MissingExtraError
from cdcwire.files.local_files import read_short
from cdcwire.files.stores import SourceError, directory_of
from cdcwire.model.events import TableName
from cdcwire.model.instants import instant_of
from cdcwire.model.kinds import TimestampType
from cdcwire_conformance.cli.compare_arguments import KEY_VARIABLE, CompareArguments

if TYPE_CHECKING:
    from cdcwire.format import Format
    from cdcwire_conformance.compare.masking import Mask
    from cdcwire_conformance.compare.meaning import Encoding, Meaning, Upgrade
    from cdcwire_conformance.compare.result import Comparison
    from cdcwire_conformance.compare.rules import Window
    from cdcwire_conformance.decode.reading import OnError

_FROM_ENVIRONMENT = "env"


@dataclass(frozen=True, slots=True)
class Masking:
    """The mask for each output. ``is_wanted``: None masks outputs that leave this machine."""

    mask: Mask
    is_wanted: bool | None
    redacted: frozenset[str] = frozenset()

    @property
    def hides_errors(self) -> bool:
        """True if errors of messages must not quote values."""
        return bool(self.is_wanted or self.redacted)

    @property
    def case_mask(self) -> Mask | None:
        """The mask of saved cases."""
        return self.mask if self.hides_errors else None

    @property
    def masked_columns(self) -> frozenset[str] | None:
        """The columns that saved cases have masked; None: all."""
        return None if self.is_wanted else self.redacted

    def mask_for(self, target: str | None = None) -> Mask | None:
        """Return the mask for a file or directory, or for the terminal (None); None: show values.

        Raises: StoreError for an invalid URL.
        """
        is_masked = self.is_wanted
        if is_masked is None:
            is_masked = target is not None and directory_of(target) is None
        return self.mask if is_masked else None

    def shown(self, found: Comparison, target: str | None = None) -> Comparison:
        """Return a comparison as an output may show it."""
        from cdcwire_conformance.compare.masking import without_quotes

        mask = self.mask_for(target)
        if mask is not None:
            return mask.comparison(found)
        return without_quotes(found) if self.hides_errors else found

    @contextmanager
    def errors_without_values(self) -> Iterator[None]:
        """Raise errors whose texts may quote values without them, if values are hidden."""
        from cdcwire.arrow.types import SchemaError
        from cdcwire_conformance.decode.reading import FeedError

        try:
            yield
        except (UsageError, SchemaError, SourceError, FeedError, MissingExtraError, Terminated):
            raise  # a FeedError quotes nothing, as on_error asks
        except Exception as error:
            if not self.hides_errors:
                raise
            what = f"stopped by an error ({type(error).__name__})"
            raise UsageError(f"{what}; --mask and --redact hide its text") from None

    def on_error(self, wanted: OnError) -> OnError:
        """Return what an unreadable message does, without a quote of it if values are hidden."""
        return "stop unquoted" if self.hides_errors and wanted == "stop" else wanted


def masking_from(arguments: CompareArguments) -> Masking:
    """Return what is hidden in each output. Raises: UsageError."""
    from cdcwire_conformance.compare.masking import SHORTEST_KEY, Mask

    redacted = redacted_columns(arguments)
    is_wanted = arguments.mask
    if arguments.mask_key is None:
        return Masking(Mask(secrets.token_bytes(32)), is_wanted, redacted)
    if is_wanted is False:
        raise UsageError("--mask-key does not go with --no-mask")
    key = _key(arguments.mask_key)
    if len(key) < SHORTEST_KEY:
        raise UsageError(
            f"--mask-key: the key has {len(key)} bytes; it needs {SHORTEST_KEY} or more, or its "
            "hashes can be guessed"
        )
    return Masking(Mask(key, "the key of --mask-key"), True, redacted)


def redacted_columns(arguments: CompareArguments) -> frozenset[str]:
    """Return the columns of --redact. Raises: UsageError."""
    return column_names("--redact", arguments.redact, "email,phone")


def _key(source: str) -> bytes:
    if source == _FROM_ENVIRONMENT:
        text = os.environ.get(KEY_VARIABLE)
        if text is None:
            raise UsageError(f"--mask-key env: the variable {KEY_VARIABLE} is not set")
        return os.fsencode(text).strip()
    try:
        return read_short(source).strip()
    except OSError as error:
        raise UsageError(f"--mask-key: {source}: {error.strerror}") from error


_TSO_BITS = 18  # of a commit_ts, below its milliseconds
_EVERY_TABLE = ".*"  # after the name of a database
# Seconds and milliseconds from 2000 to 2100. As a commit_ts each is in the first hour of 1970.
_SECONDS = range(946_684_800, 4_102_444_800)
_MILLISECONDS = range(946_684_800_000, 4_102_444_800_000)


def meaning_from(arguments: CompareArguments, left: Format, right: Format) -> Meaning:
    """Return the rules that the arguments give for two formats. Raises: UsageError."""
    from cdcwire_conformance.compare.meaning import Meaning

    try:
        instant_of(TimestampType(None, "text", arguments.time_zone), "2000-01-01 00:00:00")
    except ValueError:
        raise UsageError(
            f"--time-zone {arguments.time_zone!r} is not a time zone: UTC, +08:00, Europe/Berlin"
        ) from None
    if arguments.min_rows < 1:
        raise UsageError("--min-rows is a number from 1")
    if arguments.precision and arguments.temporal != "text":
        raise UsageError("--precision compares texts; leave out --temporal native")
    if arguments.pair_by == "key" and (arguments.start or arguments.end):
        raise UsageError(
            "--from and --to need positions that both feeds share; --pair-by key "
            "is for feeds without"
        )
    for format_ in (left, right) if arguments.without_snapshots else ():
        if format_.comparing.snapshot_rows_are_inserts:
            raise UsageError(
                f"--without-snapshots: {format_.name} sends rows of snapshots as inserts, which "
                "can't be distinguished from others"
            )
    return Meaning(
        frozenset(arguments.ignore_column),
        frozenset(_table("--exclude", name) for name in arguments.exclude),
        dict(_renamed(each) for each in arguments.map_table if not _is_of_databases(each)),
        frozenset(arguments.as_text),
        dict(_precision(each) for each in arguments.precision),
        arguments.pair_by == "key",
        not arguments.no_before,
        redacted_columns(arguments),
        arguments.ignore_unread,
        frozenset(arguments.ignore_scale),
        dict(_databases(each) for each in arguments.map_table if _is_of_databases(each)),
        dict(
            _binary(side, each)
            for side, given in (("left", arguments.left_binary), ("right", arguments.right_binary))
            for each in given
        ),
        dict(map(_mapped, arguments.map_column)),
        _upgrade(arguments.profile, left, right),
        not arguments.without_snapshots,
    )


def _upgrade(text: str | None, left: Format, right: Format) -> Upgrade:
    from cdcwire_conformance.compare.meaning import NO_UPGRADE, upgrade_of

    try:
        return NO_UPGRADE if text is None else upgrade_of(text, left, right)
    except ValueError as error:
        raise UsageError(f"--profile {text!r}: {error}") from error


def window_from(arguments: CompareArguments, position: str | None) -> Window | None:
    """Return the window of positions that the arguments give, if any. Raises: UsageError.

    ``position``: by which the rows of both feeds pair; None: the feeds have no windows.
    """
    from cdcwire_conformance.compare.rules import Window

    if arguments.start is None and arguments.end is None:
        return None
    start, end = (
        None if text is None else _position(option, text, position)
        for option, text in (("--from", arguments.start), ("--to", arguments.end))
    )
    try:
        return Window(start, end)
    except ValueError as error:
        raise UsageError(f"--from and --to: {error}") from error


def _position(option: str, text: str, position: str | None) -> int:
    try:
        number = int(text)
    except ValueError:
        return _commit_ts(option, text, position)
    is_time = number in _SECONDS or number in _MILLISECONDS
    if position == "commit_ts" and is_time:
        ms = number if number in _MILLISECONDS else number * 1000
        moment = datetime.fromtimestamp(ms // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        unit = "milliseconds" if ms == number else "seconds"
        raise UsageError(
            f"{option} {text}: {unit} in place of a TSO, which a commit_ts is; write "
            f"{ms << _TSO_BITS} or {moment}"
        )
    return number


def _commit_ts(option: str, text: str, position: str | None) -> int:
    """Return the first commit_ts of a moment. Raises: UsageError."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(
            f"{option} {text!r} is neither a number nor an ISO time such as 2024-04-13T09:20:00Z"
        ) from None
    if position not in ("commit_ts", None):
        raise UsageError(f"{option} {text}: rows pair by {position}, which is a number, not a time")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (
        since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000
    ) << _TSO_BITS


def _table(option: str, name: str) -> TableName:
    schema, dot, table = name.partition(".")
    if not dot or not table:
        raise UsageError(f"{option} {name!r} is not SCHEMA.TABLE")
    return schema or None, table


def _renamed(text: str) -> tuple[TableName, TableName]:
    left, equals, right = text.partition("=")
    if not equals:
        raise UsageError(f"--map-table {text!r} is not LEFT=RIGHT: shop.orders=dw.orders")
    return _table("--map-table", left), _table("--map-table", right)


def _mapped(text: str) -> tuple[str, str]:
    left, _, right = text.partition("=")
    if not left or not right:
        raise UsageError(f"--map-column {text!r} is not LEFT=RIGHT: made_at=created_at")
    return left, right


def _is_of_databases(text: str) -> bool:
    return text.endswith(_EVERY_TABLE)


def _databases(text: str) -> tuple[str, str]:
    """Return the right feed's database and the left feed's."""
    left, equals, right = text.partition("=")
    if not equals or not left.endswith(_EVERY_TABLE) or "" in (left[:-2], right[:-2]):
        raise UsageError(f"--map-table {text!r} is not LEFT.*=RIGHT.*, of two databases")
    return right.removesuffix(_EVERY_TABLE), left.removesuffix(_EVERY_TABLE)


def _binary(side: str, text: str) -> tuple[tuple[str, str], Encoding]:
    from cdcwire_conformance.compare.meaning import ENCODINGS

    column, _, name = text.rpartition("=")
    if not column or name not in ENCODINGS:
        raise UsageError(f"--{side}-binary {text!r} is not COLUMN=hex or COLUMN=base64")
    return (side, column), ENCODINGS[name]


def _precision(text: str) -> tuple[str, int]:
    from cdcwire_conformance.compare.meaning import PRECISIONS

    column, _, unit = text.rpartition("=")
    if not column or unit not in PRECISIONS:
        raise UsageError(f"--precision {text!r} is not COLUMN=s, COLUMN=ms or COLUMN=us")
    return column, PRECISIONS[unit]
