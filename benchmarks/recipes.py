"""The patterns of the recipes design with few and with many items.

The source document inserts many ingredients and reads one by its key. Here, every pattern that
reads is measured with 1,000 and with 20,000 ingredients, each with the sentinel of its name. A
pattern that reads only its own items takes the same time with both.

Each call is made once before it is measured. The pages of the small file are in SQLite's cache
after a few calls, and at any size a page that is not costs 7 µs, a read from the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Context, Figure, judged, take_turns
from benchmarks.reads import draw
from tablewright import connect, put, transact
from tablewright.database import Database
from tablewright.designs import recipes
from tablewright.plans import Plan

ROUNDS = 20
#: Ingredients of one category: what a pattern reads is the same at every size.
IN_A_CATEGORY = 20
#: How much longer a pattern may take with twenty times the data: some levels of a tree.
AT_MOST = 1.6

PATTERNS: dict[str, Callable[[int], Plan[Any]]] = {
    "ingredient by id": lambda n: recipes.ingredient_by_id(str(n)),
    "ingredient by name": lambda n: recipes.ingredient_by_name(f"ingredient {n}"),
    "ingredient by its key": lambda n: recipes.get_ingredient(str(n // IN_A_CATEGORY), str(n)),
    "ingredients of a category": lambda n: recipes.ingredients_of_category(str(n // IN_A_CATEGORY)),
    "ingredient with category": lambda n: recipes.ingredient_with_category(str(n)),
    "category by name": lambda n: recipes.category_by_name(f"category {n // IN_A_CATEGORY}"),
}


def at_size(context: Context) -> list[Figure]:
    """Measure each pattern with many ingredients, compared with few."""
    many, few = context.size(20_000, 2000), context.size(1000, 200)
    calls = context.size(1000, 40)
    with (
        _loaded(context, many) as large,
        _loaded(context, few) as small,
    ):
        figures = []
        for name, pattern in PATTERNS.items():
            of_many = [pattern(n) for n in draw(calls, many)]
            of_few = [pattern(n) for n in draw(calls, few)]
            for plan in of_many:
                large.run(plan)
            for plan in of_few:
                small.run(plan)
            ours, theirs = take_turns(
                context, name, (large.run, of_many), (small.run, of_few), rounds=ROUNDS
            )
            figure = judged(
                f"{name}, of {many:,}",
                "µs",
                ours,
                limit=theirs,
                limit_is=f"of {few:,}",
                at_most=AT_MOST,
            )
            figures.append(figure)
    return figures


def _loaded(context: Context, count: int) -> Database:
    """Return a database with this number of ingredients, loaded through the model."""
    path = Path(context.folder) / f"recipes-{count}.db"
    database = connect(path, recipes.Recipes, durability="normal")
    for first in context.track(f"load {count:,} ingredients", range(0, count, IN_A_CATEGORY)):
        category = str(first // IN_A_CATEGORY)
        database.run(put(recipes.Category(id=category, name=f"category {category}")))
        ingredients = (
            recipes.Ingredient(id=str(n), name=f"ingredient {n}", category_id=category)
            for n in range(first, first + IN_A_CATEGORY)
        )
        database.run(transact(*map(recipes.create_ingredient, ingredients)))
    return database
