"""The deletion of an item, with a preview before it happens.

GET   /item/{table}/delete?pk=…&sk=…     the preview
POST  /item/{table}/delete?…             the deletion, if it is still what the preview has shown
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.plan.plan import Plan
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.lookups import run
from tablewright.studio.items.meter import RequestMeter
from tablewright.studio.items.places import values_of
from tablewright.studio.items.relations import relations_of
from tablewright.studio.markup.parts import NOTHING, chip, note
from tablewright.studio.views.item import NoSubject, find_subject
from tablewright.studio.views.item_change import TOKEN, AskedChange, ItemChange, is_edited_raw
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.editing import RawDelete, delete_plan


def show_delete(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show what a deletion would remove."""
    return _with_deleter(workspace, request, table, lambda deleter: deleter.preview())


def write_delete(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Apply the preview of a deletion, or show a new one if something has changed."""
    token = request.form.get(TOKEN)
    return _with_deleter(workspace, request, table, lambda deleter: deleter.write(token))


def _with_deleter(
    workspace: Workspace, request: WebRequest, table: str, show: Callable[[_Deleter], WebPage]
) -> WebPage:
    try:
        subject = find_subject(workspace, RequestMeter(workspace.send), request, table)
    except NoSubject as missing:
        return missing.page
    return show(_Deleter(workspace, subject))


class _Deleter(ItemChange):
    """A deletion."""

    title = "Delete"
    done = "Deleted"
    about = "The item, its rows in indexes, and the unique values that it reserves."

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        subject = self.subject
        if is_edited_raw(subject):
            return RawDelete(subject.layout, subject.layout.key(subject.item)), {}
        assert subject.kind.entity is not None
        try:
            return delete_plan(subject.kind.entity.decode(subject.item)), {}
        except DeclarationError as error:
            return None, {"": error.message}

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        name = self.subject.title
        action = self.url("delete")
        buttons = self.buttons(token, again="", write=f"Delete {name}", action=action, bad=True)
        text = f"Deletes {name}, if it is still as it is shown here."
        return element(
            "form",
            self.alert(problems),
            element("p", text),
            buttons,
            class_="body",
            method="post",
            action=action,
        )

    def asked(self) -> AskedChange:
        return AskedChange(self.url("delete"))

    def aside(self) -> Markup:
        """Return what stays without the item."""
        kind, item = self.subject.kind, self.subject.item
        if kind.unique is not None:
            text = "This frees the unique value, also if its item still exists."
            return element("div", note(text, "warn"), class_="body")
        values = values_of(kind, item)
        if kind.entity is None or values is None:
            return NOTHING
        lines = []
        for related in relations_of(self.subject.layout, kind.entity, values):
            if related.direction == "has" and related.lookup is not None:
                found = run(self.workspace.send, related.lookup)
                if found.items:
                    text = f"{found.count} stay, without their {kind.entity.name}"
                    lines.append(element("li", chip(related.entity), element("span", text)))
        return element("ul", lines, class_="body rel") if lines else NOTHING


ROUTES = {
    ("GET", "/item/{}/delete"): show_delete,
    ("POST", "/item/{}/delete"): write_delete,
}
