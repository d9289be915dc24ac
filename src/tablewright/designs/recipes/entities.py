"""The table and the entities of the recipes; option 2 has its own module."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    children,
    index,
    key,
    root,
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
    recipe_id: Attr[Annotated[str, Field(min_length=1)]] = attr(name="recipeId")
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
    id: Attr[str] = attr(immutable=True)
    name: Attr[str] = attr()
    shop_order: Attr[int | None] = attr(name="shopOrder", default=None, pad=6)

    primary = key("CATEGORY" / id, "CATEGORY" / id.again)
    # tablewright: allow(hot-partition, "few categories, listed in one order")
    in_shop_order = index(Recipes.gsi1, "CATEGORIES", shop_order / id)
    by_name = unique("CATEGORYNAME" / name, keep=(id, name))


class Ingredient(Entity, table=Recipes):
    id: Attr[str] = attr(immutable=True)
    name: Attr[str] = attr()
    category_id: Attr[str] = attr(name="categoryId")

    primary = key("CATEGORY" / category_id, "INGREDIENT" / id)
    by_id = index(Recipes.gsi1, "INGREDIENT" / id, "INGREDIENT" / id.again)
    by_name = index(Recipes.gsi2, "INGREDIENTNAME" / name, "INGREDIENTNAME" / name.again)
    ids = unique("INGREDIENT" / id, keep=(id,))
    names = unique("INGREDIENTNAME" / name, keep=(id, name))


class MenuWithItems(Aggregate):
    menu: Menu = root()
    items: list[MenuItem] = children()


class RecipeWithIngredients(Aggregate):
    recipe: Recipe = root()
    ingredients: list[RecipeIngredient] = children()
