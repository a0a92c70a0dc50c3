"""A store that dies when half of an object has reached it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.files.stores import StoreError, open_store
from cdcwire.model.events import RowChange
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import PrefixWriter
from cdcwire_evidence.scenarios.containers import MinioContainer
from cdcwire_evidence.scenarios.everywhere import make_bucket, name_of, objects
from cdcwire_evidence.scenarios.half_puts import half_put
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.prefixes import (
    OPTIONS,
    events_of_sink,
    go_on,
    replayed,
    rows_of,
    undisturbed,
    write_all,
)
from cdcwire_evidence.scenarios.services import NewName, UseStore

ROWS = 120


def test_store_killed_in_the_middle_of_an_object(
    own_store: MinioContainer,
    use_store: UseStore,
    new_name: NewName,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with recorded(
        "bucket/store-killed-in-a-put",
        "object store killed in the middle of an object",
        "Half of a data object has reached MinIO when it is ended by SIGKILL. The half is no "
        "object; the sink goes on from its checkpoint, and replay gives every change, those of a "
        "table's last transaction before it once or twice.",
    ) as result:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        context, events = Context(OPTIONS["csv"]), events_of_sink(ROWS)
        with half_put(own_store.service, ".csv", 3, own_store.kill) as relay:
            use_store(relay.service)
            bucket = make_bucket(new_name("feed"))
            writer = PrefixWriter(open_store(bucket), "csv", context)
            with pytest.raises(StoreError) as failure:
                write_all(writer, events)
            assert "\n" not in str(failure.value)
            own_store.restart()
            own_store.wait()
            assert relay.cut is not None
            assert relay.passed > 0
            before = objects(bucket)
            assert len([path for path in before if path.endswith(".csv")]) == 2
            assert relay.cut.removeprefix(f"/{name_of(bucket)}/") not in before
            go_on(writer, events)
            place = open_store(bucket)
            checked = check_prefix(place, "csv", context)
            got = rows_of(replayed(place, "csv", context, "data-first"))
        assert checked.faults == []
        result.counts = count({0: undisturbed(tmp_path, "csv", ROWS)}, {0: got})
        result.figures = {"bytes of the half": relay.passed}
        # What each table put last may be there twice, as its commit-ts is not below the checkpoint.
        largest = max(Counter(each.position.commit_ts for each in events).values())
        tables = {each.table.name for each in events if isinstance(each, RowChange)}
        assert result.counts.repeated <= largest * len(tables)
        assert replace(result.counts, repeated=0).is_exact
