"""A change of an item: its plan, its preview, and its page. Edits and deletions are changes.

    GET   /item/{table}/delete?pk=…&sk=…     the preview of a deletion
    POST  /item/{table}/delete?…             the deletion, if it is still what the preview has shown

A change is previewed, and written only if the item is as it was shown; otherwise the page shows a
new preview.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue, TablewrightError
from tablewright.plan.plan import Plan
from tablewright.plan.writes.delete import delete
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio.items.item_page import RequestMeter
from tablewright.studio.items.kinds import unreadable
from tablewright.studio.items.lookups import run
from tablewright.studio.items.places import Subject
from tablewright.studio.items.relations import relations_of
from tablewright.studio.markup import parts, preview_parts
from tablewright.studio.markup.item_parts import item_url, items_url
from tablewright.studio.markup.parts import NOTHING, button_link, note
from tablewright.studio.markup.preview_parts import not_written
from tablewright.studio.views.item import find_subject, subject_head
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.applying import ApplyOutcome, CannotGuard, apply
from tablewright.studio.writes.editing import RawWrite
from tablewright.studio.writes.preview import Preview, preview

#: The input with the token of the preview.
TOKEN = "~preview"
CHANGED = "The item has changed since the preview."


def is_edited_raw(subject: Subject) -> bool:
    """Return whether an item has no plans: it is of no entity, or cannot be decoded."""
    kind = subject.kind
    return kind.stored is None or bool(unreadable(kind, subject.item))


class AskedChange(Struct, frozen=True):
    """What a preview belongs to: the page and what it changes."""

    url: str
    changes: Any = None


class ItemChange:
    """A change of an item: its plan, its preview, and its page."""

    title = ""
    about = ""
    done = ""

    def __init__(self, workspace: Workspace, subject: Subject) -> None:
        self.workspace = workspace
        self.subject = subject
        self.item_url = item_url(subject.layout, subject.item)

    def url(self, route: str) -> str:
        """Return the URL of a page about the item."""
        path, _, query = self.item_url.partition("?")
        return f"{path}/{route}?{query}"

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        """Return the plan, or what is wrong with what was typed, by field; "" is the whole."""
        raise NotImplementedError

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        """Return the form; with a token, it has the button that writes."""
        raise NotImplementedError

    def asked(self) -> AskedChange:
        raise NotImplementedError

    def aside(self) -> Markup:
        """Return what a preview says besides what is touched."""
        return NOTHING

    def page(self, *content: Child, status: int = 200) -> WebPage:
        """Return a page about the change."""
        section = parts.panel(self.title, *content, about=element("p", self.about), id="edit")
        head = subject_head(self.workspace, self.subject, actions=False)
        return WebPage(f"{self.title} {self.subject.title}", [head, section], "Items", status)

    def preview(self, notice: Markup = NOTHING) -> WebPage:
        """Return the page with what the change would do."""
        plan, problems = self.plan()
        if plan is None:
            return self.page(notice, self.form(problems), status=400)
        try:
            found = preview(self.workspace.database(), plan)
        except InvalidValue as error:
            return self.page(notice, self.form({"": str(error)}), status=400)
        is_writable = self.workspace.is_writable
        token = self.workspace.pending.add(found, self.asked(), is_writable=is_writable)
        right = preview_parts.column(found, self.aside(), is_writable=is_writable)
        columns = element("div.cols.split", element("div", self.form({}, token)), right)
        return self.page(notice, columns, preview_parts.touched(found))

    def write(self, token: str = "") -> WebPage:
        """Apply the preview of a token, or return a new preview that says why not."""
        pending = self.workspace.pending.take(token)
        if pending is None or pending.asked != self.asked():
            return self.preview(not_written("This is not what the preview has shown."))
        if self._is_outdated(pending.preview):
            return self.preview(not_written(CHANGED))
        try:
            outcome = apply(pending.preview, self.workspace.transport)
        except CannotGuard as error:
            return self.preview(not_written(str(error)))
        except TablewrightError as error:
            return self.preview(preview_parts.failed(error))
        if outcome.is_outdated:
            return self.preview(not_written(CHANGED))
        return self._written(pending.preview, outcome)

    def _is_outdated(self, found: Preview) -> bool:
        """Whether the item is another one than in a preview, also by attributes it had not."""
        key = self.subject.layout.key(self.subject.item)
        return any(each.key == key and each.before != self.subject.item for each in found.items)

    def _written(self, found: Preview, outcome: ApplyOutcome) -> WebPage:
        units = f"{preview_parts.totals(found)}, {outcome.write_units:g} write units, as previewed."
        text = note([element("b", self.done), element("span", units)], "good")
        layout = self.subject.layout
        links = [button_link("Items", items_url(layout, layout.base))]
        if any(each.after is not None for each in found.items):
            links.insert(0, button_link("Show the item", self.item_url, "go"))
        shown = [text, element("div.row", links)]
        body = element("div.body", shown, role="status")
        return self.page(body, preview_parts.touched(found))

    def post(self, *content: Child, action: str) -> Markup:
        """Return a form that changes something when it is sent."""
        return element("form.body", *content, method="post", action=action)

    def alert(self, problems: dict[str, str] | None) -> Markup:
        """Return what is wrong with the change as a whole."""
        text = (problems or {}).get("")
        return element("div", note(text, "bad"), role="alert") if text else NOTHING

    def buttons(self, token: str, *, again: str, write: str, action: str, kind: str = "go"
                 ) -> Markup:  # fmt: skip
        """Return the buttons of a form: those that preview and write, and the way back."""
        shown = [parts.button(again, "" if token else "go")] if again else []
        if token:
            shown.append(parts.button(write, kind, formaction=action))
        shown.append(button_link("Cancel", self.item_url))
        kept = parts.hidden(TOKEN, token) if token else NOTHING
        return join([kept, element("div.row", shown)])


# --- deletion -----------------------------------------------------------------------------------


def show_delete(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show what a deletion would remove."""
    return _deletion(workspace, request, table).preview()


def write_delete(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Apply the preview of a deletion, or show a new one if something has changed."""
    return _deletion(workspace, request, table).write(request.form.get(TOKEN))


def _deletion(workspace: Workspace, request: WebRequest, table: str) -> _Deletion:
    meter = RequestMeter(workspace.send)
    return _Deletion(workspace, find_subject(workspace, meter, request, table))


class _Deletion(ItemChange):
    """A deletion."""

    title = "Delete"
    done = "Deleted"
    about = "The item, its rows in indexes, and the unique values that it reserves."

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        subject = self.subject
        if is_edited_raw(subject):
            return RawWrite(subject.layout, subject.item), {}
        assert subject.kind.entity is not None
        try:
            return delete(subject.kind.entity.decode(subject.item)), {}
        except DeclarationError as error:
            return None, {"": error.message}

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        name, action = self.subject.title, self.url("delete")
        text = element("p", f"Deletes {name}, if it is still as it is shown here.")
        buttons = self.buttons(token, again="", write=f"Delete {name}", action=action, kind="bad")
        return self.post(self.alert(problems), text, buttons, action=action)

    def asked(self) -> AskedChange:
        return AskedChange(self.url("delete"))

    def aside(self) -> Markup:
        """Return what stays without the item."""
        kind, values = self.subject.kind, self.subject.values
        if kind.unique is not None:
            text = "This frees the unique value, also if its item still exists."
            return element("div.body", note(text, "warn"))
        if kind.entity is None or values is None:
            return NOTHING
        lines = []
        for related in relations_of(self.subject.layout, kind.entity, values):
            if related.direction == "has" and related.lookup is not None:
                found = run(self.workspace.send, related.lookup)
                if found.items:
                    text = f"{found.count} stay, without their {kind.entity.name}"
                    lines.append([parts.chip(related.entity), element("span", text)])
        return parts.listed(lines, "body rel") if lines else NOTHING


ROUTES = {("GET", "/item/{}/delete"): show_delete, ("POST", "/item/{}/delete"): write_delete}
