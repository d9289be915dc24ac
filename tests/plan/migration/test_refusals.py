"""A migration that cannot be carried out says so, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    migrations,
)
from tablewright.errors import (
    AccessDeniedException,
    DeclarationError,
    DuplicateValues,
    MigrationRefused,
)
from tablewright.formats import KeyRing, encrypted
from tablewright.plan.migration import executing
from tablewright.plan.migration.inspecting import Inspect, ReadRevision
from tablewright.plan.migration.migrate import Baseline
from tablewright.plans import backfill
from tests.plan.migration.migrating import (
    NAME,
    PAIRS,
    RECORDS,
    Stopped,
    drive,
    in_pages,
    items,
    load,
    migration,
    sending,
    stop_before,
    stored,
    version,
    whole,
)
from torture.migration_designs import Side, base, by_state, plain, side


def filling(fill: Any) -> Side:
    """Return a version with a new required attribute."""
    return side(base(note=(str, attr(fill=fill))), by_state)


def refused(engine: Engine, to: Side, error: type[Exception], match: str) -> None:
    """Run a migration that is refused; nothing has changed, and programs run as before."""
    before = whole(engine)
    with pytest.raises(error, match=match):
        drive(migration("apply", to, lease_seconds=30), engine)
    assert whole(engine) == before


def test_duplicates_are_listed_and_nothing_is_changed() -> None:
    pair = PAIRS["unique added"]
    engine = stored(pair, [record | {"email": "same@x"} for record in RECORDS])
    refused(engine, pair.new, DuplicateValues, "email 'same@x'")
    connect(engine, pair.old.table).run(pair.old.entity.primary("t0").delete())


def test_the_check_ends_when_enough_duplicates_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS["unique added"]
    engine = stored(pair, [record | {"email": "same@x"} for record in RECORDS])
    before = whole(engine)
    monkeypatch.setattr(executing, "LISTED_DUPLICATES", 2)
    with pytest.raises(DuplicateValues, match="there may be more: the check stopped here") as error:
        drive(migration("apply", pair.new), in_pages(sending(engine)))
    assert 2 <= len(error.value.duplicates) < len(RECORDS) - 1
    assert whole(engine) == before


def test_a_migration_succeeds_once_its_duplicates_are_resolved() -> None:
    pair = PAIRS["unique added"]
    engine = stored(pair, [{**RECORDS[0], "email": "a"}, {**RECORDS[1], "email": "a"}])
    refused(engine, pair.new, DuplicateValues, "email 'a'")
    connect(engine, pair.old.table).run(pair.old.entity.primary("t0").delete())
    assert drive(migration("apply", pair.new), engine).reserved == 1


def test_unreadable_items_are_listed_by_attribute_and_reason() -> None:
    engine = stored(PAIRS["attribute added"])
    with pytest.raises(MigrationRefused) as refusal:
        drive(migration("apply", filling(None)), engine)
    first, reason, named, fix = str(refusal.value).splitlines()
    assert first == "5 items of the table 'things' cannot be carried over; nothing was changed:"
    assert reason == "  Thing.note: the stored item has no 'note'"
    assert named.startswith('    5 items, such as PK="THING#t')
    assert named.count("THING#") == 3
    assert "attr(fill=…)" in fix


def test_many_different_values_of_an_attribute_are_counted_together() -> None:
    old = side(base(note=(str, attr())), by_state)
    engine = Engine(":memory:")
    load(engine, old, [RECORDS[0] | {"tid": f"t{n}", "note": f"bad {n}"} for n in range(9)])
    drive(Baseline(version(old.table)), engine)
    with pytest.raises(MigrationRefused) as refusal:
        drive(migration("apply", side(base(note=(int, attr())), by_state)), engine)
    lines = str(refusal.value).splitlines()
    assert sum("1 item: PK=" in line for line in lines) == 3
    other = lines.index("  Thing.note: other values")
    assert lines[other + 1].startswith("    6 items, such as PK=")


def test_an_interrupted_check_that_is_refused_opens_the_table_again() -> None:
    pair = PAIRS["attribute added"]
    engine = stored(pair)
    before = whole(engine)
    with pytest.raises(Stopped):
        drive(migration("apply", filling(None)), stop_before(10, sending(engine)))
    assert whole(engine) != before
    with pytest.raises(MigrationRefused, match="5 items"):
        drive(migration("apply", filling(None)), engine)
    assert whole(engine) == before
    connect(engine, pair.old.table)


def test_a_fill_function_that_fails_names_the_item() -> None:
    engine = stored(PAIRS["attribute added"])
    new = filling(lambda item: item["missing"])
    refused(
        engine, new, MigrationRefused, r"Thing.note: fill= raised KeyError: 'missing'\n.*THING#t"
    )


def test_a_fill_of_another_type_is_refused() -> None:
    engine = stored(PAIRS["attribute added"])
    refused(engine, filling(lambda item: 7), MigrationRefused, "THING#t0")


def test_a_unique_value_that_is_too_long_for_a_key_is_listed() -> None:
    pair = PAIRS["unique added"]
    engine = stored(pair, [{**RECORDS[0], "email": "x" * 2100}])
    refused(engine, pair.new, MigrationRefused, "1 item (.|\n)*too long for a key")


def test_an_item_that_becomes_too_large_is_named_before_anything_is_changed() -> None:
    pair = PAIRS["required attribute added"]
    engine = stored(pair, [*RECORDS[:2], {**RECORDS[2], "tid": "big"}])
    body = {"TableName": "things", "Key": {"PK": {"S": "THING#big"}, "SK": {"S": "THING"}}}
    large = {":x": {"S": "x" * 409_400}}
    engine.call(
        "UpdateItem",
        body | {"UpdateExpression": "SET extra = :x", "ExpressionAttributeValues": large},
    )
    before = whole(engine)
    with pytest.raises(MigrationRefused, match=r"larger than 409,600 bytes\n.*THING#big"):
        drive(migration("apply", filling("y" * 400)), engine)
    assert whole(engine) == before
    assert connect(engine, pair.old.table).run(pair.old.entity.primary("t0")) is not None


def test_a_rollback_that_the_old_version_cannot_read_is_refused_and_the_new_one_runs() -> None:
    old = side(base(note=(int, attr())), by_state)
    new = side(base(note=(str, attr(fill=lambda item: str(item["note"])))), by_state)
    engine = Engine(":memory:")
    db = connect(engine, old.table, update=True)
    db.run(create(old.make({**RECORDS[0], "note": 7})))
    drive(Baseline(version(old.table)), engine)
    drive(migration("apply", new), engine)
    before = whole(engine)
    with pytest.raises(MigrationRefused, match="cannot be carried over"):
        drive(migration("rollback", old), engine)
    assert whole(engine) == before
    assert connect(engine, new.table).run(new.entity.primary("t0")).note == "7"


@pytest.mark.parametrize(
    ("command", "name", "match"),
    [
        ("rollback", "new", "has no migration that can be undone"),
        ("complete", "new", "are prepared for another version of the design"),
    ],
)
def test_a_command_without_a_migration_is_refused(command: str, name: str, match: str) -> None:
    pair = PAIRS["index key changed"]
    engine = stored(pair)
    with pytest.raises(MigrationRefused, match=match):
        drive(migration(command, getattr(pair, name)), engine)


@pytest.mark.parametrize(("command", "name"), [("rollback", "old"), ("complete", "new")])
def test_a_command_whose_last_response_was_lost_can_be_repeated(command: str, name: str) -> None:
    pair = PAIRS["index key changed"]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    side = getattr(pair, name)
    assert drive(migration(command, side), engine).steps
    before = engine.call("Scan", {"TableName": NAME})
    done = drive(migration(command, side), engine)
    assert (done.steps, done.changed) == ((), 0)
    assert engine.call("Scan", {"TableName": NAME}) == before  # not even a lease is written


def test_a_second_migration_waits_for_the_first_to_be_completed() -> None:
    pair = PAIRS["index key changed"]
    engine = stored(pair)
    with pytest.raises(Stopped):
        drive(migration("apply", pair.new), stop_before(10, sending(engine)))
    third = PAIRS["delimiter changed"].new
    with pytest.raises(MigrationRefused, match="is being migrated to another version"):
        drive(migration("apply", third), engine)
    drive(migration("apply", pair.new), engine)
    with pytest.raises(MigrationRefused, match="is not completed"):
        drive(migration("apply", third), engine)
    drive(migration("complete", pair.new), engine)
    drive(migration("apply", third), engine)


def test_a_rollback_takes_the_old_version() -> None:
    pair = PAIRS["index key changed"]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    with pytest.raises(MigrationRefused, match="needs the version of the design that it had"):
        drive(migration("rollback", pair.new), engine)


def test_a_completed_migration_cannot_be_undone() -> None:
    pair = PAIRS["index removed"]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    with pytest.raises(Stopped):
        drive(migration("complete", pair.new), stop_before(11, sending(engine)))
    with pytest.raises(MigrationRefused, match="is being completed, and cannot be undone"):
        drive(migration("rollback", pair.old), engine)
    with pytest.raises(MigrationRefused, match="tablewright migrate complete"):
        drive(migration("apply", pair.new), engine)
    drive(migration("complete", pair.new), engine)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("$steps", '{"command":"apply","steps":[],"format":9}'),
        ("$steps", '{"command":"apply","steps":[{"name":"teleport"}],"format":1}'),
        ("$steps", '{"command":"apply","steps":[],"pace":3,"format":1}'),
        ("$design", '{"format":99}'),
        ("$lease", "[]"),
    ],
)
def test_a_record_of_another_version_of_the_library_is_refused(name: str, text: str) -> None:
    pair = PAIRS["index key changed"]
    engine = stored(pair)
    with pytest.raises(Stopped):
        drive(migration("apply", pair.new), stop_before(10, sending(engine)))
    body = {
        "TableName": "things",
        "Key": {"PK": {"S": "$tablewright"}, "SK": {"S": "indexes"}},
        "UpdateExpression": "SET #s = :s",
        "ExpressionAttributeNames": {"#s": name},
        "ExpressionAttributeValues": {":s": {"S": text}},
    }
    engine.call("UpdateItem", body)
    before = engine.call("Scan", {"TableName": NAME})
    refusal = pytest.raises(MigrationRefused, match="written by another version of Tablewright")
    for command, by in (("apply", pair.new), ("rollback", pair.old), ("complete", pair.new)):
        with refusal:
            drive(migration(command, by), engine)
        with refusal:
            drive(migration(command, by).preview(), engine)  # type: ignore[attr-defined]
    with refusal:
        migrations.status(engine, pair.new.table)
    with refusal:
        connect(engine, pair.old.table)
    assert engine.call("Scan", {"TableName": NAME}) == before


def test_a_table_without_a_record_is_refused() -> None:
    engine = Engine(":memory:")
    new = plain()
    connect(engine, new.table)
    with pytest.raises(MigrationRefused, match="migrate baseline"):
        drive(migration("apply", new), engine)


def test_a_preview_writes_nothing() -> None:
    pair = PAIRS["several changes"]
    engine = stored(pair)
    seen = list[str]()

    def send(operation: str, body: dict[str, Any]) -> bytes:
        seen.append(operation)
        return sending(engine)(operation, body)

    found = drive(migration("apply", pair.new).preview(), send)  # type: ignore[attr-defined]

    assert [each.name for each in found.steps] == [
        "check", "create-index", "await-programs", "rewrite", "verify", "switch",
    ]  # fmt: skip
    assert set(seen) == {"DescribeTable", "DescribeTimeToLive", "GetItem"}


def test_a_backfill_for_another_version_is_refused() -> None:
    pair = PAIRS["place added"]
    engine = stored(pair)
    before = whole(engine)
    with connect(engine, pair.new.table) as db, pytest.raises(MigrationRefused, match="migrate"):
        db.run(backfill(pair.new.table))
    assert whole(engine) == before
    drive(migration("apply", pair.new), engine)
    with connect(engine, pair.new.table) as db:
        db.run(backfill(pair.new.table))


def test_an_index_that_was_replaced_under_its_name_is_compared_as_it_is() -> None:
    class First(Table, name="replaced"):
        gsi1 = GSI("G1PK", "G1SK", project="KEYS_ONLY")

    class Note(Entity, table=First, type_name="Note"):
        note: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")
        listed = index(First.gsi1, "LIST", "NOTE" / note)

    class Second(Table, name="replaced"):
        gsi1 = GSI("G1PK", "G1SK")

    class NextNote(Entity, table=Second, type_name="Note"):
        note: Attr[str] = attr()
        text: Attr[str] = attr(fill="")
        primary = key("NOTE" / note, "NOTE")
        listed = index(Second.gsi1, "LIST", "NOTE" / note)

    engine = Engine(":memory:")
    with connect(engine, First) as db:
        db.run(create(Note(note="a")))
    migrations.baseline(engine, First)
    with pytest.raises(MigrationRefused, match="DynamoDB cannot change an index"):
        migrations.apply(engine, Second)
    remove = {"Delete": {"IndexName": "gsi1"}}
    engine.call("UpdateTable", {"TableName": "replaced", "GlobalSecondaryIndexUpdates": [remove]})
    connect(engine, Second, update=True).close()  # creates it again, with all attributes
    migrations.apply(engine, Second)
    with connect(engine, Second) as db:
        assert [each.text for each in db.run(NextNote.listed())] == [""]


def test_a_table_that_is_being_restored_is_refused() -> None:
    pair = PAIRS["place added"]
    engine = stored(pair)
    before = items(engine)

    def send(operation: str, body: dict[str, Any]) -> bytes:
        answer = sending(engine)(operation, body)
        restoring = b'"TableStatus":"CREATING"'
        return answer.replace(b'"TableStatus":"ACTIVE"', restoring)

    with pytest.raises(MigrationRefused, match=r"is CREATING.*run the command again"):
        drive(migration("apply", pair.new, lease_seconds=0), send)
    with pytest.raises(MigrationRefused, match="is CREATING"):
        drive(migration("apply", pair.new).preview(), send)  # type: ignore[attr-defined]
    for read in (Inspect, ReadRevision):
        with pytest.raises(MigrationRefused, match="is CREATING"):
            drive(read(version(pair.new.table)), send)
    assert items(engine) == before


@pytest.mark.parametrize("action", ["UpdateItem", "ConditionCheckItem", "Scan", "GetItem"])
def test_a_missing_permission_is_named_and_no_item_is_changed(action: str) -> None:
    pair = PAIRS["place added"]
    engine = stored(pair)
    before = items(engine)
    allow = {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}
    deny = {"Effect": "Deny", "Action": f"dynamodb:{action}", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [allow, deny]}
    limited = connect(engine, pair.old.table, policy=policy)
    with pytest.raises(AccessDeniedException, match=f"dynamodb:{action}"):
        migrations.apply(limited, pair.new.table, lease_seconds=0)
    assert items(engine) == before
    migrations.apply(engine, pair.new.table, lease_seconds=0)


def test_a_role_that_only_reads_may_plan_and_changes_nothing() -> None:
    pair = PAIRS["place added"]
    engine = stored(pair)
    before = engine.call("Scan", {"TableName": NAME})
    reading = ["dynamodb:Describe*", "dynamodb:GetItem", "dynamodb:Scan"]
    allow = {"Effect": "Allow", "Action": reading, "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [allow]}
    limited = connect(engine, pair.old.table, policy=policy)
    assert migrations.plan(limited, pair.new.table)[0].steps
    assert migrations.status(limited, pair.new.table)[0].changes
    with pytest.raises(AccessDeniedException, match="dynamodb:UpdateItem"):
        migrations.apply(limited, pair.new.table)
    assert engine.call("Scan", {"TableName": NAME}) == before


def test_a_value_of_another_type_is_refused_when_it_is_declared() -> None:
    with pytest.raises(DeclarationError, match="note: fill= is not valid"):
        filling(7)


def test_a_table_that_has_changed_since_the_plan_was_made_is_refused() -> None:
    pair = PAIRS["index added"]
    engine = stored(pair)
    (plan,) = migrations.plan(engine, pair.new.table)
    connect(engine, pair.new.table, update=True).close()  # it creates the index of the plan
    before = whole(engine)
    with pytest.raises(MigrationRefused, match="has changed since this plan was made"):
        migrations.apply(engine, pair.new.table, plan=plan, program_seconds=0)
    assert whole(engine) == before
    (plan,) = migrations.plan(engine, pair.new.table)
    assert migrations.apply(engine, pair.new.table, plan=plan, program_seconds=0)[0].steps


def test_more_indexes_than_a_table_can_have_are_refused_before_any_is_created() -> None:
    def version(first: int, last: int) -> type[Table]:
        indexes = {f"gsi{n:02}": GSI(f"G{n}") for n in range(first, last)}
        table = type("Wide", (Table,), indexes, name="wide")
        body = {"__annotations__": {"tid": Attr[str]}, "tid": (tid := attr())}
        type("Part", (Entity,), body | {"primary": key("P" / tid, "P")}, table=table)
        return table

    engine = Engine(":memory:")
    connect(engine, version(0, 15)).close()
    migrations.baseline(engine, version(0, 15))
    with pytest.raises(MigrationRefused, match="would have 25 global indexes"):
        migrations.plan(engine, version(5, 25))
    with pytest.raises(MigrationRefused, match="would have 25 global indexes"):
        migrations.apply(engine, version(5, 25))
    migrations.apply(engine, version(5, 20), program_seconds=0)


KEYS = KeyRing({"2026": bytes(32)})
SECRET = attr(name="s", codec=encrypted(KEYS))


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (attr(name="s"), SECRET, r"'s' \(str\) cannot become 's' \(encrypted\(str\)\)"),
        (SECRET, attr(name="s"), r"'s' \(encrypted\(str\)\) cannot become 's' \(str\)"),
        (
            SECRET,
            attr(name="z", renamed_from="s", codec=encrypted(KEYS)),
            r"'s' \(encrypted\(str\)\) cannot become 'z' \(encrypted\(str\)\)",
        ),
    ],
)
def test_encrypted_values_are_not_rewritten(before: Any, after: Any, problem: str) -> None:
    engine = Engine(":memory:")
    old = side(base(secret=(str, before)), by_state)
    load(engine, old, [RECORDS[0] | {"secret": "a"}])
    drive(Baseline(version(old.table)), engine)
    refused(engine, side(base(secret=(str, after)), by_state), MigrationRefused, problem)


def test_an_attribute_is_encrypted_by_a_new_one_that_fill_reads() -> None:
    engine = Engine(":memory:")
    old = side(base(secret=(str, attr(name="s"))), by_state)
    load(engine, old, [record | {"secret": "a"} for record in RECORDS])
    drive(Baseline(version(old.table)), engine)
    filled = attr(name="z", codec=encrypted(KEYS), fill=lambda item: item["s"])
    new = side(base(hidden=(str, filled)), by_state)
    drive(migration("apply", new), engine)
    db = connect(engine, new.table)
    assert db.run(new.entity.primary("t0").or_raise()).hidden == "a"
    stored_items = [item for item in items(engine) if "z" in item]
    assert len(stored_items) == len(RECORDS)
    assert all(item["z"].keys() == {"B"} for item in stored_items)
    drive(migration("complete", new), engine)
    assert not any("s" in item for item in items(engine))
    assert db.run(new.entity.primary("t0").or_raise()).hidden == "a"
