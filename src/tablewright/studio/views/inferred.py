"""What can be inferred of a table without a design: its entities, attributes, and a module to save.

A sample of a table in this process is read when a page needs it; of an endpoint, on request.
"""

from __future__ import annotations

from tablewright.infer import SAMPLE_SIZE
from tablewright.publish.html.element import Markup, element
from tablewright.studio.markup.parts import NOTHING, chip, data_table, heading, note, scroll
from tablewright.studio.target.inferring import PAGE_SAMPLE, infer_table
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse
from tablewright.studio.web.problems import missing_page
from tablewright.studio.web.url import url
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
        element(
            "tr",
            element("td", element("code", each.name)),
            element("td", ", ".join(each.types), class_="mono"),
            element("td", _share(each.count, found.count), class_="num"),
            element("td", each.example[:EXAMPLE] + "…" * (len(each.example) > EXAMPLE),
                    class_="mono"),
        )
        for each in found.attributes
    ]  # fmt: skip
    columns = ("Attribute", "Type", "In items", "Example")
    table = data_table("Attributes found", columns, rows, numbers=("In items",))
    text = (
        f"Inferred from {found.count:,} item{'s'[: found.count - 1]}"
        f"{' of a larger table' if found.count >= PAGE_SAMPLE else ''}; it is a guess."
    )
    link = element("a", "Write a design for it", class_="btn sm",
                   href=url("/tables/{}/design", name))  # fmt: skip
    header = element(
        "header", element("h2", "Inferred"), element("p", text), element("span", link, class_="end")
    )
    if found.table is None:
        entities = note(f"Items are shown without entities: {found.problem}.", "warn")
    else:
        chips = [chip(entity) for entity in found.table.entities]
        entities = element("p", "Entities: ", chips, class_="swatches")
    return element(
        "section",
        header,
        element("div", entities, class_="body"),
        scroll("Attributes found", table),
        class_="panel",
        aria_label="Inferred",
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


def _share(count: int, total: int) -> list[Markup | str]:
    bar = element(
        "svg",
        element("rect", width=72, height=6, rx=3),
        element("rect", width=72 * count / total, height=6, rx=3),
        class_="bar",
        viewBox="0 0 72 6",
        aria_hidden="true",
    )
    return [f"{100 * count / total:.0f} % ", bar]


def design(workspace: Workspace, request: WebRequest, name: str) -> WebPage | WebResponse:
    """Show the inferred design of a table as a module."""
    found = None
    if name not in workspace.maps:
        found = infer_table(workspace.transport, name, SAMPLE_SIZE)
    if found is None:
        return missing_page(request)
    if request.query.get("format") == "py":
        headers = {"Content-Disposition": 'attachment; filename="design.py"'}
        return WebResponse(body=found.source.encode(), type=TEXT, headers=headers)
    save = element("a", "Save design.py", class_="btn go", download="",
                   href=url("/tables/{}/design", name, format="py"))  # fmt: skip
    about = (
        f"Inferred from {found.count:,} items: a first version to correct. Save it, change it, and "
        "start tablewright studio design.py with the same target."
    )
    code = element("pre", found.source, tabindex="0", aria_label="design.py code")
    content = [
        heading(f"A design of {name}", about, element("div", save, class_="row")),
        element("section", code, class_="panel", aria_label="design.py"),
    ]
    return WebPage(f"A design of {name}", content, "Tables")


ROUTES = {("GET", "/tables/{}/design"): design}
