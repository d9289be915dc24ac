"""The edit and the deletion of an item, each with a preview.

    GET   /item/{table}/edit?pk=…&sk=…       a form with the values of the stored item
    POST  /item/{table}/edit?…               the preview of what is typed
    POST  /item/{table}/edit/write?…         the edit, if nothing has changed since the preview
    GET   /item/{table}/delete?…             the preview of a deletion; POST deletes the item

An item of an entity is changed by a plan of the model. An item of no entity, or one that cannot be
decoded, is edited as DynamoDB's JSON.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.errors import DeclarationError, DesignMismatch, InvalidValue, TablewrightError
from tablewright.plan.plan import Plan
from tablewright.plan.writes.delete import delete
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.keys import TITLE
from tablewright.presentation.kinds import unreadable
from tablewright.presentation.style import chip
from tablewright.presentation.values import middle
from tablewright.studio.items.places import Subject
from tablewright.studio.items.reading import RequestMeter, run
from tablewright.studio.items.relations import relations_of
from tablewright.studio.markup import parts, preview_parts
from tablewright.studio.markup.form_parts import FormState, confirm_target, form_fields
from tablewright.studio.markup.item_parts import item_url, items_url
from tablewright.studio.markup.parts import NOTHING, button_link, note
from tablewright.studio.markup.preview_parts import not_written
from tablewright.studio.patterns.form_values import escape_invisible, read_form, texts
from tablewright.studio.views.item import find_subject, subject_head
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import Fields, WebRequest
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes import editing
from tablewright.studio.writes.applying import ApplyOutcome, CannotGuard, apply
from tablewright.studio.writes.editing import RawWrite
from tablewright.studio.writes.preview import Preview, preview

#: The names of inputs: the initial values of the form, an item, and what histories record.
WAS, JSON = "~was", "json"
BY, REASON = "~by", "~reason"
#: How many attributes a remark names.
NAMED = 5


# --- a change -----------------------------------------------------------------------------------


#: The input with the token of the preview.
TOKEN = "~preview"
CHANGED = "The item has changed since the preview."


def is_edited_raw(subject: Subject) -> bool:
    """Return whether an item is edited as JSON: it is of no entity, or cannot be decoded."""
    kind = subject.kind
    return kind.stored is None or bool(unreadable(kind, subject.item))


class AskedChange(Struct, frozen=True):
    """What identifies a preview: the page, and the changes."""

    url: str
    changes: Any = None


class ChangePage:
    """A change of an item: its plan, its preview, and its page."""

    title = ""
    about = ""
    done = ""

    def __init__(self, workspace: Workspace, subject: Subject) -> None:
        self.workspace = workspace
        self.subject = subject
        self.item_url = item_url(subject.description, subject.item)

    def url(self, route: str) -> str:
        """Return the URL of a page about the item."""
        path, _, query = self.item_url.partition("?")
        return f"{path}/{route}?{query}"

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        """Return the plan, or the problems of the form by field; "" is the whole form."""
        raise NotImplementedError

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        """Return the form; with a token, also with the button that writes."""
        raise NotImplementedError

    def asked(self) -> AskedChange:
        raise NotImplementedError

    def aside(self) -> Markup:
        """Return further remarks on a preview."""
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
            self.workspace.require_admitted(plan)
            found = preview(self.workspace.database(), plan)
        except (InvalidValue, DesignMismatch) as error:
            return self.page(notice, self.form({"": str(error)}), status=400)
        is_writable = self.workspace.is_writable
        token = self.workspace.pending.add(found, self.asked(), is_writable=is_writable)
        right = preview_parts.column(found, self.aside(), is_writable=is_writable)
        columns = element("div.cols.split", element("div", self.form({}, token)), right)
        return self.page(notice, columns, preview_parts.touched(found))

    def write(self, token: str = "") -> WebPage:
        """Apply the preview of a token; if that fails, return a new preview with the reason."""
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
        """Return whether the item has changed since a preview, also by new attributes."""
        key = self.subject.description.key(self.subject.item)
        return any(each.key == key and each.before != self.subject.item for each in found.items)

    def _written(self, found: Preview, outcome: ApplyOutcome) -> WebPage:
        units = f"{preview_parts.totals(found)}, {outcome.write_units:g} write units, as previewed."
        text = note([element("b", self.done), element("span", units)], "good")
        description = self.subject.description
        links = [button_link("Items", items_url(description, description.base))]
        if any(each.after is not None for each in found.items):
            links.insert(0, button_link("Show the item", self.item_url, "go"))
        shown = [text, element("div.row", links)]
        body = element("div.body", shown, role="status")
        return self.page(body, preview_parts.touched(found))

    def post(self, *content: Child, action: str) -> Markup:
        """Return a form that is sent with POST."""
        return element("form.body", *content, method="post", action=action)

    def alert(self, problems: dict[str, str] | None) -> Markup:
        """Return what is wrong with the change as a whole."""
        text = (problems or {}).get("")
        return element("div", note(text, "bad"), role="alert") if text else NOTHING

    def buttons(self, token: str, *, again: str, write: str, action: str, kind: str = "go"
                 ) -> Markup:  # fmt: skip
        """Return the buttons of a form: preview, write and cancel."""
        shown = [parts.button(again, "" if token else "go")] if again else []
        if token:
            text = f"{write}{self.workspace.place}"
            shown.append(parts.button(text, self.workspace.button_kind(kind), formaction=action))
        shown.append(button_link("Cancel", self.item_url))
        kept = [parts.hidden(TOKEN, token), confirm_target(self.workspace)] if token else []
        return join([*kept, element("div.row", shown)])


# --- an edit ------------------------------------------------------------------------------------


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


class _Editor(ChangePage):
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
        """Return the inputs, filled with the stored values and the changes."""
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
        """Return the initial values of the form; the stored ones if they are not known."""
        try:
            text = base64.b64decode(self.given.get(WAS))
            return msgspec.json.decode(text, type=list[tuple[str, str]])
        except (ValueError, msgspec.MsgspecError):
            return self.stored()

    def write(self, token: str = "") -> WebPage:
        return super().write(token or self.given.get(TOKEN))

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        # With an invalid input, the form keeps what was typed and its initial values.
        first = self.was() if self.problems else self.stored()
        was = base64.b64encode(msgspec.json.encode(first)).decode()
        again = "Preview again" if token else "Preview"
        buttons = self.buttons(token, again=again, write="Save", action=self.url("edit/write"))
        kept, inputs = parts.hidden(WAS, was), self.inputs(problems or {})
        return self.post(kept, self.alert(problems), inputs, buttons, action=self.url("edit"))


class _TypedEditor(_Editor):
    """An edit by a plan of the model."""

    about = "A plan of the design: it checks the version, if there is one, and updates index keys."

    def __init__(self, workspace: Workspace, subject: Subject, given: Fields | None) -> None:
        assert subject.kind.entity is not None
        self.entity = subject.kind.entity
        self.values = vars(self.entity.decode(subject.item))
        fields = editing.edit_fields(self.entity)
        lengths = {
            each.label: sum(len(text) for _, text in texts(each, self.values[each.label]))
            for each in fields
        }
        fitting = editing.fitting(lengths)
        self.fields = tuple(each for each in fields if each.label in fitting)
        self.too_long = [each.label for each in fields if each.label not in fitting]
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
            return note(f"No attribute of {self.entity.name} can be changed.")
        typed = self.given
        if not self.problems:
            typed = Fields(editing.filled_in(self.fields, self.values | self.changes))
        names = ", ".join(dict.fromkeys(part.attribute for part in self.entity.primary.parameters))
        hint = f"Parts of the key cannot change: {names}. Make a new item instead."
        inputs = form_fields(self.fields, FormState(typed, problems))
        return join(
            [inputs, self._audit(), element("p.hint.field", hint), _left_out(self.too_long)]
        )

    def _audit(self) -> Markup:
        """Return the inputs for histories: who makes the change, and why."""
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
    """An edit of an item as DynamoDB's JSON, without a plan of the design."""

    about = "The design has no plan for this item: its attributes are set as they are typed."

    def __init__(self, workspace: Workspace, subject: Subject, given: Fields | None) -> None:
        keys = subject.description.key(subject.item)
        lengths = {
            name: 0 if name in keys else len(name) + len(_json_text(value))
            for name, value in subject.item.items()
        }
        fitting = editing.fitting(lengths)
        self.shown = {name: value for name, value in subject.item.items() if name in fitting}
        self.too_long = [name for name in subject.item if name not in fitting]
        super().__init__(workspace, subject, given)

    def stored(self) -> list[tuple[str, str]]:
        return [(JSON, _json_text(self.shown))]

    def read(self) -> tuple[dict[str, Any], dict[str, str]]:
        description, stored = self.subject.description, self.subject.item
        try:
            item = editing.parse_item(description, stored, self.given.get(JSON))
            was = editing.parse_item(description, stored, Fields(self.was()).get(JSON))
        except InvalidValue as error:
            return {}, {"": str(error)}
        changed = editing.item_changes(item, was)
        return {name: value for name, value in changed.items() if stored.get(name) != value}, {}

    def inputs(self, problems: dict[str, str]) -> Markup:
        text = escape_invisible(self.given.get(JSON).replace("\r\n", "\n"))
        if not self.problems:
            changed = self.shown | self.changes
            text = _json_text({name: each for name, each in changed.items() if each is not None})
        warning = NOTHING
        if self.subject.kind.entity is not None:
            remark = (
                "Index keys, versions and unique values are not updated: change them here, too."
            )
            warning = note(remark, "warn")
        rows = min(30, max(8, text.count("\n") + 1))
        area = element("textarea.mono", text, id="f-json", name=JSON, rows=rows, spellcheck="false")
        field = parts.field("DynamoDB JSON", area, "f-json", "field")
        return join([warning, field, _left_out(self.too_long)])

    def plan_of_changes(self) -> Plan[Any]:
        return editing.RawWrite(self.subject.description, self.subject.item, self.changes)


def _left_out(names: list[str]) -> Markup:
    """Return a remark on the attributes that are too long for the form."""
    if not names:
        return NOTHING
    shown = ", ".join(middle(name, TITLE) for name in names[:NAMED])
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    text = f"Too long to be edited here, and not changed: {shown}{more}."
    return element("p.hint.field", text)


def _json_text(item: Mapping[str, Any]) -> str:
    text = msgspec.json.format(msgspec.json.encode(item), indent=2).decode()
    return escape_invisible(text)


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


class _Deletion(ChangePage):
    """A deletion."""

    title = "Delete"
    done = "Deleted"
    about = "Deletes the item and its rows in indexes, and frees its unique values."

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        subject = self.subject
        if is_edited_raw(subject):
            return RawWrite(subject.description, subject.item), {}
        assert subject.kind.entity is not None
        try:
            return delete(subject.kind.entity.decode(subject.item)), {}
        except DeclarationError as error:
            return None, {"": error.message}

    def form(self, problems: dict[str, str] | None = None, token: str = "") -> Markup:
        name, action = self.subject.title, self.url("delete")
        text = element("p", f"Deletes {name}, unless it has changed since this preview.")
        buttons = self.buttons(token, again="", write=f"Delete {name}", action=action, kind="bad")
        return self.post(self.alert(problems), text, buttons, action=action)

    def asked(self) -> AskedChange:
        return AskedChange(self.url("delete"))

    def aside(self) -> Markup:
        """Return the related items that stay, or a warning for a sentinel."""
        kind, values = self.subject.kind, self.subject.values
        if kind.unique is not None:
            text = "This frees the unique value, even if its item still exists."
            return element("div.body", note(text, "warn"))
        if kind.entity is None or values is None:
            return NOTHING
        lines = []
        for related in relations_of(self.subject.description, kind.entity, values):
            if related.direction == "has" and related.lookup is not None:
                found = run(self.workspace.send, related.lookup)
                if found.items:
                    text = f"{found.count} stay, without their {kind.entity.name}"
                    lines.append([chip(related.entity), element("span", text)])
        return parts.listed(lines, "body rel") if lines else NOTHING


ROUTES = {
    ("GET", "/item/{}/edit"): edit,
    ("POST", "/item/{}/edit"): preview_edit,
    ("POST", "/item/{}/edit/write"): write_edit,
    ("GET", "/item/{}/delete"): show_delete,
    ("POST", "/item/{}/delete"): write_delete,
}
