"""Draw which other readers agree with the corpus, as a picture for README.

    python docs/draw_readers.py

Writes docs/readers.svg from golden/index.json and golden/witnesses.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path

from cdcwire.registry import FORMAT_NAMES

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "readers.svg"
_LABELS, _HEAD, _CELL, _ROW = 262, 96, 62, 24
_STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, sans-serif; fill: #1f2328 }
.small { fill: #59636e } .end { text-anchor: end } .mid { text-anchor: middle }
line { stroke: #d1d9e0 } rect { fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .small { fill: #9198a1 } line { stroke: #3d444d } rect { fill: #3fb950 }
}
"""


def draw() -> str:
    """Return the picture: a row for each reader, a column for each format."""
    index = json.loads((ROOT / "golden" / "index.json").read_text("utf-8"))
    witnesses = json.loads((ROOT / "golden" / "witnesses.json").read_text("utf-8"))["witnesses"]
    kinds = {case["id"]: (_format(case["id"]), case["expect"]) for case in index["cases"]}
    readers = [(each, Counter(kinds[case] for case in each["read"])) for each in witnesses]
    readers.sort(key=lambda reader: _first_columns(reader[1]))
    width = _LABELS + _CELL * len(FORMAT_NAMES) + 50
    height = _HEAD + _ROW * len(readers) + 52
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            ' role="img" aria-label="Readers and formats">',
            f"<style>{_STYLE}</style>",
            *_heads(),
            *(
                line
                for number, (reader, read) in enumerate(readers)
                for line in _row(number, reader, read, Counter(kinds.values()))
            ),
            f'<text class="small" x="0" y="{height - 24}">In each cell: valid messages read as the'
            " format says · invalid messages rejected, in % of the format's cases. Features that a"
            " reader</text>",
            f'<text class="small" x="0" y="{height - 7}">does not have count as not read. The first'
            f" row is this project's second decoder. Corpus {escape(index['corpus'])}.</text>",
            "</svg>\n",
        ]
    )


def _format(case: str) -> str:
    return case.partition("/")[0]


def _first_columns(read: Counter[tuple[str, str]]) -> tuple[int, int]:
    """Return the order of a reader: those of several formats first, then by their format."""
    formats = {name for name, _ in read}
    return -len(formats), min(FORMAT_NAMES.index(name) for name in formats)


def _heads() -> Iterator[str]:
    for number, name in enumerate(FORMAT_NAMES):
        x = _LABELS + _CELL * number + _CELL // 2
        yield f'<text transform="translate({x},{_HEAD - 10}) rotate(-40)">{escape(name)}</text>'


def _row(
    number: int,
    reader: dict[str, str],
    read: Counter[tuple[str, str]],
    cases: Counter[tuple[str, str]],
) -> Iterator[str]:
    top = _HEAD + _ROW * number
    right = _LABELS + _CELL * len(FORMAT_NAMES)
    yield f'<line x1="0" x2="{right}" y1="{top}" y2="{top}"/>'
    yield (
        f'<text x="0" y="{top + 16}">{escape(reader["name"])}'
        f'<tspan class="small"> {escape(reader["language"])}</tspan></text>'
    )
    for column, name in enumerate(FORMAT_NAMES):
        if not read[name, "accept"]:
            continue
        valid, invalid = (
            100 * read[name, expect] // cases[name, expect] for expect in ("accept", "reject")
        )
        x = _LABELS + _CELL * column
        yield (
            f'<rect x="{x + 1}" y="{top + 1}" width="{_CELL - 2}" height="{_ROW - 2}" rx="3"'
            f' fill-opacity="{0.1 + valid / 100 * 0.45:.2f}"/>'
            f'<text class="mid" x="{x + _CELL // 2}" y="{top + 16}">{valid} · {invalid}</text>'
        )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
