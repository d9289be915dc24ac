"""Carte: the menus that all four ways hold, as plain data.

A way's sample is made of them, so that what it costs to read and write can be compared. Some names
are the beginning of others.
"""

from __future__ import annotations

from uuid import UUID, uuid5

#: Menu -> section -> product -> allergens.
Carte = dict[str, dict[str, dict[str, list[str]]]]

CARTE: Carte = {
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

_MENUS = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def id_of(*names: str) -> UUID:
    """The id of a menu, of a section in a menu, or of a product in a section, for the sample."""
    return uuid5(_MENUS, "/".join(names))
