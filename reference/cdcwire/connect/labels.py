"""The labels of Debezium's Enum and EnumSet, in the parameter ``allowed`` and in values.

A comma of a label, and a backslash, has a backslash before it. This holds for the parameter and for
rows of the log. Rows of a snapshot have the label as it is declared.
Source: measured with the MariaDB connector 3.5.0.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_PART = re.compile(r"\\.|.", re.DOTALL)  # of labels: one character, with its backslash
_ESCAPED = re.compile(r"\\([,\\])")
# PostgreSQL's connector writes a backslash as it is. One that would be read otherwise is escaped.
_TO_ESCAPE = re.compile(r",|\\(?=[,\\]|\Z)")
_ALL = re.compile(r"[,\\]")


def read_labels(allowed: str) -> tuple[str, ...]:
    """Return the labels of the parameter ``allowed``: a comma of a label has a backslash before it.

    So has a backslash of a label.
    """
    labels = [""]
    for part in _PART.findall(allowed):
        if part == ",":
            labels.append("")
        else:
            labels[-1] += part
    return tuple(map(_unescaped, labels))


def write_labels(labels: tuple[str, ...], *, escapes_all: bool = False) -> str:
    """Return labels as the parameter ``allowed`` has them.

    ``escapes_all``: each backslash has one before it, not only those that would be misread.
    """
    if escapes_all:
        return ",".join(map(escaped_label, labels))
    return ",".join(_TO_ESCAPE.sub(r"\\\g<0>", label) for label in labels)


def escaped_label(label: str) -> str:
    """Return a label with a backslash before each comma and backslash."""
    return _ALL.sub(r"\\\g<0>", label)


def _unescaped(label: str) -> str:
    return _ESCAPED.sub(r"\1", label)


def declared_label(labels: Collection[str], value: str) -> str:
    """Return a label; rows of the log have it with the backslashes of the parameter."""
    plain = _unescaped(value)
    return plain if value not in labels and plain in labels else value


def declared_labels(labels: Collection[str], value: str) -> str:
    """Return the joined labels of a SET, each as ``declared_label`` returns it."""
    return ",".join(declared_label(labels, label) for label in value.split(","))


def may_be_label(labels: tuple[str, ...], value: str) -> bool:
    """Return whether a value may be a label of a list that was split at its commas.

    Some producers do not escape commas of labels. ``a,b,c`` may be the list of ``a,b`` and ``c``.
    """
    return any(f",{value}," in f",{text}," for text in _joined(labels))


def may_be_same_labels(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return whether one text, split at other commas, may give both lists of labels."""
    return not _joined(ours).isdisjoint(_joined(theirs))


def _joined(labels: tuple[str, ...]) -> frozenset[str]:
    """Return the texts that a producer may have for a list of labels."""
    return frozenset({",".join(labels), ",".join(map(escaped_label, labels)), write_labels(labels)})
