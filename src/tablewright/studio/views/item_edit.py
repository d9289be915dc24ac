"""The edit of an item, with a preview before it happens.

    GET   /item/{table}/edit?pk=…&sk=…       a form with the values of the stored item
    POST  /item/{table}/edit?…               the preview of what is typed
    POST  /item/{table}/edit/write?…         the edit, if it is still what the preview has shown

An item of an entity is changed by a plan of the model. Another one, and one that cannot be decoded,
is edited as DynamoDB's JSON.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import msgspec

from tablewright.errors import InvalidValue, TablewrightError
from tablewright.plan.plan import Plan
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.items.item_page import RequestMeter
from tablewright.studio.items.places import Subject
from tablewright.studio.markup import parts
from tablewright.studio.markup.form_parts import FormState, form_fields
from tablewright.studio.markup.parts import NOTHING, note
from tablewright.studio.patterns.form_values import escape_invisible, read_form
from tablewright.studio.views.item import find_subject
from tablewright.studio.views.item_change import TOKEN, AskedChange, ItemChange, is_edited_raw
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import Fields, WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes import editing

#: The inputs with what the form had at first, with an item, and with what histories record.
WAS, JSON = "~was", "json"
BY, REASON = "~by", "~reason"


def edit(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show the form of an item, with its stored values."""
    editor = _editor(workspace, request, table, None)
    return editor.page(editor.form())


def preview_edit(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show what an edit would change."""
    return _editor(workspace, request, table, request.form).preview()


def write_edit(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Apply the preview of an edit, or show a new one if something has changed."""
    return _editor(workspace, request, table, request.form).write()


def _editor(workspace: Workspace, request: WebRequest, table: str, given: Fields | None) -> _Editor:
    subject = find_subject(workspace, RequestMeter(workspace.send), request, table)
    editor = _RawEditor if is_edited_raw(subject) else _TypedEditor
    return editor(workspace, subject, given)


class _Editor(ItemChange):
    """An edit; `given` is what was typed, or None for the stored values."""

    title = "Edit"
    done = "Saved"

    def __init__(self, workspace: Workspace, subject: Subject, given: Fields | None) -> None:
        super().__init__(workspace, subject)
        self.given = given or Fields(self.stored())
        self.changes, self.problems = self.read()

    def stored(self) -> list[tuple[str, str]]:
        """Return the inputs of the form that give the stored values."""
        raise NotImplementedError

    def read(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what was changed, and what is wrong with it."""
        raise NotImplementedError

    def inputs(self, problems: dict[str, str]) -> Markup:
        """Return the inputs: the stored values, and what was changed of them."""
        raise NotImplementedError

    def plan_of_changes(self) -> Plan[Any]:
        raise NotImplementedError

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        if self.problems:
            return None, self.problems
        if not self.changes:
            return None, {"": "Nothing has changed: the values are the stored ones."}
        try:
            return self.plan_of_changes(), {}
        except TablewrightError as error:
            return None, {"": str(error)}

    def asked(self) -> AskedChange:
        audit = (self.given.get(BY), self.given.get(REASON))
        return AskedChange(self.url("edit"), (self.changes, audit))

    def was(self) -> list[tuple[str, str]]:
        """Return what the form had at first; what is stored now, if that is not known."""
        try:
            text = base64.b64decode(self.given.get(WAS))
            return msgspec.json.decode(text, type=list[tuple[str, str]])
        except (ValueError, msgspec.MsgspecError):
            return self.stored()

    def write(self, token: str = "") -> WebPage:
        return super().write(token or self.given.get(TOKEN))

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        # What was typed wrong stays as it is, and so does what it is compared with.
        first = self.was() if self.problems else self.stored()
        was = base64.b64encode(msgspec.json.encode(first)).decode()
        again = "Preview again" if token else "Preview"
        buttons = self.buttons(token, again=again, write="Save", action=self.url("edit/write"))
        kept, inputs = parts.hidden(WAS, was), self.inputs(problems or {})
        return self.post(kept, self.alert(problems), inputs, buttons, action=self.url("edit"))


class _TypedEditor(_Editor):
    """An edit by a plan of the model."""

    about = "A plan, as the design makes it: version checked if it has one, index keys in step."

    def __init__(self, workspace: Workspace, subject: Subject, given: Fields | None) -> None:
        assert subject.kind.entity is not None
        self.entity = subject.kind.entity
        self.values = vars(self.entity.decode(subject.item))
        self.fields = editing.edit_fields(self.entity)
        super().__init__(workspace, subject, given)

    def stored(self) -> list[tuple[str, str]]:
        return editing.filled_in(self.fields, self.values)

    def read(self) -> tuple[dict[str, Any], dict[str, str]]:
        submitted = read_form(self.fields, self.given)
        if submitted.problems:
            return {}, submitted.problems
        stored, was = self.values, self.was()
        first = stored if was == self.stored() else read_form(self.fields, Fields(was)).values
        changed = editing.changes_of(
            editing.complete(self.fields, submitted.values), editing.complete(self.fields, first)
        )
        return editing.changes_of(changed, stored), {}

    def inputs(self, problems: dict[str, str]) -> Markup:
        if not self.fields:
            return note(f"Nothing of {self.entity.name} can be changed.")
        typed = self.given
        if not self.problems:
            typed = Fields(editing.filled_in(self.fields, self.values | self.changes))
        names = ", ".join(dict.fromkeys(part.attribute for part in self.entity.primary.parameters))
        hint = f"Parts of the key cannot change: {names}. Make a new item instead."
        inputs = form_fields(self.fields, FormState(typed, problems))
        return join([inputs, self._audit(), element("p.hint.field", hint)])

    def _audit(self) -> Markup:
        """Return the inputs of what histories record: by whom and why."""
        if not self.entity.histories:
            return NOTHING
        fields = []
        for name, label in ((BY, "changed by"), (REASON, "reason")):
            id_, typed = f"f-{name}", self.given.get(name)
            control = element("input", id=id_, name=name, value=typed, autocomplete="off")
            fields.append(parts.field(label, control, id_, "field"))
        return element("div.inputs", fields)

    def plan_of_changes(self) -> Plan[Any]:
        by, reason = self.given.get(BY), self.given.get(REASON)
        instance = self.entity.decode(self.subject.item)  # the plan changes it
        return editing.edit_plan(instance, self.changes, by=by, reason=reason)


class _RawEditor(_Editor):
    """An edit of an item without plans, as DynamoDB's JSON."""

    about = "The design has no plan for this item: its attributes are set as they are typed."

    def stored(self) -> list[tuple[str, str]]:
        return [(JSON, _json_text(self.subject.item))]

    def read(self) -> tuple[dict[str, Any], dict[str, str]]:
        layout, stored = self.subject.layout, self.subject.item
        try:
            item = editing.parse_item(layout, stored, self.given.get(JSON))
            was = editing.parse_item(layout, stored, Fields(self.was()).get(JSON))
        except InvalidValue as error:
            return {}, {"": str(error)}
        changed = editing.item_changes(item, was)
        return {name: value for name, value in changed.items() if stored.get(name) != value}, {}

    def inputs(self, problems: dict[str, str]) -> Markup:
        text = escape_invisible(self.given.get(JSON).replace("\r\n", "\n"))
        if not self.problems:
            changed = self.subject.item | self.changes
            text = _json_text({name: each for name, each in changed.items() if each is not None})
        warning = NOTHING
        if self.subject.kind.entity is not None:
            remark = "Index keys, versions and unique values stay as they are typed here."
            warning = note(remark, "warn")
        rows = min(30, max(8, text.count("\n") + 1))
        area = element("textarea.mono", text, id="f-json", name=JSON, rows=rows, spellcheck="false")
        return join([warning, parts.field("DynamoDB JSON", area, "f-json", "field")])

    def plan_of_changes(self) -> Plan[Any]:
        return editing.RawWrite(self.subject.layout, self.subject.item, self.changes)


def _json_text(item: Mapping[str, Any]) -> str:
    text = msgspec.json.format(msgspec.json.encode(item), indent=2).decode()
    return escape_invisible(text)


ROUTES = {
    ("GET", "/item/{}/edit"): edit,
    ("POST", "/item/{}/edit"): preview_edit,
    ("POST", "/item/{}/edit/write"): write_edit,
}
