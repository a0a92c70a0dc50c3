"""Which tests a change selects."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("touched", Path(__file__).with_name("touched.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
touched = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(touched)


@pytest.mark.parametrize(
    ("path", "selected"),
    [
        ("reference/cdcwire/formats/craft/wire.py", "tests/reference/formats/craft"),
        ("conformance/cdcwire_conformance/judge/values.py", "tests/conformance/judge"),
        ("conformance/cdcwire_evidence/report/write.py", "tests/evidence/report"),
        ("generators/cdcwire_generators/domain.py", "tests/generators/test_workloads.py"),
        ("tests/laws/test_wire.py", "tests/laws/test_wire.py"),
        ("docs/how-to/spark.md", "tests/docs"),
        ("golden/craft/values/year-2024.json", "tests/conformance/corpus"),
    ],
)
def test_change_selects_the_tests_that_mirror_it(path: str, selected: str) -> None:
    found = touched.tests_of([path])
    assert any(name == selected or name.startswith(f"{selected}/") for name in found)
    assert "tests/test_architecture.py" in found


def test_change_of_a_shared_package_selects_the_codecs_of_every_format() -> None:
    found = touched.tests_of(["reference/cdcwire/core/reader.py"])
    assert "tests/reference/formats/craft/test_wire.py" in found
    assert "tests/reference/formats/avro/test_fast.py" in found


def test_change_of_a_scenario_selects_no_scenario() -> None:
    assert touched.tests_of(["tests/scenarios/test_registry.py"]) == ["tests/test_architecture.py"]
