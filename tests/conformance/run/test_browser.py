"""HTML pages in a real browser: Debian's Chromium, driven by Playwright.

Without a browser these tests are skipped; ``CDCWIRE_BROWSER=required`` makes that a failure.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.compare.page import html_text as comparison_page
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    Counts,
    Pattern,
    PatternExample,
    RowDifference,
    Shown,
    TableComparison,
)
from cdcwire_conformance.corpus import Case, load_case, load_cases
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.output.html.render import render_page
from cdcwire_conformance.output.html.site import details_script, site_page
from cdcwire_conformance.output.html.verify_page import html_text, witness_names_of
from cdcwire_conformance.output.results.site import write_results_site
from cdcwire_conformance.output.results.stored import StoredRun
from cdcwire_conformance.protocol import Claim, Description, Request
from cdcwire_conformance.protocol.answers import Answer, Events
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.testees import NoAnswer

Make = Callable[..., Case]
Fake = Callable[..., Any]
MOST_BYTES = 2 << 20  # of a page, which Chromium reads before it draws
MOST_ELEMENTS = 5_000
LOADED = """() => ({
  elements: document.getElementsByTagName("*").length,
  files: performance.getEntriesByType("resource").map((each) => each.name),
})"""
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "\x1b[31mred\u202egnp\ud800 {{ 7 * 7 }}"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium."""
    missing = ""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "Playwright is not installed (pip install playwright)"
    if not missing and CHROMIUM is None:
        missing = "Chromium is not installed (apt-get install chromium)"
    if missing and os.environ.get("CDCWIRE_BROWSER") == "required":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)
    pytest.importorskip("jinja2")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, browser: object, report: dict[str, Any]) -> Path:
    """The site with the list of all cases, and with the details of some."""
    folder = tmp_path_factory.mktemp("site")
    failing = ["craft/values/year-2024", "craft/options/delete-handle-key-only@cut:3"]
    readers = [
        {"name": name, "version": "1", "kind": "decoder", "command": "x", "formats": formats}
        for name, formats in (
            ("right", [_score(name) for name in FORMAT_NAMES]),
            ("wrong", [_score("craft", *failing)]),
        )
    ]
    everything, witnesses = load_cases(), witness_names_of()
    page = site_page({**report, "readers": readers}, everything, witnesses)
    (folder / "index.html").write_text(render_page(page), encoding="utf-8")
    (folder / "cases").mkdir()
    for name in FORMAT_NAMES:
        own = cases_of(name)
        chosen = [case for case in own if case.group == "options"] or own[:1]
        script = details_script(name, chosen, witnesses)
        (folder / "cases" / f"{name}.js").write_text(script, encoding="ascii")
    return folder / "index.html"


def cases_of(name: str) -> list[Case]:
    return list(load_cases([name]))


def _score(name: str, *failing: str) -> dict[str, Any]:
    number = len(cases_of(name))
    return {
        "format": name,
        "asked": number,
        "passed": number - len(failing),
        "failed": len(failing),
        "declined": 0,
        "failing": list(failing),
        "not_asked": [],
    }


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, fake: Fake, browser: object) -> Path:
    """The page of a run of a testee that is wrong and hostile."""
    value = load_case("craft/values/year-2024").messages[0].value
    year = base64.b64encode(value or b"").decode()

    def answer(request: Request) -> Answer:
        if request.body["messages"] == [{"key": None, "value": year}]:
            raise NoAnswer("crashed", "exit code 3", f"{HOSTILE}\nlast words")
        return Events([{"kind": "marker", "what": "begin", "id": HOSTILE}])

    cases = [case for case in cases_of("craft") if case.group == "values"]
    testee = fake(answer)
    hostile = Description(HOSTILE, "1", "Go", {"craft": Claim()})
    results = Results(hostile, HOSTILE, "kept alive", "0.1.0", ("craft",))
    run(cases, [], [testee], results)
    file = tmp_path_factory.mktemp("result") / "result.html"
    file.write_text(html_text(results), encoding="utf-8")
    return file


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A new page whose script errors fail the test."""
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    yield opened
    opened.close()
    assert errors == []


def ids(page: Any) -> list[str]:
    return [str(text) for text in page.locator("#list .case").all_inner_texts()]


def wait_for_ids(page: Any, wanted: list[str]) -> None:
    """Wait until the list shows just these cases: a click changes the page some time later."""
    from playwright.sync_api import expect

    expect(page.locator("#list .case")).to_have_text(wanted)


def open_case(page: Any, case_id: str) -> None:
    """Click a case of the list, and wait until its details are drawn."""
    from playwright.sync_api import expect

    page.locator(f"#list a[href$='case={quote(case_id, safe='')}']").click()
    expect(page.locator("#details h3")).to_have_text(case_id)


def check_is_light(page: Any, file: Path) -> None:
    """Check that a page has little to load before it is drawn."""
    loaded = page.evaluate(LOADED)
    assert loaded["files"] == []
    assert loaded["elements"] <= MOST_ELEMENTS
    assert file.stat().st_size <= MOST_BYTES


def test_site_with_all_cases_is_light(page: Any, site: Path) -> None:
    page.goto(site.as_uri())
    count = f"{len(load_cases()):,}"
    assert page.inner_text("#count") == f"{count} of {count} cases"
    check_is_light(page, site)


def test_cell_of_the_matrix_leads_to_the_failing_cases(page: Any, site: Path) -> None:
    page.goto(site.as_uri())
    page.click("td.bad a")
    wait_for_ids(page, ["craft/options/delete-handle-key-only", "craft/values/year-2024"])
    open_case(page, "craft/options/delete-handle-key-only")
    page.wait_for_selector("#details .bytes")
    readers = page.locator("#details table").first.inner_text()
    assert "@cut:3" in readers
    assert "op/delete-handle-key-only" in page.inner_text("#details dl")
    page.go_back()
    assert "case=" not in page.url


def test_row_of_a_format_opens_its_clauses(page: Any, site: Path) -> None:
    page.goto(site.as_uri())
    button = page.locator("button.fold", has_text="avro").first
    assert button.get_attribute("aria-expanded") == "false"
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert page.locator("tbody.parts:visible th").first.inner_text().startswith("avro: ")


def test_filters_narrow_the_list_and_stay_in_the_address(page: Any, site: Path) -> None:
    page.goto(site.as_uri())
    page.select_option("select[name=format]", "craft")
    page.select_option("select[name=clause]", "craft: column flags")
    page.select_option("select[name=level]", "must")
    page.select_option("select[name=expect]", "reject")
    wanted = [
        case.id
        for case in cases_of("craft")
        if "craft: column flags" in case.clauses and (case.level, case.expect) == ("must", "reject")
    ]
    assert wanted
    wait_for_ids(page, wanted)
    page.reload()
    wait_for_ids(page, wanted)
    page.click("button[type=reset]")
    page.fill("input[name=text]", "YEAR-2024")
    assert ids(page)[0].endswith("year-2024")
    page.fill("input[name=text]", "")
    page.select_option("select[name=feature]", "vector")
    assert all("vector" in load_case(case_id).features for case_id in ids(page))


def test_author_only_hides_confirmed_cases(page: Any, site: Path) -> None:
    page.goto(f"{site.as_uri()}#format=csv&by=author")
    witnesses = witness_names_of()
    wanted = [
        case.id
        for case in cases_of("csv")
        if case.id not in witnesses and not case.origin.startswith("producer")
    ]
    wait_for_ids(page, wanted)
    assert page.is_checked("input[name=by]")


def test_field_with_mouse_or_focus_is_highlighted_in_the_bytes(page: Any, site: Path) -> None:
    page.goto(f"{site.as_uri()}#case=craft/options/delete-handle-key-only")
    page.wait_for_selector("#details .bytes")
    page.locator(".bytes [data-field='1']").first.hover()
    assert "commit_ts" in page.inner_text(".fields tr.hit")
    page.locator(".fields tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.field") == "2"
    assert page.locator(".bytes .hit").first.inner_text().strip() == "01"


def test_list_is_walked_by_arrow_keys(page: Any, site: Path) -> None:
    page.goto(f"{site.as_uri()}#format=craft")
    page.locator("#list a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = ids(page)[1]
    page.wait_for_function(f"document.querySelector('#details h3').innerText === '{second}'")
    assert page.get_attribute("#list a >> nth=1", "aria-current") == "true"


def test_clause_shows_its_text(page: Any, site: Path) -> None:
    page.goto(f"{site.as_uri()}#case=craft/options/delete-handle-key-only")
    page.click(".clause summary")
    assert len(page.inner_text(".clause pre")) > 40


def test_hostile_texts_stay_text_in_the_browser(page: Any, result: Path) -> None:
    page.goto(result.as_uri())
    assert page.title() != "owned"
    assert page.locator("img").count() == 0
    assert "<img src=x" in page.inner_text("h1")
    assert "\\u202egnp" in page.inner_text("h1")
    assert "{{ 7 * 7 }}" in page.inner_text("h1")
    open_case(page, "craft/values/year-2024")
    assert page.locator("#details pre").first.inner_text().endswith("last words")
    assert "\u202e" not in page.content()
    assert page.title() != "owned"


def test_group_leads_to_its_cases(page: Any, result: Path) -> None:
    page.goto(result.as_uri())
    number = page.locator(".groups tbody td.number").first
    count = int(number.inner_text())
    number.locator("a").click()
    page.wait_for_selector(f"#count:text-matches('^{count} of ')")
    assert page.locator("#details .differences, #details pre").count() > 0


def test_damaged_address_shows_all_cases(page: Any, result: Path) -> None:
    page.goto(f"{result.as_uri()}#format=%E0%A4%A&group=99&case=no/such/case")
    assert "There is no case no/such/case here." in page.inner_text("#details")


@pytest.mark.parametrize("width", [1200, 360])
def test_page_fits_its_window_in_light_and_dark(page: Any, result: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(result.as_uri())
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert colours == ["rgb(255, 255, 255)", "rgb(18, 22, 28)"]


def test_narrow_page_shows_what_was_got(page: Any, result: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(result.as_uri())
    cells = page.locator(".groups td").all()
    assert {"expected", "got"} <= {cell.get_attribute("data-label") for cell in cells}
    boxes = [cell.bounding_box() for cell in cells if cell.inner_text()]
    assert all(box is not None and box["x"] + box["width"] <= 390 for box in boxes)


def test_print_shows_no_controls(page: Any, result: Path) -> None:
    page.goto(result.as_uri())
    page.emulate_media(media="print")
    assert not page.is_visible("#filters")
    assert page.is_visible(".groups")
    assert page.is_visible("#details .bytes")


def test_comparison_on_paper_has_both_values_whole(page: Any, tmp_path: Path) -> None:
    """Paper does not scroll: what is beyond its right border is lost."""
    at, text = ("updated_at_by_the_system", "2026-01-01 00:00:00.123456")
    values, key = (Shown(text), Shown(text[:-7])), (("id", Shown("1")),)
    column = ColumnDifference("after", at, "datetime(6)", *values)
    example = PatternExample(key, *values)
    pattern = Pattern(at, "datetime(6)", "time-cut", "cut to seconds on the right", 1, (example,))
    long = ColumnDifference("after", "n", "text", Shown("x" * 300), ABSENT)
    rows = (RowDifference("changed", "update", key, (), 1, 1, (column, long)),)
    table = TableComparison("t", Counts(1, 1, 1, 1, changed=1), rows, patterns=(pattern,))
    file = tmp_path / "comparison.html"
    file.write_text(comparison_page(Comparison("left", "right", (table,))), encoding="utf-8")
    page.set_viewport_size({"width": 688, "height": 1000})  # of A4 with its margins
    page.emulate_media(media="print")
    page.goto(file.as_uri())
    borders = "nodes => nodes.map(each => each.getBoundingClientRect().right)"
    assert max(page.eval_on_selector_all("td, th, p, dd", borders)) <= 688


@pytest.fixture(scope="module")
def results_site(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Path:
    """A site of 30 readers with three releases each, which were judged on two days."""
    folder = tmp_path_factory.mktemp("results")
    cases = [case for case in cases_of("craft") if case.group == "values"]
    write_results_site(folder, list(_stored(cases)), (), "", lambda _: None)
    return folder


def _stored(cases: list[Case]) -> Iterator[StoredRun]:
    for number in range(30):
        for version in ("1.2", "1.1", "1.0"):
            for day, verdict in (("2026-11-01", "failed"), ("2026-11-20", "passed")):
                outcomes = [_outcome(case, "passed") for case in cases[::2]]
                outcomes += [_outcome(case, verdict) for case in cases[1::2]]
                results = {
                    "results": 1,
                    "corpus": corpus_version(),
                    "interrupted": False,
                    "passed": verdict == "passed",
                    "formats": {"craft": {"stored": Counter(each["verdict"] for each in outcomes)}},
                    "groups": [],
                    "outcomes": outcomes,
                }
                texts = (f"toy {number}", "npm:toy", version, "craft", day, day, "./toy")
                yield StoredRun(*texts, results)


def _outcome(case: Case, verdict: str) -> dict[str, str]:
    return {
        "id": case.id,
        "title": case.title,
        "level": case.level,
        "expect": case.expect,
        "verdict": verdict,
    }


def test_matrix_of_results_is_light(page: Any, results_site: Path) -> None:
    index = results_site / "index.html"
    page.goto(index.as_uri())
    assert page.locator("table.newest tbody tr").count() == 30
    check_is_light(page, index)


def test_matrix_of_results_leads_to_reader_and_case(page: Any, results_site: Path) -> None:
    page.goto((results_site / "index.html").as_uri())
    page.get_by_role("link", name="toy 7", exact=True).first.click()
    assert page.inner_text("h1") == "toy 7"
    assert page.locator("svg.chart polyline").count() == 3
    page.goto((results_site / "cases" / "craft" / "index.html").as_uri())
    page.get_by_role("link", name="craft/values/year-2024").first.click()
    assert page.url.endswith("/cases/craft/values/year-2024.html")
    assert page.locator("tbody tr", has_text="toy 7").count() == 3
    assert "offset" in page.inner_text("pre >> nth=0")


def test_first_tab_of_results_skips_to_the_content(page: Any, results_site: Path) -> None:
    page.goto((results_site / "index.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "region"


@pytest.mark.parametrize("name", ["index", "readers/toy-7", "cases/craft/values/year-2024"])
@pytest.mark.parametrize("width", [1200, 390])
def test_results_fit_their_window_in_light_and_dark(
    browser: Any, results_site: Path, width: int, name: str
) -> None:
    colours = []
    for scheme in ("light", "dark"):
        without_script = browser.new_page(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            java_script_enabled=False,
        )
        without_script.goto((results_site / f"{name}.html").as_uri())
        body = without_script.locator("body")
        colours.append(body.evaluate("each => getComputedStyle(each).backgroundColor"))
        wide = without_script.locator("html").evaluate("each => each.scrollWidth")
        without_script.close()
        assert wide <= width
    assert colours == ["rgb(255, 255, 255)", "rgb(18, 22, 28)"]
