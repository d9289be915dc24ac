from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, key, update, version
from tablewright.database import Database
from tablewright.errors import (
    ConditionFailed,
    DeclarationError,
    InvalidValue,
    NotFound,
    VersionConflict,
)


class Dish(BaseModel):
    title: str
    price: Decimal = Decimal(1)
    sold: int = 0
    allergens: set[str] = set()
    remark: str | None = None


class Section(BaseModel):
    title: str = Field(alias="sectionTitle")
    dishes: list[Dish] = []
    seen: int = 0


@dataclass
class Hours:
    opens: int = 8
    closes: int = 20
    days: list[str] = field(default_factory=list)


class Cafe(Table, name="cafe"):
    pass


class Menu(Entity, table=Cafe):
    menu_id: Attr[str] = attr()
    sections: Attr[dict[str, Section]] = attr(default_factory=dict)
    hours: Attr[Hours] = attr(default_factory=Hours)
    counts: Attr[dict[str, int]] = attr(default_factory=dict)
    log: Attr[list[str]] = attr(default_factory=list)
    specials: Attr[list[Dish] | None] = attr(default=None)
    tags: Attr[set[str]] = attr(default_factory=set)
    numbers: Attr[set[int] | None] = attr(default=None)
    visits: Attr[int] = attr(default=0)

    primary = key("MENU" / menu_id, "MENU")


class Draft(Entity, table=Cafe):
    draft_id: Attr[str] = attr()
    log: Attr[list[str]] = attr(default_factory=list)
    version: Attr[int] = version()

    primary = key("DRAFT" / draft_id, "DRAFT")


SOUP = Dish(title="Soup", price=Decimal("4.5"))
CAKE = Dish(title="Cake", allergens={"egg", "milk"})


def section(title: str, *dishes: Dish, seen: int = 0) -> Section:
    return Section(sectionTitle=title, dishes=list(dishes), seen=seen)


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Cafe,)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Cafe)
    db.run(
        create(
            Menu(
                menu_id="1",
                sections={"a": section("Starters", SOUP), "b": section("Sweets", CAKE, SOUP)},
                counts={"mon": 3},
                log=["made"],
                tags={"new", "hot"},
            )
        )
    )
    return db


MENU = Menu.primary("1")


def item(engine: Engine) -> dict[str, Any]:
    found: dict[str, Any] = engine.call(
        "GetItem", {"TableName": "cafe", "Key": {"PK": {"S": "MENU#1"}, "SK": {"S": "MENU"}}}
    )["Item"]
    return found


# -- places inside -------------------------------------------------------------------------------


def test_a_place_inside_changes_and_nothing_else(db: Database, engine: Engine) -> None:
    before = item(engine)
    menu = db.run(MENU.update(Menu.sections.path(lambda s: s["a"].title).set("Soups")))

    assert menu.sections == {"a": section("Soups", SOUP), "b": section("Sweets", CAKE, SOUP)}
    before["sections"]["M"]["a"]["M"]["sectionTitle"] = {"S": "Soups"}
    assert item(engine) == before


def test_a_place_several_levels_down_changes(db: Database) -> None:
    price = Menu.sections.path(lambda s: s["b"].dishes[1].price)
    menu = db.run(MENU.update(price.set(Decimal("9.75"))))

    assert [dish.price for dish in menu.sections["b"].dishes] == [Decimal(1), Decimal("9.75")]


def test_a_place_inside_a_dataclass_changes(db: Database) -> None:
    menu = db.run(MENU.update(Menu.hours.path(lambda hours: hours.closes).set(23)))

    assert menu.hours == Hours(8, 23)


def test_several_places_of_one_document_change_at_once(db: Database) -> None:
    menu = db.run(
        MENU.update(
            Menu.sections.path(lambda s: s["a"].title).set("Soups"),
            Menu.sections.path(lambda s: s["a"].seen).increment(1),
            Menu.sections.path(lambda s: s["b"].title).set("Cakes"),
        )
    )

    assert menu.sections["a"] == section("Soups", SOUP, seen=1)
    assert menu.sections["b"].title == "Cakes"


def test_a_new_member_joins_a_dict(db: Database) -> None:
    menu = db.run(MENU.update(Menu.sections.path(lambda s: s["c"]).set(section("Drinks"))))

    assert list(menu.sections) == ["a", "b", "c"]
    assert menu.sections["c"] == section("Drinks")


def test_a_member_leaves_a_dict(db: Database) -> None:
    menu = db.run(MENU.update(Menu.sections.path(lambda s: s["a"]).remove()))

    assert list(menu.sections) == ["b"]


def test_a_member_leaves_a_list(db: Database) -> None:
    menu = db.run(MENU.update(Menu.sections.path(lambda s: s["b"].dishes[0]).remove()))

    assert menu.sections["b"].dishes == [SOUP]


def test_a_whole_member_of_a_list_is_replaced(db: Database) -> None:
    menu = db.run(MENU.update(Menu.sections.path(lambda s: s["b"].dishes[0]).set(SOUP)))

    assert menu.sections["b"].dishes == [SOUP, SOUP]


@pytest.mark.parametrize("member", ["a.b", "a b", "ü", "#0", ":0", "size", "0"])
def test_any_text_names_a_member_of_a_dict(db: Database, member: str) -> None:
    menu = db.run(MENU.update(Menu.counts.path(lambda counts: counts[member]).set(7)))

    assert menu.counts == {"mon": 3, member: 7}


def test_nothing_takes_an_optional_place_away(db: Database, engine: Engine) -> None:
    remark = Menu.sections.path(lambda s: s["a"].dishes[0].remark)
    assert db.run(MENU.update(remark.set("hot"))).sections["a"].dishes[0].remark == "hot"

    menu = db.run(MENU.update(remark.set(None)))

    assert menu.sections["a"].dishes[0].remark is None
    stored = item(engine)["sections"]["M"]["a"]["M"]["dishes"]["L"][0]["M"]
    assert "remark" not in stored


def test_a_place_that_a_document_needs_cannot_be_removed(db: Database) -> None:
    """Nobody could read the section any more."""
    with pytest.raises(InvalidValue, match="cannot be removed: it is not optional"):
        db.run(MENU.update(Menu.sections.path(lambda s: s["a"].title).remove()))


def test_a_place_in_what_is_not_there_is_refused(db: Database, engine: Engine) -> None:
    before = item(engine)

    with pytest.raises(ConditionFailed, match=r"the parent path does not exist"):
        db.run(MENU.update(Menu.sections.path(lambda s: s["z"].title).set("Soups")))

    assert item(engine) == before


def test_a_place_in_what_is_not_there_is_refused_in_a_move_as_well(
    db: Database, engine: Engine
) -> None:
    before = item(engine)

    with pytest.raises(ConditionFailed, match=r"the parent path does not exist"):
        db.run(
            MENU.update(
                Menu.menu_id.set("9"), Menu.sections.path(lambda s: s["z"].title).set("Soups")
            )
        )

    assert item(engine) == before


def test_a_place_in_an_item_that_is_not_there_is_not_found(db: Database) -> None:
    with pytest.raises(NotFound):
        db.run(Menu.primary("2").update(Menu.sections.path(lambda s: s["a"].seen).increment(1)))


def test_a_misspelt_field_is_refused_with_a_hint() -> None:
    with pytest.raises(DeclarationError, match="has no field 'titel'; did you mean 'title'"):
        Menu.sections.path(lambda s: s["a"].titel)  # type: ignore[attr-defined]


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Menu.sections\[''\]: DynamoDB takes no empty name"):
        Menu.sections.path(lambda s: s[""].title)


def test_a_function_that_goes_nowhere_is_refused() -> None:
    with pytest.raises(DeclarationError, match="takes a function that returns a path inside it"):
        Menu.sections.path(lambda s: "title")


def test_a_value_of_the_wrong_type_is_refused(db: Database, engine: Engine) -> None:
    before = item(engine)

    with pytest.raises(InvalidValue, match=r"Menu\.sections"):
        db.run(MENU.update(Menu.sections.path(lambda s: s["a"].seen).set("3")))  # type: ignore[arg-type]

    assert item(engine) == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Menu.sections.set({}), Menu.sections.path(lambda s: s["a"]).remove()),
        (Menu.sections.path(lambda s: s["a"]).remove(), Menu.sections.set({})),
        (
            Menu.sections.path(lambda s: s["a"].title).set("x"),
            Menu.sections.path(lambda s: s["a"]).set(section("y")),
        ),
        (
            Menu.sections.path(lambda s: s["a"].title).set("x"),
            Menu.sections.path(lambda s: s["a"].title).set("y"),
        ),
        (Menu.log.append("a"), Menu.log.prepend("b")),
        (Menu.tags.add_to_set({"a"}), Menu.tags.remove_from_set({"b"})),
    ],
    ids=["whole, part", "part, whole", "part, its parent", "twice", "list", "set"],
)
def test_changes_that_overlap_are_refused(one: Any, other: Any) -> None:
    with pytest.raises(InvalidValue, match="is changed twice in one update"):
        MENU.update(one, other)


# -- counters ------------------------------------------------------------------------------------


def test_a_counter_counts(db: Database) -> None:
    db.run(MENU.update(Menu.visits.increment(2)))
    menu = db.run(MENU.update(Menu.visits.increment(-5)))

    assert menu.visits == -3


def test_a_counter_inside_counts(db: Database) -> None:
    sold = Menu.sections.path(lambda s: s["a"].dishes[0].sold)
    db.run(MENU.update(sold.increment(2)))
    menu = db.run(MENU.update(sold.increment(3)))

    assert menu.sections["a"].dishes[0].sold == 5


def test_a_counter_that_is_not_there_counts_from_zero(db: Database) -> None:
    menu = db.run(
        MENU.update(
            Menu.counts.path(lambda c: c["mon"]).increment(1),
            Menu.counts.path(lambda c: c["tue"]).increment(1),
        )
    )

    assert menu.counts == {"mon": 4, "tue": 1}


def test_a_place_is_set_unless_it_is_there(db: Database) -> None:
    menu = db.run(
        MENU.update(
            Menu.counts.path(lambda c: c["mon"]).set_if_absent(9),
            Menu.counts.path(lambda c: c["tue"]).set_if_absent(9),
        )
    )

    assert menu.counts == {"mon": 3, "tue": 9}


# -- lists ---------------------------------------------------------------------------------------


def test_members_are_put_behind_a_list(db: Database) -> None:
    assert db.run(MENU.update(Menu.log.append("read", "sold"))).log == ["made", "read", "sold"]


def test_members_are_put_before_a_list(db: Database) -> None:
    assert db.run(MENU.update(Menu.log.prepend("read", "sold"))).log == ["read", "sold", "made"]


def test_a_list_that_is_not_there_is_made(db: Database) -> None:
    assert db.run(MENU.update(Menu.specials.append(SOUP))).specials == [SOUP]
    assert db.run(MENU.update(Menu.specials.prepend(CAKE))).specials == [CAKE, SOUP]


def test_a_list_inside_grows(db: Database) -> None:
    dishes = Menu.sections.path(lambda s: s["a"].dishes)
    menu = db.run(MENU.update(dishes.append(CAKE)))

    assert menu.sections["a"].dishes == [SOUP, CAKE]


def test_a_member_is_put_behind_a_list_that_does_not_hold_it(db: Database) -> None:
    assert db.run(MENU.update(Menu.log.append_if_absent("read"))).log == ["made", "read"]


def test_a_member_that_the_list_holds_leaves_all_as_it_is(db: Database, engine: Engine) -> None:
    before = item(engine)
    menu = db.run(MENU.update(Menu.log.append_if_absent("made")))

    assert menu.log == ["made"]
    assert item(engine) == before


def test_a_document_that_the_list_holds_leaves_all_as_it_is(db: Database) -> None:
    dishes = Menu.sections.path(lambda s: s["b"].dishes)

    menu = db.run(MENU.update(dishes.append_if_absent(CAKE)))
    assert menu.sections["b"].dishes == [CAKE, SOUP]

    other = Dish(title="Cake", price=Decimal(2))
    menu = db.run(MENU.update(dishes.append_if_absent(other)))
    assert menu.sections["b"].dishes == [CAKE, SOUP, other]


def test_a_member_is_put_into_a_list_that_is_not_there(db: Database) -> None:
    assert db.run(MENU.update(Menu.specials.append_if_absent(SOUP))).specials == [SOUP]
    assert db.run(MENU.update(Menu.specials.append_if_absent(SOUP))).specials == [SOUP]


def test_appending_if_absent_in_vain_does_not_count_the_version_on(db: Database) -> None:
    draft = db.run(create(Draft(draft_id="1", log=["made"])))
    db.run(update(draft, Draft.log.append_if_absent("made")))
    assert draft.version == 1

    db.run(update(draft, Draft.log.append_if_absent("read")))
    assert (draft.version, draft.log) == (2, ["made", "read"])


def test_appending_if_absent_to_another_version_is_stale(db: Database) -> None:
    draft = db.run(create(Draft(draft_id="1", log=["made"])))
    db.run(Draft.primary("1").update(Draft.log.append("read")))

    with pytest.raises(VersionConflict):
        db.run(update(draft, Draft.log.append_if_absent("read")))


def test_appending_if_absent_to_what_is_not_there_is_not_found(db: Database) -> None:
    with pytest.raises(NotFound):
        db.run(Menu.primary("2").update(Menu.log.append_if_absent("made")))


@pytest.mark.parametrize(
    "other", [Menu.visits.set(1), Menu.menu_id.set("2")], ids=["another attribute", "the key"]
)
def test_appending_if_absent_is_an_update_of_its_own(
    db: Database, engine: Engine, other: Any
) -> None:
    """Where the member is there nothing is written, and the other change would be lost."""
    before = item(engine)
    with pytest.raises(InvalidValue, match="an update of its own"):
        db.run(MENU.update(Menu.log.append_if_absent("made"), other))
    assert item(engine) == before


def test_a_condition_that_fails_is_told_though_the_member_is_there(db: Database) -> None:
    with pytest.raises(ConditionFailed, match="visits > 3"):
        db.run(MENU.update(Menu.log.append_if_absent("made")).condition(Menu.visits > 3))


def test_a_condition_on_a_place_inside_goes_with_appending_if_absent(db: Database) -> None:
    plan = MENU.update(Menu.log.append_if_absent("made"))

    menu = db.run(plan.condition(Menu.hours.path(lambda hours: hours.opens) <= 8))

    assert menu.log == ["made"]


# -- sets ----------------------------------------------------------------------------------------


def test_members_join_a_set(db: Database) -> None:
    assert db.run(MENU.update(Menu.tags.add_to_set({"hot", "old"}))).tags == {"new", "hot", "old"}


def test_members_leave_a_set(db: Database) -> None:
    assert db.run(MENU.update(Menu.tags.remove_from_set({"hot", "old"}))).tags == {"new"}


def test_a_set_that_is_not_there_is_made(db: Database) -> None:
    assert db.run(MENU.update(Menu.numbers.add_to_set({1, 2}))).numbers == {1, 2}


def test_a_set_whose_last_member_leaves_is_gone(db: Database, engine: Engine) -> None:
    menu = db.run(MENU.update(Menu.tags.remove_from_set({"new", "hot"})))

    assert menu.tags == set()
    assert "tags" not in item(engine)


def test_a_set_inside_gains_and_loses_members(db: Database) -> None:
    """DynamoDB's ADD takes paths into documents as well."""
    allergens = Menu.sections.path(lambda s: s["b"].dishes[0].allergens)
    assert db.run(MENU.update(allergens.add_to_set({"nut"}))).sections["b"].dishes[0].allergens == {
        "egg",
        "milk",
        "nut",
    }
    menu = db.run(MENU.update(allergens.remove_from_set({"egg", "nut"})))
    assert menu.sections["b"].dishes[0].allergens == {"milk"}


@pytest.mark.parametrize(
    "change", [Menu.tags.add_to_set(set()), Menu.tags.remove_from_set(set())], ids=repr
)
def test_no_members_at_all_are_refused(db: Database, engine: Engine, change: Any) -> None:
    before = item(engine)

    with pytest.raises(InvalidValue, match=r"Menu\.tags: DynamoDB has no empty set"):
        db.run(MENU.update(change))

    assert item(engine) == before


# -- conditions on places inside -----------------------------------------------------------------


def test_a_write_may_expect_something_of_a_place_inside(db: Database) -> None:
    seen = Menu.sections.path(lambda s: s["a"].seen)
    menu = db.run(MENU.update(seen.increment(1)).condition(seen == 0))

    assert menu.sections["a"].seen == 1


def test_a_condition_on_a_place_inside_that_fails_names_the_place(
    db: Database, engine: Engine
) -> None:
    before = item(engine)
    seen = Menu.sections.path(lambda s: s["a"].seen)

    with pytest.raises(ConditionFailed) as refused:
        db.run(MENU.update(seen.increment(1)).condition(seen == 7))

    assert "seen" in str(refused.value)
    assert item(engine) == before


def test_only_the_condition_that_fails_is_named(db: Database) -> None:
    """The one on a place inside holds."""
    seen = Menu.sections.path(lambda s: s["a"].seen)

    with pytest.raises(ConditionFailed, match="the condition visits = 9 is false"):
        db.run(MENU.update(seen.increment(1)).condition((seen == 0) & (Menu.visits == 9)))


# -- members whose keys are no texts -------------------------------------------------------------


class Meal(Enum):
    LUNCH = "at noon"
    DINNER = "at night"


class Journal(Entity, table=Cafe):
    journal_id: Attr[str] = attr()
    moments: Attr[dict[datetime, int]] = attr(default_factory=dict)
    amounts: Attr[dict[Decimal, int]] = attr(default_factory=dict)
    spans: Attr[dict[timedelta, int]] = attr(default_factory=dict)
    guests: Attr[dict[UUID, int]] = attr(default_factory=dict)
    meals: Attr[dict[Meal, int]] = attr(default_factory=dict)

    primary = key("JOURNAL" / journal_id, "JOURNAL")


MEMBERS = [
    ("moments", datetime(2026, 1, 15, 10, 30, tzinfo=UTC)),
    ("moments", datetime(2026, 1, 15, 11, 30, tzinfo=timezone(timedelta(hours=1)))),
    ("amounts", Decimal("1.50")),
    ("spans", timedelta(hours=1, microseconds=1)),
    ("guests", UUID("12345678-1234-5678-1234-567812345678")),
    ("meals", Meal.DINNER),
]


@pytest.mark.parametrize(("name", "member"), MEMBERS, ids=str)
def test_a_path_by_a_key_that_is_no_text_leads_to_the_member_that_is_stored(
    db: Database, name: str, member: Any
) -> None:
    values: dict[str, Any] = {name: {member: 1}}
    db.run(create(Journal(journal_id="1", **values)))
    attribute: Any = getattr(Journal, name)

    place = attribute.path(lambda members: members[member])
    journal = db.run(Journal.primary("1").update(place.increment(1)))

    assert getattr(journal, name) == {member: 2}


@pytest.mark.parametrize(("name", "member"), MEMBERS, ids=str)
def test_a_member_that_a_path_makes_is_stored_as_a_whole_dict_would_be(
    db: Database, engine: Engine, name: str, member: Any
) -> None:
    values: dict[str, Any] = {name: {member: 1}}
    db.run(create(Journal(journal_id="1", **values)))
    db.run(create(Journal(journal_id="2")))
    attribute: Any = getattr(Journal, name)

    place = attribute.path(lambda members: members[member])
    db.run(Journal.primary("2").update(place.set(1)))

    found = engine.call("Scan", {"TableName": "cafe"})["Items"]
    whole, made = (
        item[name] for number in "12" for item in found if item["PK"] == {"S": f"JOURNAL#{number}"}
    )
    assert made == whole


def test_a_key_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Journal\.moments"):
        Journal.moments.path(lambda moments: moments["2026-01-15"])  # type: ignore[index]


def test_a_place_counted_from_the_end_of_a_list_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Menu\.log\[-1\]: DynamoDB counts .* from 0"):
        Menu.log.path(lambda log: log[-1])


# -- instances that are behind -------------------------------------------------------------------


class Card(Entity, table=Cafe):
    card_id: Attr[str] = attr()
    sections: Attr[dict[str, Section]] = attr(default_factory=dict)
    version: Attr[int] = version()

    primary = key("CARD" / card_id, "CARD")


def test_a_place_that_an_instance_does_not_know_yet_changes(db: Database) -> None:
    menu = db.run(create(Menu(menu_id="2")))
    a = Menu.sections.path(lambda s: s["a"])
    db.run(Menu.primary("2").update(a.set(section("Starters", SOUP))))

    changed = db.run(update(menu, Menu.sections.path(lambda s: s["a"].seen).set(7)))

    assert changed.sections == {"a": section("Starters", SOUP, seen=7)}


def test_a_place_that_a_versioned_instance_does_not_know_yet_is_stale(db: Database) -> None:
    card = db.run(create(Card(card_id="1")))
    a = Card.sections.path(lambda s: s["a"])
    db.run(Card.primary("1").update(a.set(section("Starters"))))

    with pytest.raises(VersionConflict):
        db.run(update(card, Card.sections.path(lambda s: s["a"].seen).set(7)))


def test_a_place_that_a_versioned_instance_knows_no_more_is_stale(db: Database) -> None:
    card = db.run(create(Card(card_id="1", sections={"a": section("Starters")})))
    db.run(Card.primary("1").update(Card.sections.path(lambda s: s["a"]).remove()))

    with pytest.raises(VersionConflict):
        db.run(update(card, Card.sections.path(lambda s: s["a"].seen).set(7)))
