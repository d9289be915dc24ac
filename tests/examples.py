"""The number of examples of a property, in proportion to the profile's."""

from __future__ import annotations

from hypothesis import settings

#: The number of examples that the profile `ci` tries if a property does not say otherwise.
FULL = 100
MIN = 3


def examples(count: int, *, steps: int | None = None) -> settings:
    """Return settings for `count` examples with the profile `ci`, for fewer with `dev`.

    `steps` is the number of steps of a state machine.
    """
    scaled = max(MIN, count * settings().max_examples // FULL)
    if steps is None:
        return settings(max_examples=scaled)
    return settings(max_examples=scaled, stateful_step_count=steps)
