"""Settings shared by all tests: how hypothesis looks for counterexamples.

`dev` (the default) tries new examples on every run; `ci` tries the same ones, so that a change is
never blamed for a counterexample that was there before it.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
