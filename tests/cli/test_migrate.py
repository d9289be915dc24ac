"""`tablewright migrate`: from one version of a design to the next, and back."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine
from tablewright.server import Settings, serving
from tablewright.server.access.authentication import SignatureAuthenticator
from tablewright.server.access.credentials import Credentials
from tablewright.server.access.credentials_edit import add_key
from tests.commands import commit, run
from tests.server.signing import KEY_ID, SECRET
from tests.server.waiting import wait_until

OLD = """
from tablewright import Attr, Entity, Table, attr, key


class Desk(Table, name="desk"):
    pass


class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    state: Attr[str] = attr()
    primary = key("TICKET" / ticket_id, "TICKET")


class Note(Entity, table=Desk):
    note_id: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")
"""
NEW = """
from tablewright import GSI, Attr, Entity, Table, attr, index, key, unique


class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    status: Attr[str] = attr(renamed_from="state")
    primary = key("TICKET" / ticket_id, "TICKET")
    by_status = index(Desk.gsi1, "STATUS" / status, ticket_id)
"""


class Versions:
    """The files of two versions of a design, and of a table that is prepared for the first."""

    def __init__(self, folder: Path) -> None:
        self.old, self.new = folder / "old_desk.py", folder / "new_desk.py"
        self.old.write_text(OLD)
        self.new.write_text(NEW)
        self.file = folder / "desk.db"
        assert run("create-tables", self.old, self.file).returncode == 0
        with Engine(self.file) as engine:
            for number in range(3):
                for kind, more in (("Ticket", {"state": {"S": "open"}}), ("Note", {})):
                    key = {"S": f"{kind.upper()}#{number}"}
                    item = {"PK": key, "SK": {"S": kind.upper()}, "type": {"S": kind}}
                    item |= {f"{kind.lower()}_id": {"S": str(number)}, **more}
                    engine.call("PutItem", {"TableName": "desk", "Item": item})

    def items(self) -> list[Any]:
        with Engine(self.file) as engine:
            found = engine.call("Scan", {"TableName": "desk"})["Items"]
        kept = [each for each in found if each["PK"]["S"] != "$tablewright"]
        return sorted(kept, key=lambda each: str(each["PK"]["S"]))


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    return Versions(tmp_path)


@pytest.fixture
def managed(versions: Versions) -> Versions:
    done = run("migrate", "baseline", versions.old, versions.file)
    assert "recorded that its items are prepared for" in done.stderr
    return versions


def test_a_bare_migrate_shows_the_help() -> None:
    assert "baseline" in run("migrate").stdout


def test_a_table_without_a_record_names_the_command_that_writes_one(versions: Versions) -> None:
    done = run("migrate", "plan", versions.new, versions.file)
    assert done.returncode == 2
    assert "tablewright migrate baseline DESIGN TARGET" in done.stderr
    assert "does not record" in run("migrate", "status", versions.new, versions.file).stdout


def test_a_baseline_refuses_items_that_do_not_match(versions: Versions) -> None:
    done = run("migrate", "baseline", versions.new, versions.file)
    assert done.returncode == 2
    assert "index gsi1: declared but missing" in done.stderr or "do not match" in done.stderr
    assert run("migrate", "plan", versions.new, versions.file).returncode == 2


def test_a_plan_shows_changes_and_steps_and_writes_nothing(managed: Versions) -> None:
    before = managed.file.read_bytes()
    done = run("migrate", "plan", managed.new, managed.file)
    assert done.returncode == 1
    for text in (
        "desk: 4 changes",
        "status: the attribute is renamed",
        "create-index gsi1",
        "Programs of the old version can run until the step `await-programs`",
    ):
        assert text in done.stdout
    assert managed.file.read_bytes() == before


def test_a_plan_as_json(managed: Versions) -> None:
    (found,) = json.loads(run("migrate", "plan", managed.new, managed.file, "--json").stdout)
    assert [each["name"] for each in found["steps"]] == [
        *("check", "create-index", "await-programs", "rewrite", "verify", "switch"),
    ]
    kinds = {each["kind"] for each in found["changes"]}
    assert kinds == {"index-added", "attribute-renamed", "place-added", "entity-removed"}


def test_apply_asks_first(managed: Versions) -> None:
    done = run("migrate", "apply", managed.new, managed.file)
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert "status" not in managed.items()[-1]


def deploy_index(engine: Engine) -> None:
    """Create the index of the new version, as a template does, when the migration awaits it."""
    key = {"TableName": "desk", "Key": {"PK": {"S": "$tablewright"}, "SK": {"S": "indexes"}}}

    def is_checked() -> bool:
        steps = engine.call("GetItem", key)["Item"].get("$steps", {"S": '{"done": 0}'})
        return bool(json.loads(steps["S"])["done"])

    wait_until(is_checked)
    names = ("PK", "SK", "GSI1PK", "GSI1SK")
    new = {
        "IndexName": "gsi1",
        "KeySchema": [
            {"AttributeName": "GSI1PK", "KeyType": "HASH"},
            {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "ALL"},
    }
    engine.call(
        "UpdateTable",
        {
            "TableName": "desk",
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
            "GlobalSecondaryIndexUpdates": [{"Create": new}],
        },
    )


def test_apply_waits_for_the_index_of_a_template(managed: Versions) -> None:
    with Engine(managed.file) as engine, ThreadPoolExecutor(1) as threads:
        deployed = threads.submit(deploy_index, engine)
        done = run("migrate", "apply", managed.new, managed.file, "--template", "--yes")
        deployed.result()
    assert "wait for a template: the index gsi1, until it is ACTIVE" in done.stdout
    assert "desk: waiting for a template: the index gsi1, until it is ACTIVE" in done.stderr
    assert "desk: 6 steps done, 3 items changed" in done.stdout


def test_a_missing_permission_over_http_names_the_action_and_the_policy(
    managed: Versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = ["dynamodb:Describe*", "dynamodb:GetItem", "dynamodb:Scan"]
    statement = {"Effect": "Allow", "Action": allowed, "Resource": "*"}
    (tmp_path / "reads.json").write_text(
        json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )
    users = tmp_path / "users.toml"
    add_key(users, "ann", KEY_ID, SECRET, policies=[tmp_path / "reads.json"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    before = managed.items()
    access = Settings(authenticator=SignatureAuthenticator(Credentials(users)))
    with Engine(managed.file) as engine, serving(engine, settings=access) as url:
        assert run("migrate", "plan", managed.new, url).returncode == 1
        done = run("migrate", "apply", managed.new, url, "--yes")
    assert done.returncode == 2
    assert "not authorized to perform: dynamodb:UpdateItem" in done.stderr
    assert "`tablewright publish iam DESIGN --role migrate`" in done.stderr
    assert managed.items() == before


def test_apply_then_rollback_leaves_the_items_as_they_were(managed: Versions) -> None:
    before = managed.items()
    done = run("migrate", "apply", managed.new, managed.file, "--yes")
    assert "desk: 6 steps done, 3 items changed" in done.stdout
    assert "this design" in run("migrate", "status", managed.new, managed.file).stdout
    assert managed.items()[-1]["status"] == {"S": "open"}
    done = run("migrate", "rollback", managed.old, managed.file, "--yes")
    assert done.returncode == 0
    assert managed.items() == before


def test_a_rollback_takes_the_old_version(managed: Versions) -> None:
    run("migrate", "apply", managed.new, managed.file, "--yes")
    done = run("migrate", "rollback", managed.new, managed.file, "--yes")
    assert done.returncode == 2
    assert "needs the version of the design that it had before" in done.stderr


def test_a_rollback_takes_the_design_at_a_revision(
    managed: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = managed.old.parent
    monkeypatch.chdir(folder)
    (folder / "desk.py").write_text(OLD)
    commit(folder)
    before = managed.items()
    (folder / "desk.py").write_text(NEW)
    run("migrate", "apply", "desk.py", "desk.db", "--yes")
    done = run("migrate", "rollback", "desk.py", "desk.db", "--yes")
    assert "tablewright migrate rollback DESIGN@REVISION TARGET" in done.stderr
    for name in ("desk.py@HEAD", f"{folder}/desk.py@HEAD"):
        assert run("migrate", "rollback", name, "desk.db", "--yes").returncode == 0
        assert managed.items() == before


@pytest.mark.parametrize(
    ("content", "problem"),
    [("import nothing_here", "desk.py cannot be imported"), ("", "desk.py has no tables")],
)
def test_a_design_that_cannot_be_loaded_at_a_revision_is_named(
    content: str, problem: str, managed: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = managed.old.parent
    monkeypatch.chdir(folder)
    (folder / "desk.py").write_text(content)
    commit(folder)
    (folder / "desk.py").write_text(OLD)
    before = managed.items()
    for command in ("plan", "apply", "rollback", "complete", "status", "baseline"):
        done = run("migrate", command, "desk.py@HEAD", "desk.db")
        assert done.returncode == 2
        assert done.stderr.startswith(f"tablewright: at HEAD: {problem}")
    assert "v9 is no revision" in run("migrate", "plan", "desk.py@v9", "desk.db").stderr
    assert managed.items() == before


def test_nothing_to_roll_back(managed: Versions) -> None:
    done = run("migrate", "rollback", managed.old, managed.file)
    assert done.returncode == 0
    assert "desk: there is nothing to undo" in done.stdout


def test_a_command_that_is_done_already_says_so(managed: Versions, tmp_path: Path) -> None:
    run("migrate", "apply", managed.new, managed.file, "--yes")
    run("migrate", "complete", managed.new, managed.file, "--yes")
    before = managed.items()
    removing = ("--delete-removed", str(tmp_path / "removed"))
    done = run("migrate", "complete", managed.new, managed.file, *removing)
    assert done.returncode == 0
    assert "desk: there is nothing to complete" in done.stdout
    assert managed.items() == before
    assert not (tmp_path / "removed").exists()


def test_complete_removes_what_only_the_old_version_needs(managed: Versions) -> None:
    run("migrate", "apply", managed.new, managed.file, "--yes")
    done = run("migrate", "complete", managed.new, managed.file, "--yes")
    assert "desk: 2 steps done, 3 items changed" in done.stdout
    assert "state" not in managed.items()[-1]
    assert len(managed.items()) == 6
    done = run("migrate", "rollback", managed.old, managed.file, "--yes")
    assert "has no migration that can be undone" in done.stderr


def test_complete_can_delete_the_items_of_removed_entities_after_a_dump(
    managed: Versions, tmp_path: Path
) -> None:
    run("migrate", "apply", managed.new, managed.file, "--yes")
    before = managed.items()
    removing = ("--delete-removed", str(tmp_path / "removed"), "--yes")
    done = run("migrate", "complete", managed.new, managed.file, *removing)
    assert done.returncode == 0
    assert {each["type"]["S"] for each in managed.items()} == {"Ticket"}
    run("load", str(tmp_path / "removed"), str(tmp_path / "copy.db"))
    managed.file = tmp_path / "copy.db"
    assert managed.items() == before


def test_nothing_is_deleted_if_the_dump_cannot_be_written(
    managed: Versions, tmp_path: Path
) -> None:
    run("migrate", "apply", managed.new, managed.file, "--yes")
    before = managed.items()
    (tmp_path / "file").write_text("")
    removing = ("--delete-removed", str(tmp_path / "file" / "folder"), "--yes")
    done = run("migrate", "complete", managed.new, managed.file, *removing)
    assert done.returncode != 0
    assert managed.items() == before


def test_a_second_baseline_is_refused(managed: Versions) -> None:
    done = run("migrate", "baseline", managed.old, managed.file)
    assert done.returncode == 2
    assert "records already what its items are prepared for" in done.stderr


def test_nothing_to_do(managed: Versions) -> None:
    done = run("migrate", "plan", managed.old, managed.file)
    assert done.returncode == 0
    assert "there is nothing to do" in done.stdout
    assert "there is nothing to do" in run("migrate", "apply", managed.old, managed.file).stdout


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (":memory:", "':memory:' has no tables"),
        ("missing.db", "missing.db: no such file"),
        ("http://127.0.0.1:9", "127.0.0.1:9"),
    ],
)
def test_a_target_without_the_table(managed: Versions, target: str, message: str) -> None:
    done = run("migrate", "plan", managed.new, target)
    assert done.returncode == 2
    assert message in done.stderr
    assert not Path("missing.db").exists()


def test_duplicates_of_a_unique_value_are_listed_and_nothing_is_changed(managed: Versions) -> None:
    managed.new.write_text(NEW + '    by_title = unique("STATUS" / status)\n')
    before = managed.items()
    done = run("migrate", "apply", managed.new, managed.file, "--yes")
    assert done.returncode == 2
    assert "status 'open'" in done.stdout
    assert 'PK="TICKET#0", SK="TICKET"' in done.stdout  # whole keys, on any terminal
    assert "their values were not changed" in done.stderr
    assert managed.items() == before


def test_a_misspelled_former_name_is_refused(managed: Versions) -> None:
    managed.new.write_text(NEW.replace('renamed_from="state"', 'renamed_from="stat"'))
    done = run("migrate", "plan", managed.new, managed.file)
    assert done.returncode == 2
    assert "renamed_from='stat' is not an attribute" in done.stderr
    assert "did you mean 'state'?" in done.stderr


def test_a_prepared_table_names_what_follows(managed: Versions) -> None:
    done = run("migrate", "apply", managed.new, managed.file, "--yes")
    assert "`migrate complete` ends the old version" in done.stdout
    done = run("migrate", "plan", managed.new, managed.file)
    assert done.returncode == 0
    assert "`migrate complete` or `migrate rollback` ends" in " ".join(done.stdout.split())


def test_a_rollback_says_which_values_it_removes(managed: Versions) -> None:
    managed.new.write_text(NEW + '    note: Attr[str] = attr(fill="none")\n')
    run("migrate", "apply", managed.new, managed.file, "--yes")
    done = run("migrate", "rollback", managed.old, managed.file)
    assert "removes the stored values of Ticket.note" in done.stdout
    assert done.returncode == 2


def test_complete_refuses_values_that_old_programs_have_doubled(managed: Versions) -> None:
    title = "    title: Attr[str | None] = attr(default=None)\n"
    managed.new.write_text(NEW + title + '    by_title = unique("TITLE" / title)\n')
    run("migrate", "apply", managed.new, managed.file, "--yes")
    with Engine(managed.file) as engine:
        for number in ("8", "9"):
            item = {"PK": {"S": f"TICKET#{number}"}, "SK": {"S": "TICKET"}, "type": {"S": "Ticket"}}
            item |= {"ticket_id": {"S": number}, "state": {"S": "open"}, "title": {"S": "Late"}}
            engine.call("PutItem", {"TableName": "desk", "Item": item})
    done = run("migrate", "complete", managed.new, managed.file, "--yes")
    assert done.returncode == 2
    assert "TICKET#8" in done.stdout
    assert "TICKET#9" in done.stdout


def test_a_plan_names_required_attributes_without_a_value_for_stored_items(
    managed: Versions,
) -> None:
    managed.new.write_text(NEW + "    note: Attr[str] = attr()\n")
    done = run("migrate", "plan", managed.new, managed.file)
    assert "Ticket.note is required and has no fill=" in done.stdout
    done = run("migrate", "apply", managed.new, managed.file, "--yes")
    assert done.returncode == 2
    assert "3 items of the table 'desk' cannot be carried over; nothing was changed" in done.stderr


def test_a_plan_names_the_values_that_a_rollback_keeps(managed: Versions) -> None:
    optional = OLD.replace("state: Attr[str] = attr()", "state: Attr[str | None] = attr()")
    required = OLD.replace("state: Attr[str] = attr()", 'state: Attr[str] = attr(fill="new")')
    managed.old.write_text(optional)
    managed.new.write_text(required)
    run("migrate", "apply", managed.old, managed.file, "--yes")
    run("migrate", "complete", managed.old, managed.file, "--yes")
    done = run("migrate", "plan", managed.new, managed.file)
    assert "Ticket.state: a rollback keeps the values that fill= gives" in done.stdout
    assert "Costs are for about 7 items" in done.stdout


@pytest.mark.parametrize("rate", ["0%", "150%", "abc", "-5", "0"])
@pytest.mark.parametrize("command", ["apply", "rollback", "complete"])
def test_a_rate_that_is_none_is_refused_with_the_accepted_forms(
    versions: Versions, command: str, rate: str
) -> None:
    done = run("migrate", command, versions.new, versions.file, f"--rate={rate}", "--yes")
    assert done.returncode == 2
    assert f"{rate!r} is not a rate: give write units per second (above 0" in done.stderr
    assert "such as 25%" in done.stderr


def test_a_share_is_refused_for_a_table_on_demand(versions: Versions) -> None:
    done = run("migrate", "apply", versions.new, versions.file, "--rate", "25%", "--yes")
    assert done.returncode == 2
    assert "the table 'desk' is not limited: it is billed on demand" in done.stderr
    assert "give write units per second, such as 500" in done.stderr


def test_a_share_of_provisioned_capacity_limits_a_migration(managed: Versions) -> None:
    versions = managed
    billing = ", billing=Provisioned(read=1000, write=4000)"
    for file in (versions.old, versions.new):
        text = file.read_text().replace("import ", "import Provisioned, ", 1)
        file.write_text(text.replace('name="desk"', f'name="desk"{billing}'))
    with Engine(versions.file) as engine:
        capacity = {"ReadCapacityUnits": 1000, "WriteCapacityUnits": 4000}
        request = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": capacity}
        engine.call("UpdateTable", {"TableName": "desk", **request})
    new = versions.new.read_text().replace(
        '"GSI1SK")', '"GSI1SK", billing=Provisioned(read=1000, write=4000))'
    )
    versions.new.write_text(new)
    done = run("migrate", "apply", versions.new, versions.file, "--rate", "25%", "--yes")
    assert done.returncode == 0, done.stderr
    assert "desk: the rate 25% is 1000 write units per second, for the lowest" in done.stderr
    assert "items changed" in done.stdout


def test_a_plan_says_that_fill_lets_both_versions_run(managed: Versions) -> None:
    place = '    primary = key("TICKET"'
    managed.new.write_text(OLD.replace(place, '    note: Attr[str] = attr(fill="-")\n' + place))
    done = run("migrate", "plan", managed.new, managed.file)
    shown = " ".join(done.stdout.split())
    assert "together yes, until the step `await-programs` of the migration" in shown
    assert "Programs of the new version can connect at once, beside those of the old one" in shown


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write any file")
@pytest.mark.parametrize("command", ["plan", "apply", "status", "rollback", "complete", "baseline"])
def test_a_read_only_file_is_refused_and_stays_as_it_is(managed: Versions, command: str) -> None:
    before = managed.file.read_bytes()
    managed.file.chmod(0o400)
    folder = managed.file.parent
    mode = folder.stat().st_mode
    folder.chmod(0o500)
    options = [] if command in ("plan", "status", "baseline") else ["--yes"]
    try:
        done = run("migrate", command, managed.new, managed.file, *options)
    finally:
        folder.chmod(mode)
    assert done.returncode == 2
    assert f"{managed.file}: the file is read-only; make it writable, or use a copy" in done.stderr
    assert managed.file.read_bytes() == before
