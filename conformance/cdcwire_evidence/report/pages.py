"""REPORT.md and a page for each chapter, made from the report's document alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_evidence.report.part import table
from cdcwire_evidence.report.runs import SAMPLE

FOLDER = "report"
FIRST_PAGE = "REPORT.md"
DOCUMENT = "report.json"
_SHOWN = 3  # lines of a list on the first page
_STATUSES = ("failed", "partly run", "not run", "passed")


def write_pages(document: Mapping[str, Json], target: Path) -> None:
    """Write REPORT.md and the pages of the chapters; pages of older reports are removed.

    Raises: OSError.
    """
    folder = target / FOLDER
    pages = {
        f"{chapter['id']}.md": chapter_page(document, chapter["id"])
        for chapter in document["chapters"]
    }
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    (target / FIRST_PAGE).write_text(first_page(document), encoding="utf-8")


def first_page(document: Mapping[str, Json]) -> str:
    """Return REPORT.md, at most 60 lines."""
    lines = [
        "# Report",
        "",
        _made(document),
        "",
        f"**Verdict**: {verdict_line(document)}",
        "",
        *_goals(document),
        "## Needs attention",
        "",
        *_attention(document),
        "",
        "## Not run",
        "",
        *(_not_run(document) or ["Everything was run."]),
        "",
        "## Formats: who confirms the cases, and the decoders of this project",
        "",
        *_formats(document),
        "",
        f"**Known-wrong decoders**: {_known_wrong(document)} "
        f"**Planted differences**: {_planted(document)}",
        "",
        *_picture(document),
        *_chapters(document),
    ]
    return "\n".join(lines).rstrip() + "\n"


def chapter_page(document: Mapping[str, Json], chapter_id: str) -> str:
    """Return the page of one chapter."""
    chapter = next(each for each in document["chapters"] if each["id"] == chapter_id)
    checks = chapter["checks"]
    counted = f", {_of(checks['passed'], checks['asked'])} checks" if checks["asked"] else ""
    lines = [
        f"# {chapter['title']}",
        "",
        f"{_word(chapter['status'])}{counted}, {chapter['seconds']:.0f} s · "
        f"`{chapter['command']}` · [report](../{FIRST_PAGE})",
        "",
        *(f"- {each['text']}" for each in document["attention"] if each["chapter"] == chapter_id),
        "",
        *chapter["lines"],
        "",
        *(
            f"- Not run: {_missing(each)}"
            for each in document["not_run"]
            if each["chapter"] == chapter_id
        ),
    ]
    return "\n".join(_without_double_blanks(lines)).rstrip() + "\n"


def _made(document: Mapping[str, Json]) -> str:
    made = document["made"]
    changed = " with changes" if made["changed"] else ""
    return (
        f"`{document['command']}` at revision {made['revision']}{changed}, {made['date']}: "
        f"cdcwire {made['cdcwire']}, corpus {made['corpus']}, {made['python']}, {made['system']}, "
        f"{made['processors']} processors, {made['seconds']:.0f} s."
    )


def verdict_line(document: Mapping[str, Json]) -> str:
    """Return the verdict in a sentence."""
    verdict = document["verdict"]
    checks = verdict["checks"]
    has_all = checks["passed"] == checks["asked"] and verdict["status"] != "failed"
    counted = f"all {checks['asked']:,}" if has_all else _of(checks["passed"], checks["asked"])
    parts = [f"{counted} checks passed"]
    missing = len(document["not_run"])
    whole = "the main job" if document["mode"] == "main" else "everything"
    parts.append(f"{missing} items not run" if missing else f"{whole} was run")
    return f"{verdict['status']}; {', '.join(parts)}."


def _goals(document: Mapping[str, Json]) -> Iterator[str]:
    """Yield how many goals of speed and memory were met. The verdict does not depend on them."""
    bars = document["verdict"]["bars"]
    if bars["all"]:
        chapters = dict.fromkeys(bar["chapter"] for bar in document["bars"])
        links = ", ".join(_link(document, name) for name in chapters)
        yield f"**Speed and memory**: {bars['met']} of {bars['all']} goals met ({links})."
        yield ""


def _attention(document: Mapping[str, Json]) -> list[str]:
    lines = [
        f"- {_link(document, each['chapter'])}: {each['text']}" for each in document["attention"]
    ]
    return _first(lines, "in the chapters") or ["Nothing."]


def _link(document: Mapping[str, Json], chapter_id: str) -> str:
    """Return the link to a chapter's page, with the chapter's title."""
    titles = {each["id"]: each["title"] for each in document["chapters"]}
    return f"[{titles[chapter_id]}]({FOLDER}/{chapter_id}.md)"


def _not_run(document: Mapping[str, Json]) -> list[str]:
    """Return a line for each thing to install, with everything that it makes run."""
    by_install: dict[str, list[Json]] = defaultdict(list)
    for each in document["not_run"]:
        by_install[each["install"] or each["why"]].append(each)
    lines = []
    for install, items in by_install.items():
        names = ", ".join(dict.fromkeys(each["what"] for each in items))
        reason = items[0]["why"]
        lines.append(f"- {names}: {reason}" + (f"; {install}" if install != reason else ""))
    return [*_first(lines, "in the chapters"), *_left_to_full(document)]


def _left_to_full(document: Mapping[str, Json]) -> Iterator[str]:
    if document["mode"] == "main":
        yield (
            f"- `cdcwire report --full` adds: {SAMPLE - 1} of {SAMPLE} derived cases; "
            "all other benchmarks; larger feeds and more pairs on Spark; larger size workloads; "
            "fresh processes that confirm failures of libraries."
        )


def _missing(each: Json) -> str:
    return f"{each['what']}: {each['why']}" + (f"; {each['install']}" if each["install"] else "")


def _first(lines: list[str], where: str) -> list[str]:
    more = len(lines) - _SHOWN
    return lines if more <= 0 else [*lines[:_SHOWN], f"- and {more} more {where}"]


def _formats(document: Mapping[str, Json]) -> list[str]:
    decoders = [reader for reader in document["readers"] if reader["kind"] == "decoder"]
    scores = [_scores(reader) for reader in decoders]
    libraries = _libraries(document)
    order = {name: place for place, name in enumerate(FORMAT_NAMES)}
    evidence = sorted(document["evidence"], key=lambda each: order.get(each["format"], len(order)))
    rows = [
        (
            each["format"],
            f"{each['cases']:,}",
            f"{each['producer']:,}",
            f"{each['others']:,}",
            f"{len(each['author_only']):,}",
            *(_score(score.get(each["format"])) for score in scores),
            libraries.get(each["format"], "-"),
        )
        for each in evidence
    ]
    names = (reader["name"] for reader in decoders)
    head = ("format", "cases", "from a producer", "confirmed by others", "author only")
    return table((*head, *names, "best of the libraries that people use"), rows)


def _libraries(document: Mapping[str, Json]) -> dict[str, str]:
    """Return the score of the best library for each format. The chapters have the others."""
    by_format: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for reader in document["readers"]:
        if reader["kind"] == "library":
            for name, score in _scores(reader).items():
                if score["asked"]:
                    share = score["passed"] / score["asked"]
                    by_format[name].append((-share, f"{reader['name']} {_score(score)}"))
    return {
        name: min(found)[1] + (f", best of {len(found)}" if len(found) > 1 else "")
        for name, found in by_format.items()
    }


def _scores(reader: Json) -> dict[str, Json]:
    return {score["format"]: score for score in reader["formats"]}


def _score(score: Json | None) -> str:
    return "-" if score is None or not score["asked"] else _of(score["passed"], score["asked"])


def _known_wrong(document: Mapping[str, Json]) -> str:
    found = document["known_wrong"]
    if not found:
        return "not run."
    caught = sum(each["case"] is not None for each in found)
    return f"{_of(caught, len(found))} are caught by a golden case."


def _planted(document: Mapping[str, Json]) -> str:
    found = document["planted"]
    if not found:
        return "not run."
    expected = sum(each["expected"] for each in found)
    reported = sum(each["found"] for each in found)
    unexpected = sum(each["unexpected"] for each in found)
    return (
        f"{_of(reported, expected)} found in {len(found)} comparisons on Spark, {unexpected} "
        "reported that nobody planted."
    )


def _picture(document: Mapping[str, Json]) -> Iterator[str]:
    sizes = document["sizes"]
    if sizes is not None:
        text = f"Bytes per row as a ratio to {sizes['baseline']}"
        yield f"![{text}]({FOLDER}/{sizes['picture']})"
        yield ""


def _chapters(document: Mapping[str, Json]) -> Iterator[str]:
    for status in _STATUSES:
        links = [
            f"[{each['title']}]({FOLDER}/{each['id']}.md)"
            for each in document["chapters"]
            if each["status"] == status
        ]
        if links:
            yield f"- Chapters {_word(status)}: {', '.join(links)}"


def _word(status: str) -> str:
    return f"**{status}**" if status == "failed" else status


def _of(passed: int, asked: int) -> str:
    return f"{passed:,}/{asked:,}"


def _without_double_blanks(lines: list[str]) -> Iterator[str]:
    before = "x"
    for line in lines:
        if line or before:
            yield line
        before = line
