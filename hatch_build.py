"""The build hooks: what a wheel has besides its Python files, and what its metadata are.

The checkout is one package. ``reference`` and ``conformance`` are also built by themselves, as
``cdcwire`` and ``cdcwire-conformance``. Facts of both are in their own ``pyproject.toml`` only.

``golden/`` becomes one archive, ``cdcwire_conformance/golden.zip``, and the formats' pages are
copied to ``cdcwire_conformance/pages``, for the texts of clauses.

A wheel of twelve thousand small files takes long to install. The archive is not compressed, since
the wheel around it is; times and order are fixed, so that one corpus gives one archive. Hexdumps
are left out: ``cdcwire corpus copy`` makes them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # hatchling brings it

_ROOT = Path(__file__).parent
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
        write_archive(_ROOT / "golden", archive)
        build_data["force_include"][str(archive)] = "cdcwire_conformance/golden.zip"
        for page in sorted((_ROOT / "docs" / "formats").glob("*.md")):
            build_data["force_include"][str(page)] = f"cdcwire_conformance/pages/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the archive once the wheel has it."""
        if version != "editable":
            self._folder.cleanup()


class FactsOfPackages(MetadataHookInterface):
    """Fills in the dynamic fields of the metadata, from the ``pyproject.toml`` of both packages.

    With ``own-extras`` each other extra brings the package ``cdcwire-conformance``.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the fields that the project leaves to this hook."""
        core, suite = _project("reference"), _project("conformance")
        facts = {name: suite[name] for name in ("optional-dependencies", "entry-points")}
        facts["scripts"] = core["scripts"]
        facts["dependencies"] = [f"cdcwire=={metadata['version']}"]
        own = self.config.get("own-extras")
        if own is not None:
            extras = facts["optional-dependencies"]
            others = {name: [f"{suite['name']}[{name}]=={metadata['version']}"] for name in extras}
            facts["optional-dependencies"] = {**others, **{name: extras[name] for name in own}}
        metadata |= {name: facts[name] for name in metadata["dynamic"] if name in facts}


def _project(folder: str) -> dict[str, Any]:
    text = (_ROOT / folder / "pyproject.toml").read_text("utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def write_archive(golden: Path, archive: Path) -> None:
    """Write the files of the corpus, without hexdumps, as one archive."""
    files = (file for file in golden.rglob("*") if file.is_file() and file.suffix != ".hex")
    with ZipFile(archive, "w", ZIP_STORED) as target:
        for name, file in sorted((file.relative_to(golden).as_posix(), file) for file in files):
            target.writestr(ZipInfo(name, _TIME), file.read_bytes())
