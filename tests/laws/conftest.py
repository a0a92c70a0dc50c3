"""How many examples the laws are tried with.

``quick``: the same few examples in every run. ``full``: many, chosen by the environment variable
``CDCWIRE_HYPOTHESIS=full``; at random, but in continuous integration, where ``CI`` is set.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW_BY_DESIGN = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick",
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=_SLOW_BY_DESIGN,
)
settings.register_profile(
    "full",
    max_examples=1000,
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=_SLOW_BY_DESIGN,
)
settings.load_profile(os.environ.get("CDCWIRE_HYPOTHESIS", "quick"))
