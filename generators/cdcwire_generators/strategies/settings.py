"""Settings of the producer, as a format's options allow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.options import Option, OptionError, OptionValue
from cdcwire.format import Format
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType
from cdcwire_generators.formats import get_generators

# Values of options that several formats have and that do not list theirs.
_VALUES: dict[str, tuple[OptionValue, ...]] = {
    "max-message-bytes": (10_485_760, 1_000_000),
    "max-batch-size": (16, 1, 2, 3, 1000),
    "time-zone": ("", "+00:00", "+08:00"),
    "claim-check-storage-uri": ("", "s3://bucket/prefix", "file:///claims/"),
    "large-message-handle-compression": ("none",),  # the others need functions from outside
    "terminator": ("\r\n", "\n", "\r", "\n\n", "END\n", "|"),
    "file-index-digit": (20, 6, 10),
    "file-size": (67_108_864, 1, 200),
}
# What a topic is when nothing is said of it.
_SOME_TABLE = Table("t", "test", columns=(Column("c", IntType(64)),), key=())


def option_settings(
    of: Format, *, names: Sequence[str] | None = None, with_lossy: bool = False
) -> st.SearchStrategy[Mapping[str, OptionValue]]:
    """Give settings of a format. ``names``: only these options.

    ``with_lossy``: also those through which a round trip loses or adds something.
    An option that is not drawn has its default. Settings that the format refuses are not given:
    those of CSV that can't be read back, and those that need one another. A strict reader
    takes what is written with the others.
    """
    known = {option.name: option for option in of.options}
    odd = set(names or ()) - set(known)
    if odd:
        raise ValueError(f"{of.name} has no option {', '.join(sorted(odd))}")
    chosen = [known[name] for name in known if names is None or name in names]
    drawn = st.fixed_dictionaries({}, optional={o.name: _values(of, o, with_lossy) for o in chosen})
    return drawn.filter(lambda options: _is_taken(of, options))


def _is_taken(of: Format, options: Mapping[str, OptionValue]) -> bool:
    if not get_generators(of.name).is_read(options):
        return False
    try:
        list(of.from_events((), context=Context(options, (_SOME_TABLE,))))
    except OptionError:
        return False
    return True


def _values(of: Format, option: Option, with_lossy: bool) -> st.SearchStrategy[OptionValue]:
    known = get_generators(of.name)
    values = {**_VALUES, **known.option_values}.get(option.name)
    if with_lossy and option.name in known.lossy_values:
        values = (*(values or ()), *known.lossy_values[option.name])
    if values is not None:
        return st.sampled_from(values)
    if isinstance(option.default, bool):
        return st.booleans()
    if option.values is not None:
        return st.sampled_from(option.values)
    return st.just(option.default)
