"""Samples of a format: tables, rows or streams, settings, and the messages that they become."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hypothesis import reject
from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import Option, OptionError, OptionValue
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, ProgressKind, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire_generators.domain import Domain, fullest_options, source_domain_of
from cdcwire_generators.features import features_of_sample, narrowed, narrowed_options
from cdcwire_generators.formats import get_generators
from cdcwire_generators.messages import definitions_for, encoded
from cdcwire_generators.samples import Sample
from cdcwire_generators.storage import is_stored
from cdcwire_generators.strategies.rows import row_changes
from cdcwire_generators.strategies.streams import change_streams
from cdcwire_generators.strategies.tables import tables

_STORED_PROGRESS: ProgressKind = "checkpoint"
_MOST_EVENTS = 6
_IS_KEPT = st.sampled_from((False, True, True, True))


@st.composite
def samples(draw: st.DrawFn, through: Format, *, without: Collection[str] = ()) -> Sample:
    """Give samples of messages that producers send in a format.

    A sample shrinks towards one row with one column, and no options. ``without``: features that no
    sample needs.
    """
    options = draw(_options(through, without))
    domain = narrowed(source_domain_of(through), without)
    if through.stored is not None and is_stored(through, options) and domain.progress is not None:
        domain = replace(domain, progress=_STORED_PROGRESS)
    events, known = draw(_smaller(*draw(st.one_of(_rows(domain), _streams(domain)))))
    found = _sample(through, options, events, known)
    if found is None or not set(features_of_sample(found, through)).isdisjoint(without):
        reject()
    return found


def _options(
    through: Format, without: Collection[str]
) -> st.SearchStrategy[Mapping[str, OptionValue]]:
    fullest = narrowed_options(fullest_options(through), without)
    names = [option.name for option in through.options if option.name not in without]
    choices: list[st.SearchStrategy[Mapping[str, OptionValue]]] = [st.just({})]
    if fullest:
        choices.append(st.just(fullest))
    return st.one_of(*choices, option_settings(through, names=names))


@st.composite
def _rows(draw: st.DrawFn, domain: Domain) -> tuple[tuple[Event, ...], tuple[Table, ...]]:
    table = draw(tables(domain=domain, max_columns=4))
    return (draw(row_changes(table, domain=domain)),), (table,)


def _streams(domain: Domain) -> st.SearchStrategy[tuple[tuple[Event, ...], tuple[Table, ...]]]:
    streams = change_streams(max_tables=2, max_events=_MOST_EVENTS, domain=domain)
    return streams.map(lambda stream: (stream.events, stream.tables))


@st.composite
def _smaller(
    draw: st.DrawFn, events: tuple[Event, ...], tables_: tuple[Table, ...]
) -> tuple[tuple[Event, ...], tuple[Table, ...]]:
    """Give some of the events, without some columns of their tables; one of each is left.

    One small draw drops an event or a column. A failure therefore shrinks to a delete alone,
    without its insert.
    """
    events = tuple(event for event in events if draw(_IS_KEPT)) or events[-1:]
    kept: dict[tuple[str | None, str | None], frozenset[str]] = {}
    for table in tables_:
        names = [column.name for column in table.columns or ()]
        left = frozenset(name for name in names if draw(_IS_KEPT))
        kept[table.schema, table.name] = left or frozenset(names[:1])
    return (
        tuple(
            _cut_row(event, kept[event.table.schema, event.table.name])
            if isinstance(event, RowChange)
            else event
            for event in events
        ),
        tuple(_cut_table(table, kept[table.schema, table.name]) for table in tables_),
    )


def _cut_row(row: RowChange, kept: frozenset[str]) -> RowChange:
    before, after = (
        None if image is None else Image.of(pair for pair in image.pairs if pair[0].name in kept)
        for image in (row.before, row.after)
    )
    return replace(row, table=_cut_table(row.table, kept), before=before, after=after)


def _cut_table(table: Table, kept: frozenset[str]) -> Table:
    columns, key = table.columns, table.key
    return replace(
        table,
        columns=None if columns is None else tuple(each for each in columns if each.name in kept),
        key=None if key is None else tuple(name for name in key if name in kept),
    )


def _sample(
    through: Format,
    options: Mapping[str, OptionValue],
    events: tuple[Event, ...],
    tables_: tuple[Table, ...],
) -> Sample | None:
    """Return a sample; None for events that the format does not carry under these options."""
    try:
        messages = tuple(encoded(events, through, options, tables=tables_))
    except (EncodeError, OptionError):
        return None
    known = definitions_for(events, through, options, tables_)
    context = Context(options, known if through.needs_tables else ())
    context = through.prepared(messages, context)
    read = tuple(
        event for message in messages for event in through.to_events(message, context=context)
    )
    return Sample(options, known or tables_, events, messages, read) if messages else None


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
