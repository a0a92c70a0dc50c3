"""The pictures of packages in architecture.md are those of the imports."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "draw_packages.py"
_SPEC = importlib.util.spec_from_file_location("draw_packages", SCRIPT)
assert _SPEC is not None
assert _SPEC.loader is not None
draw_packages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(draw_packages)


def test_an_arrow_is_left_out_where_others_lead() -> None:
    imports = {"top": {"middle", "ground"}, "middle": {"ground"}, "ground": set[str]()}
    assert draw_packages.boxes(imports) == {
        ("top",): {("middle",)},
        ("middle",): {("ground",)},
        ("ground",): set(),
    }


def test_parts_that_import_each_other_are_one_box() -> None:
    imports = {"cli": {"one"}, "one": {"other"}, "other": {"one", "base"}, "base": set[str]()}
    arrows = draw_packages.boxes(imports)
    assert arrows == {("cli",): {("one", "other")}, ("one", "other"): {("base",)}, ("base",): set()}
    assert draw_packages.rows(arrows) == [[("cli",)], [("one", "other")], [("base",)]]


def test_a_long_arrow_has_a_place_in_each_row() -> None:
    imports = {"top": {"middle", "far"}, "middle": {"low"}, "low": set[str](), "far": set[str]()}
    arrows = draw_packages.boxes(imports)
    assert [len(row) for row in draw_packages.rows(arrows)] == [1, 2, 2]


@pytest.mark.parametrize("package", ["cdcwire", "cdcwire_conformance"])
def test_no_parts_of_a_package_import_each_other(package: str) -> None:
    assert all(len(box) == 1 for box in draw_packages.boxes(draw_packages.parts_of(package)))


@pytest.mark.parametrize("package", draw_packages.PACKAGES)
def test_picture_is_that_of_the_imports(package: str) -> None:
    stored = draw_packages.picture_of(package).read_text(encoding="utf-8")
    assert stored == draw_packages.draw(package), "run: python docs/draw_packages.py"
