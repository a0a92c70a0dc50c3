"""``cdcwire verify --property N``: generated messages instead of the golden cases."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.console.problems import UsageError
from cdcwire.extras import load_extra
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.cli.progress import lasting_line
from cdcwire_conformance.cli.verify_arguments import VerifyArguments
from cdcwire_conformance.output.text import counts_text
from cdcwire_conformance.protocol.requests import Command
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.results import CountKey, PropertyRun, Results
from cdcwire_conformance.run.selection import Declared
from cdcwire_conformance.testees.base import Testee

if TYPE_CHECKING:
    from cdcwire_conformance.property.search import Findings

_NOT_TOGETHER = (
    "claim",
    *("case", "level", "derived", "root", "expected_failures", "write_expected_failures"),
)
_SEEDS = 1 << 32


def check_arguments(arguments: VerifyArguments) -> None:
    """Check the arguments of a property run. Raises: UsageError, MissingExtraError."""
    if arguments.property is None:
        names = ("seed", "save", "examples")
        given = [name for name in names if getattr(arguments, name) is not None]
        if given:
            raise UsageError(f"--{given[0]} needs --property N")
        return
    for name in _NOT_TOGETHER:
        if getattr(arguments, name) not in (None, []):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} chooses golden cases; --property runs none of them")
    if arguments.sample != 1:
        raise UsageError("--sample chooses derived cases; --property runs none of them")
    load_extra("hypothesis", "generators", "--property")


def run_property(
    arguments: VerifyArguments, testee: Testee, results: Results, declared: Declared
) -> None:
    """Search each format for failures, in both directions where the testee encodes."""
    from cdcwire_conformance.property.search import (
        Findings,
        Interrupted,
        SearchSettings,
        search,
        seconds_to_shrink,
    )

    chosen = random.randrange(_SEEDS) if arguments.seed is None else arguments.seed
    number = arguments.property or 0
    results.property_run = PropertyRun(number, chosen)
    judge = Judge(results.testee, declared, confirmed=1)
    searches = list(_searches(results, judge))
    settings = SearchSettings(
        number,
        chosen,
        Path(arguments.examples or _DATABASE),
        seconds_to_shrink(len(searches)),
    )
    began = time.monotonic()
    try:
        with lasting_line("generating the first messages") as line:
            for name, cmd in searches:

                def show(found: Findings, title: str = f"{name} {cmd}") -> None:
                    line.show(f"{title}: {counts_text(found)}"[:79])

                findings = Findings()
                try:
                    findings = search(testee, judge, name, cmd, settings, show)
                except Interrupted as interrupt:
                    findings = interrupt.findings
                    results.is_interrupted = True
                    raise interrupt.cause from None
                finally:
                    _add(results, name, cmd, findings)
        if arguments.save:
            _save(results, Path(arguments.save))
    except BaseException:
        results.is_interrupted = True
        raise
    finally:
        results.seconds = time.monotonic() - began
        remark = testee.close()
        if remark:
            results.notes.append(remark)


_DATABASE = ".hypothesis/cdcwire"


def _searches(results: Results, judge: Judge) -> Iterator[tuple[str, Command]]:
    for name in results.formats:
        claim = judge.claim(name) if name in FORMAT_NAMES else None
        if claim is None:
            results.notes.append(f"the testee has no format {name}")
            continue
        yield name, "decode"
        if claim.encode:
            yield name, "encode"


def _add(results: Results, name: str, cmd: Command, findings: Findings) -> None:
    counts = results.counts.setdefault(CountKey(name, "must", False), Counter())
    counts["passed"] += findings.passed
    for outcome in findings.failures:
        counts[outcome.verdict] += 1
    results.outcomes += findings.failures
    run = results.property_run
    assert run is not None
    results.property_run = replace(
        run,
        asked=run.asked + findings.asked,
        kinds=run.kinds + findings.kinds,
        shrinks=run.shrinks + findings.shrinks,
    )
    results.leaks += findings.leaks
    if findings.note:
        results.notes.append(f"{name} {cmd}: {findings.note}")


def _save(results: Results, root: Path) -> None:
    from cdcwire_conformance.property.cases import save_cases

    assert results.property_run is not None
    files = save_cases([outcome.case for outcome in results.bad()], root)
    results.property_run = replace(results.property_run, saved=tuple(map(str, files)))
