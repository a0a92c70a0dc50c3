"""The command line of the fuzzer."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

from cdcwire.registry import FORMAT_NAMES
from cdcwire_evidence.fuzz.growth import LARGE, GrowthTally, grow_all, measured
from cdcwire_evidence.fuzz.laws import laws_of
from cdcwire_evidence.fuzz.mutate import made_again
from cdcwire_evidence.fuzz.run import (
    DEFAULT_STATE,
    FINDINGS,
    STATE_VARIABLE,
    Tally,
    run_all,
)
from cdcwire_evidence.fuzz.shapes import SIGN, shape_again

MINUTES_VARIABLE = "CDCWIRE_FUZZ_MINUTES"


def main(arguments: list[str] | None = None) -> int:
    """Run the fuzzer. Returns: 1 with findings, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m cdcwire_evidence.fuzz",
        description="Decode changed golden inputs in every way and report broken laws.",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=float(os.environ.get(MINUTES_VARIABLE) or 2),
        help=f"minutes for all formats together (default: ${MINUTES_VARIABLE}, else 2)",
    )
    parser.add_argument(
        "--inputs",
        type=int,
        default=0,
        metavar="N",
        help="stop a format after N inputs over all runs of the state (default: 0, no limit)",
    )
    parser.add_argument("--format", action="append", choices=FORMAT_NAMES, help="only this format")
    parser.add_argument("--seed", type=int, default=1, help="choose other inputs (default: 1)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)"
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=Path(os.environ.get(STATE_VARIABLE) or DEFAULT_STATE),
        help=f"directory to resume from and write to (default: ${STATE_VARIABLE}, {DEFAULT_STATE})",
    )
    parser.add_argument(
        "--growth",
        type=float,
        default=0,
        metavar="MINUTES",
        help="afterwards, measure how time and memory grow, for N minutes (default: 0)",
    )
    parser.add_argument(
        "--replay",
        metavar="NAME",
        help="check one input, CASE#NUMBER.NUMBER, or measure one growth, CASE~KIND.NUMBER",
    )
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if given.replay:
        return _replay(given.replay)
    formats = tuple(dict.fromkeys(given.format or FORMAT_NAMES))
    _, findings = run_all(
        formats,
        given.minutes,
        jobs=given.jobs,
        seed=given.seed,
        inputs=given.inputs,
        state=given.state,
        report=_show,
    )
    for each in findings:
        print(f"{each['law']}: {each['name']}\n    {each['text'][:400]}")
    print(f"{len(findings)} findings" + (f" in {given.state / FINDINGS}" if findings else ""))
    broken: list[str] = []
    if given.growth:
        grown = grow_all(
            formats,
            given.growth,
            jobs=given.jobs,
            seed=given.seed,
            state=given.state,
            limits=LARGE,
            report=_show_growth,
        )
        broken = [text for tally in grown for text in tally.broken]
        print("\n".join([*broken, f"{len(broken)} growths beyond the laws"]))
    return int(bool(findings or broken))


def _show(tally: Tally) -> None:
    rate = tally.inputs / max(tally.seconds, 0.001)
    print(
        f"{tally.format:15} {tally.inputs:>10,} inputs, {tally.accepted:,} accepted, "
        f"{tally.encoded:,} encoded, {rate:,.0f}/s, {tally.kept} kept, "
        f"slowest {tally.slowest:.0f} ms/KB, memory {tally.largest:.0f} bytes/byte, "
        f"{sum(tally.broken.values())} findings",
        flush=True,
    )


def _show_growth(tally: GrowthTally) -> None:
    memory = ", ".join(f"{way} {most:.0f}" for way, most in tally.memory.items())
    print(
        f"{tally.format:15} {tally.shapes:>6,} growths, {tally.accepted:,} accepted, "
        f"{tally.grown:,} of 1 MiB and more, the largest {tally.largest:,} bytes, "
        f"ratio {tally.ratio:.2f}, rise {tally.rise:.2f}, bytes per byte: {memory}",
        flush=True,
    )


def _replay_growth(name: str) -> int:
    found = measured(shape_again(name), LARGE)
    for each in found:
        points = ", ".join(f"{size:,}: {seconds * 1000:.1f} ms" for size, seconds in each.points)
        figures = f"ratio {each.ratio:.2f}, rise {each.rise:.2f}, {each.memory:.1f} bytes per byte"
        print(f"{each.way}: {figures}; {points}")
    broken = [text for each in found for text in each.broken]
    print("\n".join(broken))
    return int(bool(broken))


def _replay(name: str) -> int:
    if SIGN in name:
        return _replay_growth(name)
    given = made_again(name)
    print(given)
    outcome = laws_of(given.format).check(given, memory=True)
    print(f"{outcome.behaviour}, {outcome.ms_per_kb:.1f} ms/KB")
    for each in outcome.broken:
        print(f"{each.law}: {each.text}")
    return int(bool(outcome.broken))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted; the next run of this state goes on")
