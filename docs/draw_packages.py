"""Draw what the parts of each package import, as pictures for architecture.md.

    python docs/draw_packages.py

Writes docs/PACKAGE.svg for each package, from the imports in its source. A part is a folder or a
module right below the package. An arrow goes from a part to one that it imports, unless another way
of arrows leads there. Parts that import each other are drawn as one box.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TypeAlias, TypeGuard

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "cdcwire": "reference",
    "cdcwire_generators": "generators",
    "cdcwire_conformance": "conformance",
}
Box: TypeAlias = "tuple[str, ...]"
"""Parts that import each other; mostly it is one."""
Boxes: TypeAlias = "dict[Box, set[Box]]"
"""The boxes that each box imports."""
Place: TypeAlias = "Box | tuple[Box, Box]"
"""A box, or a place that the arrow of two boxes goes through."""

_CHARACTER, _PADDING, _GAP, _HEIGHT, _ROW, _TOP = 7, 10, 16, 26, 62, 44
_STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 } .name { text-anchor: middle }
rect { fill: #ddf4ff; stroke: #54aeff } path { fill: none; stroke: #8c959f; stroke-width: 1.2 }
marker path { fill: #8c959f; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } rect { fill: #121d2f; stroke: #316dca } path { stroke: #656c76 }
  marker path { fill: #656c76 }
}
"""


def picture_of(package: str) -> Path:
    """Return the file of a package's picture."""
    return ROOT / "docs" / f"{package}.svg"


def parts_of(package: str) -> dict[str, set[str]]:
    """Return the parts that each part of a package imports, imports for type checkers included."""
    folder = ROOT / PACKAGES[package] / package
    found: dict[str, set[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        own = file.relative_to(folder).with_suffix("").parts[0]
        if own in ("__init__", "__main__"):
            continue
        imported = found.setdefault(own, set())
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            imported.update(_imported(node, package))
        imported.discard(own)
    return {part: {each for each in imported if each in found} for part, imported in found.items()}


def _imported(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the first part below the package of each name that a statement imports."""
    if isinstance(node, ast.ImportFrom) and node.module == package:
        yield from (name.name for name in node.names)
    elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
        yield (node.module or "").split(".")[1]


def boxes(imports: Mapping[str, set[str]]) -> Boxes:
    """Return the boxes of parts, each with the boxes to which an arrow goes from it."""
    reached = {part: _reached(part, imports) for part in imports}
    box_of = {
        part: tuple(each for each in imports if each == part or _meet(each, part, reached))
        for part in imports
    }
    below = {
        box: {box_of[each] for part in box for each in reached[part]} - {box}
        for box in box_of.values()
    }
    return {
        box: {each for each in under if not any(each in below[other] for other in under)}
        for box, under in below.items()
    }


def _reached(part: str, imports: Mapping[str, set[str]]) -> set[str]:
    found, ahead = set[str](), [part]
    while ahead:
        new = imports.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def _meet(one: str, other: str, reached: Mapping[str, set[str]]) -> bool:
    return one in reached[other] and other in reached[one]


def rows(arrows: Boxes) -> list[list[Place]]:
    """Return the boxes in rows, and the places in between through which long arrows go.

    Each arrow goes to a lower row; the last row imports nothing.
    """
    heights: dict[Box, int] = {}

    def height(box: Box) -> int:
        if box not in heights:
            heights[box] = 1 + max(map(height, arrows[box]), default=-1)
        return heights[box]

    top = max(map(height, arrows))
    found: list[list[Place]] = [[] for _ in range(top + 1)]
    above: dict[tuple[Place, int], list[Place]] = {}
    for box in sorted(arrows):
        found[top - heights[box]].append(box)
        for to in sorted(arrows[box]):
            way: list[Place] = [box, *[(box, to)] * (heights[box] - heights[to] - 1), to]
            for row, (upper, lower) in enumerate(pairwise(way), top - heights[box] + 1):
                above.setdefault((lower, row), []).append(upper)
                if not is_box(lower):
                    found[row].append(lower)
    for row in range(1, top + 1):
        columns = {place: column for column, place in enumerate(found[row - 1])}
        means = {
            place: fmean([columns[upper] for upper in above.get((place, row), ())] or [0])
            for place in found[row]
        }
        found[row].sort(key=means.__getitem__)
    return found


def is_box(place: Place) -> TypeGuard[Box]:
    """Return whether a place in a row is a box, and not one that an arrow goes through."""
    return isinstance(place[0], str)


def draw(package: str) -> str:
    """Return the picture of a package."""
    arrows = boxes(parts_of(package))
    lines = rows(arrows)
    width = max(sum(_width(place) + _GAP for place in row) for row in lines) + _GAP
    middles: dict[Place, list[tuple[float, int]]] = {}
    for number, row in enumerate(lines):
        space = (width - sum(map(_width, row))) / (len(row) + 1)
        left = space
        for place in row:
            middle = left + _width(place) / 2, _TOP + number * _ROW
            middles.setdefault(place, []).append(middle)
            left += _width(place) + space
    title = f"What the parts of {package} import"
    pairs = [(box, to) for box in arrows for to in sorted(arrows[box])]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" viewBox="0 0 {width} '
            f'{_TOP + len(lines) * _ROW}" role="img" aria-label="{title}">',
            f"<style>{_STYLE}</style>",
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
            ' orient="auto"><path d="M0 0 8 4 0 8z"/></marker>',
            f'<text class="title" x="{_GAP}" y="20">{title}</text>',
            *(
                _arrow([*middles[box], *middles.get((box, to), ()), *middles[to]])
                for box, to in pairs
            ),
            *(_box(box, *middles[box][0]) for box in arrows),
            "</svg>\n",
        ]
    )


def _width(place: Place) -> int:
    return len(_name(place)) * _CHARACTER + 2 * _PADDING if is_box(place) else 0


def _name(box: Box) -> str:
    return ", ".join(box)


def _arrow(points: Sequence[tuple[float, int]]) -> str:
    """Return an arrow from the bottom of the first box, through places, to the top of the last."""
    curve = f"M{points[0][0]:.0f} {points[0][1] + _HEIGHT}"
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (to_y - y - _HEIGHT) / 2
        curve += f"C{x:.0f} {y + _HEIGHT + half:g} {to_x:.0f} {to_y - half:g} {to_x:.0f} {to_y}"
        curve += "" if (to_x, to_y) == points[-1] else f"V{to_y + _HEIGHT}"
    return f'<path d="{curve}" marker-end="url(#tip)"/>'


def _box(box: Box, x: float, y: int) -> str:
    width = _width(box)
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y}" width="{width}" height="{_HEIGHT}" rx="5"/>'
        f'<text class="name" x="{x:.0f}" y="{y + 17}">{escape(_name(box))}</text>'
    )


if __name__ == "__main__":
    for each in PACKAGES:
        picture_of(each).write_text(draw(each), encoding="utf-8")
