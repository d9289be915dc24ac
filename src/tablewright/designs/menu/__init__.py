"""Menu: menus with sections and products, modelled in four variants with the same patterns.

    variant      menu by name            sections of a menu        products of a section
    collection   GetItem                 Query, one partition      Query, one partition
    joins        Query, an index         Query, GSI1               Query, GSI2
    composite    GetItem                 Query, by prefix          Query, by prefix
    document     Query, an index         inside the menu           inside the menu

Each variant is a package with a table, entities and patterns. It can be copied without the others,
so the variants repeat what they have in common. Patterns with the same purpose have the same name.

A rename changes every key that contains the name. In `collection` and `composite`, these are the
keys of whole items; in `joins`, the key of one item and the index keys of its children; in
`document`, only the key of the index by name. A delete also deletes the items below; in `joins`, it
is refused if there are any. A rename or a delete that is complete leaves no section without its
menu and no product without its section, also if one was added at the same time.

`tablewright verify menu` measures all four variants with the same menus; the last section of
`tablewright publish docs menu` has the results and the conclusions. Each variant has its own list
of decisions.

The design implements a document that compares these variants, called the source document here. It
is mistaken in three places:

- It reads a menu with its sections by a GetItem with the partition key alone. A GetItem needs the
  whole key and returns one item. A menu with its sections is a Query (`whole_menu`).
- It rejects composite sort keys, because a sort key cannot be updated. That is true of UpdateItem;
  a transaction can delete the item and put it under its new key.
- It lists "Get Sections by Menu" twice. Here it is one pattern.
"""

from __future__ import annotations

from tablewright.designs.menu import collection, composite, document, joins

__all__ = ["collection", "composite", "document", "joins"]
