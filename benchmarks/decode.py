"""How fast rows are decoded: Craft against Open Protocol, and the fast decoders against the plain.

Run as ``python -m benchmarks.decode [--quick] [--json FILE]``. All routes give rows of the same
typed values, which is asserted first. Decoders learn the table from other rows than those that are
measured, and are new in each round. orjson is measured if it is installed.
The plan of "json and plan" trusts its input; the checked plans are as strict as the plain decoder.

The fast decoder of Open Protocol does not use orjson. The library drops repeated members silently.
So a strict decoder must write each row again and compare the texts. It must also check the type and
flags of each column. The best strict decoder that we wrote on orjson had generated code. It was
1.12 times (10 columns) and 1.15 times (29 columns) as fast as the fast decoder, at B=256.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from benchmarks.checked.open_protocol import PlanDecoder
from benchmarks.checked.strictness import assert_as_strict
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED, Feed, feed
from benchmarks.json_peer import JsonPeer
from benchmarks.measure import Route, Work, best_times, learn
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context, Selection
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats import craft, open_protocol
from cdcwire.formats.craft.fast import RowDecoder as CraftDecoder
from cdcwire.formats.open_protocol.fast import RowDecoder as OpenDecoder
from cdcwire.formats.open_protocol.format import FORMAT
from cdcwire.formats.open_protocol.wire import read_value_frame, write_value_frame

Loads: TypeAlias = Callable[[bytes], Any]

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
THREE_COLUMNS = Selection(columns=frozenset({"c1", "c10", "c20"}))
IS_MODERN = sys.version_info >= (3, 11)  # which made Python code faster; json was C before
JSON_BARS = {256: 3.0 if IS_MODERN else 1.5, 16: 1.6 if IS_MODERN else 1.2}
CHECKED_BAR = 1.5  # below, the plan would replace the fast decoder
MAX_PLAIN = 12.0  # the plain decoders are also what verify and explain run
ORJSON_BAR = 1.0
SELECTION_BAR = 1.5
PLAIN_ROWS = 128  # the plain decoders are slow, and are measured with fewer rows


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast decoders with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    batches = (256, 16) if given.quick else (256, 16, 1)
    kinds = (False,) if given.quick else (True, False)
    loads = orjson_loads()
    results: list[Result] = []
    for columns, name in TABLES.items():
        for batch in batches:
            for inserts_only in kinds:
                made = partial(feed, name, rows, batch, inserts_only=inserts_only)
                what = f"{columns}, {'inserts' if inserts_only else 'mixed'}, B={batch}"
                bar = JSON_BARS.get(batch)
                results += compare(what, made(SEED), made(WARM_UP_SEED), bar, loads, rounds)
    for batch in batches[:2]:
        made = partial(feed, TABLES["29 columns"], rows, batch, inserts_only=True)
        results.append(compare_selection(f"B={batch}", made(SEED), made(WARM_UP_SEED), rounds))
    return finish("decode", results, given)


def compare(
    what: str, measured: Feed, warm_up: Feed, bar: float | None, loads: Loads | None, rounds: int
) -> list[Result]:
    """Compare Craft with the other routes on one feed."""
    few = max(1, PLAIN_ROWS * len(measured.craft) // measured.rows)
    share = {
        "craft plain": len(measured.craft) / few,
        "open plain": len(measured.json) / few,
    }
    routes: dict[str, Route] = {
        "craft": partial(craft_work, measured, warm_up),
        "json": partial(peer_work, measured, json.loads),
        "open": partial(open_work, measured, warm_up, OpenDecoder),
        "open checked": partial(open_work, measured, warm_up, PlanDecoder),
        "craft plain": partial(plain_craft_work, measured.craft[:few]),
        "open plain": partial(plain_open_work, measured.json[:few]),
    }
    checked: list[type[OpenDecoder]] = [PlanDecoder]
    if loads is not None:
        checked.append(import_module("benchmarks.checked.open_protocol_orjson").OrjsonPlanDecoder)
        routes["orjson"] = partial(peer_work, measured, loads)
        routes["orjson checked"] = partial(open_work, measured, warm_up, checked[-1])
    assert_equal_rows(measured, warm_up, loads, checked)
    if len(measured.json) == measured.rows:  # damage in large messages takes long
        for each in checked:
            assert_checked(measured, each())
    times = {
        name: found * share.get(name, 1.0) / measured.rows
        for name, found in best_times(routes, rounds).items()
    }
    per_row = {f"{name} ns a row": round(found) for name, found in times.items()}
    comparisons = (
        ("json", "craft", "Craft against Open Protocol by json and plan", bar),
        ("orjson", "craft", "Craft against Open Protocol by orjson and plan", None),
        ("open", "craft", "Craft against Open Protocol, both fast decoders", None),
        ("json", "open", "Open Protocol, fast decoder against json and plan", None),
        (
            "open checked",
            "open",
            "Open Protocol, fast decoder against json and a checked plan",
            CHECKED_BAR,
        ),
        ("orjson", "open", "Open Protocol, fast decoder against orjson and plan", None),
        (
            "orjson checked",
            "open",
            "Open Protocol, fast decoder against orjson and a checked plan",
            ORJSON_BAR,
        ),
        ("craft plain", "craft", "Craft, fast against plain", MAX_PLAIN),
        ("open plain", "open", "Open Protocol, fast against plain", MAX_PLAIN),
    )
    return [
        Result(
            f"{slower}/{faster}/{what}",
            title,
            round(times[slower] / times[faster], 3),
            "x",
            least,
            is_least="plain" not in slower,
            workload=what,
            details=per_row,
        )
        for slower, faster, title, least in comparisons
        if slower in times
    ]


def compare_selection(what: str, measured: Feed, warm_up: Feed, rounds: int) -> Result:
    """Compare all columns with three of them."""
    times = best_times(
        {
            "all": partial(craft_work, measured, warm_up),
            "three": partial(craft_work, measured, warm_up, THREE_COLUMNS),
        },
        rounds,
    )
    return Result(
        f"craft/selection/{what}",
        "Craft, all 29 columns against 3 of them",
        round(times["all"] / times["three"], 3),
        "x",
        SELECTION_BAR,
        workload=f"inserts, {what}",
        details={f"{name} ns a row": round(each / measured.rows) for name, each in times.items()},
    )


def craft_work(measured: Feed, warm_up: Feed, selection: Selection = EVERYTHING) -> Work:
    decoder = CraftDecoder(Context(selection=selection))
    learn(decoder, craft_messages(warm_up))
    messages = craft_messages(measured)
    return lambda: [decoder.decode(message) for message in messages]


def open_work(measured: Feed, warm_up: Feed, made: type[OpenDecoder]) -> Work:
    decoder = made()
    learn(decoder, open_messages(warm_up))
    messages = open_messages(measured)
    return lambda: [decoder.decode(message) for message in messages]


def craft_messages(feed: Feed) -> list[KafkaMessage]:
    return [KafkaMessage(None, value) for value in feed.craft]


def open_messages(feed: Feed) -> list[KafkaMessage]:
    return [KafkaMessage(key, value) for key, value in feed.json]


def peer_work(measured: Feed, loads: Loads) -> Work:
    peer = JsonPeer(measured.table, loads)
    return lambda: [peer.decode(key, value) for key, value in measured.json]


def plain_craft_work(values: Sequence[bytes]) -> Work:
    return lambda: [craft.decode(value) for value in values]


def plain_open_work(pairs: Sequence[tuple[bytes, bytes]]) -> Work:
    return lambda: [open_protocol.decode(value, key=key) for key, value in pairs]


def orjson_loads() -> Loads | None:
    """Return orjson's loads if it is installed."""
    if find_spec("orjson") is None:
        return None
    loads: Loads = import_module("orjson").loads
    return loads


def assert_equal_rows(
    measured: Feed, warm_up: Feed, loads: Loads | None, checked: Iterable[type[OpenDecoder]]
) -> None:
    """Stop unless all routes give the same rows of the same types."""
    craft_decoder = CraftDecoder()
    learn(craft_decoder, craft_messages(warm_up))
    expected = described(map(craft_decoder.decode, craft_messages(measured)))
    open_decoders = [OpenDecoder(), *(made() for made in checked)]
    for decoder in open_decoders:
        learn(decoder, open_messages(warm_up))
    routes = [
        *(described(map(each.decode, open_messages(measured))) for each in open_decoders),
        *(
            described(peer.decode(key, value) for key, value in measured.json)
            for peer in (JsonPeer(measured.table, each) for each in (json.loads, loads) if each)
        ),
    ]
    for found in routes:
        if found != expected:
            raise AssertionError("two routes give different rows")


def assert_checked(measured: Feed, decoder: OpenDecoder) -> None:
    """Stop unless the checked plan is as strict as the plain decoder."""
    key = measured.json[0][0]

    def planned(value: bytes) -> object:
        return decoder.decode_events(KafkaMessage(key, value))

    def plain(value: bytes) -> object:
        return list(FORMAT.to_events(KafkaMessage(key, value), context=NO_CONTEXT))

    values = [value for _, value in measured.json]
    assert_as_strict(planned, plain, values)
    ((start, end),) = read_value_frame(values[0])
    repeated = values[0][start:end].replace(b'"v":', b'"v":null,"v":', 1)
    assert_as_strict(planned, plain, [write_value_frame([repeated])])


def described(messages: Iterable[Iterable[object]]) -> list[object]:
    """Return rows with their values by name, since Open Protocol sorts its columns."""
    found: list[object] = []
    for rows in messages:
        for row in rows:
            assert isinstance(row, Row)
            images = [
                None
                if layout is None or values is None
                else {
                    column.name: (type(value), value)
                    for column, value in zip(layout.columns, values, strict=True)
                }
                for layout, values in ((row.new_layout, row.new), (row.old_layout, row.old))
            ]
            found.append((row.table, row.commit_ts, row.partition, images, row.sent))
    return found


if __name__ == "__main__":
    sys.exit(main())
