"""Menu: menus with sections and products, modelled in four variants with the same patterns.

    variant      menu by name            sections of a menu        products of a section
    collection   GetItem                 Query, one partition      Query, one partition
    joins        Query, an index         Query, GSI1               Query, GSI2
    composite    GetItem                 Query, by prefix          Query, by prefix
    document     Query, an index         inside the menu           inside the menu

Each variant is a package with a table, entities and patterns; patterns with the same purpose have
the same name. `compare` measures all four with the same menus. A rename changes every key that
contains the name: in `collection` and `composite`, the keys of whole items; in `joins`, the key of
one item and the index keys of its children; in `document`, no key.

The docstring of each variant lists its decisions. The source document is mistaken in three places:

- It reads a menu with its sections by a GetItem with the partition key alone. A GetItem needs the
  whole key and returns one item; a menu with its sections is a Query (`whole_menu`).
- It says that a sort key cannot be updated, and so rejects composite sort keys. That is true of a
  single item; a transaction can delete the item and put it under its new key.
- It lists "Get Sections by Menu" twice; here it is one pattern.
"""

from __future__ import annotations

from tablewright.designs.menu import collection, composite, document, joins

__all__ = ["collection", "composite", "document", "joins"]
