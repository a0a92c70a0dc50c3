"""How many examples properties are tried with.

``quick``: the same few in every run. The environment variable ``CDCWIRE_HYPOTHESIS`` chooses
others: ``full`` for the nightly run, with eight times as many, ``deep`` for hours.
They are drawn at random, except in continuous integration, where ``CI`` is set.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_SLOW_BY_DESIGN = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick",
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),  # explaining takes longer than shrinking
    suppress_health_check=_SLOW_BY_DESIGN,
)
for _name, _examples in (("full", 120), ("deep", 1000)):
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize="CI" in os.environ,
        print_blob=True,
        suppress_health_check=_SLOW_BY_DESIGN,
    )
settings.load_profile(os.environ.get("CDCWIRE_HYPOTHESIS", "quick"))
