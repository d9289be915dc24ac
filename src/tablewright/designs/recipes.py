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
ingredient.
"""

from __future__ import annotations

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Entity,
    First,
    Get,
    Load,
    Lookup,
    Many,
    Table,
    Then,
    Update,
    attr,
    create,
    index,
    key,
    many,
    one,
    pattern,
    unique,
)


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
    menu: Menu = one()
    items: list[MenuItem] = many()


class RecipeWithIngredients(Aggregate):
    recipe: Recipe = one()
    ingredients: list[RecipeIngredient] = many()


# -- what the document asks for ------------------------------------------------------------------


@pattern
def menu_with_items(menu_id: str) -> Load[MenuWithItems]:
    """Get a Menu and all its MenuItems"""
    return MenuWithItems.of(Menu.primary(menu_id))


@pattern
def menu_item_with_recipe(
    menu_id: str, item_id: str
) -> Then[MenuItem, RecipeWithIngredients | None]:
    """Get a MenuItem and the details of its Recipe"""
    return MenuItem.primary(menu_id, item_id).then(
        lambda item: RecipeWithIngredients.of(Recipe.primary(item.recipe_id))
    )


@pattern
def recipe_with_ingredients(recipe_id: str) -> Load[RecipeWithIngredients]:
    """Get a Recipe and its list of Ingredients"""
    return RecipeWithIngredients.of(Recipe.primary(recipe_id))


@pattern
def ingredient_with_category(ingredient_id: str) -> Then[Ingredient, Category | None]:
    """Get an Ingredient and its Category"""
    return (
        Ingredient.by_id(ingredient_id)
        .first()
        .then(lambda ingredient: Category.primary(ingredient.category_id))
    )


@pattern
def ingredients_of_category(category_id: str) -> Many[Ingredient]:
    """Query by category id: retrieve all ingredients for a category"""
    return Ingredient.primary.within(category_id)


@pattern
def ingredient_by_id(ingredient_id: str) -> First[Ingredient]:
    """Query by ingredient id"""
    return Ingredient.by_id(ingredient_id).first()


@pattern
def ingredient_by_name(name: str) -> First[Ingredient]:
    """Query by ingredient name"""
    return Ingredient.by_name(name).first()


@pattern
def category_by_name(name: str) -> Lookup[Category]:
    """Get a Category by its name"""
    return Category.by_name(name)


# -- CRUD on all entities ------------------------------------------------------------------------


@pattern
def create_menu(menu: Menu) -> Create[Menu]:
    """Create a Menu"""
    return create(menu)


@pattern
def get_menu(menu_id: str) -> Get[Menu]:
    """Get a Menu"""
    return Menu.primary(menu_id)


@pattern
def rename_menu(menu_id: str, name: str) -> Update[Menu]:
    """Update a Menu"""
    return Menu.primary(menu_id).update(Menu.name.set(name))


@pattern
def delete_menu(menu_id: str) -> Delete[Menu]:
    """Delete a Menu"""
    return Menu.primary(menu_id).delete()


@pattern
def create_menu_item(item: MenuItem) -> Create[MenuItem]:
    """Create a MenuItem"""
    return create(item)


@pattern
def get_menu_item(menu_id: str, item_id: str) -> Get[MenuItem]:
    """Get a MenuItem"""
    return MenuItem.primary(menu_id, item_id)


@pattern
def rename_menu_item(menu_id: str, item_id: str, name: str) -> Update[MenuItem]:
    """Update a MenuItem"""
    return MenuItem.primary(menu_id, item_id).update(MenuItem.name.set(name))


@pattern
def delete_menu_item(menu_id: str, item_id: str) -> Delete[MenuItem]:
    """Delete a MenuItem"""
    return MenuItem.primary(menu_id, item_id).delete()


@pattern
def create_recipe(recipe: Recipe) -> Create[Recipe]:
    """Create a Recipe"""
    return create(recipe)


@pattern
def get_recipe(recipe_id: str) -> Get[Recipe]:
    """Get a Recipe"""
    return Recipe.primary(recipe_id)


@pattern
def instruct_recipe(recipe_id: str, instructions: str) -> Update[Recipe]:
    """Update a Recipe"""
    return Recipe.primary(recipe_id).update(Recipe.instructions.set(instructions))


@pattern
def delete_recipe(recipe_id: str) -> Delete[Recipe]:
    """Delete a Recipe"""
    return Recipe.primary(recipe_id).delete()


@pattern
def create_recipe_ingredient(ingredient: RecipeIngredient) -> Create[RecipeIngredient]:
    """Create a RecipeIngredient"""
    return create(ingredient)


@pattern
def get_recipe_ingredient(recipe_id: str, ingredient_id: str) -> Get[RecipeIngredient]:
    """Get a RecipeIngredient"""
    return RecipeIngredient.primary(recipe_id, ingredient_id)


@pattern
def measure_recipe_ingredient(
    recipe_id: str, ingredient_id: str, amount: str
) -> Update[RecipeIngredient]:
    """Update a RecipeIngredient"""
    return RecipeIngredient.primary(recipe_id, ingredient_id).update(
        RecipeIngredient.amount.set(amount)
    )


@pattern
def delete_recipe_ingredient(recipe_id: str, ingredient_id: str) -> Delete[RecipeIngredient]:
    """Delete a RecipeIngredient"""
    return RecipeIngredient.primary(recipe_id, ingredient_id).delete()


@pattern
def create_category(category: Category) -> Create[Category]:
    """Create a Category; its name is unique"""
    return create(category)


@pattern
def get_category(category_id: str) -> Get[Category]:
    """Get a Category"""
    return Category.primary(category_id)


@pattern
def rename_category(category_id: str, name: str) -> Update[Category]:
    """Update a Category: a new name, if nobody has it"""
    return Category.primary(category_id).update(Category.name.set(name))


@pattern
def delete_category(category_id: str) -> Delete[Category]:
    """Delete a Category; its name is free again"""
    return Category.primary(category_id).delete()


@pattern
def create_ingredient(ingredient: Ingredient) -> Create[Ingredient]:
    """Create an Ingredient; its name is unique"""
    return create(ingredient)


@pattern
def get_ingredient(category_id: str, ingredient_id: str) -> Get[Ingredient]:
    """Get an Ingredient"""
    return Ingredient.primary(category_id, ingredient_id)


@pattern
def rename_ingredient(category_id: str, ingredient_id: str, name: str) -> Update[Ingredient]:
    """Update an Ingredient: a new name, if nobody has it"""
    return Ingredient.primary(category_id, ingredient_id).update(Ingredient.name.set(name))


@pattern
def move_ingredient(category_id: str, ingredient_id: str, to: str) -> Update[Ingredient]:
    """Update an Ingredient: into another Category"""
    return Ingredient.primary(category_id, ingredient_id).update(Ingredient.category_id.set(to))


@pattern
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
    category: ReversedCategory = one()
    ingredients: list[ReversedIngredient] = many()


@pattern
def category_with_ingredients(category_id: str) -> Load[CategoryWithIngredients]:
    """Retrieve a category and its ingredients"""
    return CategoryWithIngredients.of(ReversedCategory.primary(category_id))


@pattern
def category_with_first_ingredients(category_id: str, count: int) -> Load[CategoryWithIngredients]:
    """Read only the first batch: ScanIndexForward=False, Limit=count + 1"""
    return (
        CategoryWithIngredients.of(ReversedCategory.primary(category_id))
        .newest_first()
        .limit(count)
    )
