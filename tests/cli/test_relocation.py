"""`tablewright migrate … DESTINATION`: move a table to another place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablewright import Engine
from tablewright.server import Settings, serving
from tests.commands import run

DESIGN = """
from tablewright import GSI, Attr, Entity, Table, attr, index, key


class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    state: Attr[str] = attr(default="open")
    primary = key("TICKET" / ticket_id, "TICKET")
    by_state = index(Desk.gsi1, "STATE" / state, ticket_id)
"""


class Moved:
    """A design, and a file with its table."""

    def __init__(self, folder: Path) -> None:
        self.design, self.file, self.other = (
            str(folder / name) for name in ("desk.py", "a.db", "b.db")
        )
        Path(self.design).write_text(DESIGN)
        run("create-tables", self.design, self.file)
        item = {"PK": "TICKET#1", "SK": "TICKET", "ticket_id": "1", "state": "open"}
        keys = {"GSI1PK": "STATE#open", "GSI1SK": "1", "type": "Ticket"}
        run("put", self.file, "desk", json.dumps(item | keys), "--yes")
        run("migrate", "baseline", self.design, self.file)

    def migrate(self, command: str, *words: str, expect: int = 0) -> str:
        done = run("migrate", command, self.design, self.file, *words)
        assert done.returncode == expect, done.stderr
        return done.stdout + done.stderr

    def items(self, target: str, table: str = "desk") -> str:
        return run("scan", target, table, "--json").stdout


@pytest.fixture
def moved(tmp_path: Path) -> Moved:
    return Moved(tmp_path)


@pytest.fixture
def endpoint() -> Iterator[str]:
    with serving(Engine(":memory:"), settings=Settings()) as url:
        yield url


def test_a_plan_says_what_it_costs_and_what_programs_see(moved: Moved) -> None:
    text = " ".join(moved.migrate("plan", moved.other, expect=1).split())
    assert "desk at" in text
    assert "costs at most" in text
    assert "Both tables together take" in text
    assert "Programs without it raise DesignMismatch" in text
    assert not Path(moved.other).exists()


def test_a_plan_as_json_has_the_costs(moved: Moved) -> None:
    (document,) = json.loads(moved.migrate("plan", moved.other, "--json", expect=1))
    costs = {step["name"]: step["cost"] for step in document["steps"]}
    assert costs["copy"]["write_units"] > 0
    assert costs["compare"]["read_units"] > 0
    assert costs["cut-over"] is None


def test_a_table_is_moved_to_another_file_and_back(moved: Moved) -> None:
    before = moved.items(moved.file)
    output = moved.migrate("apply", moved.other, "--no-wait", "--yes")
    assert "6 steps done, 1 item written" in output
    assert moved.items(moved.other) == before
    assert "programs do not use it" in moved.migrate("status", moved.other)
    assert "its items were moved" in moved.migrate("apply", moved.other)
    status = run("migrate", "status", moved.design, moved.file).stdout
    assert "its items are in the table 'desk' at" in " ".join(status.split())
    refused = run("migrate", "plan", moved.design, moved.file)
    assert "are in the table 'desk'" in refused.stderr
    assert "6 steps done" in moved.migrate("rollback", moved.other, "--no-wait", "--yes")
    assert moved.items(moved.file) == before


def test_a_table_is_moved_to_an_endpoint_and_back(moved: Moved, endpoint: str) -> None:
    before = moved.items(moved.file)
    moved.migrate("apply", endpoint, "--no-wait", "--yes")
    assert moved.items(endpoint) == before
    moved.migrate("complete", endpoint, "--yes")
    back = run("migrate", "apply", moved.design, endpoint, moved.other, "--no-wait", "--yes")
    assert back.returncode == 0, back.stderr
    assert moved.items(moved.other) == before


def test_a_table_gets_another_name(moved: Moved) -> None:
    before = moved.items(moved.file)
    moved.migrate("apply", "--new-name", "tickets", "--no-wait", "--yes")
    assert moved.items(moved.file, "tickets") == before
    assert "the move is completed" in moved.migrate("complete", "--new-name", "tickets", "--yes")
    assert "was completed, and cannot be undone" in moved.migrate(
        "rollback", "--new-name", "tickets", "--yes", expect=2
    )


def test_a_limited_rate_is_kept_and_an_invalid_one_is_refused(moved: Moved) -> None:
    assert "is not a rate" in moved.migrate("apply", moved.other, "--rate", "x", "-y", expect=2)
    assert "100 write units a second" in " ".join(
        moved.migrate("apply", moved.other, "--rate", "100", "--no-wait", "--yes").split()
    )


def test_with_a_template_nothing_is_created(moved: Moved) -> None:
    output = moved.migrate("apply", moved.other, "--template", "--yes", expect=2)
    text = " ".join(output.split())
    assert "a stream of desk (KEYS_ONLY is enough), and the table desk at" in text
    assert not Path(moved.other).exists()


def test_the_same_place_is_refused(moved: Moved) -> None:
    assert "give the table another name" in moved.migrate("apply", moved.file, "-y", expect=2)


def test_an_option_of_migrations_is_refused(moved: Moved) -> None:
    output = moved.migrate("complete", moved.other, "--delete-removed", "x", "-y", expect=2)
    assert "--delete-removed is for a migration in one place" in output


def test_a_table_that_was_never_moved(moved: Moved) -> None:
    assert "it is not being moved" in moved.migrate("status", moved.other)
