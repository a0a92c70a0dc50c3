"""The figures as a picture: a panel a workload, bars for the formats, raw and compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cdcwire_conformance.extras import load_extra
from cdcwire_conformance.size.compressions import RAW
from cdcwire_conformance.size.markdown import summary_batch
from cdcwire_conformance.size.results import SizeResults, WorkloadSizes
from cdcwire_conformance.suite import get_suite

_MORE_COLORS = ("#967bb6", "#c9a227", "#888888")
_INK, _FAINT = "#222222", "#d8d8d8"
_PANELS_ACROSS = 4
_PANEL_WIDTH, _PANEL_HEIGHT = 3.7, 2.75  # inches
_LABEL_WIDTH = 1.35  # inches, of a format's name in the legend
_TITLE_LENGTH = 38  # characters
_SUFFIXES = (".svg", ".png")
_PURPOSE = "drawing a picture"


def picture(results: SizeResults, path: str | Path, batch: int | None = None) -> None:
    """Draw the figures of one batch size, by default TiCDC's own, to an SVG or PNG file.

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
        figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1, wspace=0.02, hspace=0.03)
        _draw(figure, results, shown)
        metadata = {"Date": None} if file.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(file, dpi=150, metadata=metadata, facecolor="white")


def _draw(figure: Any, results: SizeResults, batch: int) -> None:
    number = len(results.workloads)
    across = min(number, _PANELS_ACROSS)
    down = -(-number // across)
    figure.set_size_inches(max(across * _PANEL_WIDTH, 6.4), down * _PANEL_HEIGHT + 0.9)
    panels = figure.subplots(down, across, squeeze=False)
    colors = _colors(results.formats)
    for index, panel in enumerate(panels.flat):
        if index < number:
            _draw_panel(panel, results.workloads[index], results, batch, colors)
        else:
            panel.set_visible(False)
    rows = "1 row" if batch == 1 else f"up to {batch} rows"
    figure.suptitle(
        f"Bytes per row, messages of {rows}:{' ' if across > 2 else chr(10)}"
        "raw, and compressed message by message",
        color=_INK,
        fontsize=12,
        fontweight="bold",
    )
    handles, labels = panels.flat[0].get_legend_handles_labels()
    columns = min(len(labels), int(figure.get_figwidth() / _LABEL_WIDTH))
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9.5
    )


def _colors(formats: tuple[str, ...]) -> dict[str, str]:
    others = iter(_MORE_COLORS * len(formats))
    return {name: get_suite(name).size.color or next(others) for name in formats}


def _draw_panel(
    panel: Any,
    workload: WorkloadSizes,
    results: SizeResults,
    batch: int,
    colors: dict[str, str],
) -> None:
    names = results.compression_names
    width = 0.84 / len(results.formats)
    top = 0.0
    for index, format_name in enumerate(results.formats):
        cell = workload.cell(format_name, batch)
        if cell is None:
            continue
        heights = [cell.bytes_per_row(name) for name in names]
        top = max(top, *heights)
        places = [at - 0.42 + (index + 0.5) * width for at in range(len(names))]
        panel.bar(places, heights, width * 0.94, color=colors[format_name], label=format_name)
    first = workload.cell(results.formats[0], batch)
    if first is not None and RAW in names and len(names) > 1:
        label = f"{results.formats[0]}, raw"
        panel.axhline(
            first.bytes_per_row(),
            color=colors[results.formats[0]],
            lw=0.9,
            ls=(0, (4, 2)),
            label=label,
        )
    panel.set_title(_title(workload.name), color=_INK, fontsize=10, loc="left")
    panel.set_xticks(range(len(names)), ["raw" if name == RAW else name for name in names])
    panel.set_xlim(-0.55, len(names) - 0.45)
    panel.set_ylim(0, top * 1.06)
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    panel.yaxis.set_major_locator(_few_ticks())
    panel.grid(axis="y", color=_FAINT, lw=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=_INK)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.spines["bottom"].set_color(_FAINT)


def _title(name: str) -> str:
    """Return a name that fits its panel: the end of a long name."""
    text = name.replace("$", r"\$")  # matplotlib sets formulas between dollars
    return text if len(text) <= _TITLE_LENGTH else f"…{text[1 - _TITLE_LENGTH :]}"


def _few_ticks() -> Any:
    ticker: Any = load_extra("matplotlib.ticker", "size", _PURPOSE)
    return ticker.MaxNLocator(5)
