"""The edit and the deletion of an item, each with a preview before it happens.

    GET   /item/{table}/edit?pk=…&sk=…       a form with the values of the stored item
    POST  /item/{table}/edit?…               the preview of what is typed
    POST  /item/{table}/edit/write?…         the edit, if it is still what the preview has shown
    GET   /item/{table}/delete?…             the preview of the deletion
    POST  /item/{table}/delete?…             the deletion, in the same way

An item of an entity is changed by a plan of the model. Another one, and one that cannot be decoded,
is edited as DynamoDB's JSON. Both are written only if the item is as it was shown; otherwise the
page shows a new preview.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.errors import InvalidValue, TablewrightError
from tablewright.plan.plan import Plan
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio import preview_parts
from tablewright.studio.applying import CannotGuard, Outcome, apply
from tablewright.studio.editing import (
    RawDelete,
    RawUpdate,
    changes_of,
    delete_plan,
    edit_fields,
    edit_plan,
    filled_in,
    parse_item,
)
from tablewright.studio.form_parts import FormState, form_fields
from tablewright.studio.form_values import escape_invisible, read_form
from tablewright.studio.frame import Page
from tablewright.studio.http import Fields, Request
from tablewright.studio.item_parts import item_url, items_url
from tablewright.studio.kinds import unreadable
from tablewright.studio.lookups import run
from tablewright.studio.meter import Meter
from tablewright.studio.parts import NOTHING, chip, note
from tablewright.studio.places import values_of
from tablewright.studio.preview import Preview, preview
from tablewright.studio.relations import relations_of
from tablewright.studio.views.item import NoSubject, Subject, find_subject, subject_head
from tablewright.studio.workspace import Workspace

TOKEN = "~preview"
JSON = "json"
BY, REASON = "~by", "~reason"


def edit(workspace: Workspace, request: Request, table: str) -> Page:
    """Show the form of an item, with its stored values."""
    return _with_editor(workspace, request, table, None, lambda editor: editor.page(editor.form()))


def preview_edit(workspace: Workspace, request: Request, table: str) -> Page:
    """Show what an edit would change."""
    return _with_editor(workspace, request, table, request.form, lambda editor: editor.preview())


def write_edit(workspace: Workspace, request: Request, table: str) -> Page:
    """Apply the preview of an edit, or show a new one if something has changed."""
    return _with_editor(workspace, request, table, request.form, lambda editor: editor.write())


def show_delete(workspace: Workspace, request: Request, table: str) -> Page:
    """Show what a deletion would remove."""
    return _with_deleter(workspace, request, table, lambda deleter: deleter.preview())


def write_delete(workspace: Workspace, request: Request, table: str) -> Page:
    """Apply the preview of a deletion, or show a new one if something has changed."""
    token = request.form.get(TOKEN)
    return _with_deleter(workspace, request, table, lambda deleter: deleter.write(token))


def _with_editor(
    workspace: Workspace,
    request: Request,
    table: str,
    given: Fields | None,
    show: Callable[[_Editor], Page],
) -> Page:
    try:
        subject = find_subject(workspace, Meter(workspace.send), request, table)
    except NoSubject as missing:
        return missing.page
    is_raw = is_edited_raw(subject)
    return show((_RawEditor if is_raw else _TypedEditor)(workspace, subject, given))


def _with_deleter(
    workspace: Workspace, request: Request, table: str, show: Callable[[_Deleter], Page]
) -> Page:
    try:
        subject = find_subject(workspace, Meter(workspace.send), request, table)
    except NoSubject as missing:
        return missing.page
    return show(_Deleter(workspace, subject))


def is_edited_raw(subject: Subject) -> bool:
    """Return whether an item has no plans: it is of no entity, or cannot be decoded."""
    kind = subject.kind
    no_entity = kind.entity is None or kind.unique is not None
    return no_entity or bool(unreadable(kind, subject.item))


class _Asked(Struct, frozen=True):
    """What a preview belongs to: the page and what was typed."""

    url: str
    pairs: frozenset[tuple[str, str]]


class _Change:
    """A change of an item: its plan, its preview, and its page."""

    title = ""
    about = ""
    done = ""

    def __init__(self, workspace: Workspace, subject: Subject) -> None:
        self.workspace = workspace
        self.subject = subject

    def url(self, route: str) -> str:
        """Return the URL of a page about the item."""
        path, _, query = item_url(self.subject.layout, self.subject.item).partition("?")
        return f"{path}/{route}?{query}"

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        """Return the plan, or what is wrong with what was typed, by field; "" is the whole."""
        raise NotImplementedError

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        """Return the form; with a token, it has the button that writes."""
        raise NotImplementedError

    def asked(self) -> _Asked:
        raise NotImplementedError

    def aside(self) -> Markup:
        """Return what a preview says besides what is touched."""
        return NOTHING

    def page(self, *content: Child, status: int = 200) -> Page:
        """Return a page about the change."""
        header = element("header", element("h2", self.title), element("p", self.about))
        section = element(
            "section", header, *content, class_="panel", id="edit", aria_label=self.title
        )
        head = subject_head(self.workspace, self.subject, actions=False)
        name = f"{self.title} {self.subject.title}"
        return Page(name, [head, section], "Items", status)

    def preview(self, notice: Markup = NOTHING) -> Page:
        """Return the page with what the change would do."""
        plan, problems = self.plan()
        if plan is None:
            return self.page(notice, self.form(problems), status=400)
        try:
            found = preview(self.workspace.database(), plan)
        except InvalidValue as error:
            return self.page(notice, self.form({"": str(error)}), status=400)
        token = ""
        if found.error is None and not found.is_empty and self.workspace.is_writable:
            token = self.workspace.pending.add(found, self.asked())
        right = element(
            "div",
            preview_parts.verdict(found),
            self.aside(),
            _read_only(self.workspace),
            preview_parts.differences(found),
            class_="pv",
            aria_live="polite",
        )
        columns = element("div", element("div", self.form({}, token)), right, class_="cols split")
        return self.page(notice, columns, preview_parts.touched(found))

    def write(self, token: str = "") -> Page:
        """Apply the preview of a token, or return a new preview that says why not."""
        pending = self.workspace.pending.take(token)
        if pending is None or pending.asked != self.asked():
            return self.preview(_changed("This is not what the preview has shown."))
        try:
            outcome = apply(pending.preview, self.workspace.transport)
        except CannotGuard as error:
            return self.preview(_changed(str(error)))
        if outcome.is_outdated:
            return self.preview(_changed("The item has changed since the preview."))
        return self._written(pending.preview, outcome)

    def _written(self, found: Preview, outcome: Outcome) -> Page:
        units = f"{preview_parts.totals(found)}, {outcome.write_units:g} write units, as previewed."
        text = note([element("b", self.done), element("span", units)], "good")
        layout = self.subject.layout
        links = [
            element("a", "Show the item", class_="btn go", href=self._item_url())
            if any(each.after is not None for each in found.items)
            else NOTHING,
            element("a", "Items", class_="btn", href=items_url(layout, layout.base)),
        ]
        body = element("div", text, element("div", links, class_="row"), class_="body",
                       role="status")  # fmt: skip
        return self.page(body, preview_parts.touched(found))

    def _item_url(self) -> str:
        return item_url(self.subject.layout, self.subject.item)

    def _buttons(self, token: str, *, again: str, write: str, action: str, bad: bool = False
                 ) -> Markup:  # fmt: skip
        """Return the buttons of a form: those that preview and write, and the way back."""
        shown = []
        if again:
            shown.append(element("button", again, class_="btn" if token else "btn go"))
        if token:
            class_ = "btn bad" if bad else "btn go"
            shown.append(element("button", write, class_=class_, formaction=action))
        shown.append(element("a", "Cancel", class_="btn", href=self._item_url()))
        kept = element("input", type="hidden", name=TOKEN, value=token) if token else NOTHING
        return join([kept, element("div", shown, class_="row")])


class _Editor(_Change):
    """An edit; `given` is what was typed, or None for the stored values."""

    title = "Edit"
    done = "Saved"

    def __init__(self, workspace: Workspace, subject: Subject, given: Fields | None) -> None:
        super().__init__(workspace, subject)
        self.given = Fields(self.stored()) if given is None else given

    def stored(self) -> list[tuple[str, str]]:
        """Return the inputs of the form that give the stored values."""
        raise NotImplementedError

    def inputs(self, problems: dict[str, str]) -> Markup:
        raise NotImplementedError

    def asked(self) -> _Asked:
        pairs = frozenset(pair for pair in self.given.pairs if pair[0] != TOKEN)
        return _Asked(self.url("edit"), pairs)

    def write(self, token: str = "") -> Page:
        return super().write(token or self.given.get(TOKEN))

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        found = problems or {}
        whole = note(found[""], "bad") if found.get("") else NOTHING
        buttons = self._buttons(
            token,
            again="Preview again" if token else "Preview",
            write="Save",
            action=self.url("edit/write"),
        )
        return element(
            "form",
            element("div", whole, role="alert") if whole else NOTHING,
            self.inputs(found),
            buttons,
            class_="body",
            method="post",
            action=self.url("edit"),
        )


class _TypedEditor(_Editor):
    """An edit by a plan of the model."""

    about = "A plan, as the design makes it: version checked, index keys kept in step."

    def __init__(self, workspace: Workspace, subject: Subject, given: Fields | None) -> None:
        assert subject.kind.entity is not None
        self.entity = subject.kind.entity
        self.instance = self.entity.decode(subject.item)
        self.fields = edit_fields(self.entity)
        super().__init__(workspace, subject, given)

    def stored(self) -> list[tuple[str, str]]:
        return filled_in(self.fields, self.instance)

    def inputs(self, problems: dict[str, str]) -> Markup:
        if not self.fields:
            return note(f"Nothing of {self.entity.name} can be changed.")
        names = ", ".join(dict.fromkeys(part.attribute for part in self.entity.primary.parameters))
        hint = f"Parts of the key cannot change: {names}. Make a new item instead."
        return join(
            [
                form_fields(self.fields, FormState(self.given, problems)),
                self._audit(),
                element("p", hint, class_="hint field"),
            ]
        )

    def _audit(self) -> Markup:
        """Return the inputs of what histories record: by whom and why."""
        if not self.entity.histories:
            return NOTHING
        fields = [
            element(
                "div",
                element("label", label, for_=f"f-{name}"),
                element("input", id=f"f-{name}", name=name, value=self.given.get(name),
                        autocomplete="off"),
                class_="field",
            )
            for name, label in ((BY, "changed by, for the history"), (REASON, "reason"))
        ]  # fmt: skip
        return element("div", fields, class_="inputs")

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        submitted = read_form(self.fields, self.given)
        if submitted.problems:
            return None, submitted.problems
        changes = changes_of(self.fields, self.instance, submitted.values)
        if not changes:
            return None, {"": "Nothing has changed: the values are the stored ones."}
        try:
            by, reason = self.given.get(BY), self.given.get(REASON)
            return edit_plan(self.instance, changes, by=by, reason=reason), {}
        except TablewrightError as error:
            return None, {"": str(error)}


class _RawEditor(_Editor):
    """An edit of an item without plans, as DynamoDB's JSON."""

    about = "The design has no plan for this item: its attributes are set as they are typed."

    def stored(self) -> list[tuple[str, str]]:
        text = msgspec.json.format(msgspec.json.encode(self.subject.item), indent=2).decode()
        return [(JSON, escape_invisible(text))]

    def inputs(self, problems: dict[str, str]) -> Markup:
        text = escape_invisible(self.given.get(JSON).replace("\r\n", "\n"))
        rows = min(30, max(8, text.count("\n") + 1))
        warning = NOTHING
        if self.subject.kind.entity is not None:
            text_ = "Index keys, versions and unique values stay as they are typed here."
            warning = note(text_, "warn")
        area = element("textarea", text, id="f-json", name=JSON, rows=rows, spellcheck="false",
                       class_="mono")  # fmt: skip
        label = element("label", "DynamoDB JSON", for_="f-json")
        return join([warning, element("div", label, area, class_="field")])

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        layout, stored = self.subject.layout, self.subject.item
        try:
            item = parse_item(layout, stored, self.given.get(JSON))
        except InvalidValue as error:
            return None, {"": str(error)}
        plan = RawUpdate(layout, stored, item)
        if plan.is_empty:
            return None, {"": "Nothing has changed: the item is the stored one."}
        return plan, {}


class _Deleter(_Change):
    """A deletion."""

    title = "Delete"
    done = "Deleted"
    about = "The item, its rows in indexes, and the unique values that it reserves."

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        subject = self.subject
        if is_edited_raw(subject):
            return RawDelete(subject.layout, subject.item), {}
        assert subject.kind.entity is not None
        return delete_plan(subject.kind.entity.decode(subject.item)), {}

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        name = self.subject.title
        action = self.url("delete")
        buttons = self._buttons(token, again="", write=f"Delete {name}", action=action, bad=True)
        text = f"Deletes {name}, if it is still as it is shown here."
        return element(
            "form", element("p", text), buttons, class_="body", method="post", action=action
        )

    def asked(self) -> _Asked:
        return _Asked(self.url("delete"), frozenset())

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
        for related in relations_of(kind.entity, values):
            if related.direction == "has" and related.lookup is not None:
                found = run(self.workspace.send, related.lookup)
                if found.items:
                    text = f"{found.count} stay, without their {kind.entity.name}"
                    lines.append(element("li", chip(related.entity), element("span", text)))
        return element("ul", lines, class_="body rel") if lines else NOTHING


def _read_only(workspace: Workspace) -> Markup:
    if workspace.is_writable:
        return NOTHING
    text = "The target is read-only: this can be previewed, not written."
    return element("div", note(text, "warn"), class_="body")


def _changed(text: str) -> Markup:
    shown = element("span", f"{text} Nothing was written; this is a new preview.")
    return element("div", note([element("b", "Not written"), shown], "warn"), role="alert")


ROUTES = {
    ("GET", "/item/{}/edit"): edit,
    ("POST", "/item/{}/edit"): preview_edit,
    ("POST", "/item/{}/edit/write"): write_edit,
    ("GET", "/item/{}/delete"): show_delete,
    ("POST", "/item/{}/delete"): write_delete,
}
