from __future__ import annotations

import pytest

from tablewright.hints import did_you_mean


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("stauts", "; did you mean 'status'?"),
        ("customerId", "; did you mean 'customer_id'?"),
        ("TOTAL", "; did you mean 'total'?"),
        ("colour", ""),
    ],
)
def test_a_hint_names_the_closest_word_if_one_is_close(word: str, hint: str) -> None:
    assert did_you_mean(word, ["status", "customer_id", "total"]) == hint


def test_a_higher_cutoff_asks_for_more_similarity() -> None:
    assert did_you_mean("stats", ["status"], cutoff=0.95) == ""
