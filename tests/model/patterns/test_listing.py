"""Which patterns a table lists, wherever they are defined."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    Create,
    Engine,
    Get,
    Query,
    Table,
    Transaction,
    access_pattern,
    connect,
    create,
    explain,
    transact,
)
from tablewright.errors import DeclarationError
from tablewright.plans import AccessPattern, Shape, access_patterns
from tests.model.patterns.club import EXPLAINED, Club, Numbers, User, number_from, user
from tests.new_table import new_table
from tests.things import NamedEntity

# -- patterns of a table ---------------------------------------------------------------------------


def test_patterns_are_listed_in_the_order_of_their_definition() -> None:
    defined = [function.__name__ for function in EXPLAINED if function is not number_from]
    listed = [traced.name for traced in access_patterns(Club)]
    assert listed[: len(defined)] == defined
    assert [traced.name for traced in access_patterns(Numbers)][:1] == ["number_from"]


def test_a_listed_pattern_has_name_doc_parameters_and_shape() -> None:
    traced = access_patterns(Club)[0]
    assert isinstance(traced, AccessPattern)
    assert traced.name == "user"
    assert traced.doc == "Get a user."
    assert traced.parameters == ("id",)
    assert traced.function is user
    assert traced.shape == explain(user)
    assert isinstance(traced.shape, Shape)
    assert isinstance(traced.plan, Get)


def test_a_table_without_patterns_lists_none() -> None:
    assert access_patterns(new_table()) == []


def test_a_pattern_that_is_defined_again_replaces_the_first() -> None:
    redefined = new_table("pattern_redefined")

    class Thing(NamedEntity, table=redefined): ...

    def define() -> Callable[[str], Get[Thing]]:
        @access_pattern
        def thing(name: str) -> Get[Thing]:
            return Thing.primary(name)

        return thing

    define()
    second = define()
    assert [traced.function for traced in access_patterns(redefined)] == [second]


def test_two_tables_of_one_name_have_each_their_own_patterns() -> None:
    """Two designs may give their table the same name, as two tests of one process do."""

    older = new_table("pattern_twins")
    younger = new_table("pattern_twins")

    class Here(NamedEntity, table=older): ...

    class There(NamedEntity, table=younger): ...

    @access_pattern
    def here(name: str) -> Get[Here]:
        return Here.primary(name)

    @access_pattern
    def there(name: str) -> Get[There]:
        return There.primary(name)

    assert [traced.name for traced in access_patterns(older)] == ["here"]
    assert [traced.name for traced in access_patterns(younger)] == ["there"]


# -- where they are defined ------------------------------------------------------------------------


def test_a_pattern_may_be_defined_inside_of_a_function(engine: Engine) -> None:
    table = new_table("pattern_inner")

    class Thing(NamedEntity, table=table): ...

    @access_pattern
    def add(thing: Thing) -> Create[Thing]:
        return create(thing)

    @access_pattern
    def add_all(things: list[Thing]) -> Transaction:
        return transact(*(create(thing) for thing in things))

    assert explain(add).condition == 'PK="THING#{name}" AND SK="THING"'
    assert explain(add_all).operation == "TransactWriteItems"
    inner = connect(engine, table)
    inner.run(add_all([Thing(name="1"), Thing(name="2")]))
    assert inner.run(Thing.primary("2")) == Thing(name="2")


MODULE = """
from tablewright import Attr, Create, Entity, Get, Query, Table, access_pattern, attr, create, key

class Shop(Table, name="pattern_module_{number}"): ...

class Ware(Entity, table=Shop):
    ware_id: Attr[str] = attr()
    primary = key("WARES", "WARE" / ware_id)

@access_pattern
def ware(ware_id: str) -> Get[Ware]:
    return Ware.primary(ware_id)

@access_pattern
def add(ware: Ware) -> Create[Ware]:
    return create(ware)

@access_pattern
def some(size, /) -> Query[Ware]:
    return Ware.primary.within().page_size(size)
"""


@pytest.mark.parametrize("beginning", ["", "from __future__ import annotations\n"])
def test_a_module_may_have_its_annotations_as_texts_or_as_types(
    beginning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"patterns_of_a_shop_{len(beginning)}"
    path = tmp_path / f"{name}.py"
    path.write_text(beginning + MODULE.format(number=len(beginning)))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    assert [traced.name for traced in access_patterns(module.Shop)] == ["ware", "add", "some"]
    assert explain(module.ware).condition == 'PK="WARES" AND SK="WARE#{ware_id}"'
    assert explain(module.add).condition == 'PK="WARES" AND SK="WARE#{ware_id}"'
    assert explain(module.some).page == "{size}"


def test_an_annotation_that_cannot_be_evaluated_is_named() -> None:
    def unknown(thing: Nowhere) -> Any:  # type: ignore[name-defined]  # noqa: F821
        return User.recent()

    with pytest.raises(DeclarationError) as refused:
        access_pattern(unknown)
    assert refused.value.message.startswith(
        "pattern unknown: thing: the annotation 'Nowhere' is not valid: name 'Nowhere' is not "
        "defined; define it before, or import it"
    )


# -- patterns and their tables ---------------------------------------------------------------------


def test_tables_that_one_function_makes_have_each_their_own_patterns() -> None:
    def made(name: str) -> type[Table]:
        table = new_table(name)

        class Thing(NamedEntity, table=table): ...

        @access_pattern
        def thing(name: str) -> Get[Thing]:
            return Thing.primary(name)

        return table

    first, second = made("pattern_first"), made("pattern_second")
    assert [found.shape.table for found in access_patterns(first)] == ["pattern_first"]
    assert [found.shape.table for found in access_patterns(second)] == ["pattern_second"]


def test_a_plan_that_two_patterns_give_keeps_the_name_of_each() -> None:
    shared = User.in_city("Rome")

    @access_pattern
    def romans() -> Query[User]:
        return shared

    @access_pattern
    def people_of_rome() -> Query[User]:
        return shared

    one_, other = romans(), people_of_rome()
    assert [one_._name, other._name] == ["romans", "people_of_rome"]
    assert shared._pattern == ""
