"""Sample menus, as plain data that every variant stores.

All variants store the same menus, so that their costs can be compared. Some names are prefixes of
others.
"""

from __future__ import annotations

from uuid import UUID, uuid5

#: Menu -> section -> product -> allergens.
MenuTree = dict[str, dict[str, dict[str, list[str]]]]

SAMPLE_MENUS: MenuTree = {
    "Breakfast": {
        "Desserts": {"Bread": ["Fish", "Veggie"], "Bread Pudding": ["Egg", "Gluten", "Milk"]},
        "Hot Drinks": {"Coffee": [], "Green Tea": ["Tannin"], "Hot Chocolate": ["Milk"]},
    },
    "Lunch": {
        "Desserts": {"Apple Pie": ["Egg", "Gluten"]},
        "Desserts to Share": {"Fruit Platter": [], "Trifle": ["Egg", "Milk"]},
        "Hot Drinks": {"Espresso": [], "Green Tea": ["Tannin"]},
        "Soups": {"Borscht": ["Celery"], "Tomato": []},
    },
    "Lunch Deluxe": {
        "Desserts": {"Crème Brûlée": ["Egg", "Milk"]},
        "Soups": {"Bouillabaisse": ["Fish", "Shellfish"]},
    },
}

_NAMESPACE = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def id_of(*names: str) -> UUID:
    """Return the id of a sample menu, section or product, given the names from the menu down."""
    return uuid5(_NAMESPACE, "/".join(names))
