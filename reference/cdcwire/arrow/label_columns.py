"""Columns of ENUM and SET: labels where they are known, else numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa

from cdcwire.arrow.building import Build, Convert, plain
from cdcwire.connect.labels import declared_label, declared_labels, may_be_label
from cdcwire.model.kinds import EnumType, SetType, mask_of_labels

_MAX_KNOWN = 1 << 12


def enum_builder(wire: EnumType, canonical: EnumType, target: pa.DataType) -> Build | None:
    """Return what builds ENUM values; None if labels would be needed that are not known.

    Index 0 is MySQL's value for what it could not store; its label is the empty text.
    """
    labels = canonical.labels if wire.labels is None else wire.labels
    is_label, wants_label = wire.form == "label", pa.types.is_string(target)
    if labels is None:
        return plain(target) if is_label == wants_label else None
    by_number = dict(enumerate(("", *labels)))
    if is_label and wants_label:
        return _known(partial(_declared, labels), plain(target))
    if wants_label:
        return _known(by_number.get, plain(target))
    if is_label:
        return _known({label: number for number, label in by_number.items()}.get, plain(target))
    return plain(target)


def set_builder(wire: SetType, canonical: SetType, target: pa.DataType) -> Build | None:
    """Return what builds SET values, labels in the order of the definition; None as above."""
    labels = canonical.labels if wire.labels is None else wire.labels
    is_label, wants_label = wire.form == "label", pa.types.is_string(target)
    if labels is None:
        return (plain if is_label else _masks)(target) if is_label == wants_label else None
    if not wants_label and not is_label:
        return _masks(target)
    kind = SetType(labels)
    known: tuple[str, ...] = labels

    def mask_of(value: Any) -> int | None:
        return mask_of_labels(kind, declared_labels(known, value) if is_label else value)

    if not wants_label:
        return _known(mask_of, _masks(target))

    def text(value: Any) -> str | None:
        mask = mask_of(value)
        if mask is None or mask < 0 or mask >> len(known):
            return None
        return ",".join(label for bit, label in enumerate(known) if mask >> bit & 1)

    return _known(text, plain(target))


def _declared(labels: tuple[str, ...], value: str) -> str | None:
    """Return a label as it is declared, or None if it is not one of a column with these labels."""
    label = declared_label(labels, value)
    return label if label in ("", *labels) or may_be_label(labels, value) else None


def _masks(target: pa.DataType) -> Build:
    if pa.types.is_decimal(target):
        return lambda values: pa.array(values, pa.uint64()).cast(target)
    return plain(target)


class _Known(dict[Any, Any]):
    """The converted values so far; a column of labels has few of them."""

    def __init__(self, convert: Convert) -> None:
        super().__init__({None: None})
        self.convert = convert

    def __missing__(self, value: Any) -> Any:
        found = self.convert(value)
        if found is None:
            raise ValueError("it is not one of the column's labels")
        if len(self) >= _MAX_KNOWN:
            self.clear()
            self[None] = None
        self[value] = found
        return found


def _known(convert: Convert, build: Build) -> Build:
    """Return a builder that converts values; what ``convert`` gives None for raises ValueError."""
    known = _Known(convert)
    return lambda values: build(list(map(known.__getitem__, values)))
