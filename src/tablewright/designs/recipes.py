"""Recipes: menus, recipes, ingredients, categories; unique names; parents with their children.

The key chart, which the document leaves half empty, filled:

    entity              PK                       SK
    Menu                MENU#{id}                MENU#{id}
    MenuItem            MENU#{menuId}            MENUITEM#{id}
    Recipe              RECIPE#{id}              RECIPE#{id}
    RecipeIngredient    RECIPE#{recipeId}        RECIPEINGREDIENT#{ingredientId}
    Category            CATEGORY#{id}            CATEGORY#{id}
      its name          CATEGORYNAME#{name}      CATEGORYNAME#{name}
    Ingredient          CATEGORY#{categoryId}    INGREDIENT#{id}
      its name          INGREDIENTNAME#{name}    INGREDIENTNAME#{name}
      in GSI1           INGREDIENT#{id}          INGREDIENT#{id}
      in GSI2           INGREDIENTNAME#{name}    INGREDIENTNAME#{name}

A name is kept unique by an item of its own, written in the same transaction; it holds the id and
the name, as the document shows. Option 2 of the document has a table of its own: there the sort
key of an ingredient begins with `#`, below its category's, so that reading backwards gives the
category and then the first so many of its ingredients.

Chosen where the document leaves it open: a menu item and a recipe's ingredient lie with their
parent, so that one query loads both; a menu item names its recipe, a recipe's ingredient its
ingredient, and keeps the name that the recipe calls it by. Ids are the caller's: nothing of the
document's keeps two categories from having ingredients of one id. What lies with a parent stays
when that is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Entity,
    First,
    Get,
    GetByUnique,
    Load,
    Query,
    Table,
    Update,
    access_pattern,
    attr,
    children,
    create,
    index,
    key,
    root,
    unique,
)
from tablewright.errors import AlreadyExists, NotFound, UniqueViolation
from tablewright.plans import Then
from tablewright.verify.rows import Refused, Row, Stored, changed


class Recipes(Table, name="recipes", type_attribute=None):
    gsi1 = GSI("GSI1PK", "GSI1SK", name="GSI1")
    gsi2 = GSI("GSI2PK", "GSI2SK", name="GSI2")


class Menu(Entity, table=Recipes):
    id: Attr[str] = attr()
    name: Attr[str] = attr()

    primary = key("MENU" / id, "MENU" / id.again)


class MenuItem(Entity, table=Recipes):
    menu_id: Attr[str] = attr(name="menuId")
    id: Attr[str] = attr()
    recipe_id: Attr[str] = attr(name="recipeId")
    name: Attr[str] = attr()

    primary = key("MENU" / menu_id, "MENUITEM" / id)


class Recipe(Entity, table=Recipes):
    id: Attr[str] = attr()
    name: Attr[str] = attr()
    instructions: Attr[str] = attr(default="")

    primary = key("RECIPE" / id, "RECIPE" / id.again)


class RecipeIngredient(Entity, table=Recipes):
    recipe_id: Attr[str] = attr(name="recipeId")
    ingredient_id: Attr[str] = attr(name="ingredientId")
    name: Attr[str] = attr()
    amount: Attr[str] = attr()

    primary = key("RECIPE" / recipe_id, "RECIPEINGREDIENT" / ingredient_id)


class Category(Entity, table=Recipes):
    id: Attr[str] = attr()
    name: Attr[str] = attr()
    shop_order: Attr[int | None] = attr(name="shopOrder", default=None)

    primary = key("CATEGORY" / id, "CATEGORY" / id.again)
    by_name = unique("CATEGORYNAME" / name, keep=(id, name))


class Ingredient(Entity, table=Recipes):
    id: Attr[str] = attr()
    name: Attr[str] = attr()
    category_id: Attr[str] = attr(name="categoryId")

    primary = key("CATEGORY" / category_id, "INGREDIENT" / id)
    by_id = index(Recipes.gsi1, "INGREDIENT" / id, "INGREDIENT" / id.again)
    by_name = index(Recipes.gsi2, "INGREDIENTNAME" / name, "INGREDIENTNAME" / name.again)
    names = unique("INGREDIENTNAME" / name, keep=(id, name))


class MenuWithItems(Aggregate):
    menu: Menu = root()
    items: list[MenuItem] = children()


class RecipeWithIngredients(Aggregate):
    recipe: Recipe = root()
    ingredients: list[RecipeIngredient] = children()


# -- what the document asks for ------------------------------------------------------------------


@access_pattern
def menu_with_items(menu_id: str) -> Load[MenuWithItems]:
    """Get a Menu and all its MenuItems"""
    return MenuWithItems.of(Menu.primary(menu_id))


@access_pattern
def menu_item_with_recipe(
    menu_id: str, item_id: str
) -> Then[MenuItem, RecipeWithIngredients | None]:
    """Get a MenuItem and the details of its Recipe"""
    return MenuItem.primary(menu_id, item_id).then(
        lambda item: RecipeWithIngredients.of(Recipe.primary(item.recipe_id))
    )


@access_pattern
def recipe_with_ingredients(recipe_id: str) -> Load[RecipeWithIngredients]:
    """Get a Recipe and its list of Ingredients"""
    return RecipeWithIngredients.of(Recipe.primary(recipe_id))


@access_pattern
def ingredient_with_category(ingredient_id: str) -> Then[Ingredient, Category | None]:
    """Get an Ingredient and its Category"""
    return (
        Ingredient.by_id(ingredient_id)
        .first()
        .then(lambda ingredient: Category.primary(ingredient.category_id))
    )


@access_pattern
def ingredients_of_category(category_id: str) -> Query[Ingredient]:
    """Query by category id: retrieve all ingredients for a category"""
    return Ingredient.primary.within(category_id)


@access_pattern
def ingredient_by_id(ingredient_id: str) -> First[Ingredient]:
    """Query by ingredient id"""
    return Ingredient.by_id(ingredient_id).first()


@access_pattern
def ingredient_by_name(name: str) -> First[Ingredient]:
    """Query by ingredient name"""
    return Ingredient.by_name(name).first()


@access_pattern
def category_by_name(name: str) -> GetByUnique[Category]:
    """Get a Category by its name"""
    return Category.by_name(name)


# -- CRUD on all entities ------------------------------------------------------------------------


@access_pattern
def create_menu(menu: Menu) -> Create[Menu]:
    """Create a Menu"""
    return create(menu)


@access_pattern
def get_menu(menu_id: str) -> Get[Menu]:
    """Get a Menu"""
    return Menu.primary(menu_id)


@access_pattern
def rename_menu(menu_id: str, name: str) -> Update[Menu]:
    """Update a Menu"""
    return Menu.primary(menu_id).update(Menu.name.set(name))


@access_pattern
def delete_menu(menu_id: str) -> Delete[Menu]:
    """Delete a Menu"""
    return Menu.primary(menu_id).delete()


@access_pattern
def create_menu_item(item: MenuItem) -> Create[MenuItem]:
    """Create a MenuItem"""
    return create(item)


@access_pattern
def get_menu_item(menu_id: str, item_id: str) -> Get[MenuItem]:
    """Get a MenuItem"""
    return MenuItem.primary(menu_id, item_id)


@access_pattern
def change_menu_item(menu_id: str, item_id: str, name: str, recipe_id: str) -> Update[MenuItem]:
    """Update a MenuItem"""
    return MenuItem.primary(menu_id, item_id).update(
        MenuItem.name.set(name), MenuItem.recipe_id.set(recipe_id)
    )


@access_pattern
def delete_menu_item(menu_id: str, item_id: str) -> Delete[MenuItem]:
    """Delete a MenuItem"""
    return MenuItem.primary(menu_id, item_id).delete()


@access_pattern
def create_recipe(recipe: Recipe) -> Create[Recipe]:
    """Create a Recipe"""
    return create(recipe)


@access_pattern
def get_recipe(recipe_id: str) -> Get[Recipe]:
    """Get a Recipe"""
    return Recipe.primary(recipe_id)


@access_pattern
def change_recipe(recipe_id: str, name: str, instructions: str) -> Update[Recipe]:
    """Update a Recipe"""
    return Recipe.primary(recipe_id).update(
        Recipe.name.set(name), Recipe.instructions.set(instructions)
    )


@access_pattern
def delete_recipe(recipe_id: str) -> Delete[Recipe]:
    """Delete a Recipe"""
    return Recipe.primary(recipe_id).delete()


@access_pattern
def create_recipe_ingredient(ingredient: RecipeIngredient) -> Create[RecipeIngredient]:
    """Create a RecipeIngredient"""
    return create(ingredient)


@access_pattern
def get_recipe_ingredient(recipe_id: str, ingredient_id: str) -> Get[RecipeIngredient]:
    """Get a RecipeIngredient"""
    return RecipeIngredient.primary(recipe_id, ingredient_id)


@access_pattern
def change_recipe_ingredient(
    recipe_id: str, ingredient_id: str, name: str, amount: str
) -> Update[RecipeIngredient]:
    """Update a RecipeIngredient"""
    return RecipeIngredient.primary(recipe_id, ingredient_id).update(
        RecipeIngredient.name.set(name), RecipeIngredient.amount.set(amount)
    )


@access_pattern
def delete_recipe_ingredient(recipe_id: str, ingredient_id: str) -> Delete[RecipeIngredient]:
    """Delete a RecipeIngredient"""
    return RecipeIngredient.primary(recipe_id, ingredient_id).delete()


@access_pattern
def create_category(category: Category) -> Create[Category]:
    """Create a Category; its name is unique"""
    return create(category)


@access_pattern
def get_category(category_id: str) -> Get[Category]:
    """Get a Category"""
    return Category.primary(category_id)


@access_pattern
def rename_category(category_id: str, name: str) -> Update[Category]:
    """Update a Category: a new name, if nobody has it"""
    return Category.primary(category_id).update(Category.name.set(name))


@access_pattern
def reorder_category(category_id: str, shop_order: int) -> Update[Category]:
    """Update a Category: another place in the shop"""
    return Category.primary(category_id).update(Category.shop_order.set(shop_order))


@access_pattern
def delete_category(category_id: str) -> Delete[Category]:
    """Delete a Category; its name is free again"""
    return Category.primary(category_id).delete()


@access_pattern
def create_ingredient(ingredient: Ingredient) -> Create[Ingredient]:
    """Create an Ingredient; its name is unique"""
    return create(ingredient)


@access_pattern
def get_ingredient(category_id: str, ingredient_id: str) -> Get[Ingredient]:
    """Get an Ingredient"""
    return Ingredient.primary(category_id, ingredient_id)


@access_pattern
def rename_ingredient(category_id: str, ingredient_id: str, name: str) -> Update[Ingredient]:
    """Update an Ingredient: a new name, if nobody has it"""
    return Ingredient.primary(category_id, ingredient_id).update(Ingredient.name.set(name))


@access_pattern
def move_ingredient(category_id: str, ingredient_id: str, to: str) -> Update[Ingredient]:
    """Update an Ingredient: into another Category"""
    return Ingredient.primary(category_id, ingredient_id).update(Ingredient.category_id.set(to))


@access_pattern
def delete_ingredient(category_id: str, ingredient_id: str) -> Delete[Ingredient]:
    """Delete an Ingredient; its name is free again"""
    return Ingredient.primary(category_id, ingredient_id).delete()


# -- option 2: children below their parent, read backwards ---------------------------------------


class Reversed(Table, name="recipes_option2", type_attribute=None):
    pass


class ReversedCategory(Entity, table=Reversed, type_name="Category"):
    id: Attr[str] = attr()
    name: Attr[str] = attr()

    primary = key("Category" / id, "Category" / id.again)
    names = unique("CategoryName" / name, keep=(id, name))


class ReversedIngredient(Entity, table=Reversed, type_name="Ingredient"):
    id: Attr[str] = attr()
    name: Attr[str] = attr()
    category_id: Attr[str] = attr(name="categoryId")

    primary = key("Category" / category_id, "#Ingredient" / id)
    names = unique("IngredientName" / name, keep=(id, name))


class CategoryWithIngredients(Aggregate):
    category: ReversedCategory = root()
    ingredients: list[ReversedIngredient] = children()


@access_pattern
def create_reversed_category(category: ReversedCategory) -> Create[ReversedCategory]:
    """Create a category that sorts behind its ingredients; its name is unique"""
    return create(category)


@access_pattern
def create_reversed_ingredient(ingredient: ReversedIngredient) -> Create[ReversedIngredient]:
    """Create an ingredient that sorts before its category; its name is unique"""
    return create(ingredient)


@access_pattern
def category_with_ingredients(category_id: str) -> Load[CategoryWithIngredients]:
    """Retrieve a category and its ingredients"""
    return CategoryWithIngredients.of(ReversedCategory.primary(category_id))


@access_pattern
def category_with_first_ingredients(category_id: str, count: int) -> Load[CategoryWithIngredients]:
    """Read only the first batch: ScanIndexForward=False, Limit=count + 1"""
    return CategoryWithIngredients.of(ReversedCategory.primary(category_id)).desc().limit(count)


# -- sample data, and what each row of the document must give ------------------------------------


def sample() -> list[Entity]:
    """What the document's tables show, and more of it; with ids and names that are the beginning
    of others."""
    shelves = [
        Category(id=number, name=name, shop_order=position)
        for position, (number, name) in enumerate(
            (("1", "vegetables"), ("2", "pasta"), ("3", "herbs"), ("10", "dairy")), start=1
        )
    ]
    ingredients = [
        Ingredient(id=number, name=name, category_id=category_id)
        for number, name, category_id in (
            ("1", "tomatoes", "1"),
            ("2", "spaghetti", "2"),
            ("3", "mushrooms", "1"),
            ("4", "basil", "3"),
            ("10", "parmesan", "10"),
            ("11", "tomato", "1"),
            ("12", "onions", "1"),
        )
    ]
    recipes = [
        Recipe(id="1", name="Spaghetti al pomodoro", instructions="Cook. Stir. Serve."),
        Recipe(id="2", name="Mushroom soup", instructions="Chop. Fry. Simmer."),
        Recipe(id="10", name="Tomato salad"),
    ]
    parts = [
        RecipeIngredient(recipe_id=recipe_id, ingredient_id=number, name=name, amount=amount)
        for recipe_id, number, name, amount in (
            ("1", "2", "spaghetti", "500 g"),
            ("1", "1", "tomatoes", "800 g"),
            ("1", "10", "parmesan", "50 g"),
            ("2", "3", "mushrooms", "400 g"),
            ("2", "12", "onions", "2"),
            ("10", "1", "tomatoes", "4"),
        )
    ]
    menus = [Menu(id="1", name="Weekday dinners"), Menu(id="10", name="Sunday lunch")]
    items = [
        MenuItem(menu_id=menu_id, id=number, recipe_id=recipe_id, name=name)
        for menu_id, number, recipe_id, name in (
            ("1", "1", "1", "Monday: spaghetti"),
            ("1", "2", "2", "Tuesday: soup"),
            ("10", "1", "10", "Starter: salad"),
            ("10", "2", "1", "Main: spaghetti"),
        )
    ]
    return [*shelves, *ingredients, *recipes, *parts, *menus, *items, *_reversed_sample()]


def _reversed_sample() -> list[Entity]:
    """For option 2: a category with more ingredients than one batch, and others beside it."""
    categories = [
        ReversedCategory(id=number, name=name)
        for number, name in (("1", "vegetables"), ("2", "pasta"), ("10", "dairy"))
    ]
    names = (
        *("tomatoes", "mushrooms", "onions", "garlic", "leeks", "carrots"),
        *("beans", "peas", "corn", "kale", "beets", "fennel"),
    )
    ingredients = [
        ReversedIngredient(id=str(number), name=name, category_id="1")
        for number, name in enumerate(names, start=1)
    ]
    pasta = ReversedIngredient(id="2", name="spaghetti", category_id="2")
    return [*categories, *ingredients, pasta]


def rows(stored: Stored) -> Iterator[Row]:
    """Every pattern of the document, in its order; then what it says of names and of option 2."""
    yield from _crud_of_menus()
    yield from _crud_of_recipes()
    yield from _crud_of_ingredients()
    yield from _reads(stored)
    yield from _names_of_categories(stored)
    yield from _names_of_ingredients(stored)
    yield from _another_category(stored)
    yield from _option_2(stored)


def _crud_of_menus() -> Iterator[Row]:
    menu = Menu(id="7", name="Picnic")
    yield Row("Create a Menu", create_menu(menu), menu)
    yield Row("Get a Menu", get_menu("7"), menu)
    menu = changed(menu, name="Breakfast")
    yield Row("Update a Menu", rename_menu("7", "Breakfast"), menu)
    yield Row("Delete a Menu", delete_menu("7"), menu)
    yield Row("Get a Menu that was deleted", get_menu("7"), None)

    item = MenuItem(menu_id="1", id="7", recipe_id="10", name="Sunday: salad")
    yield Row("Create a MenuItem", create_menu_item(item), item)
    yield Row("Get a MenuItem", get_menu_item("1", "7"), item)
    item = changed(item, name="Sunday: soup", recipe_id="2")
    yield Row("Update a MenuItem", change_menu_item("1", "7", "Sunday: soup", "2"), item)
    yield Row("Delete a MenuItem", delete_menu_item("1", "7"), item)
    yield Row("Get a MenuItem that was deleted", get_menu_item("1", "7"), None)


def _crud_of_recipes() -> Iterator[Row]:
    recipe = Recipe(id="7", name="Omelette")
    yield Row("Create a Recipe", create_recipe(recipe), recipe)
    yield Row("Get a Recipe", get_recipe("7"), recipe)
    recipe = changed(recipe, name="Frittata", instructions="Whisk. Fry.")
    yield Row("Update a Recipe", change_recipe("7", "Frittata", "Whisk. Fry."), recipe)
    yield Row("Delete a Recipe", delete_recipe("7"), recipe)
    yield Row("Get a Recipe that was deleted", get_recipe("7"), None)

    part = RecipeIngredient(recipe_id="10", ingredient_id="4", name="basil", amount="a leaf")
    yield Row("Create a RecipeIngredient", create_recipe_ingredient(part), part)
    yield Row("Get a RecipeIngredient", get_recipe_ingredient("10", "4"), part)
    part = changed(part, name="fresh basil", amount="a bunch")
    yield Row(
        "Update a RecipeIngredient",
        change_recipe_ingredient("10", "4", "fresh basil", "a bunch"),
        part,
    )
    yield Row("Delete a RecipeIngredient", delete_recipe_ingredient("10", "4"), part)
    yield Row("Get a RecipeIngredient that was deleted", get_recipe_ingredient("10", "4"), None)


def _crud_of_ingredients() -> Iterator[Row]:
    category = Category(id="7", name="fruit", shop_order=7)
    yield Row("Create a Category", create_category(category), category)
    yield Row("Get a Category", get_category("7"), category)
    category = changed(category, name="fruits")
    yield Row("Update a Category", rename_category("7", "fruits"), category)
    category = changed(category, shop_order=1)
    yield Row("Update a Category: its place in the shop", reorder_category("7", 1), category)
    yield Row("Delete a Category", delete_category("7"), category)
    yield Row("Get a Category that was deleted", get_category("7"), None)

    ingredient = Ingredient(id="7", name="butter", category_id="10")
    yield Row("Create an Ingredient", create_ingredient(ingredient), ingredient)
    yield Row("Get an Ingredient", get_ingredient("10", "7"), ingredient)
    ingredient = changed(ingredient, name="salted butter")
    yield Row("Update an Ingredient", rename_ingredient("10", "7", "salted butter"), ingredient)
    yield Row("Delete an Ingredient", delete_ingredient("10", "7"), ingredient)
    yield Row("Get an Ingredient that was deleted", get_ingredient("10", "7"), None)


def _ingredient(stored: Stored, ingredient_id: str) -> Ingredient:
    return next(found for found in stored(Ingredient) if found.id == ingredient_id)


def _category(stored: Stored, category_id: str) -> Category:
    return next(found for found in stored(Category) if found.id == category_id)


def _of_category(stored: Stored, category_id: str) -> list[Ingredient]:
    found = [each for each in stored(Ingredient) if each.category_id == category_id]
    return sorted(found, key=lambda ingredient: ingredient.id)


def _recipe(stored: Stored, recipe_id: str) -> RecipeWithIngredients:
    parts = [part for part in stored(RecipeIngredient) if part.recipe_id == recipe_id]
    return RecipeWithIngredients(
        recipe=next(recipe for recipe in stored(Recipe) if recipe.id == recipe_id),
        ingredients=sorted(parts, key=lambda part: part.ingredient_id),
    )


def _reads(stored: Stored) -> Iterator[Row]:
    menu = next(menu for menu in stored(Menu) if menu.id == "1")
    items = sorted(
        (item for item in stored(MenuItem) if item.menu_id == "1"), key=lambda item: item.id
    )
    yield Row(
        "Get a Menu and all its MenuItems",
        menu_with_items("1"),
        MenuWithItems(menu=menu, items=items),
    )
    yield Row(
        "Get a MenuItem and the details of its Recipe",
        menu_item_with_recipe("1", items[0].id),
        (items[0], _recipe(stored, items[0].recipe_id)),
    )
    yield Row(
        "Get a Recipe and its list of Ingredients",
        recipe_with_ingredients("1"),
        _recipe(stored, "1"),
    )
    mushrooms = _ingredient(stored, "3")
    yield Row(
        "Get an Ingredient and its Category",
        ingredient_with_category("3"),
        (mushrooms, _category(stored, mushrooms.category_id)),
    )
    yield Row(
        "Query by category id: retrieve all ingredients for a category",
        ingredients_of_category("1"),
        _of_category(stored, "1"),
    )
    yield Row(
        "Query by ingredient id: retrieve an ingredient by its id, using GSI1",
        ingredient_by_id("1"),
        _ingredient(stored, "1"),
    )
    yield Row(
        "Query by ingredient name: retrieve an ingredient by its name, using GSI2",
        ingredient_by_name("tomato"),
        next(found for found in stored(Ingredient) if found.name == "tomato"),
    )
    yield Row(
        "Get a Category by its name",
        category_by_name("pasta"),
        next(found for found in stored(Category) if found.name == "pasta"),
    )


_TAKEN = Refused(UniqueViolation)


def _names_of_categories(stored: Stored) -> Iterator[Row]:
    pasta = _category(stored, "2")
    second = Category(id="20", name="pasta")
    yield Row("A second Category of a name", create_category(second), _TAKEN)
    yield Row(
        "A second Category of an id",
        create_category(Category(id="2", name="rice")),
        Refused(AlreadyExists),
    )
    yield Row("Rename a Category to a name that is taken", rename_category("2", "herbs"), _TAKEN)
    noodles = changed(pasta, name="noodles")
    yield Row("Rename a Category", rename_category("2", "noodles"), noodles)
    yield Row("Get a Category by its name, the new one", category_by_name("noodles"), noodles)
    yield Row("Get a Category by its name, the old one", category_by_name("pasta"), None)
    yield Row("Create a Category of a name that was given up", create_category(second), second)
    yield Row("Delete a Category that has a name", delete_category("20"), second)
    third = Category(id="30", name="pasta")
    yield Row("Create a Category of a name that was deleted", create_category(third), third)
    yield Row(
        "Rename a Category that is not there", rename_category("99", "rice"), Refused(NotFound)
    )


def _names_of_ingredients(stored: Stored) -> Iterator[Row]:
    tomatoes = _ingredient(stored, "1")
    second = Ingredient(id="20", name="tomatoes", category_id="3")
    yield Row("A second Ingredient of a name", create_ingredient(second), _TAKEN)
    yield Row(
        "Rename an Ingredient to a name that is taken", rename_ingredient("1", "1", "basil"), _TAKEN
    )
    cherries = changed(tomatoes, name="cherry tomatoes")
    yield Row("Rename an Ingredient", rename_ingredient("1", "1", "cherry tomatoes"), cherries)
    yield Row(
        "Query by ingredient name, the new one", ingredient_by_name("cherry tomatoes"), cherries
    )
    yield Row("Query by ingredient name, the old one", ingredient_by_name("tomatoes"), None)
    yield Row("Create an Ingredient of a name that was given up", create_ingredient(second), second)
    yield Row("Delete an Ingredient that has a name", delete_ingredient("3", "20"), second)
    third = Ingredient(id="30", name="tomatoes", category_id="1")
    yield Row("Create an Ingredient of a name that was deleted", create_ingredient(third), third)


def _another_category(stored: Stored) -> Iterator[Row]:
    mushrooms = _ingredient(stored, "3")
    old, new = mushrooms.category_id, "10"
    moved = changed(mushrooms, category_id=new)
    yield Row("Move an Ingredient to another Category", move_ingredient(old, "3", new), moved)
    yield Row("Get an Ingredient where it was", get_ingredient(old, "3"), None)
    for category_id in (old, new):
        yield Row(
            f"Query by category id, after the move: {category_id}",
            ingredients_of_category(category_id),
            _of_category(stored, category_id),
        )
    yield Row("Query by ingredient id, after the move", ingredient_by_id("3"), moved)
    yield Row("Query by ingredient name, after the move", ingredient_by_name("mushrooms"), moved)
    yield Row(
        "A second Ingredient of a name, after the move",
        create_ingredient(Ingredient(id="40", name="mushrooms", category_id=old)),
        _TAKEN,
    )


def _option_2(stored: Stored) -> Iterator[Row]:
    category = next(found for found in stored(ReversedCategory) if found.id == "1")
    ingredients = sorted(
        (found for found in stored(ReversedIngredient) if found.category_id == "1"),
        key=lambda found: found.id,
    )
    yield Row(
        "Option 2: retrieve a category and its ingredients",
        category_with_ingredients("1"),
        CategoryWithIngredients(category=category, ingredients=ingredients),
    )
    yield Row(
        "Option 2: read only the first batch",
        category_with_first_ingredients("1", 10),
        CategoryWithIngredients(category=category, ingredients=ingredients[:-11:-1]),
    )
    herbs = ReversedCategory(id="3", name="herbs")
    basil = ReversedIngredient(id="1", name="basil", category_id="3")
    yield Row("Option 2: create a category", create_reversed_category(herbs), herbs)
    yield Row("Option 2: create an ingredient", create_reversed_ingredient(basil), basil)
    yield Row(
        "Option 2: a second category of a name",
        create_reversed_category(ReversedCategory(id="4", name="herbs")),
        _TAKEN,
    )
    yield Row(
        "Option 2: a second ingredient of a name",
        create_reversed_ingredient(ReversedIngredient(id="2", name="basil", category_id="3")),
        _TAKEN,
    )
    yield Row(
        "Option 2: read only the first batch, of what was created",
        category_with_first_ingredients("3", 10),
        CategoryWithIngredients(category=herbs, ingredients=[basil]),
    )
