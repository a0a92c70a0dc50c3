"""Records what DataHub's SDKs confirm: ``python conformance/evidence.py datahub.sdk_witness``.

They are put to the golden cases of ``datahub-tuple`` that ask something of an SDK, and those that
they read as the cases say go into ``golden/witnesses.json``. Of Blob they read bodies alone, and
the messages in them are read here: they confirm none of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import case_sums, load_cases
from cdcwire_conformance.corpus.witness import Witness, read_witnesses, write_witnesses
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.testees import CannotStartError
from cdcwire_evidence.datahub.sdk_driver import SDKS, driver_of
from cdcwire_evidence.datahub.sdk_golden import cases_for_sdks, run_cases
from cdcwire_evidence.datahub.service import Service

FORMAT = "datahub-tuple"
_LANGUAGES = {"pydatahub": "Python", "aliyun-sdk-datahub": "Java"}


def witness_of(name: str, version: str, results: Results, sums: dict[str, str]) -> Witness:
    """Return the witness that an SDK is after a run."""
    read = {
        outcome.id: sums[outcome.id]
        for outcome in results.outcomes
        if outcome.verdict == "passed" and outcome.id in sums
    }
    return Witness(name, version, _LANGUAGES[name], read, {})


def main() -> int:
    """Ask both SDKs, and record. Returns: an exit code."""
    sums = dict(case_sums())
    cases: list[Case] = cases_for_sdks(case for case in load_cases() if case.format == FORMAT)
    known = {witness.name: witness for witness in read_witnesses()}
    with Service() as service:
        for sdk in SDKS:
            try:
                with driver_of(sdk, Path()) as driver:
                    results = run_cases(cases, sdk.name, driver, service)
                    found = witness_of(sdk.name, driver.version, results, sums)
            except CannotStartError as error:
                print(f"{sdk.name}: {error.problem} ({sdk.install})", file=sys.stderr)
                return 2
            known[sdk.name] = found
            print(f"{sdk.name} {found.version}: {len(found.read)} of {len(cases)} cases")
    write_witnesses(known.values())
    return 0


if __name__ == "__main__":
    sys.exit(main())
