"""What can be inferred of a table without a design: its entities, attributes, and a module to save.

A sample of a table in this process is read when a page needs it; of an endpoint, on request.
"""

from __future__ import annotations

from tablewright.infer import SAMPLE_SIZE
from tablewright.publish.html.element import Markup, element
from tablewright.studio.markup import parts
from tablewright.studio.markup.parts import NOTHING, button_link, heading, note
from tablewright.studio.target.inferring import PAGE_SAMPLE, infer_table
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse, url
from tablewright.studio.web.problems import MissingPage
from tablewright.studio.workspace import Workspace

#: How much of an example value is shown.
EXAMPLE = 60


def inferred_panel(workspace: Workspace, name: str, *, ask: bool) -> Markup:
    """Return what a sample of a table shows; of an endpoint, if it was asked for."""
    found = workspace.inference(name, ask=ask)
    if found is None and workspace.is_remote and not ask:
        return inferred_note(workspace, name)
    if found is None:
        return note("The table has no items, so nothing can be inferred of it.")
    rows = [
        [
            element("code", each.name),
            ", ".join(each.types),
            [f"{100 * each.count / found.count:.0f} % ", parts.bar(each.count / found.count)],
            each.example[:EXAMPLE] + "…" * (len(each.example) > EXAMPLE),
        ]
        for each in found.attributes
    ]
    columns = ("Attribute", "Type", "In items", "Example")
    kinds = {"Type": "mono", "In items": "num", "Example": "mono"}
    table = parts.data_table("Attributes found", columns, rows, kinds=kinds)
    text = (
        f"Inferred from {found.count:,} item{'s'[: found.count - 1]}"
        f"{' of a larger table' if found.count >= PAGE_SAMPLE else ''}; it is a guess."
    )
    link = button_link("Write a design for it", url("/tables/{}/design", name), "sm")
    if found.table is None:
        entities = note(f"Items are shown without entities: {found.problem}.", "warn")
    else:
        chips = [parts.chip(entity) for entity in found.table.entities]
        entities = element("p.swatches", "Entities: ", chips)
    return parts.panel(
        "Inferred",
        element("div.body", entities),
        parts.scroll("Attributes found", table),
        about=[element("p", text), parts.aside(link)],
    )


def inferred_note(workspace: Workspace, name: str) -> Markup:
    """Return the remark of a page whose entities are inferred, or can be; else nothing."""
    if name in workspace.maps:
        return NOTHING
    found = workspace.inference(name)
    if found is not None and found.table is not None:
        link = element("a", "what was found", href=url("/tables/{}", name))
        text = f"The table has no design. Its entities are inferred from {found.count:,} items: "
        return note(element("span", text, link, "."))
    if found is None and workspace.is_remote:
        link = element("a", "infer its entities", href=url("/tables/{}", name, infer=1))
        text = f" from up to {PAGE_SAMPLE} items."
        return note(element("span", "The table has no design: ", link, text))
    return NOTHING


def design(workspace: Workspace, request: WebRequest, name: str) -> WebPage | WebResponse:
    """Show the inferred design of a table as a module."""
    is_known = name in workspace.maps
    found = None if is_known else infer_table(workspace.transport, name, SAMPLE_SIZE)
    if found is None:
        raise MissingPage
    if request.query.get("format") == "py":
        headers = {"Content-Disposition": 'attachment; filename="design.py"'}
        return WebResponse(body=found.source.encode(), type=TEXT, headers=headers)
    href = url("/tables/{}/design", name, format="py")
    save = element("div.row", button_link("Save design.py", href, "go", download=""))
    about = (
        f"Inferred from {found.count:,} items: a first version to correct. Save it, change it, and "
        "start tablewright studio design.py with the same target."
    )
    title = f"A design of {name}"
    code = element("pre", found.source, tabindex="0", aria_label="design.py code")
    return WebPage(title, [heading(title, about, save), parts.region("design.py", code)], "Tables")


ROUTES = {("GET", "/tables/{}/design"): design}
