"""One to many, option 1: categories with their ingredients, found by id and by name.

An ingredient is in the partition of its category. GSI1 finds it by its id, GSI2 by its name;
neither needs its category. Sentinel items keep ids and names unique.

Run it with `python examples/one_to_many_option1.py`. The tables are in memory.
"""

from __future__ import annotations

from tablewright import Engine, connect
from tablewright.designs.recipes import (
    Category,
    Ingredient,
    Recipes,
    create_category,
    create_ingredient,
    ingredient_by_id,
    ingredient_by_name,
    ingredients_of_category,
)
from tablewright.errors import UniqueViolation

engine = Engine(":memory:")
db = connect(engine, Recipes)

db.run(create_category(Category(id="1", name="vegetables", shop_order=1)))
db.run(create_category(Category(id="2", name="pasta", shop_order=2)))
db.run(create_ingredient(Ingredient(id="1", name="tomatoes", category_id="1")))
db.run(create_ingredient(Ingredient(id="2", name="spaghetti", category_id="2")))
db.run(create_ingredient(Ingredient(id="3", name="mushrooms", category_id="1")))

print("The items of the table:")
stored = engine.call("Scan", {"TableName": "recipes"})["Items"]
for item in sorted(stored, key=lambda item: (item["PK"]["S"], item["SK"]["S"])):
    print(" ", *(f"{name}={next(iter(value.values()))}" for name, value in item.items()))

print("\n1. by category id:    ", [each.name for each in db.run(ingredients_of_category("1"))])
print("2. by ingredient id:  ", db.run(ingredient_by_id("2")))
print("3. by ingredient name:", db.run(ingredient_by_name("mushrooms")))

print("\nBoth the id and the name of an ingredient are unique:")
for taken in (
    Ingredient(id="1", name="rice", category_id="2"),
    Ingredient(id="4", name="tomatoes", category_id="2"),
):
    try:
        db.run(create_ingredient(taken))
    except UniqueViolation as error:
        print(" ", error)

db.close()
engine.close()
