from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.playing import play
from torture.histories import PART

pytestmark = pytest.mark.slow


def test_histories_of_threads_processes_and_http_clients_are_in_order(tmp_path: Path) -> None:
    counts = play(PART, 1, tmp_path).counts
    assert counts["accesses"]
    assert counts["transactions"]
