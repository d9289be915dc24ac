from __future__ import annotations

import pytest

from tests.engine.realism.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()
