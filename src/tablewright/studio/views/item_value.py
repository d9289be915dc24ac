"""A long value of an item: its beginning on a page, and all of it as a file.

    /item/{table}/value?pk=…&sk=…&name=…         the beginning
    /item/{table}/value/text?pk=…&sk=…&name=…    the whole value, to download

A page never contains a whole value: 400 KB take a browser seconds, and hide everything else.
"""

from __future__ import annotations

from tablewright.presentation.element import element
from tablewright.presentation.keys import TITLE
from tablewright.presentation.values import content, middle, shortened, size_text
from tablewright.studio.items.places import Subject
from tablewright.studio.items.reading import RequestMeter
from tablewright.studio.markup import parts
from tablewright.studio.markup.item_parts import value_url
from tablewright.studio.views.item import find_subject, subject_head
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse
from tablewright.studio.workspace import Workspace

#: How many characters of a value a page shows.
BEGINNING = 4_000


def show(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show the beginning of a value."""
    subject, name, text = _find(workspace, request, table)
    href = value_url(subject.description, subject.item, name, as_file=True)
    link = parts.button_link("Download all of it", href, "sm", download="")
    size = f"{size_text(len(text.encode()))}; the first {min(len(text), BEGINNING):,} characters"
    code = element(
        "pre", shortened(text, BEGINNING), tabindex="0", aria_label="The beginning of the value"
    )
    panel = parts.panel(
        middle(name, TITLE), code, about=[element("p", size), parts.aside(link)], class_="wrapcode"
    )
    head = subject_head(workspace, subject, actions=False)
    return WebPage(f"{middle(name, TITLE)} of {subject.title}", [head, panel], "Items")


def download(workspace: Workspace, request: WebRequest, table: str) -> WebResponse:
    """Return a value as a file of text."""
    _, name, text = _find(workspace, request, table)
    stem = "".join(each if each.isascii() and each.isalnum() else "_" for each in name)[:TITLE]
    headers = {"Content-Disposition": f'attachment; filename="{stem}.txt"'}
    return WebResponse(body=text.encode(), type=TEXT, headers=headers)


def _find(workspace: Workspace, request: WebRequest, table: str) -> tuple[Subject, str, str]:
    """Return the item, and the name and the text of the attribute. Raises MissingPage."""
    subject = find_subject(workspace, RequestMeter(workspace.send), request, table)
    name = request.query.get("name")
    if name not in subject.item:
        message = parts.note(["The item has no attribute ", element("code", middle(name, TITLE))])
        raise MissingPage(WebPage("No such attribute", message, "Items", 404))
    return subject, name, content(subject.item[name])


ROUTES = {("GET", "/item/{}/value"): show, ("GET", "/item/{}/value/text"): download}
