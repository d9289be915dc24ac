"""The access patterns of the recipes."""

from __future__ import annotations

from tablewright import (
    Create,
    Delete,
    First,
    Get,
    GetByUnique,
    Load,
    Query,
    Update,
    access_pattern,
    create,
)
from tablewright.designs.recipes.entities import (
    Category,
    Ingredient,
    Menu,
    MenuItem,
    MenuWithItems,
    Recipe,
    RecipeIngredient,
    RecipeWithIngredients,
)
from tablewright.plans import Then

# -- reads of the source document ----------------------------------------------------------------


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
def categories_in_shop_order() -> Query[Category]:
    """List the Categories that have a position in the shop, in this order"""
    return Category.in_shop_order()


@access_pattern
def category_by_name(name: str) -> GetByUnique[Category]:
    """Get a Category by its name"""
    return Category.by_name(name)


# -- create, read, update and delete each entity -------------------------------------------------


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
    """Create a Category; its name must be unique"""
    return create(category)


@access_pattern
def get_category(category_id: str) -> Get[Category]:
    """Get a Category"""
    return Category.primary(category_id)


@access_pattern
def rename_category(category_id: str, name: str) -> Update[Category]:
    """Update a Category: rename it, if the name is free"""
    return Category.primary(category_id).update(Category.name.set(name))


@access_pattern
def reorder_category(category_id: str, shop_order: int) -> Update[Category]:
    """Update a Category: change its position in the shop"""
    return Category.primary(category_id).update(Category.shop_order.set(shop_order))


@access_pattern
def delete_category(category_id: str) -> Delete[Category]:
    """Delete a Category; its name becomes free"""
    return Category.primary(category_id).delete()


@access_pattern
def create_ingredient(ingredient: Ingredient) -> Create[Ingredient]:
    """Create an Ingredient; its id and its name must be unique"""
    return create(ingredient)


@access_pattern
def get_ingredient(category_id: str, ingredient_id: str) -> Get[Ingredient]:
    """Get an Ingredient"""
    return Ingredient.primary(category_id, ingredient_id)


@access_pattern
def rename_ingredient(category_id: str, ingredient_id: str, name: str) -> Update[Ingredient]:
    """Update an Ingredient: rename it, if the name is free"""
    return Ingredient.primary(category_id, ingredient_id).update(Ingredient.name.set(name))


@access_pattern
def move_ingredient(category_id: str, ingredient_id: str, to: str) -> Update[Ingredient]:
    """Update an Ingredient: move it to another Category"""
    return Ingredient.primary(category_id, ingredient_id).update(Ingredient.category_id.set(to))


@access_pattern
def delete_ingredient(category_id: str, ingredient_id: str) -> Delete[Ingredient]:
    """Delete an Ingredient; its id and its name become free"""
    return Ingredient.primary(category_id, ingredient_id).delete()
