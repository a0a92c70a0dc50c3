"""The modules that five journeys pass: what a reader opens to follow one of them to its end.

``LIMITS`` may only fall. ``pytest -rP tests/conformance/test_walks.py`` prints each journey.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

import cdcwire
import cdcwire_conformance
import cdcwire_generators
from cdcwire import Context, KafkaMessage, get_format
from cdcwire_conformance.cli import main

ROOT = Path(__file__).resolve().parents[2]
# Where the packages are: in the checkout, or installed.
PACKAGES = tuple(
    package.__path__[0] for package in (cdcwire, cdcwire_conformance, cdcwire_generators)
)
LIMITS = {
    "compare two feeds": 134,
    "decode Debezium": 23,
    "explain Debezium": 29,
    "decode Craft": 16,
    "generate a feed": 44,
}


def golden(name: str) -> bytes:
    return (ROOT / "golden" / name).read_bytes()


CRAFT = KafkaMessage(None, golden("craft/batches/insert-update-delete.bin"))
INSERT = "debezium-json/names/mysql-1.9-names-odd-insert.0"
DEBEZIUM = KafkaMessage(golden(f"{INSERT}.key.bin"), golden(f"{INSERT}.value.bin"))


def modules_passed(walk: Callable[[], object]) -> list[str]:
    """Return the modules whose functions a journey calls, in order. Caches are warm."""
    walk()
    passed: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGES):
            passed[file] = None

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return list(passed)


def generate(format_name: str, folder: Path) -> str:
    """Write a feed of 60 rows into a new directory. Returns: its source."""
    target = folder / f"feed-{len(list(folder.iterdir()))}"
    words = ["generate", format_name, "--rows", "60", "--seed", "7", "--to", str(target)]
    assert main(words) == 0
    return f"{format_name}:file:{target}"


def journey(name: str, folder: Path) -> Callable[[], object]:
    debezium, craft = get_format("debezium-json"), get_format("craft")
    match name:
        case "compare two feeds":
            feeds = generate("craft", folder), generate("open-protocol", folder)
            return lambda: main(["compare", *feeds])
        case "decode Debezium":
            return lambda: list(debezium.to_events(DEBEZIUM, context=Context()))
        case "explain Debezium":
            return lambda: list(debezium.explain(DEBEZIUM).spans)
        case "decode Craft":
            return lambda: list(craft.to_events(CRAFT, context=Context()))
        case _:
            return lambda: generate("craft", folder)


@pytest.mark.parametrize("name", LIMITS)
def test_a_journey_passes_no_more_modules(name: str, tmp_path: Path) -> None:
    passed = modules_passed(journey(name, tmp_path))
    print(f"{name}: {len(passed)} modules", *passed, sep="\n  ")
    assert 0 < len(passed) <= LIMITS[name]
