"""Sample data of the recipes."""

from __future__ import annotations

from tablewright import Entity
from tablewright.designs.recipes import (
    Category,
    Ingredient,
    Menu,
    MenuItem,
    Recipe,
    RecipeIngredient,
    option2,
)


def sample() -> list[Entity]:
    """Return the items of the source document, and more like them.

    Some ids and names are prefixes of others.
    """
    categories = [
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
    return [*categories, *ingredients, *recipes, *parts, *menus, *items, *_option2_sample()]


def _option2_sample() -> list[Entity]:
    """Return a category with more ingredients than one batch, and other categories."""
    categories = [
        option2.Category(id=number, name=name)
        for number, name in (("1", "vegetables"), ("2", "pasta"), ("10", "dairy"))
    ]
    names = (
        *("tomatoes", "mushrooms", "onions", "garlic", "leeks", "carrots"),
        *("beans", "peas", "corn", "kale", "beets", "fennel"),
    )
    ingredients = [
        option2.Ingredient(id=str(number), name=name, category_id="1")
        for number, name in enumerate(names, start=1)
    ]
    pasta = option2.Ingredient(id="20", name="spaghetti", category_id="2")
    return [*categories, *ingredients, pasta]
