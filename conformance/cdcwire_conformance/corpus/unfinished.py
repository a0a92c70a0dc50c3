"""Cases that are not finished yet: the members that can be derived, and a list of those missing.

An author gives bytes, expected events, clauses and the origin. All else has a default or follows
from the place of the file. An expected value is never taken from the reference: a skeleton has the
form of the events, and a blank for each value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from cdcwire.model.events import Path, path_text
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.files import CorpusFiles

DEFAULT_LEVEL: Literal["should"] = "should"
_NEEDED = ("id", "title", "level", "expect", "clause", "origin", "since", "messages")
_VALUE_MEMBERS = frozenset(
    {"value", "bytes", "index", "label", "items", "entries", "fields", "unavailable"}
)
_NUMBERED = re.compile(r"\.([0-9]+)\.(key|value)\.bin")


def completed(document: Json, where: str, version: str, corpus: CorpusFiles) -> Json:
    """Return a case's document with the members that its author need not write.

    ``where``: the name of its file. ``version``: of the corpus.
    """
    if not isinstance(document, Mapping) or not missing_of(document):
        return document
    case_id = where.removesuffix(".json")
    clauses = document.get("clause") or ()
    is_reject = document.get("expect", "reject" if "error" in document else "") == "reject"
    derived: dict[str, Json] = {
        "id": case_id,
        "title": title_of(case_id),
        "level": "may" if "choice" in document else DEFAULT_LEVEL,
        "expect": "reject" if is_reject else "accept",
        "since": version,
    }
    members = {**derived, **{name: each for name, each in document.items() if not _is_empty(each)}}
    if is_reject and clauses:
        members["error"] = {"clause": clauses[0], **(_with_values(document.get("error")))}
    if "messages" not in members:
        members["messages"] = messages_near(case_id, corpus)
    if "events" in document and document["events"] is not None:
        members["events"] = document["events"]
    return members


def title_of(case_id: str) -> str:
    """Return the title of a case by its name: ``year-2024`` is "year 2024"."""
    return case_id.rpartition("/")[2].replace("-", " ").replace("_", " ")


def messages_near(case_id: str, corpus: CorpusFiles) -> list[Json]:
    """Return the messages of a case by the names of its files; an empty list without any.

    The path of a file of a storage prefix is in no name, so such a case names its messages itself.
    """
    found: dict[int, dict[str, Json]] = {}
    for name in corpus.names(case_id.partition("/")[0]):
        if not name.startswith(f"{case_id}."):
            continue
        file = name.rpartition("/")[2]
        if name == f"{case_id}.bin":
            return [{"key": None, "value": file}]
        numbered = _NUMBERED.fullmatch(name.removeprefix(case_id))
        if numbered is not None:
            message = found.setdefault(int(numbered[1]), {"key": None, "value": None})
            message[numbered[2]] = file
    return [found[number] for number in sorted(found)]


def missing_of(document: Mapping[str, Json]) -> tuple[Path, ...]:
    """Return the paths of all members that a case still needs, and of its blank values."""
    missing: list[Path] = [(name,) for name in _NEEDED if _is_empty(document.get(name))]
    if document.get("expect") == "reject":
        if "clause" not in (document.get("error") or {}):
            missing.append(("error",))
    elif document.get("events") is None:
        missing.append(("events",))
    elif isinstance(document["events"], list):
        for index, event in enumerate(document["events"]):
            missing += _blanks_of(event, ("events", index))
    return tuple(missing)


def missing_text(missing: Iterable[Path]) -> str:
    """Return the missing members for people; the blanks of one object are counted together."""
    counts = Counter(path[:-1] for path in missing if len(path) > 1)
    words = [str(path[0]) for path in missing if len(path) == 1]
    for above, count in counts.items():
        words.append(f"{count} blank value{'s' * (count > 1)} in {path_text(above)}")
    return ", ".join(words)


def blank_event(event: Mapping[str, Json]) -> dict[str, Json]:
    """Return the form of an event: names, types and operation stay, each value is a blank."""
    form = dict(event)
    for name in ("before", "after"):
        if isinstance(form.get(name), Mapping):
            form[name] = {column: _blank(value) for column, value in form[name].items()}
    for name in ("position", "extra"):
        if name in form:
            form[name] = {member: {} for member in form[name]}
    if "query" in form:
        form["query"] = {}
    return form


def _blank(value: Json) -> dict[str, Json]:
    kind = value.get("type") if isinstance(value, Mapping) else None
    return {} if kind is None else {"type": kind}


def _blanks_of(event: Json, path: Path) -> Iterator[Path]:
    """Yield the paths of the values of an event that are still blank."""
    if not isinstance(event, Mapping):
        return
    if _is_blank(event.get("query")):
        yield (*path, "query")
    for name in ("position", "extra", "before", "after"):
        members = event.get(name)
        for member, value in members.items() if isinstance(members, Mapping) else ():
            if _is_blank(value):
                yield (*path, name, member)


def _is_blank(value: Json) -> bool:
    return isinstance(value, Mapping) and not _VALUE_MEMBERS.intersection(value)


def _is_empty(value: Json) -> bool:
    return value is None or value in ("", [], {})


def _with_values(error: Json) -> dict[str, Json]:
    members = error.items() if isinstance(error, Mapping) else ()
    return {name: value for name, value in members if not _is_empty(value)}
