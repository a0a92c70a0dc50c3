"""The arguments of ``compare`` that hide values of rows in its outputs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdcwire.console.interrupts import Terminated
from cdcwire.console.usage import UsageError, column_names
from cdcwire.extras import MissingExtraError
from cdcwire.files.local_files import read_short
from cdcwire.files.stores import SourceError, directory_of
from cdcwire_conformance.cli.compare_arguments import KEY_VARIABLE, CompareArguments

if TYPE_CHECKING:
    from cdcwire_conformance.compare.masking import Mask
    from cdcwire_conformance.compare.result import Comparison
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
