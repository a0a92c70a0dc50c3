"""How fast messages become Arrow tables: ``cdcwire.to_arrow`` of all records of a queue.

Run as ``python -m benchmarks.to_arrow [--quick] [--json FILE]``; it needs the extra ``arrow``. The
feeds are those of ``benchmarks.decoder``. The peer is what people write for a JSON format. It makes
rows with ``json.loads``, converts the columns that need it, and gives the rows to
``pyarrow.Table.from_pylist``. It knows the table, checks nothing, and leaves times as they were
sent. It has neither positions nor rows before a change. The values of its other columns are
asserted to be those of ``to_arrow``. All decoders are new in each round.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

import cdcwire
from benchmarks.decoder import KINDS, PEER_BAR, Feed, Kind, decode_each, decoder_of, feed
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED
from benchmarks.measure import Route, best_times

TIMES = ["created_at", "updated_at"]


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare to_arrow with Decoder.decode and json.loads.", argv)
    rows, rounds = (1024, 3) if given.quick else (20_000, 5)
    return finish("to_arrow", [e for kind in KINDS for e in compare(kind, rows, rounds)], given)


def compare(kind: Kind, rows: int, rounds: int) -> list[Result]:
    """Compare the routes on a workload of a format."""
    measured = feed(kind, rows, SEED)
    table = by_us(kind, measured)
    rows = table.num_rows  # deletes of avro have no value, so they are not in the feed
    routes: dict[str, Route] = {
        "arrow": lambda: partial(by_us, kind, measured),
        "events": lambda: partial(decode_each, decoder_of(kind, measured), measured.records),
    }
    bars: dict[str, tuple[str, float | None]] = {"events": ("Decoder.decode", None)}
    if kind.peer is not None:
        schema = schema_of(kind, measured, table)
        assert_equal(kind, by_hand(kind, measured, schema), table)
        routes["json"] = lambda: partial(by_hand, kind, measured, schema)
        bars["json"] = ("json.loads and from_pylist", PEER_BAR)
    times = {name: each / rows for name, each in best_times(routes, rounds).items()}
    details: dict[str, Any] = {f"{name} ns a row": round(time) for name, time in times.items()}
    details["rows a second"] = round(1e9 / times["arrow"])
    return [
        Result(
            f"{slower}/arrow/{kind.name}",
            f"{kind.name}, to_arrow against {title}",
            round(times[slower] / times["arrow"], 3),
            "x",
            bar,
            workload="10 columns, mixed",
            details=details,
        )
        for slower, (title, bar) in bars.items()
    ]


def by_us(kind: Kind, measured: Feed) -> pa.Table:
    """Return the table of a feed, with rows before and after each change."""
    [table] = cdcwire.to_arrow(
        kind.format,
        measured.records,
        options=kind.options,
        tables=measured.context.tables,
        schemas=measured.context.schemas,
    ).values()
    return table


def schema_of(kind: Kind, measured: Feed, table: pa.Table) -> pa.Schema:
    """Return the columns of the peer: of the types of ``table``, aside from times as sent."""
    assert kind.peer is not None
    row = after_of(kind.peer(measured.records[0].value or b""))
    fields = list(table.schema.field("after").type)
    sent = {name: pa.infer_type([row[name]]) for name in TIMES}
    return pa.schema([pa.field(each.name, sent.get(each.name, each.type)) for each in fields])


def by_hand(kind: Kind, measured: Feed, schema: pa.Schema) -> pa.Table:
    """Return the table of the rows after each change, as the peer reads them."""
    assert kind.peer is not None
    rows = [after_of(kind.peer(each.value or b"")) for each in measured.records]
    return pa.Table.from_pylist(rows, schema)


def after_of(row: tuple[Any, ...]) -> dict[str, Any]:
    before, after = row
    found: dict[str, Any] = before if after is None else after
    return found


def assert_equal(kind: Kind, peer: pa.Table, table: pa.Table) -> None:
    """Stop unless the peer's table has the values of the rows after each change."""
    ours = table.select(["before", "after"]).to_pylist()
    for own, other in zip(ours, peer.drop(TIMES).to_pylist(), strict=True):
        row = after_of((own["before"], own["after"]))
        if {name: row[name] for name in other} != other:
            raise AssertionError(f"{kind.name}: the peer gives another row")


if __name__ == "__main__":
    sys.exit(main())
