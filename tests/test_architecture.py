"""The rooms import each other one way only, and the core needs the standard library alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cdcwire

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = {
    "reference/cdcwire": {"cdcwire"},
    "generators/cdcwire_generators": {"cdcwire", "cdcwire_generators", "hypothesis"},
    "conformance/cdcwire_conformance": {
        *("cdcwire", "cdcwire_generators", "cdcwire_conformance"),
        *("jsonschema", "referencing", "pytest", "_pytest"),
        *("cramjam", "fsspec", "javaobj", "matplotlib", "numpy", "pyarrow", "pyspark", "py4j"),
        *("sqlglot", "urllib3"),
    },
}
CODEC_CALLS = {"open", "input", "print", "exec", "eval"}


def _modules() -> list[tuple[str, Path]]:
    return [(room, file) for room in ALLOWED for file in sorted((ROOT / room).rglob("*.py"))]


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize(("room", "file"), _modules(), ids=lambda value: getattr(value, "stem", ""))
def test_module_imports_only_what_its_room_may(room: str, file: Path) -> None:
    imported = set(_imported(ast.parse(file.read_text(encoding="utf-8"))))
    assert imported - set(sys.stdlib_module_names) <= ALLOWED[room]


def _codec_modules() -> list[Path]:
    return sorted((ROOT / "reference/cdcwire").rglob("*.py"))


@pytest.mark.parametrize("file", _codec_modules(), ids=lambda file: file.stem)
def test_codec_module_does_no_input_or_output(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    forbidden = {
        "socket",
        "os",
        "pathlib",
        "time",
        "random",
        "subprocess",
        "io",
        "urllib",
        "tempfile",
    }
    assert not set(_imported(tree)) & forbidden
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    # Functions of the fast decoders are generated from integers and indexes only.
    patterns = "csv/row_patterns", "canal_json/row_patterns"
    generators = ("craft/row_plan", "avro/record_plan", "connect/payload_patterns", *patterns)
    allowed = {"exec"} if f"{file.parent.name}/{file.stem}" in generators else set()
    assert called & CODEC_CALLS <= allowed


@pytest.mark.parametrize(("room", "file"), _modules(), ids=lambda value: getattr(value, "stem", ""))
def test_module_is_readable_in_one_sitting(room: str, file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 500


def test_package_ships_its_types() -> None:
    for room in ALLOWED:
        assert (ROOT / room / "py.typed").exists()


def test_version_is_the_one_of_the_project() -> None:
    assert f'version = "{cdcwire.__version__}"' in (ROOT / "pyproject.toml").read_text()
