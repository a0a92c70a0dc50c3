"""The chapter about building the adapters."""

from __future__ import annotations

import sys

from cdcwire_evidence.report.adapters import Build, adapters_part


def python(name: str, text: str) -> Build:
    return Build(name, (sys.executable, "-c", text), (sys.executable,), "install it")


def test_missing_toolchain_is_not_run_with_what_to_install() -> None:
    part = adapters_part([Build("x", ("no-such-program",), ("no-such-program",), "install x")])
    assert part.status == "not run"
    (missing,) = part.not_run
    assert (missing.why, missing.install) == ("no-such-program is not installed", "install x")


def test_build_that_fails_is_one_line() -> None:
    fails = python("bad", "import sys; sys.exit('first\\nERROR: no compiler\\nlast')")
    part = adapters_part([python("good", ""), fails])
    assert part.status == "failed"
    assert (part.passed, part.asked) == (1, 2)
    (line,) = part.attention
    assert line.endswith("failed: ERROR: no compiler")
    assert "\n" not in line


def test_adapters_that_are_built_pass() -> None:
    assert adapters_part([python("good", "")]).status == "passed"
