from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tablewright import Engine, Entity, connect, explain, put
from tablewright.database import Database
from tablewright.designs import recipes
from tablewright.designs.recipes import (
    Category,
    Ingredient,
    Menu,
    MenuItem,
    MenuWithItems,
    Recipe,
    RecipeIngredient,
    Recipes,
    RecipeWithIngredients,
    option2,
)
from tablewright.designs.recipes.samples import sample
from tablewright.errors import AlreadyExists, InvalidValue, NotFound, UniqueViolation
from tablewright.plans import Plan
from tests.designs.stored import query, scan
from tests.prepared import Prepare
from tests.transports import record_requests

Item = dict[str, dict[str, Any]]


def fill(engine: Engine) -> None:
    db = connect(engine, Recipes, option2.RecipesOption2)
    for entity in sample():
        db.run(put(entity))


@pytest.fixture
def prepare() -> Prepare:
    return fill


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Recipes, option2.RecipesOption2)


@pytest.fixture
def items(client: Any) -> Callable[..., list[Item]]:
    def items_of(table: str = "recipes") -> list[Item]:
        return scan(client, table)

    return items_of


def request_shape(pattern: Callable[..., Any]) -> tuple[str, str | None, str]:
    """Return the operation, the index (None for the table) and the key condition."""
    shape = explain(pattern)
    return shape.operation, shape.index, shape.condition


def item(partition: str, sort: str, **values: str) -> Item:
    """Return an item of strings in DynamoDB JSON."""
    return {"PK": {"S": partition}, "SK": {"S": sort}} | {
        name: {"S": value} for name, value in values.items()
    }


def sentinel(kind: str, name: str, number: str) -> Item:
    return item(f"{kind}#{name}", f"{kind}#{name}", id=number, name=name)


def category_item(number: str, name: str, shop_order: int) -> Item:
    return item(
        f"CATEGORY#{number}",
        f"CATEGORY#{number}",
        id=number,
        name=name,
        GSI1PK="CATEGORIES",
        GSI1SK=f"{shop_order:06}#{number}",
    ) | {"shopOrder": {"N": str(shop_order)}}


def ingredient_item(category_id: str, number: str, name: str) -> Item:
    return item(
        f"CATEGORY#{category_id}",
        f"INGREDIENT#{number}",
        id=number,
        name=name,
        categoryId=category_id,
        GSI1PK=f"INGREDIENT#{number}",
        GSI1SK=f"INGREDIENT#{number}",
        GSI2PK=f"INGREDIENTNAME#{name}",
        GSI2SK=f"INGREDIENTNAME#{name}",
    )


# -- CRUD on all entities ------------------------------------------------------------------------


class Crud(NamedTuple):
    """The patterns that create, read, update and delete one entity."""

    entity: Entity
    create: Callable[[Any], Plan[Any]]
    get: Callable[[], Plan[Any]]
    update: Callable[[], Plan[Any]]
    delete: Callable[[], Plan[Any]]
    #: What the update changes.
    changes: dict[str, str]
    condition: str


CRUD = {
    "a_menu": Crud(
        Menu(id="7", name="Picnic"),
        recipes.create_menu,
        lambda: recipes.get_menu("7"),
        lambda: recipes.rename_menu("7", "Breakfast"),
        lambda: recipes.delete_menu("7"),
        {"name": "Breakfast"},
        'PK="MENU#7" AND SK="MENU#7"',
    ),
    "a_menu_item": Crud(
        MenuItem(menu_id="1", id="7", recipe_id="1", name="Lunch"),
        recipes.create_menu_item,
        lambda: recipes.get_menu_item("1", "7"),
        lambda: recipes.change_menu_item("1", "7", "Late lunch", "2"),
        lambda: recipes.delete_menu_item("1", "7"),
        {"name": "Late lunch", "recipe_id": "2"},
        'PK="MENU#1" AND SK="MENUITEM#7"',
    ),
    "a_recipe": Crud(
        Recipe(id="7", name="Omelette"),
        recipes.create_recipe,
        lambda: recipes.get_recipe("7"),
        lambda: recipes.change_recipe("7", "Frittata", "Whisk. Fry."),
        lambda: recipes.delete_recipe("7"),
        {"name": "Frittata", "instructions": "Whisk. Fry."},
        'PK="RECIPE#7" AND SK="RECIPE#7"',
    ),
    "a_recipe_ingredient": Crud(
        RecipeIngredient(recipe_id="2", ingredient_id="4", name="basil", amount="a leaf"),
        recipes.create_recipe_ingredient,
        lambda: recipes.get_recipe_ingredient("2", "4"),
        lambda: recipes.change_recipe_ingredient("2", "4", "fresh basil", "a bunch"),
        lambda: recipes.delete_recipe_ingredient("2", "4"),
        {"name": "fresh basil", "amount": "a bunch"},
        'PK="RECIPE#2" AND SK="RECIPEINGREDIENT#4"',
    ),
    "a_category": Crud(
        Category(id="7", name="fruit"),
        recipes.create_category,
        lambda: recipes.get_category("7"),
        lambda: recipes.rename_category("7", "fruits"),
        lambda: recipes.delete_category("7"),
        {"name": "fruits"},
        'PK="CATEGORY#7" AND SK="CATEGORY#7"',
    ),
    "an_ingredient": Crud(
        Ingredient(id="7", name="butter", category_id="10"),
        recipes.create_ingredient,
        lambda: recipes.get_ingredient("10", "7"),
        lambda: recipes.rename_ingredient("10", "7", "salted butter"),
        lambda: recipes.delete_ingredient("10", "7"),
        {"name": "salted butter"},
        'PK="CATEGORY#10" AND SK="INGREDIENT#7"',
    ),
}


@pytest.fixture(params=CRUD)
def crud(request: pytest.FixtureRequest) -> Crud:
    return CRUD[request.param]


def copied(entity: Entity, **values: str) -> Entity:
    return type(entity)(**{**vars(entity), **values})


def test_create(db: Database, items: Callable[..., list[Item]], crud: Crud) -> None:
    plan = crud.create(copied(crud.entity))
    assert plan._shape().condition == crud.condition
    assert db.run(plan) == crud.entity
    assert db.run(crud.get()) == crud.entity
    before = items()
    with pytest.raises(AlreadyExists):
        db.run(crud.create(copied(crud.entity, name="another")))
    assert items() == before


def test_read(db: Database, crud: Crud) -> None:
    assert db.run(crud.get()) is None
    db.run(crud.create(copied(crud.entity)))
    assert db.run(crud.get()) == crud.entity
    shape = crud.get()._shape()
    assert (shape.operation, shape.index, shape.condition) == ("GetItem", None, crud.condition)


def test_update(db: Database, crud: Crud) -> None:
    with pytest.raises(NotFound):
        db.run(crud.update())
    db.run(crud.create(copied(crud.entity)))
    after = copied(crud.entity, **crud.changes)
    assert db.run(crud.update()) == after
    assert db.run(crud.get()) == after
    assert crud.update()._shape().condition == crud.condition


def test_delete(db: Database, items: Callable[..., list[Item]], crud: Crud) -> None:
    before = items()
    db.run(crud.create(copied(crud.entity)))
    assert db.run(crud.delete()) == crud.entity
    assert db.run(crud.get()) is None
    assert db.run(crud.delete()) is None
    assert items() == before
    assert crud.delete()._shape().condition == crud.condition


def test_a_category_gets_another_position_in_the_shop(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    before = items()
    category = db.run(recipes.reorder_category("2", 9))
    assert category == Category(id="2", name="pasta", shop_order=9)
    (changed,) = [item for item in items() if item not in before]
    assert changed == category_item("2", "pasta", 9)


# -- the other patterns of the document ----------------------------------------------------------


def test_get_a_menu_and_all_its_menu_items(db: Database) -> None:
    """The result for menu 1 contains nothing of menu 10."""
    assert db.run(recipes.menu_with_items("1")) == MenuWithItems(
        menu=Menu(id="1", name="Weekday dinners"),
        items=[
            MenuItem(menu_id="1", id="1", recipe_id="1", name="Monday: spaghetti"),
            MenuItem(menu_id="1", id="2", recipe_id="2", name="Tuesday: soup"),
        ],
    )
    assert db.run(recipes.menu_with_items("2")) is None
    assert request_shape(recipes.menu_with_items) == ("Query", None, 'PK="MENU#{menu_id}"')


def test_a_menu_without_items_is_loaded(db: Database) -> None:
    db.run(recipes.create_menu(Menu(id="7", name="Picnic")))
    assert db.run(recipes.menu_with_items("7")) == MenuWithItems(
        menu=Menu(id="7", name="Picnic"), items=[]
    )


SALAD = RecipeWithIngredients(
    recipe=Recipe(id="10", name="Tomato salad"),
    ingredients=[RecipeIngredient(recipe_id="10", ingredient_id="1", name="tomatoes", amount="4")],
)


def test_get_a_menu_item_and_the_details_of_its_recipe(db: Database) -> None:
    starter = MenuItem(menu_id="10", id="1", recipe_id="10", name="Starter: salad")
    assert db.run(recipes.menu_item_with_recipe("10", "1")) == (starter, SALAD)
    assert db.run(recipes.menu_item_with_recipe("10", "9")) is None
    assert [
        (step.operation, step.condition) for step in explain(recipes.menu_item_with_recipe).steps
    ] == [
        ("GetItem", 'PK="MENU#{menu_id}" AND SK="MENUITEM#{item_id}"'),
        ("Query", 'PK="RECIPE#{MenuItem.recipe_id}"'),
    ]


def test_a_menu_item_with_a_deleted_recipe_has_no_details(db: Database) -> None:
    db.run(recipes.delete_recipe("10"))
    starter = MenuItem(menu_id="10", id="1", recipe_id="10", name="Starter: salad")
    assert db.run(recipes.menu_item_with_recipe("10", "1")) == (starter, None)


def test_get_a_recipe_and_its_list_of_ingredients(db: Database) -> None:
    assert db.run(recipes.recipe_with_ingredients("10")) == SALAD
    spaghetti = db.run(recipes.recipe_with_ingredients("1"))
    assert spaghetti is not None
    assert [(part.name, part.amount) for part in spaghetti.ingredients] == [
        ("tomatoes", "800 g"),
        ("parmesan", "50 g"),
        ("spaghetti", "500 g"),
    ]
    assert request_shape(recipes.recipe_with_ingredients) == (
        "Query",
        None,
        'PK="RECIPE#{recipe_id}"',
    )


def test_get_an_ingredient_and_its_category(db: Database) -> None:
    assert db.run(recipes.ingredient_with_category("3")) == (
        Ingredient(id="3", name="mushrooms", category_id="1"),
        Category(id="1", name="vegetables", shop_order=1),
    )
    assert db.run(recipes.ingredient_with_category("99")) is None
    shape = explain(recipes.ingredient_with_category)
    assert [(step.operation, step.index, step.condition) for step in shape.steps] == [
        (
            "Query",
            "GSI1",
            'GSI1PK="INGREDIENT#{ingredient_id}" AND GSI1SK="INGREDIENT#{ingredient_id}"',
        ),
        (
            "GetItem",
            None,
            'PK="CATEGORY#{Ingredient.category_id}" AND SK="CATEGORY#{Ingredient.category_id}"',
        ),
    ]


def test_query_by_category_id(db: Database) -> None:
    """The result contains neither the category itself nor ingredients of category 10."""
    found = db.run(recipes.ingredients_of_category("1"))
    assert [(each.id, each.name) for each in found] == [
        ("1", "tomatoes"),
        ("11", "tomato"),
        ("12", "onions"),
        ("3", "mushrooms"),
    ]
    assert request_shape(recipes.ingredients_of_category) == (
        "Query",
        None,
        'PK="CATEGORY#{category_id}" AND begins_with(SK, "INGREDIENT#")',
    )


def test_query_by_ingredient_id(db: Database) -> None:
    tomatoes = Ingredient(id="1", name="tomatoes", category_id="1")
    assert db.run(recipes.ingredient_by_id("1")) == tomatoes
    assert db.run(recipes.ingredient_by_id("99")) is None
    assert request_shape(recipes.ingredient_by_id) == (
        "Query",
        "GSI1",
        'GSI1PK="INGREDIENT#{ingredient_id}" AND GSI1SK="INGREDIENT#{ingredient_id}"',
    )


def test_query_by_ingredient_name(db: Database) -> None:
    tomato = Ingredient(id="11", name="tomato", category_id="1")
    assert db.run(recipes.ingredient_by_name("tomato")) == tomato
    assert db.run(recipes.ingredient_by_name("tom")) is None
    assert request_shape(recipes.ingredient_by_name) == (
        "Query",
        "GSI2",
        'GSI2PK="INGREDIENTNAME#{name}" AND GSI2SK="INGREDIENTNAME#{name}"',
    )


def test_get_a_category_by_its_name(db: Database) -> None:
    pasta = Category(id="2", name="pasta", shop_order=2)
    assert db.run(recipes.category_by_name("pasta")) == pasta
    assert db.run(recipes.category_by_name("past")) is None
    assert [
        (step.operation, step.condition) for step in explain(recipes.category_by_name).steps
    ] == [
        ("GetItem", 'PK="CATEGORYNAME#{name}" AND SK="CATEGORYNAME#{name}"'),
        ("GetItem", 'PK="CATEGORY#{id}" AND SK="CATEGORY#{id}"'),
    ]


# -- the document's tables of items --------------------------------------------------------------


def test_the_items_of_categories_are_as_the_document_shows_them(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    document = [
        category_item("1", "vegetables", 1),
        category_item("2", "pasta", 2),
        sentinel("CATEGORYNAME", "pasta", "2"),
        sentinel("CATEGORYNAME", "vegetables", "1"),
    ]
    wanted = {(row["PK"]["S"], row["SK"]["S"]) for row in document}
    assert [row for row in items() if (row["PK"]["S"], row["SK"]["S"]) in wanted] == document


def test_the_items_of_ingredients_are_as_the_document_shows_them(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    document = [
        ingredient_item("1", "1", "tomatoes"),
        ingredient_item("1", "3", "mushrooms"),
        ingredient_item("2", "2", "spaghetti"),
        item("INGREDIENT#1", "INGREDIENT#1", id="1"),
        item("INGREDIENT#2", "INGREDIENT#2", id="2"),
        item("INGREDIENT#3", "INGREDIENT#3", id="3"),
        sentinel("INGREDIENTNAME", "mushrooms", "3"),
        sentinel("INGREDIENTNAME", "spaghetti", "2"),
        sentinel("INGREDIENTNAME", "tomatoes", "1"),
    ]
    wanted = {(row["PK"]["S"], row["SK"]["S"]) for row in document}
    assert [row for row in items() if (row["PK"]["S"], row["SK"]["S"]) in wanted] == document


def test_the_other_items_have_the_keys_of_the_chart(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    document = [
        item("MENU#1", "MENU#1", id="1", name="Weekday dinners"),
        item("MENU#1", "MENUITEM#2", id="2", menuId="1", recipeId="2", name="Tuesday: soup"),
        item(
            "RECIPE#2",
            "RECIPE#2",
            id="2",
            name="Mushroom soup",
            instructions="Chop. Fry. Simmer.",
        ),
        item(
            "RECIPE#2",
            "RECIPEINGREDIENT#12",
            recipeId="2",
            ingredientId="12",
            name="onions",
            amount="2",
        ),
    ]
    wanted = {(row["PK"]["S"], row["SK"]["S"]) for row in document}
    assert [row for row in items() if (row["PK"]["S"], row["SK"]["S"]) in wanted] == document


@pytest.mark.parametrize(
    ("index", "counts"), [("GSI1", {"INGREDIENT": 7, "CATEGORY": 4}), ("GSI2", {"INGREDIENT": 7})]
)
def test_the_indexes_contain_no_sentinels(
    db: Database, index: str, counts: dict[str, int], client: Any
) -> None:
    found = scan(client, "recipes", index)
    assert Counter(row["SK"]["S"].partition("#")[0] for row in found) == counts


def test_the_items_of_option_2_are_as_the_document_shows_them(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    document = [
        item("Category#2", "#Ingredient#20", id="20", name="spaghetti", categoryId="2"),
        item("Category#2", "Category#2", id="2", name="pasta"),
        sentinel("CategoryName", "pasta", "2"),
        item("Ingredient#20", "Ingredient#20", id="20"),
        sentinel("IngredientName", "spaghetti", "20"),
    ]
    names = {"Category#2", "CategoryName#pasta", "Ingredient#20", "IngredientName#spaghetti"}
    assert [row for row in items("recipes_option2") if row["PK"]["S"] in names] == document


# -- names are unique ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        recipes.create_category(Category(id="20", name="pasta")),
        recipes.rename_category("1", "pasta"),
        recipes.create_ingredient(Ingredient(id="20", name="tomatoes", category_id="1")),
        recipes.create_ingredient(Ingredient(id="20", name="tomatoes", category_id="3")),
        recipes.rename_ingredient("1", "3", "tomatoes"),
        recipes.rename_ingredient("10", "10", "tomatoes"),
        option2.create_category(option2.Category(id="20", name="pasta")),
        option2.create_ingredient(option2.Ingredient(id="40", name="tomatoes", category_id="2")),
    ],
    ids=[
        "a second category",
        "a renamed category",
        "a second ingredient of the category",
        "a second ingredient in another category",
        "a renamed ingredient of the category",
        "a renamed ingredient in another category",
        "a second category of option 2",
        "a second ingredient of option 2",
    ],
)
def test_a_name_that_is_taken_is_rejected(
    db: Database, items: Callable[..., list[Item]], plan: Plan[Any]
) -> None:
    before = items(), items("recipes_option2")
    with pytest.raises(UniqueViolation, match="name"):
        db.run(plan)
    assert (items(), items("recipes_option2")) == before


@pytest.mark.parametrize(
    "plan",
    [
        recipes.create_ingredient(Ingredient(id="3", name="cream", category_id="10")),
        option2.create_ingredient(option2.Ingredient(id="3", name="cream", category_id="10")),
    ],
    ids=["option 1", "option 2"],
)
def test_two_categories_cannot_contain_an_ingredient_with_the_same_id(
    db: Database, items: Callable[..., list[Item]], plan: Plan[Any]
) -> None:
    before = items(), items("recipes_option2")
    with pytest.raises(UniqueViolation, match="id"):
        db.run(plan)
    assert (items(), items("recipes_option2")) == before


def test_the_id_of_a_deleted_ingredient_is_free(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    db.run(recipes.delete_ingredient("1", "3"))
    assert item("INGREDIENT#3", "INGREDIENT#3", id="3") not in items()
    db.run(recipes.create_ingredient(Ingredient(id="3", name="cream", category_id="10")))
    assert ingredient_item("10", "3", "cream") in items()


@pytest.mark.parametrize("design", [recipes, option2], ids=["option 1", "option 2"])
def test_the_ids_of_categories_and_ingredients_never_change(
    db: Database, items: Callable[..., list[Item]], design: Any
) -> None:
    before = items(), items("recipes_option2")
    category, ingredient = design.Category, design.Ingredient
    with pytest.raises(InvalidValue, match=r"^Category\.id is immutable"):
        db.run(category.primary("1").update(category.id.set("20")))
    with pytest.raises(InvalidValue, match=r"^Ingredient\.id is immutable"):
        db.run(ingredient.primary("1", "1").update(ingredient.id.set("20")))
    assert (items(), items("recipes_option2")) == before


def test_categories_are_listed_in_shop_order(db: Database, client: Any) -> None:
    """A category without a position is not in the list; positions are compared as numbers."""
    db.run(recipes.create_category(Category(id="7", name="fruit")))
    db.run(recipes.reorder_category("1", 10))
    assert [each.id for each in db.run(recipes.categories_in_shop_order())] == ["2", "3", "10", "1"]
    stored = query(client, "recipes", 'GSI1PK="CATEGORIES"', "GSI1")
    assert [row["GSI1SK"]["S"] for row in stored] == [
        "000002#2",
        "000003#3",
        "000004#10",
        "000010#1",
    ]
    assert request_shape(recipes.categories_in_shop_order) == (
        "Query",
        "GSI1",
        'GSI1PK="CATEGORIES"',
    )


def test_a_category_and_an_ingredient_may_share_a_name(db: Database) -> None:
    herbs = Ingredient(id="20", name="herbs", category_id="3")
    assert db.run(recipes.create_ingredient(herbs)) == herbs


def test_renaming_a_category_moves_its_sentinel(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    before = items()
    db.run(recipes.rename_category("2", "noodles"))
    assert [row for row in before if row not in items()] == [
        category_item("2", "pasta", 2),
        sentinel("CATEGORYNAME", "pasta", "2"),
    ]
    assert [row for row in items() if row not in before] == [
        category_item("2", "noodles", 2),
        sentinel("CATEGORYNAME", "noodles", "2"),
    ]
    noodles = Category(id="2", name="noodles", shop_order=2)
    assert db.run(recipes.category_by_name("noodles")) == noodles
    assert db.run(recipes.category_by_name("pasta")) is None
    assert len(db.run(recipes.ingredients_of_category("2"))) == 1


def test_renaming_an_ingredient_moves_its_sentinel_and_its_index_key(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    before = items()
    db.run(recipes.rename_ingredient("1", "3", "champignons"))
    assert [row for row in before if row not in items()] == [
        ingredient_item("1", "3", "mushrooms"),
        sentinel("INGREDIENTNAME", "mushrooms", "3"),
    ]
    assert [row for row in items() if row not in before] == [
        ingredient_item("1", "3", "champignons"),
        sentinel("INGREDIENTNAME", "champignons", "3"),
    ]
    champignons = Ingredient(id="3", name="champignons", category_id="1")
    assert db.run(recipes.ingredient_by_name("champignons")) == champignons
    assert db.run(recipes.ingredient_by_name("mushrooms")) is None
    assert db.run(recipes.ingredient_by_id("3")) == champignons


def test_a_name_is_free_after_a_rename(db: Database) -> None:
    db.run(recipes.rename_category("2", "noodles"))
    db.run(recipes.rename_ingredient("1", "3", "champignons"))
    db.run(recipes.create_category(Category(id="20", name="pasta")))
    db.run(recipes.create_ingredient(Ingredient(id="20", name="mushrooms", category_id="1")))
    found = db.run(recipes.category_by_name("pasta"))
    assert found is not None
    assert found.id == "20"


def test_a_name_is_free_after_a_delete(db: Database, items: Callable[..., list[Item]]) -> None:
    before = items()
    db.run(recipes.delete_category("2"))
    db.run(recipes.delete_ingredient("1", "3"))
    assert [row for row in before if row not in items()] == [
        ingredient_item("1", "3", "mushrooms"),
        category_item("2", "pasta", 2),
        sentinel("CATEGORYNAME", "pasta", "2"),
        item("INGREDIENT#3", "INGREDIENT#3", id="3"),
        sentinel("INGREDIENTNAME", "mushrooms", "3"),
    ]
    pasta = Category(id="20", name="pasta")
    mushrooms = Ingredient(id="20", name="mushrooms", category_id="1")
    assert db.run(recipes.create_category(pasta)) == pasta
    assert db.run(recipes.create_ingredient(mushrooms)) == mushrooms
    assert db.run(recipes.category_by_name("pasta")) == pasta
    assert db.run(recipes.ingredient_by_name("mushrooms")) == mushrooms


def test_renaming_to_the_same_name_changes_nothing(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    before = items()
    db.run(recipes.rename_category("2", "pasta"))
    db.run(recipes.rename_ingredient("1", "3", "mushrooms"))
    assert items() == before


# -- another category for an ingredient ----------------------------------------------------------


def test_moving_an_ingredient_to_another_category(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    before = items()
    moved = Ingredient(id="3", name="mushrooms", category_id="10")
    assert db.run(recipes.move_ingredient("1", "3", "10")) == moved
    assert [row for row in before if row not in items()] == [ingredient_item("1", "3", "mushrooms")]
    assert [row for row in items() if row not in before] == [
        ingredient_item("10", "3", "mushrooms")
    ]
    assert db.run(recipes.get_ingredient("1", "3")) is None
    assert db.run(recipes.ingredient_by_id("3")) == moved
    assert db.run(recipes.ingredient_by_name("mushrooms")) == moved
    assert [each.id for each in db.run(recipes.ingredients_of_category("1"))] == ["1", "11", "12"]
    assert [each.id for each in db.run(recipes.ingredients_of_category("10"))] == ["10", "3"]
    with pytest.raises(UniqueViolation):
        db.run(recipes.create_ingredient(Ingredient(id="40", name="mushrooms", category_id="1")))


def test_moving_a_missing_ingredient_raises_not_found(
    db: Database, items: Callable[..., list[Item]]
) -> None:
    before = items()
    with pytest.raises(NotFound):
        db.run(recipes.move_ingredient("2", "3", "10"))
    assert items() == before


# -- option 2 ------------------------------------------------------------------------------------


def test_option_2_retrieves_a_category_and_its_ingredients(db: Database) -> None:
    found = db.run(option2.category_with_ingredients("1"))
    assert found is not None
    assert found.category == option2.Category(id="1", name="vegetables")
    assert [each.id for each in found.ingredients] == sorted(str(n) for n in range(1, 13))
    assert request_shape(option2.category_with_ingredients) == (
        "Query",
        None,
        'PK="Category#{category_id}"',
    )


@pytest.mark.parametrize("count", [1, 10, 11])
def test_option_2_reads_only_the_first_batch(db: Database, count: int) -> None:
    """In descending order: the category, then this number of its ingredients."""
    found = db.run(option2.category_with_first_ingredients("1", count))
    assert found is not None
    assert found.category == option2.Category(id="1", name="vegetables")
    descending = sorted((str(n) for n in range(1, 13)), reverse=True)
    assert [each.id for each in found.ingredients] == descending[:count]


def test_option_2_reads_a_category_with_fewer_ingredients_than_a_batch(db: Database) -> None:
    assert db.run(
        option2.category_with_first_ingredients("2", 10)
    ) == option2.CategoryWithIngredients(
        category=option2.Category(id="2", name="pasta"),
        ingredients=[option2.Ingredient(id="20", name="spaghetti", category_id="2")],
    )
    assert db.run(
        option2.category_with_first_ingredients("10", 10)
    ) == option2.CategoryWithIngredients(
        category=option2.Category(id="10", name="dairy"), ingredients=[]
    )
    assert db.run(option2.category_with_first_ingredients("9", 10)) is None


def test_option_2_is_one_descending_query_with_the_limit_of_the_document(db: Database) -> None:
    recording = record_requests(db)
    db.run(option2.category_with_first_ingredients("1", 10))
    ((operation, request),) = recording.requests
    assert operation == "Query"
    assert (request["ScanIndexForward"], request["Limit"]) == (False, 11)
    shape = explain(option2.category_with_first_ingredients)
    assert (shape.condition, shape.order, shape.page) == (
        'PK="Category#{category_id}"',
        "descending",
        "1 + {count}",
    )


# -- the programs of the document ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        (
            "one_to_many_option1.py",
            [
                "1. by category id:     ['tomatoes', 'mushrooms']",
                "  PK=INGREDIENTNAME#tomatoes SK=INGREDIENTNAME#tomatoes id=1 name=tomatoes",
            ],
        ),
        (
            "one_to_many_option2.py",
            ["  Category#1 Category#1 vegetables", "  Category#1 #Ingredient#16 vegetable 16"],
        ),
    ],
)
def test_both_options_are_programs_that_a_reader_can_run(
    capsys: pytest.CaptureFixture[str], program: str, lines: list[str]
) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / program))
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line not in printed] == []
    assert sum("which must be unique" in line for line in printed) == 2


def test_the_sample_is_the_same_every_time() -> None:
    assert sample() == sample()


OWN = "the item does not exist, unless this Ingredient has reserved it before"


def test_explain_shows_the_conditions_of_the_sentinels() -> None:
    actions = {shape.entity: shape.requires for shape in explain(recipes.create_ingredient).steps}
    assert actions == {
        "Ingredient": ("the item does not exist",),
        "Ingredient.ids": ("the item does not exist",),
        "Ingredient.names": ("the item does not exist",),
    }
    replacing = put(Ingredient(id="1", name="leek", category_id="1"))._shape().steps
    assert {shape.entity: shape.requires for shape in replacing if shape.operation == "Put"} == {
        "Ingredient": ("it is unchanged since the read",),
        "Ingredient.ids": (OWN,),
        "Ingredient.names": (OWN,),
    }
