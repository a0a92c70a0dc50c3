"""How fast rows are encoded: fast encoders against json.dumps and csv.writer, and against plain.

Run as ``python -m benchmarks.encode [--quick] [--json FILE]``. All formats with a fast encoder are
measured, with 256 rows per message where the format has batches. Both encoders give the same
messages, which is asserted first. The peer writes the same values: ``json.dumps`` the rows of Open
Protocol as dictionaries that are ready, ``csv.writer`` the rows as tuples of texts. It checks and
converts nothing. Encoders learn the table from other rows, and are new in each round.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.format import Format
from cdcwire.formats import open_protocol
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.domain import fullest_options
from cdcwire_generators.formats import get_generators
from cdcwire_generators.messages import definitions_for
from cdcwire_generators.workloads import workload, workload_tables

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
ROWS_PER_MESSAGE = 256
PLAIN_ROWS = 128  # the plain encoders are slow, and are measured with fewer rows
PLAIN_BAR = 8.0
JSON_BAR = 1.5
# Where less is asked, or the peer is another one.
BARS = {"craft": 1.0}
BATCH_OPTION = "max-batch-size"


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast encoders with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    results: list[Result] = []
    for columns, workload_name in TABLES.items():
        for inserts_only in (True, False):
            kind = f"{columns}, {'inserts' if inserts_only else 'mixed'}"
            peers = peer_routes(workload_name, rows, inserts_only)
            for name in FORMAT_NAMES:
                through = get_format(name)
                if through.fast_encoder is not None:
                    found = compare(through, workload_name, rows, inserts_only, peers, rounds)
                    results += _results(name, kind, found, columns == "29 columns")
    return finish("encode", results, given)


def compare(
    through: Format,
    workload_name: str,
    rows: int,
    inserts_only: bool,
    peers: dict[str, Route],
    rounds: int,
) -> dict[str, float]:
    """Return the nanoseconds that each route takes per row."""
    events, warm_up = (
        changes(through, workload_name, rows, seed, inserts_only) for seed in (SEED, WARM_UP_SEED)
    )
    context = context_of(through, events, workload_tables(workload_name))
    few = events[: min(PLAIN_ROWS, rows)]
    expected = list(through.from_events(few, context=context))
    if list(through.encoder(context)(few)) != expected:
        raise AssertionError(f"{through.name}: the two encoders give different messages")
    routes: dict[str, Route] = {
        **peers,
        "events": partial(encoder_work, through, context, events, warm_up),
        "plain": partial(plain_work, through, context, few),
    }
    typed = typed_rows(through, context, events)
    if typed:
        routes["rows"] = partial(encoder_work, through, context, typed, warm_up)
    times = best_times(routes, rounds)
    return {name: found / (len(few) if name == "plain" else rows) for name, found in times.items()}


def _results(name: str, kind: str, times: dict[str, float], has_bar: bool) -> list[Result]:
    title = get_format(name).title
    per_row = {f"{route} ns a row": round(found) for route, found in times.items()}
    peer = "csv" if get_format(name).stored and "queue" not in get_format(name).carriers else "json"
    results = []
    for route in ("events", "rows"):
        if route in times:
            bar = BARS.get(name, JSON_BAR) if has_bar else None
            results.append(
                Result(
                    f"{name}/{route}/{peer}/{kind}",
                    f"{title}, {route} encoded, against {PEERS[peer]}; {kind}",
                    round(times[route] / times[peer], 3),
                    "x",
                    bar,
                    is_least=False,
                    details=per_row,
                )
            )
    results.append(
        Result(
            f"{name}/plain/{kind}",
            f"{title}, plain encoder against fast; {kind}",
            round(times["plain"] / times["events"], 3),
            "x",
            PLAIN_BAR if has_bar else None,
            details=per_row,
        )
    )
    return results


PEERS = {"json": "json.dumps", "csv": "csv.writer"}


def changes(
    through: Format, workload_name: str, rows: int, seed: int, inserts_only: bool
) -> list[Event]:
    fields = ("commit_ts", *get_generators(through.name).feed.position_fields)
    made = workload(workload_name, rows, seed, inserts_only=inserts_only, position_fields=fields)
    return list(made)


def context_of(through: Format, events: Sequence[Event], tables: tuple[Table, ...]) -> Context:
    options = dict(fullest_options(through))
    if any(option.name == BATCH_OPTION for option in through.options):
        options[BATCH_OPTION] = ROWS_PER_MESSAGE
    return Context(options, definitions_for(events, through, options, tables))


def typed_rows(through: Format, context: Context, events: Sequence[Event]) -> list[Row]:
    """Return the rows of the fast decoder; none if they do not stand for these changes."""
    messages = list(through.from_events(events, context=context))
    if not all(isinstance(message, KafkaMessage) for message in messages):
        return []
    decode = through.decoder(context)
    rows = [row for message in messages for row in decode(message)]
    typed = [row for row in rows if isinstance(row, Row)]
    is_same = len(typed) == len(rows) == len(events)
    return typed if is_same and all(row.half is None for row in typed) else []


def encoder_work(
    through: Format,
    context: Context,
    events: Sequence[Row | Event],
    warm_up: Sequence[Event],
) -> Work:
    encode = through.encoder(context)
    list(encode(warm_up))
    return lambda: list(encode(events))


def plain_work(through: Format, context: Context, events: Sequence[Event]) -> Work:
    return lambda: list(through.from_events(events, context=context))


def peer_routes(workload_name: str, rows: int, inserts_only: bool) -> dict[str, Route]:
    """Return json.dumps and csv.writer of the same rows."""
    through = get_format("open-protocol")
    events = changes(through, workload_name, rows, SEED, inserts_only)
    context = context_of(through, events, workload_tables(workload_name))
    documents: list[Any] = []
    texts: list[tuple[str | None, ...]] = []
    for message in through.encoder(context)(events):
        assert isinstance(message, KafkaMessage)
        for item in open_protocol.decode(message.value, key=message.key).items:
            one = open_protocol.encode(open_protocol.Message((item,)))
            documents.append(json.loads(one[1][8:]))
    for event in events:
        assert isinstance(event, RowChange)
        for image in (event.before, event.after):
            if image is not None:
                texts.append(tuple(None if v is None else _text(v) for v in image.values))
    return {"json": lambda: partial(_dump, documents), "csv": lambda: partial(_write, texts)}


def _text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _dump(documents: list[Any]) -> list[str]:
    return [json.dumps(document) for document in documents]


def _write(texts: list[tuple[str | None, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(texts)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
