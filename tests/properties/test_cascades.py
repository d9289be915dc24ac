"""Random programs of writes with cascades, faults and a second writer leave what a model has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine
from tests.examples import examples
from torture.cascades import run_program


@examples(60)
@given(seed=st.integers(0, 10**9))
def test_what_is_stored_is_what_the_model_has(seed: int) -> None:
    with Engine(":memory:") as engine:
        run_program(engine, seed, 12)
