"""A comparison as JUnit XML: a test case per table, and one for what the tables do not show."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from cdcwire.console.visible import visible_lines as fit
from cdcwire_conformance.compare.report import table_text, verdict_line
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.shown_text import problem_lines
from cdcwire_conformance.output.junit import document_text


def junit_text(found: Comparison) -> str:
    """Return the XML document."""
    root = Element("testsuites", name="cdcwire compare")
    suite = SubElement(root, "testsuite", name=fit(f"{found.left} and {found.right}"))
    for table in found.tables:
        case = SubElement(suite, "testcase", classname="cdcwire.compare", name=fit(table.table))
        if not table.is_equal:
            lines = [*table.schema_differences, *table_text(table)]
            message = lines[0] if lines else "not compared"
            SubElement(case, "failure", message=fit(message)).text = fit("\n".join(lines))
    problems = problem_lines(found)
    case = SubElement(suite, "testcase", classname="cdcwire.compare", name="all tables")
    case.set("time", f"{found.seconds:.3f}")
    if problems or not found.is_equal:
        hints = [f"hint: {hint}" for hint in found.hints]
        lines = [*problems, *hints, verdict_line(found)]
        failure = SubElement(case, "failure", message=fit(verdict_line(found)))
        failure.text = fit("\n".join(lines))
    return document_text(root)
