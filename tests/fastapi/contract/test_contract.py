"""Schemathesis tries the five designs: no 5xx, every answer conforms to the document."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from examples.tracker import app as tracker
from examples.tracker.design import Member, Organisation, Project, Tracker
from tablewright import Engine, connect, create
from tablewright.cli.services import below
from tablewright.designs.catalog import load
from tablewright.fastapi import create_app
from tablewright.plan.request_events import RequestEvent
from tablewright.plans import access_patterns
from tablewright.verify import seed
from tests.fastapi.contract.served import StatedRequests, serving
from tests.test_docs import ROOT

#: `make test-slow` installs it there; if it cannot, it says so.
COMMAND = ROOT / ".schemathesis" / "bin" / "st"
HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMMAND.exists(), reason="schemathesis is not installed"),
]


def check(stated: StatedRequests, tmp_path: Path, *options: str) -> None:
    with serving(stated) as url:
        done = subprocess.run(
            [
                *(COMMAND, "--config-file", HERE / "schemathesis.toml"),
                *("run", f"{url}/openapi.json", "--checks", "all", "--seed", "1", "--no-color"),
                *("--generation-database", "none"),
                *("--suppress-health-check", "filter_too_much"),
                *options,
            ],
            env=os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert not stated.differences, "\n".join(sorted(set(stated.differences)))
    assert stated.compared > 100


@pytest.mark.parametrize("name", ["shop", "market", "recipes", "menu", "commerce"])
def test_a_design(name: str, tmp_path: Path) -> None:
    design = load(name)
    events: list[RequestEvent] = []
    with Engine() as engine:
        seed(design, engine)
        patterns = below(design.patterns)
        app = create_app(
            engine,
            *design.tables,
            patterns=patterns,
            examples=() if design.sample is None else design.sample(),
            observe=events.append,
        )
        check(StatedRequests(app, events, design.patterns), tmp_path, "--max-examples", "20")


def test_the_tracker(tmp_path: Path) -> None:
    """Its caller is a member of an organisation, which the headers name."""
    events: list[RequestEvent] = []
    with Engine() as engine:
        with connect(engine, Tracker) as database:
            acme = Organisation(org_id="acme", name="Acme")
            database.run(create(acme))
            ann = database.run(create(Member(org_id="acme", name="Ann", email="ann@acme.example")))
            database.run(create(Project(org_id="acme", project="web", name="Website")))
        app = tracker.create_app(engine, observe=events.append)
        stated = StatedRequests(app, events, access_patterns(Tracker))
        caller = ("-H", "X-Organisation: acme", "-H", f"X-Member: {ann.member_id}")
        check(stated, tmp_path, "--max-examples", "20", *caller)
