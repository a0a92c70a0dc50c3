"""All pages of the site of results, and its feed of new cases, in Atom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cdcwire.console.visible import visible
from cdcwire.files.local_files import write_whole
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.clauses import pages_folder, read_clauses
from cdcwire_conformance.corpus.derive import SIGN
from cdcwire_conformance.corpus.store import corpus_version, load_cases, retired_ids
from cdcwire_conformance.output.badge import badge_files
from cdcwire_conformance.output.html.render import own_file, render_template
from cdcwire_conformance.output.html.verify_page import witness_names_of
from cdcwire_conformance.output.results.case_pages import (
    Answer,
    answers_by_case,
    case_page,
    index_page,
)
from cdcwire_conformance.output.results.chart import chart_of
from cdcwire_conformance.output.results.history import (
    ASKED,
    Reader,
    Release,
    passed_text,
    readers_of,
    version_order,
)
from cdcwire_conformance.output.results.stored import StoredRun, Unreadable

_COLUMNS = ("Newest", "One before", "Two before")  # releases of a reader in the matrix
_COUNTED = (*ASKED[1:], "not claimed", "skipped", "not run")
_BAD = ("failed", "crashed", "timed out")
_TEXT = 300  # characters of a value
_SECTIONS = {
    "accept": "Valid messages",
    "reject": "Malformed messages",
    "encode": "Events to encode",
}


@dataclass(frozen=True, slots=True)
class Score:
    """A cell of the matrix."""

    text: str
    state: str
    version: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownCases:
    """The cases of this corpus that the runs name, and what else they name."""

    corpus: str
    cases: Mapping[str, Case]
    answers: Mapping[str, list[Answer]]
    retired: Mapping[str, str]


def write_results_site(
    folder: Path,
    runs: Sequence[StoredRun],
    unreadable: Sequence[Unreadable],
    base_url: str,
    progress: Callable[[str], None],
) -> None:
    """Write the site. Raises: OSError, CorpusError, MissingExtraError without Jinja2."""
    readers = readers_of(runs)
    corpus = corpus_version()
    answers = answers_by_case(readers, corpus)
    cases = {case.id: case for case in load_cases() if case.id in answers}
    known = KnownCases(corpus, cases, answers, retired_ids())
    _write(folder, "style.css", own_file("page.css") + own_file("results.css"))
    _write(folder, "index.html", _index(readers, known, runs, unreadable))
    entries = new_cases(cases.values(), cases, runs)
    _write(folder, "new-cases.atom", feed_text(entries, base_url))
    for reader in readers:
        progress(f"reader {visible(reader.name)}")
        _write(folder, f"readers/{reader.slug}.html", reader_page(reader, known))
        for name in reader.formats:
            for extension, text in badge_files(reader.of(name)[0]).items():
                _write(folder, f"badges/{reader.slug}-{name}.{extension}", text)
    _write_cases(folder, known, progress)


def _write_cases(folder: Path, known: KnownCases, progress: Callable[[str], None]) -> None:
    witnesses, clauses = witness_names_of(), read_clauses(pages_folder())
    for name in FORMAT_NAMES:
        own = [case for case in known.cases.values() if case.format == name]
        if not own:
            continue
        progress(f"{len(own)} cases of {name}")
        _write(folder, f"cases/{name}/index.html", index_page(name, own, known.answers))
        for case in own:
            page = case_page(case, known.answers[case.id], witnesses.get(case.id, ()), clauses)
            _write(folder, f"cases/{case.id}.html", page)


def _write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.encode("utf-8", "backslashreplace"))


def score_of(release: Release | None, corpus: str) -> Score:
    """Return the cell of a release."""
    if release is None:
        return Score("", "none")
    run, problem = release.judged, release.newest.problem
    notes = []
    if run is None:
        return Score("not run", "none", release.version)
    if problem:
        notes.append("not run since" if run is not release.newest else "partial")
    elif run.is_partial:
        notes.append("partial")
    if run.corpus != corpus:
        notes.append(f"corpus {run.corpus}")
    is_met = run.results is not None and bool(run.results["passed"]) and not run.is_partial
    return Score(passed_text(run), "good" if is_met else "bad", release.version, tuple(notes))


def _index(
    readers: Sequence[Reader],
    known: KnownCases,
    runs: Sequence[StoredRun],
    unreadable: Sequence[Unreadable],
) -> str:
    formats = [name for name in FORMAT_NAMES if any(name in each.formats for each in readers)]
    newest = [
        (reader, [score_of(next(iter(reader.of(name)), None), known.corpus) for name in formats])
        for reader in readers
    ]
    return render_template(
        "results_index.html",
        title="Results of readers",
        root="",
        corpus=known.corpus,
        day=max(run.last for run in runs),
        readers=readers,
        formats=formats,
        newest=newest,
        tables=[_releases(name, readers, known.corpus) for name in formats],
        case_count=len(known.cases),
        problems=[
            (reader, release.newest)
            for reader in readers
            for release in reader.releases
            if release.newest.problem
        ],
        others=[
            (reader, release.judged)
            for reader in readers
            for release in reader.releases
            if release.judged is not None and release.judged.corpus != known.corpus
        ],
        unreadable=unreadable,
    )


def _releases(
    name: str, readers: Iterable[Reader], corpus: str
) -> tuple[str, Sequence[str], list[tuple[Reader, list[Score], str]]]:
    """Return a format, the columns of its table, and a row for each reader."""
    found = [(reader, reader.of(name)[: len(_COLUMNS)]) for reader in readers if reader.of(name)]
    width = max(len(releases) for _, releases in found)
    rows = []
    for reader, releases in found:
        cells = [score_of(each, corpus) for each in releases]
        cells += [Score("", "none")] * (width - len(cells))
        rows.append((reader, cells, releases[0].change))
    return name, _COLUMNS[:width], rows


def reader_page(reader: Reader, known: KnownCases) -> str:
    """Return the page of a reader."""
    return render_template(
        "results_reader.html",
        title=reader.name,
        root="../",
        reader=reader,
        formats=[_format_part(reader, name, known) for name in reader.formats],
        corpus=known.corpus,
    )


def _format_part(reader: Reader, name: str, known: KnownCases) -> dict[str, object]:
    """Return what the page of a reader shows of one format."""
    releases = reader.of(name)
    run = next((each.judged for each in releases if each.judged is not None), None)
    counted = [
        verdict
        for verdict in _COUNTED
        if any(each.judged and each.judged.count(verdict) for each in releases)
    ]
    return {
        "name": name,
        "releases": [(each, score_of(each, known.corpus)) for each in releases],
        "counted": counted,
        "chart": chart_of(releases),
        "run": run,
        "groups": [] if run is None else list(_groups(run, known)),
        "bugs": [] if run is None else _bugs(run, known),
        "failing": [] if run is None else _failing(run, known),
    }


def _groups(run: StoredRun, known: KnownCases) -> Iterable[dict[str, object]]:
    for group in () if run.results is None else run.results["groups"]:
        first = group["cases"][0]
        yield {
            "section": _SECTIONS.get(group["section"], group["section"]),
            "binding": group.get("binding") is True,
            "count": group["count"],
            "part": " ".join(filter(None, (group["part"], *_texts(group.get("types"))))),
            "expected": group["expected"][:_TEXT],
            "got": group["got"][:_TEXT],
            "first": first,
            "link": _link(first, known),
            "hint": str(group.get("hint", "")),
        }


def _texts(found: Json) -> list[str]:
    return [f"({', '.join(map(str, found))})"] if isinstance(found, list) and found else []


def _link(case_id: str, known: KnownCases) -> str:
    """Return the address of a case's page, empty if the corpus does not have the case."""
    base = case_id.partition(SIGN)[0]
    return f"cases/{base}.html" if base in known.cases else ""


def _failing(run: StoredRun, known: KnownCases) -> list[tuple[str, str, str]]:
    """Return the ids, the addresses and the remarks of the failing cases."""
    return [
        (outcome["id"], link, "" if link else _absence(outcome["id"], known))
        for outcome in run.outcomes
        if outcome["verdict"] in _BAD
        for link in (_link(outcome["id"], known),)
    ]


def _absence(case_id: str, known: KnownCases) -> str:
    """Return why the corpus does not have a case."""
    reason = known.retired.get(case_id.partition(SIGN)[0])
    return f"retired: {reason}" if reason else f"not in corpus {known.corpus}"


def _bugs(run: StoredRun, known: KnownCases) -> list[tuple[str, list[str]]]:
    """Return the known bugs that failing cases show, each with these cases."""
    found: dict[str, list[str]] = {}
    for outcome in run.outcomes:
        case = known.cases.get(outcome["id"].partition(SIGN)[0])
        if case is not None and outcome["verdict"] in _BAD:
            for bug in case.bugs:
                cases = found.setdefault(bug, [])
                if case.id not in cases:
                    cases.append(case.id)
    return sorted(found.items())


_MOST_ENTRIES = 50
_MOST_LINKS = 200  # of one entry
_FEED = "cdcwire: new cases"


@dataclass(frozen=True, slots=True)
class NewCases:
    """The cases of one format that came with one version of the corpus.

    ``day``: the first day on which a run used this version.
    """

    id: str
    version: str
    format: str
    day: str
    cases: Sequence[Case]
    shown: Sequence[Case]


def new_cases(
    cases: Iterable[Case], with_page: Collection[str], runs: Iterable[StoredRun]
) -> list[NewCases]:
    """Return the entries, the newest version first. ``with_page``: ids that the site shows."""
    days = _days(runs)
    grouped: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        if case.id in with_page:
            grouped.setdefault((case.since, case.format), []).append(case)
    ordered = sorted(grouped, key=lambda key: version_order(key[0]), reverse=True)
    return [
        NewCases(
            f"urn:uuid:{uuid5(NAMESPACE_URL, f'cdcwire:corpus/{version}/{name}')}",
            version,
            name,
            _day(days, version),
            grouped[version, name],
            grouped[version, name][:_MOST_LINKS],
        )
        for version, name in ordered[:_MOST_ENTRIES]
    ]


def _days(runs: Iterable[StoredRun]) -> Mapping[str, str]:
    """Return the first day of each version of the corpus among the runs."""
    days: dict[str, str] = {}
    for run in runs:
        days[run.corpus] = min(days.get(run.corpus, run.date), run.date)
    return days


def _day(days: Mapping[str, str], version: str) -> str:
    """Return the first day on which this version, or a later one, was used."""
    reached = [day for known, day in days.items() if version_order(known) >= version_order(version)]
    return min(reached or days.values())


def feed_text(entries: Sequence[NewCases], base_url: str) -> str:
    """Return the feed. ``base_url``: the address of the site; links are relative without it."""
    return render_template(
        "new-cases.atom",
        entries=entries,
        title=_FEED,
        id=f"urn:uuid:{uuid5(NAMESPACE_URL, _FEED)}",
        base_url=base_url,
        updated=max((entry.day for entry in entries), default="1970-01-01"),
    )
