"""A folder of schema files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.schema_registry import RegistryError, open_schemas
from cdcwire_conformance.formats.avro.folder_source import FolderSource

TEXT = '{"type":"record","name":"t","namespace":"default.s","fields":[]}'
UUID = "6A1D3B8C-8f1a-4b63-9d0e-0f5a7a1c2b3d"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "7.avsc").write_text(TEXT + "\n", encoding="utf-8")
    (tmp_path / f"{UUID}.avsc").write_text(TEXT.replace('"t"', '"u"'), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("7.avsc is that of t", encoding="utf-8")
    return tmp_path


def test_files_are_known_by_their_ids(folder: Path) -> None:
    source = FolderSource(folder)
    assert source.get(7) == TEXT
    assert source.get(UUID.lower()) == TEXT.replace('"t"', '"u"')
    assert source.get(8) is None
    assert set(open_schemas(str(folder))) == {"7", UUID.lower()}


def test_equal_schema_has_its_id_and_a_new_one_is_kept_in_memory(folder: Path) -> None:
    source = FolderSource(folder)
    assert source.register("t-value", TEXT.replace(",", ", ")) == 7
    assert source.register("t-value", TEXT.replace('"t"', '"v"')) == 1
    assert not (folder / "1.avsc").exists()


def test_new_schema_becomes_a_file_where_that_is_asked_for(folder: Path) -> None:
    new = TEXT.replace('"t"', '"v"')
    assert FolderSource(folder, is_writable=True).register("v-value", new) == 1
    assert (folder / "1.avsc").read_bytes() == new.encode()
    assert FolderSource(folder).get(1) == new


def test_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="there is no such folder; a schema is a file"):
        FolderSource(tmp_path / "no")


@pytest.mark.parametrize("name", ["0", "a", "1.2", "-1", "99999999999"])
def test_other_names_are_an_error(folder: Path, name: str) -> None:
    (folder / f"{name}.avsc").write_text(TEXT, encoding="utf-8")
    with pytest.raises(RegistryError, match="the name of the file is not an id"):
        FolderSource(folder)


def test_bytes_that_are_not_text_are_an_error(folder: Path) -> None:
    (folder / "8.avsc").write_bytes(b"{\xff}")
    with pytest.raises(RegistryError, match="byte 1 is not UTF-8"):
        FolderSource(folder)
