"""The answer of the console: what a statement will do, its items, what a write changes."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from tablewright.capacity import read_units
from tablewright.errors import DynamoDBError, TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.model.pattern import AccessPattern
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.items.exporting import FORMATS
from tablewright.studio.markup.item_parts import key_url
from tablewright.studio.markup.parts import (
    NOTHING,
    chip,
    content,
    data_table,
    note,
    scroll,
    stored_key,
)
from tablewright.studio.target.inventory import format_size
from tablewright.studio.target.statements import ResultPage, StatementPlan, WritePreview
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.values import Item

#: How much of a value a cell shows, and how many patterns are named.
CELL = 120
MAX_PATTERNS = 4
NOT_IN_STEP = (
    "PartiQL writes attributes as they are. It does not change the keys of indexes, versions, "
    "unique values and histories, as writes of the design do."
)


# --- what a statement will do -------------------------------------------------------------------


def explain_nothing() -> Markup:
    return _explained(
        element("p", "Explain says what a statement will do, before it runs.", class_="muted")
    )


def explain_panel(found: StatementPlan, patterns: Sequence[AccessPattern] = ()) -> Markup:
    """Return what a statement will do, and the patterns of the design that read with its key."""
    plan_ = found.explanation
    sign, kind = ("!", "mod") if plan_.is_scan else ("✓", "add")
    source = plan_.table if plan_.index is None else f"{plan_.table}.{plan_.index}"
    verdict = element(
        "div", element("span", sign, class_=f"sg {kind}", aria_hidden="true"),
        element("b", plan_.operation), " on ", element("code", source), class_="row verdict",
    )  # fmt: skip
    rows = [("key", element("code", each)) for each in plan_.key_conditions]
    if plan_.is_scan:
        rows.append(("key", element("b", "none: everything is read")))
    if found.is_read:
        none = element("span", "none: every item read is returned", class_="muted")
        rows.append(("filter", element("code", plan_.filter) if plan_.filter else none))
    elif plan_.filter is not None:
        rows.append(("condition", element("code", plan_.filter)))
    if plan_.order is not None:
        rows.append(("order", element("span", plan_.order)))
    size = f"{found.items:,} items, {format_size(found.size)}"
    rows += [
        ("reads from" if found.is_read else "table", element("span", size)),
        ("units", element("span", found.units, element("small", _remark(found)))),
    ]
    if patterns:
        links = [
            element("a", each.name, class_="mono", href=url("/patterns/{}", each.label))
            for each in patterns[:MAX_PATTERNS]
        ]
        rows.append(("patterns", element("span", join(links, ", "))))
    listed = [each for name, value in rows for each in (element("dt", name), element("dd", value))]
    return _explained(verdict, element("dl", listed, class_="dl"))


def _remark(found: StatementPlan) -> str:
    if found.is_read and not found.explanation.is_scan:
        return f"estimate; a Scan takes {read_units(found.size, consistent=False):,g}"
    return "estimate"


def _explained(*content: Markup) -> Markup:
    tag = element("span", element("span", "before it runs", class_="tag"), class_="end")
    return element(
        "section", element("header", element("h2", "Explain"), tag),
        element("div", *content, class_="body"), class_="panel explain", aria_label="Explain",
    )  # fmt: skip


def failure_panel(error: TablewrightError) -> Markup:
    code = f"{error.code}: " if isinstance(error, DynamoDBError) else ""
    return _answered("Not run", [], element("div", note(f"{code}{error}", "bad"), class_="body",
                                                role="alert"))  # fmt: skip


def confirm_scan(text: str, found: StatementPlan) -> Markup:
    words = (
        f"This statement reads all of {found.explanation.table}, page by page: {found.items:,} "
        f"items, {format_size(found.size)}, {found.units}. A page reads {found.page:,} items. A "
        "condition on the partition key avoids it."
    )
    link = element("a", "Run the scan", class_="btn bad",
                   href=url("/console", statement=text, run=1, confirm="scan"))  # fmt: skip
    body = element("div", note(words, "warn"), element("p", link), class_="body stack")
    return _answered("Not run yet", [], body)


# --- results ------------------------------------------------------------------------------------


def no_result() -> Markup:
    text = element("p", "Run shows a page of the items.", class_="muted")
    return _answered("Result", [], element("div", text, class_="body"))


def _answered(title: str, about: list[Markup], *content: Markup) -> Markup:
    return element(
        "section", element("header", element("h2", title), about), *content,
        class_="panel result", aria_label=title,
    )  # fmt: skip


def result_panel(
    text: str, found: StatementPlan, page: ResultPage, known: TableMap | None, confirm: str
) -> Markup:
    count = len(page.items)
    units = f"{page.units:g} read unit{'s' if page.units != 1 else ''}"
    summary = f"{count} item{'s' if count != 1 else ''}, {units}, {page.seconds * 1000:.1f} ms"
    links = [
        element("a", f"Export {kind.upper()}", class_="btn sm", download="",
                href=url("/console/export", statement=text, format=kind, confirm=confirm or None))
        for kind in FORMATS
    ]  # fmt: skip
    about = [element("p", summary, id="summary"), element("span", links, class_="end")]
    following = NOTHING
    if page.next_token is not None:
        href = url("/console", statement=text, run=1, confirm=confirm or None,
                   after=page.next_token)  # fmt: skip
        following = element(
            "div",
            element("span", f"There are more: a page reads {found.page:,} items."),
            element("span", element("a", "Next page", class_="btn sm", href=href, rel="next",
                                    hx_get=href, hx_select="#answer", hx_target="#answer",
                                    hx_swap="outerHTML", hx_push_url="true"), class_="end"),
            class_="pager",
        )  # fmt: skip
    if not page.items:
        text = "No item matches." if page.next_token is None else "None of this page matches."
        body = element("p", text, class_="empty")
    else:
        body = scroll("Items", _grid(page.items, found, known))
    return _answered("Result", about, body, following)


def _grid(items: list[Item], found: StatementPlan, known: TableMap | None) -> Markup:
    present = dict.fromkeys(name for item in items for name in item)
    first = [name for name in found.key_names if name in present]
    names = [*first, *(name for name in present if name not in first)]
    numbers = {name for name in names if all("N" in item[name] for item in items if name in item)}
    rows = []
    for item in items:
        entity, shown = None, NOTHING
        if known is not None and _tells(item, found, known):
            entity = known.entity_of(item)
            shown = chip(entity)
        cells = [_cell(item, name, entity, name in numbers) for name in names]
        if first == list(found.key_names) and all(name in item for name in first):
            href = key_url(found.explanation.table, {name: item[name] for name in first})
            shown = element("a", shown or "item", class_="kl", href=href)
        rows.append(element("tr", element("td", shown), cells))
    caption, columns = "Items of the statement", ["Entity", *names]
    return data_table(caption, columns, rows, numbers=numbers, class_="plain")


def _tells(item: Item, found: StatementPlan, known: TableMap) -> bool:
    """Return whether an item has what its entity is recognised by: its key, or its type."""
    return known.type_attribute in item or all(name in item for name in found.key_names)


def _cell(item: Item, name: str, entity: EntityMap | None, is_number: bool) -> Markup:
    kind = "num mono" if is_number else "mono"
    if name not in item:
        return element("td", element("span", "absent", class_="faint"), class_=kind)
    keys = () if entity is None else (entity.primary, *entity.indexes)
    key = next((key for key in keys if name in key.templates), None)
    text = content(item[name])
    if key is not None and len(text) <= CELL:
        return element("td", stored_key(item[name], key, name, entity), class_=kind)
    return element("td", text if len(text) <= CELL else f"{text[:CELL]}…", class_=kind)


# --- writes -------------------------------------------------------------------------------------


def preview_panel(workspace: Workspace, text: str, found: WritePreview, remark: str = "") -> Markup:
    """Return the item before and after a write, and the form that runs it."""
    warnings = list(found.warnings)
    if found.table in workspace.maps:
        warnings.insert(0, NOT_IN_STEP)
    parts = [element("div", _differences(found))]
    if found.problem:
        parts.insert(0, note(found.problem, "bad"))
    if remark:
        parts.insert(0, note(remark, "warn"))
    if warnings:
        lines = element("ul", [element("li", line) for line in warnings])
        parts.append(
            element("div", element("b", "What it does not do"), lines, class_="note warn block")
        )
    form = element(
        "form",
        element("input", type="hidden", name="statement", value=quote(text)),
        element("input", type="hidden", name="seen", value=found.seen),
        element("button", "Run it", class_="btn bad", type="submit"),
        element("span", "The item is read again first; if it has changed, a new preview appears.",
                class_="hint"),
        method="post",
        action="/console",
        class_="pager",
    )  # fmt: skip
    about = [element("p", "nothing has been written")]
    return _answered("Preview", about, element("div", parts, class_="body stack"), form)


def done_panel(found: WritePreview, units: float) -> Markup:
    about = [element("p", f"{units:g} write unit{'s' if units != 1 else ''}", id="summary")]
    return _answered(
        "Done", about, element("div", element("div", _differences(found)), class_="body stack")
    )


def _differences(found: WritePreview) -> list[Markup]:
    key = ", ".join(f"{name} {content(value)}" for name, value in found.key.items())
    old, new = found.before or {}, found.after or {}
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    what = (
        "The item does not exist, and is created" if found.before is None and found.after
        else "The item is deleted" if found.before and found.after is None
        else "The item does not exist, so nothing happens" if not found.before
        else "The item changes" if names else "The item stays as it is"
    )  # fmt: skip
    title = element("p", f"{what}: ", element("code", key))
    if not names:
        return [title]
    rows = [
        element(
            "tr",
            element("td", element("code", name)),
            element("td", element("del", content(old[name])) if name in old else _absent()),
            element("td", element("ins", content(new[name])) if name in new else _absent()),
        )
        for name in names
    ]
    table = data_table("What changes", ("Attribute", "Before", "After"), rows, class_="diff")
    return [title, scroll("What changes", table)]


def _absent() -> Markup:
    return element("span", "absent", class_="faint")
