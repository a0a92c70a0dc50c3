"""The figures as a picture: how many times the bytes of one format the others take.

The large panel shows one batch size without compression. The small panels show every batch size,
without compression and with one. All bars begin at the baseline, on a logarithmic axis.
"""

from __future__ import annotations

from math import exp, log
from pathlib import Path
from typing import Any

from cdcwire.extras import load_extra
from cdcwire.files.local_files import whole_file
from cdcwire_conformance.size.compressions import RAW
from cdcwire_conformance.size.markdown import summary_batch
from cdcwire_conformance.size.results import SizeResults, json_baseline
from cdcwire_conformance.suite import get_suite

_MORE_COLORS = ("#967bb6", "#c9a227", "#888888")
_INK, _FAINT = "#222222", "#d8d8d8"
_WIDTH, _LINE_HEIGHT = 9.6, 0.27  # inches
_PANELS_ACROSS = 4
_TITLE_LENGTH = 38  # characters
_COMPRESSED = "zstd"  # what the small panels show, if it was measured
_SUFFIXES = (".svg", ".png")
_PURPOSE = "drawing a picture"


def picture(results: SizeResults, path: str | Path, batch: int | None = None) -> None:
    """Draw the figures to an SVG or PNG file. ``batch``: of the large panel, by default TiCDC's.

    Equal figures give equal bytes with one version of matplotlib.
    Raises: ValueError for another kind of file or a batch size that was not measured;
    MissingExtraError; OSError.
    """
    file = Path(path)
    if file.suffix.lower() not in _SUFFIXES:
        raise ValueError(f"{file.name}: a picture ends in {' or '.join(_SUFFIXES)}")
    shown = summary_batch(results.batches) if batch is None else batch
    if shown not in results.batches:
        raise ValueError(f"batches of {shown} were not measured")
    matplotlib: Any = load_extra("matplotlib", "size", _PURPOSE)
    figures: Any = load_extra("matplotlib.figure", "size", _PURPOSE)
    settings = {
        **matplotlib.rcParamsDefault,
        "svg.hashsalt": "cdcwire",  # ids of an SVG are otherwise random
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",  # comes with matplotlib
        "font.size": 8.5,
    }
    with matplotlib.rc_context(settings):
        figure = figures.Figure(layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.02, hspace=0.02)
        _draw(figure, results, shown)
        _settle(figure)
        metadata = {"Date": None} if file.suffix.lower() == ".svg" else {"Software": None}
        kind = file.suffix.lower().removeprefix(".")
        with whole_file(file) as out:
            figure.savefig(out, format=kind, dpi=150, metadata=metadata, facecolor="white")


def _settle(figure: Any) -> None:
    """Lay the panels out, in places of few digits.

    The solver's last bits vary between runs, and the ids of an SVG are made from them.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for panel in figure.axes:
        panel.set_position([round(number, 6) for number in panel.get_position().bounds])


def ratios(results: SizeResults, baseline: str, batch: int, compression: str) -> dict[str, float]:
    """Return how many times the baseline's bytes each format takes.

    It is the geometric mean over the workloads that both have, with the same batch and compression.
    """
    found: dict[str, list[float]] = {}
    for workload in results.workloads:
        base = workload.cell(baseline, batch)
        for name in results.formats:
            cell = workload.cell(name, batch)
            if base is not None and cell is not None:
                ratio = cell.bytes_per_row(compression) / base.bytes_per_row(compression)
                found.setdefault(name, []).append(log(ratio))
    return {name: exp(sum(logs) / len(logs)) for name, logs in found.items()}


def _draw(figure: Any, results: SizeResults, batch: int) -> None:
    baseline = _baseline(results)
    colors = _colors(results.formats)
    large = ratios(results, baseline, batch, RAW)
    order = sorted(large, key=lambda name: -large[name])
    small = [
        (each, compression)
        for compression in _small_compressions(results)
        for each in results.batches
    ]
    across = min(_PANELS_ACROSS, len(results.batches))
    down = -(-len(small) // across)
    heights = [len(order) * _LINE_HEIGHT + 0.75, *[len(order) * 0.15 + 0.5] * down]
    figure.set_size_inches(_WIDTH, sum(heights) + 0.5)
    grid = figure.add_gridspec(1 + down, across, height_ratios=heights)
    figure.suptitle(_title(results, baseline), color=_INK, fontsize=12, fontweight="bold")
    all_ratios = [ratios(results, baseline, *each) for each in small]
    values = [value for each in (large, *all_ratios) for value in each.values()]
    limits = min(*values, 1) / 1.25, max(*values, 1) * 1.25
    panel = figure.add_subplot(grid[0, :])
    _draw_panel(panel, large, order, colors, (limits[0], limits[1] * 1.35))
    _label(panel, results, large, order, batch)
    panel.set_title(f"{_rows(batch)} a message, not compressed", loc="left", color=_INK)
    for index, ((each, compression), found) in enumerate(zip(small, all_ratios, strict=True)):
        panel = figure.add_subplot(grid[1 + index // across, index % across])
        _draw_panel(panel, found, order, colors, limits)
        word = "not compressed" if compression == RAW else compression
        panel.set_title(f"{_rows(each)}, {word}", loc="left", color=_INK, fontsize=8)
        panel.tick_params(labelsize=6.5)
        if index % across:
            panel.set_yticklabels([])


def _draw_panel(
    panel: Any,
    found: dict[str, float],
    order: list[str],
    colors: dict[str, str],
    limits: tuple[float, float],
) -> None:
    ticker: Any = load_extra("matplotlib.ticker", "size", _PURPOSE)
    for line, name in enumerate(order):
        if name in found:
            panel.barh(line, found[name] - 1, left=1, height=0.72, color=colors[name])
    panel.axvline(1, color=_INK, lw=0.9)
    panel.set_xscale("log")
    panel.set_xlim(*limits)
    panel.set_ylim(-0.6, len(order) - 0.4)
    panel.set_yticks(range(len(order)), order)
    panel.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    panel.xaxis.set_minor_locator(ticker.NullLocator())
    panel.grid(axis="x", color=_FAINT, lw=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=_INK)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.spines["bottom"].set_color(_FAINT)


def _label(
    panel: Any, results: SizeResults, found: dict[str, float], order: list[str], batch: int
) -> None:
    """Write the ratio at the end of each bar, and the bytes per row if there is one workload."""
    for line, name in enumerate(order):
        text = f"{found[name]:.2f}×"
        if len(results.workloads) == 1:
            cell = results.workloads[0].cell(name, batch)
            text += "" if cell is None else f", {cell.bytes_per_row():,.0f} bytes"
        place = {"xy": (max(found[name], 1), line), "xytext": (4, 0)}
        panel.annotate(text, **place, textcoords="offset points", va="center", color=_INK)


def _baseline(results: SizeResults) -> str:
    """Return the format that the others are compared with: the JSON one, or else the first."""
    measured = [cell.format for cell in results.workloads[0].cells]
    return json_baseline() if json_baseline() in measured else measured[0]


def _small_compressions(results: SizeResults) -> tuple[str, ...]:
    names = results.compression_names
    compressed = _COMPRESSED if _COMPRESSED in names else next((n for n in names if n != RAW), None)
    return (RAW,) if compressed is None else (RAW, compressed)


def _title(results: SizeResults, baseline: str) -> str:
    """Return the question that the picture answers. A long name is cut at its beginning."""
    if len(results.workloads) > 1:
        of = f"geometric mean of {len(results.workloads)} workloads"
    else:
        name = results.workloads[0].name.replace("$", r"\$")  # formulas are between dollars
        of = name if len(name) <= _TITLE_LENGTH else f"…{name[1 - _TITLE_LENGTH :]}"
    return f"Bytes per row, as a multiple of {baseline}: {of}"


def _colors(formats: tuple[str, ...]) -> dict[str, str]:
    others = iter(_MORE_COLORS * len(formats))
    return {name: get_suite(name).size.color or next(others) for name in formats}


def _rows(batch: int) -> str:
    return "1 row" if batch == 1 else f"up to {batch:,} rows"
