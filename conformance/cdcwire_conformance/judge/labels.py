"""ENUM and SET values: by number, by label, or both. Parts that both sides give are compared."""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import EnumType, SetType
from cdcwire.model.labels import index_of_label, mask_of_labels
from cdcwire.model.text import Json
from cdcwire.model.text.members import INTEGER


def labels_mismatch(
    kind: EnumType | SetType, expected: Mapping[str, Json], given: Mapping[str, Json]
) -> str | None:
    """Return None if both are the same value; else a hint, which may be empty.

    A value given as text alone counts as whichever of number and label is expected.
    """
    members = dict(given)
    text = members.pop("value", None)
    if text is not None and "index" not in members and "label" not in members:
        is_number = "index" in expected and isinstance(text, str) and INTEGER.fullmatch(text)
        members["index" if is_number else "label"] = text
    for name in ("index", "label"):
        if name in members and not isinstance(members[name], str):
            return f"the member {name!r} is text"
    if "index" in members and not INTEGER.fullmatch(members["index"]):
        return "the index is decimal digits"
    both = [name for name in ("index", "label") if name in expected and name in members]
    if both:
        differ = [name for name in both if not _same(kind, name, expected[name], members[name])]
        return None if not differ else f"the {differ[0]} differs" if len(both) > 1 else ""
    if "index" not in members and "label" not in members:
        return "one of the members 'index' and 'label' is required"
    labels = kind.labels or _labels_of(given)
    if labels is None:
        wanted = "index" if "index" in expected else "label"
        return f"the message carries the {wanted}, and the labels are not known"
    known = type(kind)(labels)
    return None if _number(known, expected) == _number(known, members) else ""


def _same(kind: EnumType | SetType, name: str, expected: str, given: str) -> bool:
    if name == "index":
        return int(expected) == int(given)
    if isinstance(kind, SetType):
        return set(expected.split(",")) == set(given.split(","))
    return expected == given


def _labels_of(given: Mapping[str, Json]) -> tuple[str, ...] | None:
    if "type" not in given:
        return None
    kind = parse_kind(given["type"])  # read before, with the same text
    return kind.labels if isinstance(kind, (EnumType, SetType)) else None


def _number(kind: EnumType | SetType, members: Mapping[str, Json]) -> int | None:
    if "index" in members:
        return int(members["index"])
    label = members["label"]
    if isinstance(kind, SetType):
        return mask_of_labels(kind, label)
    number = index_of_label(kind, label)
    return 0 if number is None and not label else number  # MySQL's value for what is no label
