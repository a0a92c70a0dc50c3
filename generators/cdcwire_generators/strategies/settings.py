"""Settings of the producer, as a format's options allow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from cdcwire.format import Format, Option, OptionValue

# What can't be drawn from an option's own description: sizes that matter, and names.
_VALUES: dict[str, tuple[OptionValue, ...]] = {
    "max-message-bytes": (10_485_760, 1_000_000),
    "max-batch-size": (16, 1, 2, 3, 1000),
    "time-zone": ("", "+00:00", "+08:00"),
    "claim-check-storage-uri": ("", "s3://bucket/prefix", "file:///claims/"),
    "large-message-handle-compression": ("none",),  # the others need functions from outside
}


def option_settings(
    of: Format, *, names: Sequence[str] | None = None
) -> st.SearchStrategy[Mapping[str, OptionValue]]:
    """Give settings of a format; of the options in ``names`` only, where told.

    An option that is not drawn has its default.
    """
    known = {option.name: option for option in of.options}
    odd = set(names or ()) - set(known)
    if odd:
        raise ValueError(f"{of.name} has no option {', '.join(sorted(odd))}")
    chosen = [known[name] for name in known if names is None or name in names]
    return st.fixed_dictionaries({}, optional={each.name: _values(each) for each in chosen})


def _values(option: Option) -> st.SearchStrategy[OptionValue]:
    if option.name in _VALUES:
        return st.sampled_from(_VALUES[option.name])
    if isinstance(option.default, bool):
        return st.booleans()
    if option.values is not None:
        return st.sampled_from(option.values)
    return st.just(option.default)
