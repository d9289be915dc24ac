from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.servers import SERVERS
from tests.targets.skips import DIFFERENT, EMBEDDED, ESTIMATE, reason

TESTS = Path(__file__).parent.parent


def test_every_server_has_its_differences() -> None:
    assert DIFFERENT.keys() == SERVERS.keys()


@pytest.mark.parametrize(
    "test", sorted({*EMBEDDED, *(test for skips in DIFFERENT.values() for test in skips)})
)
def test_what_is_skipped_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"def {name.partition('[')[0]}(" in (TESTS / file).read_text()


def test_a_test_is_named_with_or_without_its_case() -> None:
    name = "verify/test_verify.py::test_the_document_of_a_design_is_up_to_date"
    assert reason("local", f"tests/{name}[shop]") == DIFFERENT["local"][name]
    case = f"tests/{ESTIMATE}"
    assert reason("extenddb", f"{case}[add_user]") is not None
    assert reason("extenddb", f"{case}[user]") is None
