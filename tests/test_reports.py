from __future__ import annotations

import pytest

from tests import reports

pytest_plugins = ["pytester"]

MODULE = """
    import pytest

    @pytest.fixture
    def breaks_before():
        raise ValueError("before")

    @pytest.fixture
    def breaks_after():
        yield
        raise ValueError("after")

    def test_passes(): pass
    def test_fails(): assert False
    def test_is_skipped(): pytest.skip("why not")
    @pytest.mark.skip
    def test_is_marked(): pass
    @pytest.mark.xfail
    def test_is_expected_to_fail(): assert False
    def test_breaks_before(breaks_before): pass
    def test_breaks_after(breaks_after): pass
"""


@pytest.mark.parametrize("plugins", [[], [reports]], ids=["all", "fewer"])
def test_fewer_reports_have_every_outcome(plugins: list[object], pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE)
    run = pytester.inline_run("-n", "0", plugins=plugins)
    sent = [
        (report.nodeid.rpartition("_")[2], report.when, report.outcome)
        for report in run.getreports("pytest_runtest_logreport")
        if report.when == "call" or not report.passed
    ]
    assert sent == [
        ("passes", "call", "passed"),
        ("fails", "call", "failed"),
        ("skipped", "call", "skipped"),
        ("marked", "setup", "skipped"),
        ("fail", "call", "skipped"),
        ("before", "setup", "failed"),
        ("after", "call", "passed"),
        ("after", "teardown", "failed"),
    ]


def test_passed_setups_and_teardowns_are_not_reported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_passes(): pass")
    run = pytester.inline_run("-n", "0", plugins=[reports])
    assert [report.when for report in run.getreports("pytest_runtest_logreport")] == ["call"]
