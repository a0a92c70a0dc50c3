"""A corpus in an archive: the same cases as in its folder."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus import store
from cdcwire_conformance.corpus.case import CorpusError
from cdcwire_conformance.corpus.check import check_corpus
from cdcwire_conformance.corpus.files import ArchiveFiles, FolderFiles
from cdcwire_conformance.corpus.rebuild import rebuild
from cdcwire_conformance.corpus.store import load_case, load_cases


@pytest.fixture
def archive(golden: Path, monkeypatch: pytest.MonkeyPatch) -> ArchiveFiles:
    """The built-in corpus is an archive of the golden folder, as in an installed wheel."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as target:
        for name in FolderFiles(golden).names():
            if not name.endswith(".hex"):
                target.write(golden / name, name)
    found = ArchiveFiles(buffer.getvalue())
    monkeypatch.setattr(store, "_built_in", lambda: found)
    monkeypatch.setattr(store, "_CHECKOUT", Path("no checkout"))
    store.forget_cases()
    return found


@pytest.fixture(autouse=True)
def _forget() -> object:
    yield
    store.forget_cases()


def test_archive_has_the_cases_of_its_folder(archive: ArchiveFiles, golden: Path) -> None:
    assert load_cases() == load_cases(root=golden)
    assert load_case("craft/events/resolved") == load_case("craft/events/resolved", golden)


def test_missing_file_of_an_archive_is_an_error_with_its_name(archive: ArchiveFiles) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        archive.read("craft/events/none.bin")
    assert caught.value.filename == "craft/events/none.bin"


def test_archive_is_checked_without_hexdumps(archive: ArchiveFiles, pages: Path) -> None:
    assert check_corpus(pages=pages).problems == ()


def test_copy_of_an_archive_has_the_hexdumps(
    archive: ArchiveFiles, golden: Path, tmp_path: Path
) -> None:
    assert main(["corpus", "copy", str(tmp_path / "copy")]) == 0
    copied = FolderFiles(tmp_path / "copy")
    assert list(copied.names()) == list(FolderFiles(golden).names())
    assert all(copied.read(name) == (golden / name).read_bytes() for name in copied.names())


def test_archive_can_not_be_rebuilt(archive: ArchiveFiles) -> None:
    with pytest.raises(CorpusError, match="corpus copy"):
        rebuild()
