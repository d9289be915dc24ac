"""Several levels of children from one query."""

from __future__ import annotations

from tablewright import Aggregate, child, children, root
from tablewright.database import Database
from tests.plan.reads.aggregates.sales import Allergen, Menu, Product, Section, SectionNote, store


class ProductTree(Aggregate):
    product: Product = root()
    allergens: list[Allergen] = children()


class SectionTree(Aggregate):
    section: Section = root()
    products: list[ProductTree] = children()


class MenuTree(Aggregate):
    menu: Menu = root()
    sections: list[SectionTree] = children()


class NotedSection(Aggregate):
    section: Section = root()
    note: SectionNote = child()


class NotedMenu(Aggregate):
    menu: Menu = root()
    sections: list[NotedSection] = children()


class SectionWithAll(Aggregate):
    section: Section = root()
    note: SectionNote | None = child()
    products: list[ProductTree] = children()


class MenuWithAll(Aggregate):
    menu: Menu = root()
    sections: list[SectionWithAll] = children()


def fill_menu(db: Database, menu: str, sections: dict[str, dict[str, list[str]]]) -> None:
    store(db, Menu(menu=menu))
    for section, products in sections.items():
        store(db, Section(menu=menu, section=section))
        for product, allergens in products.items():
            store(db, Product(menu=menu, section=section, product=product))
            for allergen in allergens:
                store(
                    db,
                    Allergen(menu=menu, section=section, product=product, allergen=allergen),
                )


def told(tree: MenuTree) -> dict[str, dict[str, list[str]]]:
    return {
        section.section.section: {
            product.product.product: [allergen.allergen for allergen in product.allergens]
            for product in section.products
        }
        for section in tree.sections
    }


CARTE: dict[str, dict[str, list[str]]] = {
    "1": {"10": ["egg"], "1": ["fish", "nuts"], "1 x": []},
    "1!": {"1": ["milk"]},
    "10": {"1": []},
    "soups": {},
}


def test_several_levels_come_from_one_query(db: Database) -> None:
    fill_menu(db, "lunch", CARTE)
    fill_menu(db, "dinner", {"1": {"x": []}})
    found = db.run(MenuTree.of(Menu.primary("lunch")))
    assert found is not None
    assert found.menu == Menu(menu="lunch")
    assert told(found) == CARTE


def test_a_level_can_be_asked_for_alone(db: Database) -> None:
    fill_menu(db, "lunch", CARTE)
    found = db.run(SectionTree.of(Section.primary("lunch", "1")))
    assert found is not None
    assert {tree.product.product for tree in found.products} == {"1", "1 x", "10"}


def test_rows_whose_own_level_is_missing_belong_to_nobody(db: Database) -> None:
    store(db, Menu(menu="m"), Product(menu="m", section="lost", product="p"))
    found = db.run(MenuTree.of(Menu.primary("m")))
    assert found is not None
    assert found.sections == []


def test_levels_are_read_in_descending_order(db: Database) -> None:
    fill_menu(db, "lunch", {"a": {"x": [], "y": []}, "b": {"z": []}})
    found = db.run(MenuTree.of(Menu.primary("lunch")).desc())
    assert found is not None
    assert list(told(found)) == ["b", "a"]
    assert list(told(found)["a"]) == ["y", "x"]


def test_a_limit_cuts_the_rows_of_all_levels(db: Database) -> None:
    fill_menu(db, "lunch", {"a": {"x": [], "y": []}, "b": {"z": []}})
    found = db.run(MenuWithAll.of(Menu.primary("lunch")).limit(2))
    assert found is not None
    (section,) = found.sections
    assert [tree.product.product for tree in section.products] == ["x"]


def test_a_list_of_aggregates_holds_no_gaps(db: Database) -> None:
    """One that lacks a member it needs is not there, just as a whole aggregate would not be."""
    store(
        db,
        Menu(menu="m"),
        Section(menu="m", section="a"),
        Section(menu="m", section="b"),
        SectionNote(menu="m", section="b"),
    )
    found = db.run(NotedMenu.of(Menu.primary("m")))
    assert found is not None
    assert [noted.section.section for noted in found.sections] == ["b"]
