"""Candidates for the format of a sample of messages: guesses, confirmed or not by decoding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.guess import SURENESS, Guess, OptionValues, Part, Sureness
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire.registry import FORMAT_NAMES, get_format

_MOST_ALTERNATIVES = 48
_TRIED_BYTES = 1 << 18  # of the messages on which alternatives are tried
_TRIED_MESSAGES = 32
_MOST_TABLES = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """A message of unknown origin, or a part of it.

    ``readings``: the same bytes as what they may be, a message of a queue or a file of a prefix.
    ``is_cut``: the end of the file is missing.
    """

    where: str
    readings: tuple[Message, ...]
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A format that the messages may have.

    ``where``, ``part`` and ``offset`` place the evidence. ``fitting``: how many messages show signs
    of the format; ``decoded``: how many its decoder accepts with ``options``. ``problem``: the
    first error of the decoder. ``missing``: what the decoder needs in addition to the bytes and did
    not have. ``tables``: those of the first events. ``batch``: the most events of one message.
    """

    format: str
    sureness: Sureness
    evidence: str
    where: str
    part: Part
    offset: int
    options: OptionValues
    facts: OptionValues
    fitting: int
    decoded: int
    problem: str | None = None
    missing: str | None = None
    tables: tuple[str, ...] = ()
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Identification:
    """The candidates for the format of messages, the likeliest first. ``count``: of messages."""

    candidates: tuple[Candidate, ...]
    count: int

    @property
    def found(self) -> Candidate | None:
        """The format that was identified; None if it is not clear."""
        first = self.candidates[0] if self.candidates else None
        return None if first is None or first.sureness == "possible" else first


def identify_messages(samples: Sequence[Sample], context: Context) -> Identification:
    """Return which format the messages have.

    ``context``: what is known in addition to the bytes. Its options are kept as they are.
    """
    found = [
        candidate
        for name in FORMAT_NAMES
        if (candidate := _candidate(get_format(name), samples, context)) is not None
    ]
    found.sort(key=_rank, reverse=True)
    return Identification(_settled(found), len(samples))


def _rank(candidate: Candidate) -> tuple[int, int, int]:
    return SURENESS.index(candidate.sureness), candidate.decoded, candidate.fitting


def _settled(found: list[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates; none is sure if another format is likely as well."""
    if any(each.decoded or each.sureness != "possible" for each in found):
        found = [each for each in found if not _is_refuted(each)]
    if len(found) < 2 or found[1].sureness == "possible":
        return tuple(found)
    first, second = found[0], found[1]
    is_ahead = SURENESS.index(first.sureness) > SURENESS.index(second.sureness)
    first_sureness: Sureness = "likely" if is_ahead else "possible"
    rest = [replace(each, sureness="possible") for each in found[1:]]
    return (replace(first, sureness=first_sureness), *rest)


def _is_refuted(candidate: Candidate) -> bool:
    """Return whether the decoder of a format that is only possible refuses every message."""
    return candidate.sureness == "possible" and not candidate.decoded and candidate.missing is None


@dataclass(frozen=True, slots=True)
class _Fit:
    """A message with signs of a format."""

    sample: Sample
    message: Message
    guess: Guess


@dataclass(slots=True)
class _Decoded:
    """The result of decoding with one set of options."""

    accepted: int = 0
    batch: int = 0
    tables: dict[str, None] = field(default_factory=dict)
    problem: str | None = None
    errors: set[int] = field(default_factory=set)
    known: Context = NO_CONTEXT


def _candidate(format_: Format, samples: Sequence[Sample], context: Context) -> Candidate | None:
    fits = [fit for sample in samples if (fit := _fit(format_, sample)) is not None]
    if not fits:
        return None
    shown = {**_shown([fit.guess for fit in fits]), **context.options}
    best = _best_options(format_, fits, shown, context)
    result = _decode(format_, fits, best, context)
    missing = _missing(format_, result.known) if result.errors else None
    levels = [
        _level(fit.guess, index in result.errors, missing is not None)
        for index, fit in enumerate(fits)
    ]
    strongest = max(range(len(fits)), key=lambda index: levels[index])
    level = levels[strongest]
    is_whole = len(fits) == len(samples) and (missing is not None or not result.errors)
    if not is_whole:
        level = min(level, 1 if 2 * len(fits) > len(samples) else 0)
    fit = fits[strongest]
    return Candidate(
        format_.name,
        SURENESS[level],
        fit.guess.evidence,
        fit.sample.where,
        fit.guess.part,
        fit.guess.offset,
        {name: value for name, value in best.items() if value != _default(format_, name)},
        _facts([fit.guess for fit in fits]),
        len(fits),
        result.accepted,
        result.problem,
        missing,
        tuple(islice(result.tables, _MOST_TABLES)),
        result.batch,
    )


def _fit(format_: Format, sample: Sample) -> _Fit | None:
    for message in sample.readings:
        if _carries(format_, message):
            guess = format_.identify(message)
            if guess is not None:
                return _Fit(sample, message, guess)
    return None


def _carries(format_: Format, message: Message) -> bool:
    if isinstance(message, KafkaMessage):
        return "queue" in format_.carriers
    return "storage" in format_.carriers or format_.schemas is not None


def _level(guess: Guess, has_error: bool, is_excused: bool) -> int:
    """Return how sure one message makes a format, as an index into ``SURENESS``."""
    if not has_error:
        return SURENESS.index(guess.if_decoded)
    alone = SURENESS.index(guess.alone)
    return alone if is_excused else min(alone, 1)


def _shown(guesses: Iterable[Guess]) -> dict[str, OptionValue]:
    """Return the settings that messages show; where they differ, what most show."""
    counts: dict[str, Counter[OptionValue]] = {}
    for guess in guesses:
        for name, value in guess.options.items():
            counts.setdefault(name, Counter())[value] += 1
    return {name: count.most_common(1)[0][0] for name, count in counts.items()}


def _facts(guesses: Iterable[Guess]) -> dict[str, OptionValue]:
    found: dict[str, dict[str, None]] = {}
    for guess in guesses:
        for name, value in guess.facts.items():
            found.setdefault(name, {}).update(dict.fromkeys(value.split(", ")))
    return {
        name: ", ".join(islice(values, _MOST_TABLES)) + (", …" * (len(values) > _MOST_TABLES))
        for name, values in found.items()
    }


def _default(format_: Format, name: str) -> OptionValue | None:
    return next((each.default for each in format_.options if each.name == name), None)


def _missing(format_: Format, context: Context) -> str | None:
    """Return the context that decoding may have lacked."""
    if format_.schemas is not None and not context.schemas:
        return "schemas (--schema)"
    if format_.needs_tables and not context.tables:
        return "table definitions (--ddl or --tables)"
    return None


def _best_options(
    format_: Format, fits: Sequence[_Fit], shown: OptionValues, context: Context
) -> OptionValues:
    """Return the options with which most messages are decoded, tried on the first ones."""
    sets = _alternatives(fits, shown, context)
    if len(sets) == 1:
        return sets[0]
    tried = _first(fits)
    best, most = sets[0], -1
    for options in sets:
        accepted = _decode(format_, tried, options, context, fits).accepted
        if accepted > most:
            best, most = options, accepted
        if accepted == len(tried):
            break
    return best


def _alternatives(
    fits: Sequence[_Fit], shown: OptionValues, context: Context
) -> list[OptionValues]:
    """Return the sets of options to try, those of most messages first."""
    known: list[OptionValues] = []
    counts: list[int] = []
    for fit in fits:
        for alternative in fit.guess.alternatives:
            options = {**shown, **alternative, **context.options}
            if options in known:
                counts[known.index(options)] += 1
            elif len(known) < _MOST_ALTERNATIVES:
                known.append(options)
                counts.append(1)
    order = sorted(range(len(known)), key=lambda index: -counts[index])
    return [known[index] for index in order]


def _first(fits: Sequence[_Fit]) -> Sequence[_Fit]:
    size = 0
    for index, fit in enumerate(fits[:_TRIED_MESSAGES]):
        size += len(fit.message.value or b"")
        if size > _TRIED_BYTES:
            return fits[: max(index, 1)]
    return fits[:_TRIED_MESSAGES]


def _decode(
    format_: Format,
    fits: Sequence[_Fit],
    options: OptionValues,
    context: Context,
    feed: Sequence[_Fit] | None = None,
) -> _Decoded:
    """Decode messages. ``feed``: all messages, whose schema files are for these as well."""
    found = _Decoded()
    given = replace(context, options=options)
    try:
        known = format_.prepared((fit.message for fit in feed or fits), given)
    except (OptionError, DecodeError) as error:
        found.errors.update(range(len(fits)))
        found.problem = str(error)
        return found
    found.known = known
    for index, fit in enumerate(fits):
        problem = _read(format_, fit, known, found)
        if problem is None:
            found.accepted += 1
        else:
            found.errors.add(index)
            found.problem = found.problem or f"{fit.sample.where}: {problem}"
    return found


def _read(format_: Format, fit: _Fit, context: Context, found: _Decoded) -> str | None:
    """Decode one message. Returns: the error, if any."""
    count = 0
    try:
        for event in format_.to_events(fit.message, context=context):
            count += 1
            _note_table(event, found.tables)
    except TruncatedError as error:
        return None if fit.sample.is_cut and count else str(error)
    except (DecodeError, OptionError) as error:
        return str(error)
    found.batch = max(found.batch, 0 if isinstance(fit.message, StoredFile) else count)
    return None


def _note_table(event: Event, tables: dict[str, None]) -> None:
    if isinstance(event, RowChange) and len(tables) <= _MOST_TABLES:
        schema, name = event.table.schema, event.table.name or ""
        tables[name if schema is None else f"{schema}.{name}"] = None
