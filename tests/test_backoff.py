from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tablewright.backoff import Backoff

policies = st.builds(
    Backoff, attempts=st.integers(1, 2000), first=st.floats(0, 10), longest=st.floats(0, 10)
)


@given(policy=policies, attempt=st.integers(1, 2000))
def test_a_delay_is_below_a_bound_that_doubles_up_to_the_longest(
    policy: Backoff, attempt: int
) -> None:
    delay = policy.delay(attempt)
    assert (delay is None) is (attempt >= policy.attempts)
    bound = policy.first * 2.0 ** (attempt - 1) if attempt <= 64 else policy.longest
    assert delay is None or 0 <= delay <= min(policy.longest, bound)


def test_delays_are_spread_over_the_whole_range() -> None:
    policy = Backoff(attempts=4, first=1.0, longest=4.0)
    delays = [policy.delay(3) or 0.0 for _ in range(1000)]
    assert min(delays) < 0.4
    assert max(delays) > 3.6
