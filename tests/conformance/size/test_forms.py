"""The report as Markdown, JSON and picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cdcwire import extras
from cdcwire.extras import MissingExtraError
from cdcwire_conformance.size import SizeResults, document, json_text, markdown, picture
from cdcwire_conformance.size.compressions import compressions
from cdcwire_conformance.size.markdown import summary_batch
from cdcwire_conformance.size.results import Refused, schema


def tables_of(text: str) -> list[list[str]]:
    """Return the Markdown tables of a text, each as its lines."""
    tables: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            tables[-1].append(line)
        elif tables[-1]:
            tables.append([])
    return [table for table in tables if table]


def test_markdown_tables_are_even(small_results: SizeResults) -> None:
    tables = tables_of(markdown(small_results))
    assert len(tables) == 4  # summary, claims, two workloads
    for table in tables:
        assert len({len(line) for line in table}) == 1
        assert len({line.count("|") for line in table}) == 1


def test_markdown_has_every_figure(small_results: SizeResults) -> None:
    text = markdown(small_results)
    for workload in small_results.workloads:
        for cell in workload.cells:
            for name in cell.sizes:
                figure = cell.bytes_per_row(name)
                digits = 1 if figure < 1000 else 0
                assert f" {figure:,.{digits}f} |" in text


def test_markdown_says_where_the_claim_holds(small_results: SizeResults) -> None:
    text = markdown(small_results)
    assert "- `craft`: holds for 2 of 2 with batches of 1, 0 of 2 with batches of 16." in text


def test_markdown_escapes_names_and_reasons(small_results: SizeResults) -> None:
    odd = replace(
        small_results.workloads[0],
        name="a|b`c",
        refused=(Refused("craft", 2, "byte <1> | x"),),
        notes=("one\ntwo",),
    )
    text = markdown(replace(small_results, workloads=(odd,)))
    assert "## a\\|b\\`c" in text
    assert (
        "2 rows that craft can't carry are left out everywhere; the first: byte &lt;1&gt;" in text
    )
    assert "One two." in text


def test_markdown_says_where_batches_are_not_full(small_results: SizeResults) -> None:
    cells = tuple(replace(c, batch=1024, messages=1) for c in small_results.workloads[0].cells[:1])
    short = replace(small_results.workloads[0], cells=cells)
    text = markdown(replace(small_results, workloads=(short,), batches=(1024,)))
    assert "Messages hold fewer rows than they may: 96 of 1,024 (debezium-json)." in text


@pytest.mark.parametrize(
    ("batches", "shown"), [((1, 16, 256), 16), ((1, 256), 1), ((32, 64), 32), ((1024,), 1024)]
)
def test_summary_shows_the_batch_next_to_the_default(batches: list[int], shown: int) -> None:
    assert summary_batch(batches) == shown


def test_json_keeps_to_its_schema(small_results: SizeResults) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the extra [check] is not installed")
    jsonschema.Draft202012Validator.check_schema(schema())
    received = small_results.workloads[0].cells[0]
    odd = replace(
        small_results.workloads[0], received=received, refused=(Refused("craft", 1, "x"),)
    )
    for results in (small_results, replace(small_results, workloads=(odd,), options={"a": "b"})):
        jsonschema.Draft202012Validator(schema()).validate(document(results))


def test_json_has_no_time_and_no_place(small_results: SizeResults) -> None:
    assert json_text(small_results) == json_text(small_results)
    assert {"date", "time", "machine"}.isdisjoint(document(small_results))


def test_picture_has_a_large_panel_and_one_for_each_batch_raw_and_compressed(
    small_results: SizeResults, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="the extra [size] is not installed")
    picture(small_results, tmp_path / "sizes.svg")
    tree = ElementTree.parse(tmp_path / "sizes.svg")
    groups = {element.get("id", "") for element in tree.iter()}
    number = 1 + 2 * len(small_results.batches)
    assert {f"axes_{each}" for each in range(1, number + 1)} <= groups
    assert f"axes_{number + 1}" not in groups


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_pictures_of_equal_figures_are_equal(
    small_results: SizeResults, tmp_path: Path, suffix: str
) -> None:
    pytest.importorskip("matplotlib", reason="the extra [size] is not installed")
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    picture(small_results, first)
    picture(small_results, second)
    assert first.read_bytes() == second.read_bytes()


def test_picture_takes_odd_names(small_results: SizeResults, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra [size] is not installed")
    odd = replace(small_results.workloads[0], name="a$b_{x}$" * 9)
    picture(replace(small_results, workloads=(odd,) * 5), tmp_path / "sizes.svg", batch=1)
    assert (tmp_path / "sizes.svg").stat().st_size > 1000


def test_picture_of_another_kind_is_refused(small_results: SizeResults, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.svg or \.png"):
        picture(small_results, tmp_path / "sizes.bmp")
    with pytest.raises(ValueError, match="batches of 7 were not measured"):
        picture(small_results, tmp_path / "sizes.svg", batch=7)


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(extras, "import_module", missing)


@pytest.mark.usefixtures("without_libraries")
def test_compression_without_its_library_names_the_extra() -> None:
    assert [each.name for each in compressions(("none", "zlib", "gzip"))] == [
        "none",
        "zlib",
        "gzip",
    ]
    with pytest.raises(MissingExtraError, match=r"cramjam \(extra size\): pip install '"):
        compressions(["zstd"])


@pytest.mark.usefixtures("without_libraries")
def test_picture_without_its_library_names_the_extra(
    small_results: SizeResults, tmp_path: Path
) -> None:
    with pytest.raises(MissingExtraError, match=r"matplotlib \(extra size\): pip install '"):
        picture(small_results, tmp_path / "sizes.svg")
