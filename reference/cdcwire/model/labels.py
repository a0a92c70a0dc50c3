"""ENUM and SET values between their two forms: number, and label."""

from __future__ import annotations

from cdcwire.model.kinds import EnumType, SetType, Value


def index_of_label(kind: EnumType, value: Value) -> int | None:
    """Return the index, from 1, of an ENUM value in either form; None if it is not in the ENUM.

    Raises: ValueError when the kind does not have the labels that are needed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    labels = _labels(kind)
    return labels.index(value) + 1 if value in labels else None


def mask_of_labels(kind: SetType, value: Value) -> int | None:
    """Return the bit mask of a SET value in either form; None if it is not a value of the SET.

    Raises: ValueError when the kind does not have the labels that are needed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    if value == "":
        return 0
    labels = _labels(kind)
    chosen = value.split(",")
    if not all(label in labels for label in chosen) or len(set(chosen)) < len(chosen):
        return None
    return sum(1 << labels.index(label) for label in chosen)


def _labels(kind: EnumType | SetType) -> tuple[str, ...]:
    if kind.labels is None:
        raise ValueError("a label has no number as long as the column's labels are not known")
    return kind.labels
