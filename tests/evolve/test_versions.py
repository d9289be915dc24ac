"""The sides of a comparison: designs, lock files, templates, model files, live tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine, connect
from tablewright.cost import load_prices
from tablewright.design_changes import Need
from tablewright.design_description import write_lock
from tablewright.errors import (
    LockRefused,
    ModelFileRefused,
    TableNotFound,
    TemplateRefused,
    TransferRefused,
)
from tablewright.evolve import (
    Coexistence,
    DesignDiff,
    DesignVersion,
    Workload,
    compare,
    describe_version,
    read_file,
    read_lock_file,
    read_tables_at,
)
from tablewright.publish.document import json_document
from tablewright.publish.infrastructure import cloudformation
from tablewright.publish.workbench import nosql_workbench
from tablewright.server import serving
from tests.evolve.designs import ADDED, ANOTHER_KEY, SECOND_INDEX, UNIQUE, design, load_text

NATURAL_INDEX = {"    gsi1": '    mails = GSI("email")\n    gsi1'}


def version(folder: Path, changes: dict[str, str] | None = None) -> DesignVersion:
    return describe_version(load_text(design(changes), folder), "shop.py")


def differing(old: DesignVersion, new: DesignVersion) -> DesignDiff:
    return compare(old, new, Workload(load_prices()))


def kinds(diff: DesignDiff) -> list[tuple[str, str]]:
    return [(each.change.where, each.change.kind.name) for each in diff.changes]


@pytest.fixture(params=["file", "http"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The table of the design with its index record, in a file and behind an endpoint."""
    file = tmp_path / "shop.db"
    with Engine(file) as engine:
        connect(engine, *load_text(design(), tmp_path, "stored").tables, update=True).close()
        if request.param == "http":
            with serving(engine) as url:
                yield url
            return
    yield str(file)


def test_a_lock_file_is_the_design(tmp_path: Path) -> None:
    file = tmp_path / "tablewright.lock"
    file.write_text(write_lock(version(tmp_path).description))
    assert kinds(differing(read_lock_file(file), version(tmp_path))) == []
    changed = differing(read_lock_file(file), version(tmp_path, ADDED))
    assert kinds(changed) == [("Order.note", "attribute-added")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a lock file"),
        ('{"format": 1}', "is not a lock file"),
        ('{"format": 1, "tables": {}, "more": 1}', "is not a lock file"),
        ('{"tables": {}}', "is not a lock file"),
        ("<<<<<<< HEAD", "remove it, then write it again: tablewright lock"),
        ('{"format": 99}', "its format is 99, and this version of Tablewright reads formats up to"),
    ],
)
def test_a_file_that_is_no_lock_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "tablewright.lock"
    file.write_text(text)
    with pytest.raises(LockRefused, match=message) as refused:
        read_lock_file(file)
    assert str(file) in str(refused.value)


def test_a_missing_lock_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LockRefused, match=r"no\.lock: No such file"):
        read_lock_file(tmp_path / "no.lock")


@pytest.mark.parametrize("folder", [False, True])
def test_the_structure_of_a_template_is_compared(folder: bool, tmp_path: Path) -> None:
    """A template in a file, and in the folder of `cdk synth`."""
    file = tmp_path / "shop.template.json"
    loaded = load_text(design(), tmp_path)
    file.write_text(json_document(cloudformation(loaded)))
    template = read_file(tmp_path if folder else file)
    assert not template.has_entities
    assert kinds(differing(template, version(tmp_path))) == []
    assert kinds(differing(template, version(tmp_path, ANOTHER_KEY))) == []
    found = differing(template, version(tmp_path, SECOND_INDEX))
    assert kinds(found) == [("gsi2", "index-added")]
    assert found.together is Coexistence.AFTER


def test_a_model_file_has_no_ttl_and_local_indexes_to_compare(tmp_path: Path) -> None:
    text = design(
        {
            "    gsi1": '    local = LSI("status")\n    gsi1',
            "from tablewright": "from datetime import datetime\n\nfrom tablewright",
            "import GSI": "import GSI, LSI",
            "    primary": "    gone: Attr[datetime | None] = ttl()\n    primary",
            "unique": "unique, ttl",
        }
    )
    loaded = load_text(text, tmp_path)
    described = describe_version(loaded, "shop.py")
    assert described.description.tables["shop"].ttl == "gone"
    file = tmp_path / "model.json"
    file.write_text(json_document(nosql_workbench(loaded).model))
    model = read_file(file)
    assert kinds(differing(model, described)) == []
    assert kinds(differing(described, model)) == []


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("a.json", "{}", TemplateRefused),
        ("a.json", "{", TemplateRefused),
        ("a.json", '{"DataModel": 5}', ModelFileRefused),
        ("none.json", None, TemplateRefused),
        ("main.tf", "resource", TemplateRefused),
    ],
)
def test_a_file_that_is_no_template_is_refused(
    name: str, text: str | None, error: type[Exception], tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=name):
        read_file(tmp_path / name)


def test_a_table_that_is_as_declared_has_no_drift(target: str, tmp_path: Path) -> None:
    found = differing(read_tables_at(target, ["shop"]), version(tmp_path))
    assert found.is_drift
    assert kinds(found) == []


@pytest.mark.parametrize(
    ("changes", "forward", "backward"),
    [
        (
            SECOND_INDEX,
            [("gsi2", "index-added"), ("Order.gsi2", "place-added")],
            [("gsi2", "index-removed"), ("Order.gsi2", "place-removed")],
        ),
        (
            ANOTHER_KEY,
            [("Order.gsi1", "index-key-changed")],
            [("Order.gsi1", "index-key-changed")],
        ),
        (
            {'status, "ORDER" / order_id': 'status, "ORDER" / order_id, when=status != "X"'},
            [("Order.gsi1", "index-key-changed")],
            [("Order.gsi1", "index-key-changed")],
        ),
        (
            {'"ORDER")': '"BUY")'},
            [("Order", "primary-key-changed")],
            [("Order", "primary-key-changed")],
        ),
        (UNIQUE, [("Order.by_email", "unique-added")], [("Order.by_email", "unique-removed")]),
        (ADDED, [], []),
    ],
)  # fmt: skip
def test_keys_are_compared_with_the_index_record(
    changes: dict[str, str],
    forward: list[tuple[str, str]],
    backward: list[tuple[str, str]],
    target: str,
    tmp_path: Path,
) -> None:
    live, declared = read_tables_at(target, ["shop"]), version(tmp_path, changes)
    assert kinds(differing(live, declared)) == forward
    assert kinds(differing(declared, live)) == backward


def test_recorded_keys_are_shown_before_and_after(target: str, tmp_path: Path) -> None:
    live, declared = read_tables_at(target, ["shop"]), version(tmp_path, ANOTHER_KEY)
    stored, new = "GSI1PK=STATUS#{status}", "GSI1PK=STATE#{status}"
    for found, texts in (
        (differing(live, declared), (stored, new)),
        (differing(declared, live), (new, stored)),
    ):
        (change,) = (each.change for each in found.changes)
        assert (change.before.split(",")[0], change.after.split(",")[0]) == texts


def test_without_a_record_only_the_structure_is_compared(tmp_path: Path) -> None:
    file = str(tmp_path / "shop.db")
    connect(file, *load_text(design(), tmp_path).tables).close()
    assert kinds(differing(read_tables_at(file, ["shop"]), version(tmp_path, ANOTHER_KEY))) == []


def test_a_table_with_a_numeric_key_is_read(tmp_path: Path) -> None:
    """The key of the index record depends on the types of the key."""
    file = str(tmp_path / "n.db")
    source = design(
        {
            'name="shop"': 'name="shop", pk="id", sk=None',
            "    order_id: Attr[str] = attr()": '    order_id: Attr[int] = attr(name="id", pad=6)',
            'key("ORDER" / order_id, "ORDER")': "key(order_id)",
        }
    )
    loaded = load_text(source, tmp_path)
    connect(file, *loaded.tables, update=True).close()
    live = read_tables_at(file, ["shop"])
    assert live.live["shop"].record is not None
    assert kinds(differing(live, describe_version(loaded, "shop.py"))) == []


def test_a_table_may_have_another_name_at_the_target(target: str, tmp_path: Path) -> None:
    other = version(tmp_path, {'name="shop"': 'name="prod-shop"'})
    live = read_tables_at(target, list(other.description.tables), called="shop")
    assert kinds(differing(live, other)) == []


def test_a_missing_table_is_named(target: str) -> None:
    with pytest.raises(TableNotFound, match=r"no table 'shpo'; did you mean 'shop'\?"):
        read_tables_at(target, ["shpo"])
    with pytest.raises(TableNotFound, match="no table 'shpo'"):
        read_tables_at(target, ["shop"], called="shpo")


def test_one_of_several_tables_may_be_missing(target: str, tmp_path: Path) -> None:
    source = design() + '\n\nclass More(Table, name="more"):\n    pass\n'
    described = describe_version(load_text(source, tmp_path), "shop.py")
    live = read_tables_at(target, list(described.description.tables))
    assert kinds(differing(live, described)) == [("more", "table-added")]


def test_nothing_is_written_to_a_target(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with Engine(file) as engine:
        connect(engine, *load_text(design(), tmp_path).tables, update=True).close()
        before: Any = engine.call("Scan", {"TableName": "shop"})
    read_tables_at(str(file), ["shop"])
    with Engine(file) as engine:
        assert engine.call("Scan", {"TableName": "shop"}) == before
        assert engine.call("ListTables") == {"TableNames": ["shop"]}
    with pytest.raises(TransferRefused, match=r"none\.db: no such file"):
        read_tables_at(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("changes", "need", "together", "is_free"),
    [
        ({}, Need.NOTHING, Coexistence.YES, True),
        (ADDED, Need.NOTHING, Coexistence.YES, True),
        (SECOND_INDEX, Need.BACKFILL, Coexistence.UNTIL_AWAIT, False),
        (NATURAL_INDEX, Need.TABLE_UPDATE, Coexistence.AFTER, False),
        ({"email: Attr[str]": "email: Attr[str | None]"}, Need.NOTHING, Coexistence.NO, False),
    ],
)  # fmt: skip
def test_the_worst_of_all_changes_counts(
    changes: dict[str, str], need: Need, together: Coexistence, is_free: bool, tmp_path: Path
) -> None:
    found = differing(version(tmp_path), version(tmp_path, changes))
    assert (found.largest_need, found.together, found.is_free) == (need, together, is_free)
    assert not found.is_drift


def test_an_index_that_is_removed_can_stay_until_old_programs_have_ended(tmp_path: Path) -> None:
    found = differing(version(tmp_path, NATURAL_INDEX), version(tmp_path))
    assert found.together is Coexistence.BEFORE
