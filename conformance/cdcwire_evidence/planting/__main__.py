"""The command line: judge many pairs, print a table, and fail if the comparison was wrong."""

from __future__ import annotations

import argparse
import os
import pkgutil
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module
from itertools import repeat

from cdcwire_evidence.planting.engines import ENGINES, compare_of
from cdcwire_evidence.planting.run import Tally, run, shares

_VERDICTS = ("found", "named", "refused", "missed", "equal", "alarm", "lossy")


def main(arguments: list[str] | None = None) -> int:
    """Judge pairs of every two formats. Returns: 1 with a miss or an alarm, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m cdcwire_evidence.planting",
        description="Plant differences into equal feeds, and check that compare finds each.",
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=2000,
        metavar="N",
        help="compare at least about N pairs, shared by all pairs of formats (default: 2000)",
    )
    parser.add_argument("--seed", type=int, default=1, help="choose other streams (default: 1)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)"
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="embedded",
        help="engine that compares (default: embedded); spark takes seconds per pair",
    )
    given = parser.parse_args(arguments)
    total = Tally()
    with ProcessPoolExecutor(max_workers=given.jobs, initializer=_load_all) as pool:
        formats, numbers = zip(*shares(given.pairs), strict=True)
        for each in pool.map(_share, formats, numbers, repeat(given.seed), repeat(given.engine)):
            total.join(each)
    print(table_text(total))
    for line in reasons_lines(total):
        print(line)
    for finding in total.findings:
        print(ascii(finding).strip("'"), file=sys.stderr)
    wrong = total.count("missed") + total.count("alarm")
    print(f"{total.pairs - wrong} passed, {wrong} failed")
    return 1 if wrong or not total.pairs else 0


def _load_all() -> None:
    """Import all that can be imported here.

    Hypothesis draws constants of loaded modules. Without this, the pairs of a seed would depend on
    what other shares of this process have used.
    """
    for package in ("cdcwire", "cdcwire_conformance", "cdcwire_generators"):
        for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not found.name.endswith(".__main__"):
                with suppress(ImportError):  # an extra is not installed
                    import_module(found.name)


def _share(formats: tuple[str, str], pairs: int, seed: int, engine: str) -> Tally:
    return run(formats, pairs, seed_of_run=seed, compare=compare_of(engine))


def table_text(total: Tally) -> str:
    """Return the verdicts by kind of plant as a table."""
    lines = ["".join((f"{'planted':24}", *(f"{verdict:>9}" for verdict in _VERDICTS)))]
    for kind in sorted({kind for kind, _ in total.verdicts}):
        numbers = (f"{total.verdicts[kind, verdict]:>9}" for verdict in _VERDICTS)
        lines.append("".join((f"{kind:24}", *numbers)))
    return "\n".join(lines)


def reasons_lines(total: Tally) -> list[str]:
    """Return how many streams were judged, and why pairs were not, most frequent first."""
    lines = [f"{total.judged} of {total.streams} streams judged"]
    for (verdict, reason), number in total.reasons.most_common():
        lines.append(f"{number:>6} {verdict}: {ascii(reason)[1:-1]}")
    if total.reasons:
        lines[0] += "; in place of each of these pairs, another pair of its stream:"
    return lines


if __name__ == "__main__":
    sys.exit(main())
