"""A change of an item: its plan, its preview, and its page. Edits and deletions are changes.

A change is previewed, and written only if the item is as it was shown; otherwise the page shows a
new preview.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tablewright.errors import InvalidValue, TablewrightError
from tablewright.plan.plan import Plan
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio.items.kinds import unreadable
from tablewright.studio.markup import preview_parts
from tablewright.studio.markup.item_parts import item_url, items_url
from tablewright.studio.markup.parts import NOTHING, note
from tablewright.studio.views.item import Subject, subject_head
from tablewright.studio.web.frame import WebPage
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.applying import ApplyOutcome, CannotGuard, apply
from tablewright.studio.writes.preview import Preview, preview

#: The input with the token of the preview.
TOKEN = "~preview"


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

    def asked(self) -> AskedChange:
        raise NotImplementedError

    def aside(self) -> Markup:
        """Return what a preview says besides what is touched."""
        return NOTHING

    def page(self, *content: Child, status: int = 200) -> WebPage:
        """Return a page about the change."""
        header = element("header", element("h2", self.title), element("p", self.about))
        section = element(
            "section", header, *content, class_="panel", id="edit", aria_label=self.title
        )
        head = subject_head(self.workspace, self.subject, actions=False)
        name = f"{self.title} {self.subject.title}"
        return WebPage(name, [head, section], "Items", status)

    def preview(self, notice: Markup = NOTHING) -> WebPage:
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
            preview_parts.read_only(self.workspace.is_writable),
            preview_parts.differences(found),
            class_="pv",
            aria_live="polite",
        )
        columns = element("div", element("div", self.form({}, token)), right, class_="cols split")
        return self.page(notice, columns, preview_parts.touched(found))

    def write(self, token: str = "") -> WebPage:
        """Apply the preview of a token, or return a new preview that says why not."""
        pending = self.workspace.pending.take(token)
        if pending is None or pending.asked != self.asked():
            return self.preview(
                preview_parts.not_written("This is not what the preview has shown.")
            )
        if self._is_outdated(pending.preview):
            return self.preview(
                preview_parts.not_written("The item has changed since the preview.")
            )
        try:
            outcome = apply(pending.preview, self.workspace.transport)
        except CannotGuard as error:
            return self.preview(preview_parts.not_written(str(error)))
        except TablewrightError as error:
            return self.preview(preview_parts.failed(error))
        if outcome.is_outdated:
            return self.preview(
                preview_parts.not_written("The item has changed since the preview.")
            )
        return self._written(pending.preview, outcome)

    def _is_outdated(self, found: Preview) -> bool:
        """Whether the item is another one than in a preview, also by attributes it had not."""
        key = self.subject.layout.key(self.subject.item)
        return any(each.key == key and each.before != self.subject.item for each in found.items)

    def _written(self, found: Preview, outcome: ApplyOutcome) -> WebPage:
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

    def alert(self, problems: dict[str, str] | None) -> Markup:
        """Return what is wrong with the change as a whole."""
        text = (problems or {}).get("")
        return element("div", note(text, "bad"), role="alert") if text else NOTHING

    def buttons(self, token: str, *, again: str, write: str, action: str, bad: bool = False
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
