"""Recipes: menus, recipes, ingredients and categories; unique names; parents with their children.

The design implements a document that describes its keys and access patterns, called the source
document here. Its entity chart, completed:

    entity              PK                       SK
    Menu                MENU#{id}                MENU#{id}
    MenuItem            MENU#{menuId}            MENUITEM#{id}
    Recipe              RECIPE#{id}              RECIPE#{id}
    RecipeIngredient    RECIPE#{recipeId}        RECIPEINGREDIENT#{ingredientId}
    Category            CATEGORY#{id}            CATEGORY#{id}
      in GSI1           CATEGORIES               {shopOrder}#{id}
      unique name       CATEGORYNAME#{name}      CATEGORYNAME#{name}
    Ingredient          CATEGORY#{categoryId}    INGREDIENT#{id}
      unique id         INGREDIENT#{id}          INGREDIENT#{id}
      unique name       INGREDIENTNAME#{name}    INGREDIENTNAME#{name}
      in GSI1           INGREDIENT#{id}          INGREDIENT#{id}
      in GSI2           INGREDIENTNAME#{name}    INGREDIENTNAME#{name}

A further item, the sentinel, keeps each name unique. It is written in the same transaction as the
category or the ingredient, and contains its id and its name, as in the source document. The key of
an ingredient contains its category, so two categories could have ingredients with the same id.
Another sentinel keeps the id unique. The ids of categories and ingredients never change: an update
of them is refused.

Items that another program has written as in the source document are read like all others. They lack
two things: the sentinel of an ingredient's id, so this id is not protected, and the GSI1 key of a
category with a `shopOrder`, which `tablewright backfill` adds.

Option 2 of the source document has its own table, in the module `option2`. There the sort key of an
ingredient begins with `#`, so it sorts before the key of its category. A query in descending order
returns the category, then a limited number of its ingredients. `examples/` has a small program for
each option.

Decisions where the source document is unclear:

- Menu items are in the partition of their menu, and recipe ingredients in that of their recipe, so
  one query loads a parent with its children.
- A menu item refers to a recipe. A recipe ingredient refers to an ingredient, and has the name that
  the recipe uses for it.
- The caller chooses all ids.
- The source document stores `shopOrder`, but has no key for it. GSI1 lists the categories that have
  one: all of them in one partition, with six digits in the sort key (`000002#7`).
- Deleting a parent does not delete its children.
"""

from __future__ import annotations

from tablewright.designs.recipes.entities import *  # noqa: F403 - a design is one namespace
from tablewright.designs.recipes.patterns import *  # noqa: F403 - a design is one namespace
