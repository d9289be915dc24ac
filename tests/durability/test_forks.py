"""A process that was forked off opens its own engine; the parent's stays whole."""

from __future__ import annotations

from pathlib import Path

from tablewright.engine import Engine
from tablewright.errors import StoreForked
from tests.durability.orders import NAME, TABLE, contents
from tests.storage.forks import in_child, name_of_error


def put(engine: Engine, partition: str, number: int) -> None:
    item = {"pk": {"S": partition}, "sk": {"S": str(number)}, "total": {"N": str(number)}}
    engine.call("PutItem", {"TableName": NAME, "Item": item})


def test_a_child_is_told_that_the_engine_is_its_parents(tmp_path: Path) -> None:
    with Engine(tmp_path / "orders.db") as engine:
        engine.call("CreateTable", TABLE)
        put(engine, "parent", 1)
        assert len(contents(engine)) == 1
        told = in_child(
            lambda: [
                name_of_error(lambda: contents(engine)),
                name_of_error(lambda: put(engine, "child", 1)),
                name_of_error(engine.check),
                name_of_error(engine.expire),
            ]
        )
        assert told == [StoreForked.__name__] * 4
        put(engine, "parent", 2)
        assert contents(engine).keys() == {"parent/1", "parent/2"}
        assert engine.check()


def test_a_child_that_ends_takes_no_write_of_its_parent_with_it(tmp_path: Path) -> None:
    file = tmp_path / "orders.db"
    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
        for turn in range(5):
            put(engine, "before", turn)
            in_child(lambda: [name_of_error(engine.close)])
            put(engine, "after", turn)
    with Engine(file) as engine:
        assert len(contents(engine)) == 10
        assert engine.check()


def test_a_child_and_its_parent_write_one_file_with_an_engine_each(tmp_path: Path) -> None:
    file = tmp_path / "orders.db"

    def work() -> list[str]:
        with Engine(file) as own:
            for number in range(20):
                put(own, "child", number)
            return sorted(contents(own))

    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
        put(engine, "parent", 0)
        assert len(in_child(work)) == 21
        put(engine, "parent", 1)
        assert len(contents(engine)) == 22
        assert engine.check()
