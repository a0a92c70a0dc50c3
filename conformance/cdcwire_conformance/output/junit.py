"""Results as JUnit XML: a suite per format, a test case per case.

Derived cases that passed are one test case per format, with their number in its name. A failure
that does not bind is shown as skipped, so that it does not break a build. A test case has the
seconds that its answers took. The text of a failure begins with the names of its groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cdcwire.console.visible import visible_lines as fit
from cdcwire_conformance.output.text import describe, failure_lines
from cdcwire_conformance.run.groups import failure_groups
from cdcwire_conformance.run.results import Outcome, Results


def junit_text(results: Results) -> str:
    """Return the XML document."""
    root = Element("testsuites", name=f"cdcwire: {fit(describe(results.testee))}")
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for group in failure_groups(results):
        for outcome in group.outcomes:
            groups[outcome.id].append(group.name)
    for name in results.formats:
        of_format = [outcome for outcome in results.outcomes if outcome.case.format == name]
        derived = results.count("passed", format_name=name, derived=True)
        seconds = results.derived_seconds.get(name, 0.0)
        suite = _add_suite(root, name, of_format, groups, derived=(derived, seconds))
        if results.property_run is not None:
            passed = results.count("passed", format_name=name)
            title = f"{passed} generated messages passed"
            SubElement(suite, "testcase", classname=f"{name}.property", name=title)
    if results.stale:
        suite = SubElement(root, "testsuite", name="expected failures")
        for stale in results.stale:
            case = SubElement(
                suite, "testcase", classname="expected failures", name=fit(stale.pattern)
            )
            SubElement(case, "failure", message=fit(f"stale: {stale.why} ({stale.reason})"))
    if results.leaks:
        suite = SubElement(root, "testsuite", name="state leaks")
        for leak in results.leaks:
            case = SubElement(suite, "testcase", classname="state leaks", name=fit(leak.id))
            message = (
                f"state leaks between messages: {leak.first}; in a fresh process: {leak.fresh}"
            )
            SubElement(case, "failure", message=fit(message))
    return document_text(root)


def document_text(root: Element) -> str:
    """Return the XML document of complete suites, with their counts."""
    for suite in root:
        _count(suite)
    _count_all(root)
    indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_suite(
    root: Element,
    name: str,
    outcomes: Iterable[Outcome],
    groups: Mapping[str, Sequence[str]],
    *,
    derived: tuple[int, float],
) -> Element:
    """Add the cases of a format. ``derived``: how many derived ones passed, and all seconds."""
    derived_passed, derived_seconds = derived
    suite = SubElement(root, "testsuite", name=name)
    for outcome in outcomes:
        if outcome.is_derived and not outcome.is_bad:
            continue
        if outcome.is_derived:
            derived_seconds -= outcome.seconds
        _add_case(suite, outcome, groups.get(outcome.id, ()))
    if derived_passed:
        title = f"{derived_passed} derived cases are rejected"
        case = SubElement(suite, "testcase", classname=f"{name}.derived", name=title)
        case.set("time", _time(max(derived_seconds, 0.0)))
    return suite


def _add_case(suite: Element, outcome: Outcome, groups: Sequence[str]) -> None:
    group = "derived" if outcome.is_derived else outcome.case.group
    classname = fit(f"{outcome.case.format}.{group}")
    case = SubElement(suite, "testcase", classname=classname, name=fit(outcome.id))
    case.set("time", _time(outcome.seconds))
    match outcome.verdict:
        case "passed":
            return
        case "failed" | "crashed" | "timed out" | "not run":
            element = "failure" if outcome.verdict == "failed" else "error"
            if not outcome.is_binding:
                element = "skipped"
            message = f"{outcome.verdict}: {outcome.text or outcome.reason}"
            found = SubElement(case, element, message=fit(message))
            if outcome.problem:
                named = (f"group: {name}" for name in groups)
                found.text = fit("\n".join((*named, *failure_lines(outcome))))
        case _:
            SubElement(case, "skipped", message=fit(f"{outcome.verdict}: {outcome.reason}"))


def _count(suite: Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, element in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        suite.set(attribute, str(len(suite.findall(f"testcase/{element}"))))
    times = (float(case.get("time", "0")) for case in suite.findall("testcase"))
    suite.set("time", _time(sum(times)))


def _count_all(root: Element) -> None:
    for attribute in ("tests", "failures", "errors", "skipped"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in root)))
    root.set("time", _time(sum(float(suite.get("time", "0")) for suite in root)))


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
