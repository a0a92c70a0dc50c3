"""The build hook: adds to a wheel what tools read and the packages do not have.

``golden/`` becomes one archive, ``cdcwire_conformance/golden.zip``, and the formats' pages are
copied to ``cdcwire_conformance/pages``, for the texts of clauses.

A wheel of twelve thousand small files takes long to install. The archive is not compressed, since
the wheel around it is; times and order are fixed, so that one corpus gives one archive. Hexdumps
are left out: ``cdcwire corpus copy`` makes them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can have


class CorpusAndPages(BuildHookInterface):
    """Adds the archive and the pages to a wheel.

    An editable install reads the checkout's folders.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack the corpus, and add it and the pages to the files of the wheel."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        archive = Path(self._folder.name) / "golden.zip"
        write_archive(Path(self.root) / "golden", archive)
        build_data["force_include"][str(archive)] = "cdcwire_conformance/golden.zip"
        for page in sorted((Path(self.root) / "docs" / "formats").glob("*.md")):
            build_data["force_include"][str(page)] = f"cdcwire_conformance/pages/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the archive once the wheel has it."""
        if version != "editable":
            self._folder.cleanup()


def write_archive(golden: Path, archive: Path) -> None:
    """Write the files of the corpus, without hexdumps, as one archive."""
    files = (file for file in golden.rglob("*") if file.is_file() and file.suffix != ".hex")
    with ZipFile(archive, "w", ZIP_STORED) as target:
        for name, file in sorted((file.relative_to(golden).as_posix(), file) for file in files):
            target.writestr(ZipInfo(name, _TIME), file.read_bytes())
