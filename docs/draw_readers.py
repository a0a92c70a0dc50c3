"""Draw which other readers agree with the corpus, as a picture for README.

    python docs/draw_readers.py

Writes docs/readers.svg from golden/index.json and golden/witnesses.json: a panel for each format, a
bar for each reader, the best one first. This project's own readers are not drawn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from cdcwire.registry import FORMAT_NAMES

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "readers.svg"
OWN = "cdcwire-"  # how the names of this project's readers begin
_WIDTH, _COLUMN, _GAP = 940, 450, 40
_LABELS, _BAR, _ROW = 190, 200, 22  # the bar of 100 % is _BAR wide
_TOP, _HEAD, _FOOT = 84, 30, 40  # above all panels; above and below the rows of one
_STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 } .head { font-size: 13px; font-weight: 600 }
.small { font-size: 11px; font-weight: 400; fill: #59636e }
.mid { text-anchor: middle }
line { stroke: #d1d9e0 } .bar { fill: #2f81c7 }
.mark { fill: #f6f8fa; stroke: #bc4c00; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .small { fill: #9198a1 } line { stroke: #3d444d } .bar { fill: #4493f8 }
  .mark { fill: #151b23; stroke: #f0883e }
}
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """How a reader agrees with the cases of a format, in percent."""

    name: str
    language: str
    valid: int
    invalid: int


@dataclass(frozen=True, slots=True)
class Panel:
    """The readers of a format, the best one first, and how many cases it has."""

    format: str
    valid: int
    invalid: int
    bars: Sequence[Bar]

    @property
    def height(self) -> int:
        """Return how high the panel is."""
        return _HEAD + _ROW * len(self.bars) + _FOOT


def panels(index: Mapping[str, Any], witnesses: Sequence[Mapping[str, Any]]) -> Iterator[Panel]:
    """Yield the panel of each format that a reader of others reads."""
    kinds = {case["id"]: (_format(case["id"]), case["expect"]) for case in index["cases"]}
    cases = Counter(kinds.values())
    for name in FORMAT_NAMES:
        valid, invalid = cases[name, "accept"], cases[name, "reject"]
        bars = []
        for reader in witnesses:
            read = Counter(kinds[case] for case in reader["read"])
            if read[name, "accept"] and not reader["name"].startswith(OWN):
                shares = 100 * read[name, "accept"] // valid, 100 * read[name, "reject"] // invalid
                bars.append(Bar(reader["name"], reader["language"], *shares))
        bars.sort(key=lambda bar: (-bar.valid, -bar.invalid, bar.name.casefold()))
        if bars:
            yield Panel(name, valid, invalid, bars)


def draw() -> str:
    """Return the picture."""
    index = json.loads((ROOT / "golden" / "index.json").read_text("utf-8"))
    witnesses = json.loads((ROOT / "golden" / "witnesses.json").read_text("utf-8"))["witnesses"]
    bottoms = [_TOP, _TOP]
    lines: list[str] = []
    for panel in panels(index, witnesses):
        column = bottoms.index(min(bottoms))
        lines += _panel(panel, column * (_COLUMN + _GAP), bottoms[column])
        bottoms[column] += panel.height
    height = max(bottoms) + 20
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
            ' role="img" aria-label="How far readers agree with the cases of each format">',
            f"<style>{_STYLE}</style>",
            '<text class="title" x="0" y="18">How far readers agree with the cases of each format'
            "</text>",
            *_legend(),
            *lines,
            f'<text class="small" x="0" y="{height - 6}">A feature that a reader does not have'
            f" counts as not read. Corpus {escape(index['corpus'])}.</text>",
            "</svg>\n",
        ]
    )


def _format(case: str) -> str:
    return case.partition("/")[0]


def _legend() -> Iterator[str]:
    yield '<rect class="bar" x="0" y="36" width="26" height="12" rx="2"/>'
    yield '<text x="34" y="46">valid messages that are read as the format says</text>'
    yield f'<circle class="mark" cx="{_COLUMN + _GAP + 6}" cy="42" r="4.5"/>'
    yield f'<text x="{_COLUMN + _GAP + 20}" y="46">invalid messages that are rejected</text>'


def _panel(panel: Panel, left: int, top: int) -> Iterator[str]:
    zero, first = left + _LABELS, top + _HEAD
    last = first + _ROW * len(panel.bars)
    yield (
        f'<text class="head" x="{left}" y="{top + 16}">{escape(panel.format)}'
        f'<tspan class="small"> · {panel.valid} valid, {panel.invalid} invalid messages'
        "</tspan></text>"
    )
    for percent in (0, 50, 100):
        x = zero + _BAR * percent // 100
        yield f'<line x1="{x}" x2="{x}" y1="{first - 4}" y2="{last + 2}"/>'
        yield f'<text class="small mid" x="{x}" y="{last + 16}">{percent} %</text>'
    for number, bar in enumerate(panel.bars):
        yield from _bar(bar, left, zero, first + _ROW * number)


def _bar(bar: Bar, left: int, zero: int, top: int) -> Iterator[str]:
    middle = top + _ROW // 2
    yield (
        f'<text x="{left}" y="{middle + 4}">{escape(_short(bar.name))}'
        f'<tspan class="small"> {escape(bar.language)}</tspan></text>'
    )
    width = _BAR * bar.valid / 100
    yield f'<rect class="bar" x="{zero}" y="{top + 4}" width="{width:g}" height="14" rx="2"/>'
    yield f'<circle class="mark" cx="{zero + _BAR * bar.invalid / 100:g}" cy="{middle}" r="4.5"/>'
    yield f'<text class="small" x="{zero + _BAR + 12}" y="{middle + 4}">{bar.valid} %</text>'


def _short(name: str) -> str:
    """Return a name that fits beside its bar."""
    return name if len(name) <= 20 else f"{name.split(' ')[0]}"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
