"""Imports of a format: each public name loads its module at first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from cdcwire.registry import FORMAT_NAMES, package_of

PACKAGES = [f"cdcwire.formats.{package_of(name)}" for name in FORMAT_NAMES]
CRAFT = "cdcwire.formats.craft"
# Each of these takes longer to import than all that ``from cdcwire import craft`` needs.
SLOW = {"dataclasses", "decimal", "inspect", "json", "re", "typing"}


def loaded_by(source: str) -> set[str]:
    """Return the modules that these statements load in a new interpreter."""
    script = f"import sys; before = {{*sys.modules}}; {source}; print(*{{*sys.modules}} - before)"
    command = [sys.executable, "-c", script]
    return {*subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()}


@pytest.mark.parametrize("package", [name.replace("-", "_") for name in FORMAT_NAMES])
def test_import_of_a_format_loads_no_slow_module(package: str) -> None:
    loaded = loaded_by(f"from cdcwire import {package}")
    assert not loaded & SLOW
    formats = {name for name in loaded if name.startswith("cdcwire.formats.")}
    names = {package_of(package.replace("_", "-"))}
    assert formats == {
        f"cdcwire.formats.{name}" for name in names | {n.split(".")[0] for n in names}
    }


def test_decoding_loads_neither_fast_codecs_nor_explanations() -> None:
    loaded = loaded_by(
        "from cdcwire import craft; craft.decode(bytes.fromhex('010003010101020a09010005'))"
    )
    assert f"{CRAFT}.wire" in loaded
    for module in ("fast", "fast_encoder", "spans", "format", "carries", "identify"):
        assert f"{CRAFT}.{module}" not in loaded


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_those_that_type_checkers_see(package: str) -> None:
    """``exports`` finds the objects that the imports under TYPE_CHECKING name."""
    module = import_module(package)
    assert module.__file__ is not None
    imports = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(Path(module.__file__).read_text()))
        if isinstance(node, ast.ImportFrom) and node.module != "cdcwire.core.exports"
        for alias in node.names
    ]
    assert sorted(name for _, name in imports) == sorted(module.__all__)
    for origin, name in imports:
        assert origin is not None
        assert getattr(module, name) is getattr(import_module(origin), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_also_a_module(package: str) -> None:
    """Importing such a module would overwrite the exported name."""
    names = import_module(package).__all__
    assert [name for name in names if find_spec(f"{package}.{name}")] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_package_lists_its_names_and_rejects_others(package: str) -> None:
    module = import_module(package)
    assert {*dir(module)} >= {*module.__all__}
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'krafft'"):
        _ = module.krafft
