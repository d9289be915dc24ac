"""A plugin for the workers of pytest-xdist: each test sends one report instead of three.

A worker sends six messages for a test that passes, and two of them are needed. The plugin sends the
report of the call, and whatever did not pass: 2,546 cheap tests took 17.1 s of CPU time before, and
14.4 s after. The reports that it does not send are not made.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol


def is_enough(config: pytest.Config) -> bool:
    """Whether this is a worker, and no option needs what the plugin leaves out."""
    option = config.option
    needs_all = option.durations is not None or option.xmlpath or option.maxfail
    return hasattr(config, "workerinput") and not needs_all


_PASSED = {
    when: pytest.TestReport("", ("", None, ""), {}, "passed", None, when)
    for when in ("setup", "teardown")
}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> pytest.TestReport | None:
    """Return one report for all setups that pass, and one for all teardowns."""
    return _PASSED.get(call.when) if call.excinfo is None else None


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as pytest does, and report what matters."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.passed and report.when != "call":
            continue
        if report.passed:
            report.keywords = {}  # half of the message; only shown for skipped tests
        item.ihook.pytest_runtest_logreport(report=report)
    return True
