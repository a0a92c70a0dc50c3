"""``cdcwire compare --save-case``: differing rows as golden cases for a bug report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_masking import Masking
from cdcwire_conformance.sources.stores import directory_of
from cdcwire_conformance.usage import UsageError
from cdcwire_conformance.whole_files import is_new_or_empty

if TYPE_CHECKING:
    from cdcwire_conformance.compare.feeds import ComparedFeeds
    from cdcwire_conformance.compare.result import Comparison


def check_case_argument(arguments: CompareArguments, *, has_table: bool) -> None:
    """Check that cases can be saved. Raises: UsageError, StoreError."""
    if not arguments.save_case:
        return
    if has_table:
        raise UsageError("--save-case: a table has no messages; compare two feeds")
    folder = directory_of(arguments.save_case)
    if folder is None:
        raise UsageError("--save-case: cases are written to a directory of this machine")
    # A case of another run may have values that this run masks.
    if not is_new_or_empty(Path(folder)):
        raise UsageError(f"--save-case: {folder} already exists; name a new or an empty directory")


def saved_lines(
    target: str | None, found: Comparison, opened: Sequence[ComparedFeeds], masking: Masking
) -> list[str]:
    """Save cases, if that is wanted. Returns: the lines about them. Raises: UsageError.

    ``opened``: both feeds, unless a feed was compared with a table.
    """
    folder = None if target is None else directory_of(target)
    if folder is None:
        return []
    from cdcwire_conformance.compare.case_saving import save_differences

    mask = masking.case_mask
    try:
        saved = save_differences(
            found,
            opened[0],
            Path(folder),
            key=None if mask is None else mask.key,
            columns=masking.masked_columns,
        )
    except OSError as error:
        raise UsageError(f"--save-case: {error.filename or folder}: {error.strerror}") from error
    return [*(f"saved {file}" for file in saved.files), *saved.lines]
