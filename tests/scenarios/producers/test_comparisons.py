"""Captures of one workload, in pairs and against the tables: equal except for known losses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.notebook import compare
from cdcwire_conformance.sources.tables import PASSWORD_VARIABLE
from cdcwire_evidence.producers.captures import ENGINES, USER
from cdcwire_evidence.producers.feeds import CAPTURES, Recording, reading_options, write_feeds
from cdcwire_evidence.producers.losses import LOSSES, Difference, Loss

# PySpark leaves sockets open when what they belong to is collected.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

# Two captures, or a capture and a table.
Sides: TypeAlias = "tuple[str, str]"
Found: TypeAlias = "Mapping[Sides, frozenset[Difference]]"

_ONE_SIDED = re.compile(r"table (.*): only on the (?:left|right)")
_TYPES = re.compile(r"column (.*?): .* have no kind in common", re.DOTALL)
# MariaDB's own definitions are of the tables in the end; this one has another name by then.
_RENAMED = (
    "\nCREATE TABLE shop.made (id bigint NOT NULL PRIMARY KEY, p decimal(8,3) DEFAULT 1.5);\n"
)
# The first and the last one meet all tables.
_AGAINST_TABLES = (
    *("mariadb json", "mariadb bare", "mariadb avro", "mariadb_text json", "mysql_19 json"),
    *("mysql_36 json", "maxwell_full"),
)
_TABLES = ("kinds", "zeros")
_MORE_TABLES = (
    *("bits", "changes", "composite", "counted", "defaults", "durations", "emptied"),
    *("odd_keys", "shapes", "unique_key"),
)


def server_of(capture: str) -> str:
    name = capture.partition(" ")[0]
    return ENGINES[name].connector.name if name in ENGINES else "mariadb"


def is_compared(left: str, right: str) -> bool:
    """Return whether a pair is compared: all of a server, and those in JSON of two servers."""
    is_in_json = all(each.endswith((" json", "maxwell")) for each in (left, right))
    return server_of(left) == server_of(right) or is_in_json


@pytest.fixture(scope="module")
def found(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The differences of each pair, and of each capture and table."""
    folder = tmp_path_factory.mktemp("feeds")
    feeds = write_feeds(recording, folder)
    ddl = folder / "tables.sql"
    ddl.write_text(recording.ddl + _RENAMED, encoding="utf-8")
    all_found = {
        pair: frozenset(differences_of_feeds(feeds, ddl, *pair))
        for pair in itertools.combinations(CAPTURES, 2)
        if is_compared(*pair)
    }
    for capture in _AGAINST_TABLES:
        is_at_end = capture in (_AGAINST_TABLES[0], _AGAINST_TABLES[-1])
        port = recording.servers[server_of(capture)].port
        for table in (*_TABLES, *(_MORE_TABLES if is_at_end else ())):
            url = f"jdbc:mariadb://127.0.0.1:{port}/shop?table={table}&user={USER}"
            all_found[capture, table] = frozenset(differences_of_table(feeds, ddl, capture, url))
    return all_found


def differences_of_feeds(
    feeds: Mapping[str, str], ddl: Path, left: str, right: str
) -> Iterator[Difference]:
    """Yield the differences of the changes of two captures."""
    comparison = compare(
        feeds[left],
        feeds[right],
        ddl=str(ddl),
        common=True,
        engine="embedded",
        exclude=["maxwell.bootstrap", "shop.labels"] if "maxwell" in right else [],
        **({} if server_of(left) == server_of(right) else {"pair_by": "key"}),
        **reading_options(left, "left"),
        **reading_options(right, "right"),
    )
    yield from differences(comparison.result)


def differences_of_table(
    feeds: Mapping[str, str], ddl: Path, capture: str, url: str
) -> Iterator[Difference]:
    """Yield the differences of the last rows of a capture and a table."""
    options = reading_options(capture, "left")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PASSWORD_VARIABLE, USER)
        comparison = compare(feeds[capture], url, ddl=str(ddl), common=True, **options)
    yield from differences(comparison.result)


def differences(result: Comparison) -> Iterator[Difference]:
    """Yield what only one side has, columns whose types can't be compared, and the patterns."""
    for text in result.differences:
        match = _ONE_SIDED.fullmatch(text)
        assert match, text
        yield Difference(match[1], "", "table")
    for table in result.tables:
        for text in table.schema_differences:
            match = _TYPES.fullmatch(text)
            assert match, text
            yield Difference(table.table, match[1], "type")
        for pattern in table.patterns:
            yield Difference(table.table, pattern.column or "", pattern.kind)


def explanations(sides: Sides, difference: Difference) -> list[Loss]:
    return [loss for loss in LOSSES if any(loss.explains(each, difference) for each in sides)]


def test_comparisons_are_equal_except_for_known_losses(found: Found) -> None:
    unexplained = [
        f"{' | '.join(sides)}: {difference}"
        for sides, all_of_sides in found.items()
        for difference in sorted(all_of_sides)
        if not explanations(sides, difference)
    ]
    assert unexplained == []


def test_every_loss_still_occurs(found: Found) -> None:
    """Remove a loss from the list when it is gone: it would hide a fault of cdcwire."""
    seen = {
        id(loss)
        for sides, all_of_sides in found.items()
        for difference in all_of_sides
        for loss in explanations(sides, difference)
    }
    assert [loss for loss in LOSSES if id(loss) not in seen] == []
