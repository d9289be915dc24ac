"""One to many, option 2: one query reads a category and the first batch of its ingredients.

The sort key of an ingredient begins with `#`, so it sorts before the key of its category. A query
in descending order with `Limit=11` returns the category and ten ingredients. There is no index, so
an ingredient cannot be queried by its name.

Run it with `python examples/one_to_many_option2.py`. The tables are in memory.
"""

from __future__ import annotations

from tablewright import Engine, connect
from tablewright.designs.recipes import option2
from tablewright.errors import UniqueViolation

engine = Engine(":memory:")
db = connect(engine, option2.RecipesOption2)

db.run(option2.create_category(option2.Category(id="1", name="vegetables")))
for number in range(1, 26):
    ingredient = option2.Ingredient(id=f"{number:02}", name=f"vegetable {number}", category_id="1")
    db.run(option2.create_ingredient(ingredient))

print("The first rows of the category's partition, in descending order:")
request = {
    "TableName": "recipes_option2",
    "KeyConditionExpression": "PK = :category",
    "ExpressionAttributeValues": {":category": {"S": "Category#1"}},
    "ScanIndexForward": False,
    "Limit": 11,
}
for item in engine.call("Query", request)["Items"]:
    print(" ", item["PK"]["S"], item["SK"]["S"], item["name"]["S"])

found = db.run(option2.category_with_first_ingredients("1", 10))
assert found is not None
print("\nThe same as entities:", found.category)
print(" ", [ingredient.name for ingredient in found.ingredients])

print("\nBoth the id and the name of an ingredient are unique:")
db.run(option2.create_category(option2.Category(id="2", name="pasta")))
for taken in (
    option2.Ingredient(id="01", name="spaghetti", category_id="2"),
    option2.Ingredient(id="26", name="vegetable 1", category_id="2"),
):
    try:
        db.run(option2.create_ingredient(taken))
    except UniqueViolation as error:
        print(" ", error)

db.close()
engine.close()
