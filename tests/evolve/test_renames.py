"""Renames that are declared for one run, and those that are possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.design_changes import differences
from tablewright.errors import InvalidValue
from tablewright.evolve import Rename, declare, find_renames, read_renames
from tests.evolve.designs import ADDED, RENAMED, described, design

#: The entity has another type, and the same key.
OTHER_ENTITY = {"class Order(": "class Purchase("}


def test_an_attribute_of_the_same_type_may_be_a_renamed_one(tmp_path: Path) -> None:
    old, new = described(design(), tmp_path), described(design(RENAMED), tmp_path)
    assert find_renames(old, new) == [Rename("shop", "Order", "email", "mail")]


def test_an_attribute_that_is_required_like_the_removed_one_is_preferred(tmp_path: Path) -> None:
    changed = design(RENAMED).replace(
        "    mail", '    note: Attr[str] = attr(default="")\n    mail'
    )
    old, new = described(design(), tmp_path), described(changed, tmp_path)
    assert [each.after for each in find_renames(old, new)] == ["mail"]


def test_an_attribute_of_another_type_is_no_rename(tmp_path: Path) -> None:
    changed = design({"    email: Attr[str]": "    mail: Attr[int]"})
    assert find_renames(described(design(), tmp_path), described(changed, tmp_path)) == []


def test_an_added_attribute_alone_is_no_rename(tmp_path: Path) -> None:
    assert find_renames(described(design(), tmp_path), described(design(ADDED), tmp_path)) == []


def test_an_entity_with_the_same_key_may_be_a_renamed_one(tmp_path: Path) -> None:
    old, new = described(design(), tmp_path), described(design(OTHER_ENTITY), tmp_path)
    assert find_renames(old, new) == [Rename("shop", "", "Order", "Purchase")]


def test_a_declared_rename_is_found_no_more(tmp_path: Path) -> None:
    old, new = described(design(), tmp_path), described(design(RENAMED), tmp_path)
    declared = declare(new, find_renames(old, new))
    assert find_renames(old, declared) == []
    assert [each.kind.name for each in differences(old, declared)] == ["attribute-renamed"]


def test_a_rename_of_one_run_is_that_of_the_design(tmp_path: Path) -> None:
    """`--renamed` gives the changes that `renamed_from=` gives."""
    for changes, text, declaration in (
        (RENAMED, "Order.email=mail", {"    mail: Attr[str] = attr(": '{}renamed_from="email"'}),
        (OTHER_ENTITY, "Order=Purchase", {"Entity, table=Shop": '{}, renamed_from="Order"'}),
    ):
        source = design(changes)
        for place, added in declaration.items():
            in_source = source.replace(place, added.format(place))
        old, new = described(design(), tmp_path), described(source, tmp_path)
        declared = declare(new, read_renames([text], old, new))
        wanted = differences(old, described(in_source, tmp_path))
        assert differences(old, declared) == wanted
        assert wanted[0].kind.name.endswith("-renamed")


def test_entities_are_split_and_merged_for_one_run(tmp_path: Path) -> None:
    """`--renamed` twice, from one entity or to one."""
    order = design().partition("class Order(")[2]
    parts = design() + "\n\nclass Sale(" + order.replace('"ORDER"', '"SALE"')
    old, new = described(parts, tmp_path), described(design(OTHER_ENTITY), tmp_path)
    texts = ["Order=Purchase", "Sale=Purchase"]
    merged = differences(old, declare(new, read_renames(texts, old, new)))
    assert [each.kind.name for each in merged].count("entity-merged") == 2
    assert {each.former for each in merged if each.kind.name != "entity-merged"} == {"Sale"}
    back = [f"{after}={before}" for before, after in (each.split("=") for each in texts)]
    split = differences(new, declare(old, read_renames(back, new, old)))
    assert [each.kind.name for each in split].count("entity-split") == 2


@pytest.mark.parametrize("owner", ["Order", "Purchase"])
def test_an_attribute_of_a_renamed_entity_is_found_by_both_names(
    owner: str, tmp_path: Path
) -> None:
    old, new = described(design(), tmp_path), described(design(RENAMED | OTHER_ENTITY), tmp_path)
    found = read_renames([f"{owner}.email=mail", "Order=Purchase"], old, new)
    assert found == [
        Rename("shop", "", "Order", "Purchase"),
        Rename("shop", "Purchase", "email", "mail"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Order.email", "write OLD=NEW, such as Order=Purchase or Order.status=state"),
        ("=mail", "write OLD=NEW"),
        ("Order.emial=mail", "Order.emial is removed; did you mean 'Order.email'?"),
        ("Order.email=mial", "no entity or attribute mial is added in its place; did you mean"),
        ("Order.status=mail", "no entity or attribute Order.status is removed"),
        ("Ordr=Purchase", "no entity or attribute Ordr is removed; removed are Order.email"),
    ],
)
def test_a_misspelled_rename_is_refused(text: str, message: str, tmp_path: Path) -> None:
    old, new = described(design(), tmp_path), described(design(RENAMED), tmp_path)
    with pytest.raises(InvalidValue) as refused:
        read_renames([text], old, new)
    assert str(refused.value).startswith(f"--renamed {text}: ")
    assert message in str(refused.value)
