"""Tox reports an environment as skipped, not as passed, where it has nothing to run."""

from __future__ import annotations

import sys

from tox.execute.api import Outcome
from tox.plugin import impl
from tox.tox_env.api import ToxEnv
from tox.tox_env.errors import Skip

_NO_TEST_RAN = 5  # pytest's exit code
_OWN_VERSION = f"py{sys.version_info.major}{sys.version_info.minor}"


@impl
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Skip the own version where the environment suite runs the same tests. Raises: Skip."""
    if tox_env.options.env.is_default_list and tox_env.conf.name == _OWN_VERSION:
        raise Skip("the environment suite runs these tests on this Python")


@impl
def tox_after_run_commands(tox_env: ToxEnv, exit_code: int, outcomes: list[Outcome]) -> None:
    """Skip wanted scenarios if no test could run. Required ones fail. Raises: Skip."""
    wanted = tox_env.environment_variables.get("CDCWIRE_SCENARIOS") == "wanted"
    if wanted and exit_code == _NO_TEST_RAN:
        raise Skip("no test could run here: the lines above name what is missing")
