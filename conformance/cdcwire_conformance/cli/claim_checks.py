"""Claim-check files in a directory, and those that a feed names and that are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from cdcwire.core.claim_check import ClaimChecks
from cdcwire_conformance.sources.stores import LocalStore
from cdcwire_conformance.usage import UsageError


def read_claim_checks(folder: str | None) -> Mapping[str, bytes]:
    """Return the files of a directory; none without one. Raises: UsageError."""
    if folder is None:
        return {}
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"--blobs {folder}: there is no such directory")
    store = LocalStore(root)
    return ClaimChecks({each.path: store.read(each.path) for each in store.list()})


class RecordedClaimChecks(Mapping[str, bytes]):
    """Claim-check files that remember which locations were asked for in vain."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._missing: dict[str, None] = {}

    def __getitem__(self, location: str) -> bytes:
        try:
            return self._files[location]
        except KeyError:
            self._missing[location] = None
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def problems(self) -> list[str]:
        """Return a line for each location that had no file since the last call."""
        problems = [
            f"the claim-check file {location} is missing, so its row has the handle key only; "
            "give its directory with --blobs"
            for location in self._missing
        ]
        self._missing.clear()
        return problems
