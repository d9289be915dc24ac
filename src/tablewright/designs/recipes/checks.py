"""Checks of the recipes: each pattern of the source document, unique names and option 2."""

from __future__ import annotations

from collections.abc import Iterator

from tablewright.designs.recipes import (
    Category,
    Ingredient,
    Menu,
    MenuItem,
    MenuWithItems,
    Recipe,
    RecipeIngredient,
    RecipeWithIngredients,
    categories_in_shop_order,
    category_by_name,
    change_menu_item,
    change_recipe,
    change_recipe_ingredient,
    create_category,
    create_ingredient,
    create_menu,
    create_menu_item,
    create_recipe,
    create_recipe_ingredient,
    delete_category,
    delete_ingredient,
    delete_menu,
    delete_menu_item,
    delete_recipe,
    delete_recipe_ingredient,
    get_category,
    get_ingredient,
    get_menu,
    get_menu_item,
    get_recipe,
    get_recipe_ingredient,
    ingredient_by_id,
    ingredient_by_name,
    ingredient_with_category,
    ingredients_of_category,
    menu_item_with_recipe,
    menu_with_items,
    move_ingredient,
    option2,
    recipe_with_ingredients,
    rename_category,
    rename_ingredient,
    rename_menu,
    reorder_category,
)
from tablewright.errors import AlreadyExists, NotFound, UniqueViolation
from tablewright.verify.checks import Check, Raises, Stored, changed


def checks(stored: Stored) -> Iterator[Check]:
    """Check each pattern of the source document, then unique names, moves and option 2."""
    yield from _crud_of_menus()
    yield from _crud_of_recipes()
    yield from _crud_of_ingredients()
    yield from _reads(stored)
    yield from _names_of_categories(stored)
    yield from _names_of_ingredients(stored)
    yield from _moves_between_categories(stored)
    yield from _option_2(stored)


def _crud_of_menus() -> Iterator[Check]:
    menu = Menu(id="7", name="Picnic")
    yield Check("Create a Menu", create_menu(menu), menu)
    yield Check("Get a Menu", get_menu("7"), menu)
    menu = changed(menu, name="Breakfast")
    yield Check("Update a Menu", rename_menu("7", "Breakfast"), menu)
    yield Check("Delete a Menu", delete_menu("7"), menu)
    yield Check("Get a Menu after deleting it", get_menu("7"), None)

    item = MenuItem(menu_id="1", id="7", recipe_id="10", name="Sunday: salad")
    yield Check("Create a MenuItem", create_menu_item(item), item)
    yield Check("Get a MenuItem", get_menu_item("1", "7"), item)
    item = changed(item, name="Sunday: soup", recipe_id="2")
    yield Check("Update a MenuItem", change_menu_item("1", "7", "Sunday: soup", "2"), item)
    yield Check("Delete a MenuItem", delete_menu_item("1", "7"), item)
    yield Check("Get a MenuItem after deleting it", get_menu_item("1", "7"), None)


def _crud_of_recipes() -> Iterator[Check]:
    recipe = Recipe(id="7", name="Omelette")
    yield Check("Create a Recipe", create_recipe(recipe), recipe)
    yield Check("Get a Recipe", get_recipe("7"), recipe)
    recipe = changed(recipe, name="Frittata", instructions="Whisk. Fry.")
    yield Check("Update a Recipe", change_recipe("7", "Frittata", "Whisk. Fry."), recipe)
    yield Check("Delete a Recipe", delete_recipe("7"), recipe)
    yield Check("Get a Recipe after deleting it", get_recipe("7"), None)

    part = RecipeIngredient(recipe_id="10", ingredient_id="4", name="basil", amount="a leaf")
    yield Check("Create a RecipeIngredient", create_recipe_ingredient(part), part)
    yield Check("Get a RecipeIngredient", get_recipe_ingredient("10", "4"), part)
    part = changed(part, name="fresh basil", amount="a bunch")
    yield Check(
        "Update a RecipeIngredient",
        change_recipe_ingredient("10", "4", "fresh basil", "a bunch"),
        part,
    )
    yield Check("Delete a RecipeIngredient", delete_recipe_ingredient("10", "4"), part)
    yield Check("Get a RecipeIngredient after deleting it", get_recipe_ingredient("10", "4"), None)


def _crud_of_ingredients() -> Iterator[Check]:
    category = Category(id="7", name="fruit", shop_order=7)
    yield Check("Create a Category", create_category(category), category)
    yield Check("Get a Category", get_category("7"), category)
    category = changed(category, name="fruits")
    yield Check("Update a Category", rename_category("7", "fruits"), category)
    category = changed(category, shop_order=1)
    yield Check("Update a Category: its position in the shop", reorder_category("7", 1), category)
    yield Check("Delete a Category", delete_category("7"), category)
    yield Check("Get a Category after deleting it", get_category("7"), None)

    ingredient = Ingredient(id="7", name="butter", category_id="10")
    yield Check("Create an Ingredient", create_ingredient(ingredient), ingredient)
    yield Check("Get an Ingredient", get_ingredient("10", "7"), ingredient)
    ingredient = changed(ingredient, name="salted butter")
    yield Check("Update an Ingredient", rename_ingredient("10", "7", "salted butter"), ingredient)
    yield Check("Delete an Ingredient", delete_ingredient("10", "7"), ingredient)
    yield Check("Get an Ingredient after deleting it", get_ingredient("10", "7"), None)


def _ingredient(stored: Stored, ingredient_id: str) -> Ingredient:
    return next(found for found in stored(Ingredient) if found.id == ingredient_id)


def _category(stored: Stored, category_id: str) -> Category:
    return next(found for found in stored(Category) if found.id == category_id)


def _ingredients_of_category(stored: Stored, category_id: str) -> list[Ingredient]:
    found = [each for each in stored(Ingredient) if each.category_id == category_id]
    return sorted(found, key=lambda ingredient: ingredient.id)


def _recipe(stored: Stored, recipe_id: str) -> RecipeWithIngredients:
    parts = [part for part in stored(RecipeIngredient) if part.recipe_id == recipe_id]
    return RecipeWithIngredients(
        recipe=next(recipe for recipe in stored(Recipe) if recipe.id == recipe_id),
        ingredients=sorted(parts, key=lambda part: part.ingredient_id),
    )


def _reads(stored: Stored) -> Iterator[Check]:
    menu = next(menu for menu in stored(Menu) if menu.id == "1")
    items = sorted(
        (item for item in stored(MenuItem) if item.menu_id == "1"), key=lambda item: item.id
    )
    yield Check(
        "Get a Menu and all its MenuItems",
        menu_with_items("1"),
        MenuWithItems(menu=menu, items=items),
    )
    yield Check(
        "Get a MenuItem and the details of its Recipe",
        menu_item_with_recipe("1", items[0].id),
        (items[0], _recipe(stored, items[0].recipe_id)),
    )
    yield Check(
        "Get a Recipe and its list of Ingredients",
        recipe_with_ingredients("1"),
        _recipe(stored, "1"),
    )
    mushrooms = _ingredient(stored, "3")
    yield Check(
        "Get an Ingredient and its Category",
        ingredient_with_category("3"),
        (mushrooms, _category(stored, mushrooms.category_id)),
    )
    yield Check(
        "Query by category id: retrieve all ingredients for a category",
        ingredients_of_category("1"),
        _ingredients_of_category(stored, "1"),
    )
    yield Check(
        "Query by ingredient id: retrieve an ingredient by its id, using GSI1",
        ingredient_by_id("1"),
        _ingredient(stored, "1"),
    )
    yield Check(
        "Query by ingredient name: retrieve an ingredient by its name, using GSI2",
        ingredient_by_name("tomato"),
        next(found for found in stored(Ingredient) if found.name == "tomato"),
    )
    yield Check(
        "Get a Category by its name",
        category_by_name("pasta"),
        next(found for found in stored(Category) if found.name == "pasta"),
    )

    in_order = sorted(
        (found for found in stored(Category) if found.shop_order is not None),
        key=lambda found: (found.shop_order, found.id),
    )
    yield Check("List the Categories in shop order", categories_in_shop_order(), in_order)
    last = changed(in_order[0], shop_order=12)
    yield Check(
        "Update a Category: move it to the end of the shop", reorder_category(last.id, 12), last
    )
    yield Check(
        "List the Categories in shop order, after the move",
        categories_in_shop_order(),
        [*in_order[1:], last],
    )


IS_TAKEN = Raises(UniqueViolation)


def _names_of_categories(stored: Stored) -> Iterator[Check]:
    pasta = _category(stored, "2")
    second = Category(id="20", name="pasta")
    yield Check("Create a Category with a name that is taken", create_category(second), IS_TAKEN)
    yield Check(
        "Create a Category with an id that is taken",
        create_category(Category(id="2", name="rice")),
        Raises(AlreadyExists),
    )
    yield Check(
        "Rename a Category to a name that is taken", rename_category("2", "herbs"), IS_TAKEN
    )
    noodles = changed(pasta, name="noodles")
    yield Check("Rename a Category", rename_category("2", "noodles"), noodles)
    yield Check("Get a Category by its name, new name", category_by_name("noodles"), noodles)
    yield Check("Get a Category by its name, old name", category_by_name("pasta"), None)
    yield Check(
        "Create a Category with a name that became free by a rename",
        create_category(second),
        second,
    )
    yield Check("Delete a Category with a unique name", delete_category("20"), second)
    third = Category(id="30", name="pasta")
    yield Check(
        "Create a Category with a name that became free by a delete", create_category(third), third
    )
    yield Check("Rename an unknown Category", rename_category("99", "rice"), Raises(NotFound))


def _names_of_ingredients(stored: Stored) -> Iterator[Check]:
    tomatoes = _ingredient(stored, "1")
    second = Ingredient(id="20", name="tomatoes", category_id="3")
    yield Check(
        "Create an Ingredient with a name that is taken", create_ingredient(second), IS_TAKEN
    )
    yield Check(
        "Create an Ingredient with an id that is taken, in another Category",
        create_ingredient(Ingredient(id="1", name="thyme", category_id="3")),
        IS_TAKEN,
    )
    yield Check(
        "Rename an Ingredient to a name that is taken",
        rename_ingredient("1", "1", "basil"),
        IS_TAKEN,
    )
    cherries = changed(tomatoes, name="cherry tomatoes")
    yield Check("Rename an Ingredient", rename_ingredient("1", "1", "cherry tomatoes"), cherries)
    yield Check(
        "Query by ingredient name, new name", ingredient_by_name("cherry tomatoes"), cherries
    )
    yield Check("Query by ingredient name, old name", ingredient_by_name("tomatoes"), None)
    yield Check(
        "Create an Ingredient with a name that became free by a rename",
        create_ingredient(second),
        second,
    )
    yield Check("Delete an Ingredient with a unique name", delete_ingredient("3", "20"), second)
    third = Ingredient(id="30", name="tomatoes", category_id="1")
    yield Check(
        "Create an Ingredient with a name that became free by a delete",
        create_ingredient(third),
        third,
    )


def _moves_between_categories(stored: Stored) -> Iterator[Check]:
    mushrooms = _ingredient(stored, "3")
    old, new = mushrooms.category_id, "10"
    moved = changed(mushrooms, category_id=new)
    yield Check("Move an Ingredient to another Category", move_ingredient(old, "3", new), moved)
    yield Check("Get an Ingredient by its old key", get_ingredient(old, "3"), None)
    for category_id in (old, new):
        yield Check(
            f"Query by category id, after the move: {category_id}",
            ingredients_of_category(category_id),
            _ingredients_of_category(stored, category_id),
        )
    yield Check("Query by ingredient id, after the move", ingredient_by_id("3"), moved)
    yield Check("Query by ingredient name, after the move", ingredient_by_name("mushrooms"), moved)
    yield Check(
        "Create an Ingredient with a name that is taken, after the move",
        create_ingredient(Ingredient(id="40", name="mushrooms", category_id=old)),
        IS_TAKEN,
    )


def _option_2(stored: Stored) -> Iterator[Check]:
    category = next(found for found in stored(option2.Category) if found.id == "1")
    ingredients = sorted(
        (found for found in stored(option2.Ingredient) if found.category_id == "1"),
        key=lambda found: found.id,
    )
    yield Check(
        "Option 2: retrieve a category and its ingredients",
        option2.category_with_ingredients("1"),
        option2.CategoryWithIngredients(category=category, ingredients=ingredients),
    )
    yield Check(
        "Option 2: read only the first batch",
        option2.category_with_first_ingredients("1", 10),
        option2.CategoryWithIngredients(category=category, ingredients=ingredients[:-11:-1]),
    )
    herbs = option2.Category(id="3", name="herbs")
    basil = option2.Ingredient(id="30", name="basil", category_id="3")
    yield Check("Option 2: create a category", option2.create_category(herbs), herbs)
    yield Check("Option 2: create an ingredient", option2.create_ingredient(basil), basil)
    yield Check(
        "Option 2: create a category with a name that is taken",
        option2.create_category(option2.Category(id="4", name="herbs")),
        IS_TAKEN,
    )
    yield Check(
        "Option 2: create an ingredient with a name that is taken",
        option2.create_ingredient(option2.Ingredient(id="31", name="basil", category_id="3")),
        IS_TAKEN,
    )
    yield Check(
        "Option 2: create an ingredient with an id that is taken, in another category",
        option2.create_ingredient(option2.Ingredient(id="1", name="thyme", category_id="3")),
        IS_TAKEN,
    )
    yield Check(
        "Option 2: read only the first batch, after the creates",
        option2.category_with_first_ingredients("3", 10),
        option2.CategoryWithIngredients(category=herbs, ingredients=[basil]),
    )
