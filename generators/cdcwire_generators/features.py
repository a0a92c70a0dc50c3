"""The features of a format that a sample needs, and the domain that a decoder without some has.

Some features have a general meaning: columns of a type, schema changes, a setting of that name. The
format's module declares the others in ``FormatGenerators.features``. A valid message never needs a
feature that refuses something.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire_generators.domain import Domain
from cdcwire_generators.formats import get_generators
from cdcwire_generators.samples import (
    Need,
    Sample,
    has_kinds,
    has_partitions,
    has_progress,
    has_schema_changes,
    never,
)

# The kinds of values that a feature is about.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "unsigned": tuple(f"int{bits} unsigned" for bits in (8, 16, 24, 32, 64)),
    "float": ("float32", "float64", "float not finite"),
    "decimal": ("decimal", "decimal not finite"),
    "text": ("text", "text ill-formed"),
    "bytes": ("bytes",),
    "date": ("date", "date as count"),
    "time": ("time", "time as count"),
    "datetime": ("datetime", "datetime as count"),
    "timestamp": ("timestamp", "timestamp as count", "timestamp with zone"),
    "year": ("year",),
    "bit": ("bit",),
    "enum": ("enum by index", "enum by label"),
    "set": ("set by index", "set by label"),
    "json": ("json",),
    "vector": ("vector",),
    "array": ("array",),
    "map": ("map",),
    "struct": ("struct",),
    "unavailable": ("unavailable",),
}
_PROGRESS = ("resolved", "checkpoint", "watermark", "heartbeat")
_GENERAL: Mapping[str, Need] = {
    **{name: has_kinds(*kinds) for name, kinds in _KINDS.items()},
    **dict.fromkeys(_PROGRESS, has_progress),
    "ddl": has_schema_changes,
    "partition": has_partitions,
}
_REFUSES = "refuses "


def need_of(feature: str, through: Format) -> Need | None:
    """Return what says whether a sample needs a feature; None if nothing says so.

    A testee declines the members of events (``key``, ``position``) for comparing only.
    """
    own = get_generators(through.name).features.get(feature)
    if own is not None:
        return own
    if through.features[feature].startswith(_REFUSES) or feature in ("position", "key", "op"):
        return never
    return _need_of_option(feature, through) or _GENERAL.get(feature)


def _need_of_option(feature: str, through: Format) -> Need | None:
    """Return the need of a feature that has the name of an option, of its value or of both."""
    for option in through.options:
        default = option.default
        if feature == option.name:
            return lambda sample, name=option.name, default=default: (  # type: ignore[misc]
                sample.options.get(name, default) != default
            )
        for value in option.values or ():
            if feature in (f"{option.name} {value}", value) and feature not in _KINDS:
                return lambda sample, name=option.name, value=value: (  # type: ignore[misc]
                    sample.options.get(name) == value
                )
    return None


def features_of_sample(sample: Sample, through: Format) -> tuple[str, ...]:
    """Return the features that a decoder needs to read a sample, sorted."""
    needs = ((feature, need_of(feature, through)) for feature in through.features)
    return tuple(sorted(feature for feature, need in needs if need is not None and need(sample)))


def choices_of_sample(sample: Sample, through: Format) -> tuple[str, ...]:
    """Return the subjects that the format leaves open and that a sample has."""
    needs = get_generators(through.name).choices
    return tuple(subject for subject, need in needs.items() if need(sample))


def narrowed(domain: Domain, without: Collection[str]) -> Domain:
    """Return a domain without the values and events that a decoder declines."""
    declined = {kind for feature in without for kind in _KINDS.get(feature, ())}
    has_progress = without and not set(_PROGRESS).isdisjoint(without)
    return replace(
        domain,
        kinds=domain.kinds - declined,
        progress=None if has_progress else domain.progress,
        has_schema_changes=domain.has_schema_changes and "ddl" not in without,
    )


def narrowed_options(
    options: Mapping[str, OptionValue], without: Collection[str]
) -> dict[str, OptionValue]:
    """Return the options whose names are not features that a decoder declines."""
    return {name: value for name, value in options.items() if name not in without}
