"""Tables, their names and their tenants."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import GSI, LSI, Table, Tenancy
from tests.model.declaring.declarations import Keyed, Shop, refused
from tests.new_table import new_table

# -- tables ----------------------------------------------------------------------------------------


def test_a_table_is_subclassed() -> None:
    with refused("Order", "table=", "not a subclass of Table"):

        class Order(Keyed, table=Table): ...


def test_something_that_is_no_table_is_refused() -> None:
    wrong: Any = dict
    with refused("Order", "dict", "not a subclass of Table"):

        class Order(Keyed, table=wrong): ...


def test_a_table_is_not_made() -> None:
    with pytest.raises(TypeError, match=r"open it with connect\(target, Shop\)"):
        Shop()


def test_two_indexes_of_one_name_are_refused() -> None:
    with refused("Shop.second", "two indexes", "'listed'"):

        class Shop(Table, name="shop"):
            first = GSI("GSI1PK", name="listed")
            second = GSI("GSI2PK", name="listed")


def test_a_table_holds_indexes_and_nothing_else() -> None:
    with refused("Shop.size", "5", "GSI(…), LSI(…) and Tenancy(…)"):

        class Shop(Table):
            size = 5


def test_the_two_keys_of_a_table_have_two_names() -> None:
    with refused("Shop", "both 'id'"):
        new_table("shop", pk="id", sk="id")


@pytest.mark.parametrize("name", ["PK", "SK"])
def test_the_type_attribute_is_no_key_of_the_table(name: str) -> None:
    """The type would overwrite the key."""
    with refused("Shop", repr(name), "is a key", "choose another name"):
        new_table("shop", type_attribute=name)


def test_the_type_attribute_has_a_name() -> None:
    with refused("Shop: type_attribute='' is not the name of an attribute; write None", __file__):

        class Shop(Table, name="shop", type_attribute=""): ...


def test_the_two_keys_of_an_index_have_two_names() -> None:
    with refused("listed", "'GSI1PK'"):

        class Shop(Table):
            listed = GSI("GSI1PK", "GSI1PK")


@pytest.mark.parametrize("name", ["t", "a b", "größe", "x" * 256])
def test_a_name_that_dynamodb_takes_for_no_table_is_refused(name: str) -> None:
    with refused(name):
        new_table(name)


@pytest.mark.parametrize("name", ["i", "a b"])
def test_a_name_that_dynamodb_takes_for_no_index_is_refused(name: str) -> None:
    with refused(name):

        class Shop(Table, name="shop"):
            listed = GSI("GSI1PK", name=name)


# -- tenancy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shard", ["U", "U#{user}", "U#{user_id}#{user_id}", "{user_id}#{shop}"])
@pytest.mark.parametrize("access", ["write", "read"])
def test_a_shard_holds_its_tenant_once_and_nothing_else(shard: str, access: str) -> None:
    patterns: dict[str, Any] = {access: (shard,)}
    with refused("Tenancy('user_id')", repr(shard), "{user_id} once"):
        Tenancy("user_id", **patterns)


@pytest.mark.parametrize("access", ["write", "read"])
def test_shards_are_a_tuple_and_no_text(access: str) -> None:
    shards: dict[str, Any] = {access: "U#{user_id}"}
    with refused("Tenancy('user_id')", f"{access}= takes a tuple: ('U#{{user_id}}',)"):
        Tenancy("user_id", **shards)


def test_a_tenant_has_shards() -> None:
    with refused("Tenancy('user_id')", "no shards", "write=, read="):
        Tenancy("user_id")


@pytest.mark.parametrize("project", ["KEYS", "price", ["price"], (), (1,)])
def test_a_projection_is_a_known_word_or_names(project: Any) -> None:
    fix = f"project={project!r} is not 'ALL', 'KEYS_ONLY' or a tuple of stored names"
    with refused(f"Shop.listed: {fix}"):

        class Shop(Table):
            listed = GSI("GSI1PK", project=project)

    with refused(f"Store.listed: {fix}"):

        class Store(Table):
            listed = LSI("price", project=project)


def test_filtered_indexes_are_a_tuple() -> None:
    index: Any = GSI("GSI1PK", "GSI1SK")
    with refused("Tenancy('org'): filtered= takes a tuple of global indexes: (by_day,)"):
        Tenancy("org", write=("ORG#{org}",), filtered=index)
