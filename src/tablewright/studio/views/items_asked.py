"""What the URL of the items view asks for, and the page that it reads."""

from __future__ import annotations

from msgspec import Struct

from tablewright.mapping.table import TableMap
from tablewright.studio.items.item_page import ItemChoice, ItemPage, Reading, prepare, read_page
from tablewright.studio.items.key_values import decode_cursor
from tablewright.studio.items.kinds import kind_name, kind_of
from tablewright.studio.markup.item_parts import items_url
from tablewright.studio.web.http import Fields
from tablewright.studio.workspace import Workspace
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item


class AskedItems(Struct, frozen=True):
    """What the URL of a page asks for."""

    layout: TableDescription
    collection: IndexDescription
    choice: ItemChoice
    entity: str
    cursor: str
    back: tuple[str, ...]
    item: str

    def url(self, **changed: str | tuple[str, ...] | None) -> str:
        """Return the URL of this page, with some fields changed."""
        choice = self.choice
        fields: dict[str, str | tuple[str, ...] | None] = {
            "entity": self.entity or None,
            "pk": choice.partition if any(choice.partition) else None,
            "op": None if choice.operator == "any" else choice.operator,
            "sk": choice.sort if any(choice.sort) else None,
            "sk2": choice.upper or None,
            "order": "desc" if choice.descending else None,
            "cursor": self.cursor or None,
            "back": self.back or None,
        }
        return items_url(self.layout, self.collection, **(fields | changed))

    def export_url(self, form: str, pages: str) -> str:
        """Return the URL of the items of this page, or of all pages from it, as a file."""
        path, _, query = self.url(format=form, pages=pages, back=None).partition("?")
        return f"{path}/export?{query}"


def read_asked(layout: TableDescription, collection: IndexDescription, query: Fields) -> AskedItems:
    """Read the fields of a URL."""
    choice = ItemChoice(
        partition=tuple(query.all("pk")),
        operator=query.get("op", "any"),
        sort=tuple(query.all("sk")),
        upper=query.get("sk2"),
        descending=query.get("order") == "desc",
    )
    return AskedItems(
        layout,
        collection,
        choice,
        query.get("entity"),
        query.get("cursor"),
        tuple(query.all("back")),
        query.get("item"),
    )


def read_asked_page(
    workspace: Workspace, asked: AskedItems, known: TableMap | None
) -> tuple[Reading, ItemPage]:
    """Read the page that a URL asks for. Raises InvalidValue if a field is malformed."""
    reading = prepare(asked.layout, asked.collection, asked.choice)
    start: Item | None = decode_cursor(asked.cursor) if asked.cursor else None
    wanted = asked.entity
    page = read_page(
        workspace.send,
        asked.layout,
        asked.collection,
        reading,
        start,
        accepts=(lambda item: kind_name(kind_of(known, item)) == wanted) if wanted else None,
    )
    return reading, page
