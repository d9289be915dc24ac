"""Option 2: ingredients sort before their category, and a query reads in descending order.

    PK=Category#{categoryId}   SK=#Ingredient#{id}        Ingredient
                               SK=Category#{categoryId}   Category
    PK=CategoryName#{name}     SK=CategoryName#{name}     unique name of a category
    PK=Ingredient#{id}         SK=Ingredient#{id}         unique id of an ingredient
    PK=IngredientName#{name}   SK=IngredientName#{name}   unique name of an ingredient

With `ScanIndexForward=False` and `Limit=11`, one query reads a category and ten of its ingredients.
There is no index, so an ingredient cannot be queried by its name. The source document has no item
for the id of an ingredient; it is added here, because ingredients are unique in their id.
"""

from __future__ import annotations

from tablewright import (
    Aggregate,
    Attr,
    Create,
    Entity,
    Load,
    Table,
    access_pattern,
    attr,
    children,
    create,
    key,
    root,
    unique,
)


class RecipesOption2(Table, name="recipes_option2", type_attribute=None):
    pass


class Category(Entity, table=RecipesOption2):
    id: Attr[str] = attr(immutable=True)
    name: Attr[str] = attr()

    primary = key("Category" / id, "Category" / id.again)
    names = unique("CategoryName" / name, keep=(id, name))


class Ingredient(Entity, table=RecipesOption2):
    id: Attr[str] = attr(immutable=True)
    name: Attr[str] = attr()
    category_id: Attr[str] = attr(name="categoryId")

    primary = key("Category" / category_id, "#Ingredient" / id)
    ids = unique("Ingredient" / id, keep=(id,))
    names = unique("IngredientName" / name, keep=(id, name))


class CategoryWithIngredients(Aggregate):
    category: Category = root()
    ingredients: list[Ingredient] = children()


@access_pattern
def create_category(category: Category) -> Create[Category]:
    """Create a category that sorts after its ingredients; its name must be unique"""
    return create(category)


@access_pattern
def create_ingredient(ingredient: Ingredient) -> Create[Ingredient]:
    """Create an ingredient that sorts before its category; its id and its name must be unique"""
    return create(ingredient)


@access_pattern
def category_with_ingredients(category_id: str) -> Load[CategoryWithIngredients]:
    """Retrieve a category and its ingredients"""
    return CategoryWithIngredients.of(Category.primary(category_id))


@access_pattern
def category_with_first_ingredients(category_id: str, count: int) -> Load[CategoryWithIngredients]:
    """Read only the first batch: ScanIndexForward=False, Limit=count + 1"""
    return CategoryWithIngredients.of(Category.primary(category_id)).desc().limit(count)
