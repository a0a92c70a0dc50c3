"""Stores that throttle, list in pages, send a part of an object, or keep its earlier versions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.files.stores import StoreError, open_store
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import PrefixWriter, restart_points, write_prefix
from cdcwire_evidence.scenarios.everywhere import make_bucket, name_of, objects, s3_client
from cdcwire_evidence.scenarios.http_proxy import (
    SLOW_DOWN,
    Answer,
    StoreProxy,
    StoreRequest,
    cut,
    no_fault,
    proxy_to_store,
)
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.prefixes import (
    OPTIONS,
    events_of_sink,
    go_on,
    replayed,
    replayed_with_faults,
    rows_of,
    undisturbed,
    undisturbed_events,
    write_all,
)
from cdcwire_evidence.scenarios.services import NewName, ObjectStore, UseStore

ROWS = 120
CONTEXT = Context(OPTIONS["csv"])
Ask = Callable[[], Answer]


@pytest.fixture
def proxy(store: ObjectStore, use_store: UseStore) -> Iterator[StoreProxy]:
    """A proxy before the store, which fsspec and boto3 find by the environment."""
    with proxy_to_store(store) as found:
        use_store(found.service)
        yield found


@pytest.fixture
def proxied(proxy: StoreProxy, new_name: NewName) -> str:
    """The URL of a new bucket behind the proxy."""
    return make_bucket(new_name("feed"))


def of_each(number: int, refused: list[StoreRequest]) -> Callable[[StoreRequest, Ask], Answer]:
    """A store that refuses each ``number``-th request and answers it when it comes again."""
    asked = 0

    def fault(request: StoreRequest, ask: Ask) -> Answer:
        nonlocal asked
        asked += 1
        if asked % number:
            return ask()
        refused.append(request)
        return SLOW_DOWN

    return fault


def throttled(_request: StoreRequest, _ask: Ask) -> Answer:
    """A store that refuses everything."""
    return SLOW_DOWN


def test_store_that_throttles_is_asked_again(
    proxy: StoreProxy, proxied: str, tmp_path: Path
) -> None:
    with recorded(
        "bucket/throttled",
        "a store that throttles",
        "A sink writes into a bucket and a reader replays it, while each tenth request is answered "
        "by 503 SlowDown, before the store has seen it: all of them are sent again, and every "
        "change is there once.",
    ) as result:
        refused: list[StoreRequest] = []
        proxy.fault = of_each(10, refused)
        write_prefix(PrefixWriter(open_store(proxied), "csv", CONTEXT), events_of_sink(ROWS))
        written = len(refused)
        got = rows_of(replayed(open_store(proxied), "csv", CONTEXT))
        wanted = undisturbed(tmp_path, "csv", ROWS)
        result.counts = count({0: wanted}, {0: got})
        result.figures = {
            "requests": len(proxy.requests),
            "refused while written": written,
            "refused while read": len(refused) - written,
        }
        assert result.counts.is_exact
        assert len(refused) > written > 0
        assert {each.method for each in refused} >= {"GET", "PUT"}


def test_store_that_throttles_for_good_is_one_line(
    proxy: StoreProxy, proxied: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded(
        "bucket/throttled-for-good",
        "a store that throttles until its clients give up",
        "From the middle of a stream the store answers 503 SlowDown to everything. The sink ends "
        "with one line, as does a reader. When the store takes requests again, the sink goes on "
        "from its checkpoint and replay gives every change once.",
    ) as result:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        events = events_of_sink(ROWS)
        writer, half = PrefixWriter(open_store(proxied), "csv", CONTEXT), len(events) // 2
        write_all(writer, events[:half])
        proxy.fault = throttled
        with pytest.raises(StoreError) as refused:
            write_all(writer, events[half:])
        with pytest.raises(StoreError) as unread:
            replayed(open_store(proxied), "csv", CONTEXT)
        said = [str(each.value) for each in (refused, unread)]
        assert ["\n" in each for each in said] == [False, False]
        refusal = re.compile("Service Unavailable|reduce your request rate")  # HEAD has no text
        assert all(map(refusal.search, said))
        proxy.fault = no_fault
        go_on(writer, events)
        got = rows_of(replayed(open_store(proxied), "csv", CONTEXT))
        result.counts = count({0: undisturbed(tmp_path, "csv", ROWS)}, {0: got})
        result.figures = {"said": said[1]}
        assert result.counts.is_exact


def test_lists_of_several_pages_are_read_whole(
    proxy: StoreProxy, proxied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded(
        "bucket/pages",
        "a list of more than a thousand objects",
        "A folder has more objects than a store lists at once. The list is whole also where its "
        "second page is refused once, or is cut in the middle once. Where that page is refused for "
        "good, the first page is not taken for the list: it ends with one line.",
    ) as result:
        names = [f"feed/{number:05}" for number in range(1100)]
        upload(proxied, dict.fromkeys(names, b"x"))
        spoiled: dict[str, Callable[[Answer], Answer]] = {
            "whole": lambda answer: answer,
            "refused once": lambda _: SLOW_DOWN,
            "cut once": lambda answer: cut(answer, len(answer.body) // 2, is_told=True),
        }
        got: dict[str, list[str]] = {}
        pages: dict[str, int] = {}
        for name, spoil in spoiled.items():
            proxy.fault, proxy.requests[:] = at_second_page(spoil, times=1), []
            got[name] = sorted(each.path for each in open_store(proxied).list("feed"))
            pages[name] = sum(each.page > 0 for each in proxy.requests)
        proxy.fault = at_second_page(lambda _: SLOW_DOWN)
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        with pytest.raises(StoreError, match="reduce your request rate") as failure:
            list(open_store(proxied).list("feed"))
        result.counts = count(dict.fromkeys(spoiled, names), got)
        result.figures = {"objects": len(names), **pages}
        assert result.counts.is_exact
        assert pages["whole"] == 2
        assert min(pages["refused once"], pages["cut once"]) > 2
        assert "\n" not in str(failure.value)


def at_second_page(
    spoil: Callable[[Answer], Answer], times: int = 1_000_000
) -> Callable[[StoreRequest, Ask], Answer]:
    """A store that spoils the second page of lists N times."""
    left = times

    def fault(request: StoreRequest, ask: Ask) -> Answer:
        nonlocal left
        if request.page != 2 or not left:
            return ask()
        left -= 1
        return spoil(ask())

    return fault


def upload(bucket: str, files: dict[str, bytes]) -> None:
    """Put files, several at a time."""
    client, name = s3_client(), name_of(bucket)
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda item: client.put_object(Bucket=name, Key=item[0], Body=item[1]),
                files.items(),
            )
        )


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "untold"])
def test_objects_that_come_in_part_are_not_taken_for_whole(
    proxy: StoreProxy, proxied: str, tmp_path: Path, is_told: bool
) -> None:
    told = "the whole" if is_told else "the part"
    with recorded(
        f"bucket/get-cut-{'told' if is_told else 'untold'}",
        f"an object that is cut on its way with status 200, whose header has {told}'s length",
        f"A data object comes up to the end of a row, and the header has {told}'s length. Where "
        "that happens once, and the header tells it, the client asks again and all is read. Where "
        "it happens each time the object is named in one line, and what follows in its table is "
        "not read: no row is left out without a word.",
    ) as result:
        write_prefix(PrefixWriter(open_store(proxied), "csv", CONTEXT), events_of_sink(ROWS))
        there = objects(proxied)
        spoilt = next(path for path in there if path.endswith("1.csv"))
        end, left = there[spoilt].rindex(b"\r\n", 0, -2) + 2, [1]

        def fault(request: StoreRequest, ask: Ask) -> Answer:
            answer = ask()
            if request.method != "GET" or request.key != spoilt or not left[0]:
                return answer
            left[0] -= 1
            return cut(answer, end, is_told=is_told)

        proxy.fault = fault
        wanted = rows_of(undisturbed_events(tmp_path, "csv", ROWS))
        if is_told:
            got = rows_of(replayed(open_store(proxied), "csv", CONTEXT))
            left[0] = 1_000_000
            with pytest.raises(StoreError, match=spoilt) as failure:
                replayed(open_store(proxied), "csv", CONTEXT)
            said = str(failure.value)
        else:
            events, faults = replayed_with_faults(open_store(proxied), "csv", CONTEXT)
            (named,) = faults
            assert (named.kind, named.path) == ("data-unreadable", spoilt)
            said = str(named)
            assert f"{end} of its {len(there[spoilt])} bytes came" in said
            lost = count({0: wanted}, {0: rows_of(events)})
            assert (lost.invented, lost.repeated) == (0, 0)
            assert lost.lost > 0
            got = rows_of(replayed(open_store(proxied), "csv", CONTEXT))
        result.counts = count({0: wanted}, {0: got})
        result.figures = {"said": said}
        assert "\n" not in said
        assert result.counts.is_exact


def test_bucket_with_versions_gives_the_latest(bucket: str, tmp_path: Path) -> None:
    with recorded(
        "bucket/versions",
        "a bucket that keeps earlier versions and marks what is deleted",
        "A sink writes into a bucket with versions and is killed twice, so that objects have "
        "several. Another client overwrites one and deletes one: the check names these two. "
        "When the marker of the one and the latest version of the other are removed, all changes "
        "are there, once, and of no version twice.",
    ) as result:
        client, name = s3_client(), name_of(bucket)
        enabled = {"Status": "Enabled"}
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration=enabled)
        for place in (open_store(str(tmp_path)), open_store(bucket)):
            writer = PrefixWriter(place, "csv", CONTEXT)
            write_prefix(writer, events_of_sink(ROWS), restart_points(ROWS, 2))
        wanted = rows_of(replayed(open_store(str(tmp_path)), "csv", CONTEXT))
        first = rows_of(replayed(open_store(bucket), "csv", CONTEXT))
        several = [path for path, found in versions_of(bucket).items() if len(found) > 1]
        assert several
        data = sorted(path for path in objects(bucket) if path.endswith("1.csv"))
        deleted, overwritten = data[0], data[-1]
        client.delete_object(Bucket=name, Key=deleted)
        spoilt = objects(bucket)[overwritten][:-7]
        client.put_object(Bucket=name, Key=overwritten, Body=spoilt)
        faults = check_prefix(open_store(bucket), "csv", CONTEXT).faults
        blamed = {part for each in faults for part in (each.path, each.path.rpartition("/")[0])}
        found = versions_of(bucket)
        for path in (deleted, overwritten):
            client.delete_object(Bucket=name, Key=path, VersionId=found[path][0])
        assert check_prefix(open_store(bucket), "csv", CONTEXT).faults == []
        again = rows_of(replayed(open_store(bucket), "csv", CONTEXT))
        result.counts = count({0: wanted, 1: wanted}, {0: first, 1: again})
        result.figures = {"objects of several versions": len(several), "named": len(faults)}
        assert result.counts.is_exact
        assert {deleted, overwritten} <= blamed
        assert {each.path for each in faults} <= {deleted, overwritten, *map(folder_of, data)}


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def versions_of(bucket: str) -> dict[str, list[str]]:
    """The versions and markers of each object, the latest first."""
    found: dict[str, list[tuple[bool, str]]] = {}
    pages = s3_client().get_paginator("list_object_versions").paginate(Bucket=name_of(bucket))
    for page in pages:
        for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            found.setdefault(each["Key"], []).append((not each["IsLatest"], each["VersionId"]))
    return {key: [version for _, version in sorted(each)] for key, each in found.items()}
