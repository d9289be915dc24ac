"""The answer of the console: what a statement will do, its items, what a write changes."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from tablewright.capacity import read_units
from tablewright.errors import DynamoDBError, TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.model.pattern import AccessPattern
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio.items.exporting import FORMATS
from tablewright.studio.items.key_parts import take_apart
from tablewright.studio.markup import parts
from tablewright.studio.markup.item_parts import key_line, key_url
from tablewright.studio.markup.parts import NOTHING, aside, content, faint, note, panel, plural
from tablewright.studio.target.statements import ResultPage, StatementPlan, WritePreview
from tablewright.studio.web.http import url
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
    return _explained(element("p.muted", "Explain says what a statement will do, before it runs."))


def explain_panel(found: StatementPlan, patterns: Sequence[AccessPattern] = ()) -> Markup:
    """Return what a statement will do, and the patterns of the design that read with its key."""
    plan_ = found.explanation
    sign = parts.sign("!", "mod") if plan_.is_scan else parts.sign("✓", "add")
    source = plan_.table if plan_.index is None else f"{plan_.table}.{plan_.index}"
    does = [sign, element("b", plan_.operation), " on ", element("code", source)]
    verdict = element("div.row.verdict", does)
    rows = [("key", element("code", each)) for each in plan_.key_conditions]
    if plan_.is_scan:
        rows.append(("key", element("b", "none: everything is read")))
    if found.is_read:
        none = element("span.muted", "none: every item read is returned")
        rows.append(("filter", element("code", plan_.filter) if plan_.filter else none))
    elif plan_.filter is not None:
        rows.append(("condition", element("code", plan_.filter)))
    if plan_.order is not None:
        rows.append(("order", element("span", plan_.order)))
    size = f"{found.items:,} items, {parts.size_text(found.size)}"
    rows += [
        ("reads from" if found.is_read else "table", element("span", size)),
        ("units", element("span", found.units, element("small", _remark(found)))),
    ]
    if patterns:
        links = [
            element("a.mono", each.name, href=url("/patterns/{}", each.label))
            for each in patterns[:MAX_PATTERNS]
        ]
        rows.append(("patterns", element("span", join(links, ", "))))
    listed = [each for name, value in rows for each in (element("dt", name), element("dd", value))]
    return _explained(verdict, element("dl.dl", listed))


def _remark(found: StatementPlan) -> str:
    if found.is_read and not found.explanation.is_scan:
        return f"estimate; a Scan takes {read_units(found.size, consistent=False):,g}"
    return "estimate"


def _explained(*shown: Markup) -> Markup:
    before = aside(parts.tag("before it runs"))
    return panel("Explain", element("div.body", *shown), about=before, class_="explain")


def failure_panel(error: TablewrightError) -> Markup:
    code = f"{error.code}: " if isinstance(error, DynamoDBError) else ""
    text = note(f"{code}{error}", "bad")
    return _answered("Not run", element("div.body", text, role="alert"))


def confirm_scan(text: str, found: StatementPlan) -> Markup:
    words = (
        f"This statement reads all of {found.explanation.table}, page by page: {found.items:,} "
        f"items, {parts.size_text(found.size)}, {found.units}. A page reads {found.page:,} items. "
        "A condition on the partition key avoids it."
    )
    href = url("/console", statement=text, run=1, confirm="scan")
    link = element("p", parts.button_link("Run the scan", href, "bad"))
    return _answered("Not run yet", element("div.body.stack", note(words, "warn"), link))


# --- results ------------------------------------------------------------------------------------


def no_result() -> Markup:
    text = element("p.muted", "Run shows a page of the items.")
    return _answered("Result", element("div.body", text))


def _answered(title: str, *shown: Markup, about: Child = "") -> Markup:
    return panel(title, *shown, about=about, class_="result")


def result_panel(
    text: str, found: StatementPlan, page: ResultPage, known: TableMap | None, confirm: str
) -> Markup:
    units, count = plural(page.units, "read unit"), plural(len(page.items), "item")
    summary = f"{count}, {units}, {page.seconds * 1000:.1f} ms"
    asked = {"statement": text, "confirm": confirm or None}
    links = []
    for kind in FORMATS:
        href = url("/console/export", **asked, format=kind)
        links.append(parts.button_link(f"Export {kind.upper()}", href, "sm", download=""))
    following = NOTHING
    if page.next_token is not None:
        href = url("/console", **asked, run=1, after=page.next_token)
        swap = parts.swap("#answer", hx_get=href)
        more = element("span", f"There are more: a page reads {found.page:,} items.")
        next_page = aside(parts.button_link("Next page", href, "sm", rel="next", **swap))
        following = element("div.pager", more, next_page)
    if not page.items:
        text = "No item matches." if page.next_token is None else "None of this page matches."
        body = element("p.empty", text)
    else:
        body = parts.scroll("Items", _grid(page.items, found, known))
    about = [element("p", summary, id="summary"), aside(links)]
    return _answered("Result", body, following, about=about)


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
            shown = parts.chip(entity)
        if first == list(found.key_names) and all(name in item for name in first):
            href = key_url(found.explanation.table, {name: item[name] for name in first})
            shown = element("a.kl", shown or "item", href=href)
        cells = [_cell(item, name, entity, name in numbers) for name in names]
        rows.append(element("tr", element("td", shown), cells))
    caption, kinds = "Items of the statement", dict.fromkeys(numbers, "num")
    return parts.data_table(caption, ["Entity", *names], rows, kinds=kinds, class_="plain")


def _tells(item: Item, found: StatementPlan, known: TableMap) -> bool:
    """Return whether an item has what its entity is recognised by: its key, or its type."""
    return known.type_attribute in item or all(name in item for name in found.key_names)


def _cell(item: Item, name: str, entity: EntityMap | None, is_number: bool) -> Markup:
    kind = "num mono" if is_number else "mono"
    if name not in item:
        return element("td", faint("absent"), class_=kind)
    keys = () if entity is None else (entity.primary, *entity.indexes)
    key = next((key for key in keys if name in key.templates), None)
    text = content(item[name])
    if key is not None and len(text) <= CELL:
        line = key_line(take_apart(item[name], key, name, entity), entity)
        return element("td", line, class_=kind)
    return element("td", text if len(text) <= CELL else f"{text[:CELL]}…", class_=kind)


# --- writes -------------------------------------------------------------------------------------


def preview_panel(workspace: Workspace, text: str, found: WritePreview, remark: str = "") -> Markup:
    """Return the item before and after a write, and the form that runs it."""
    warnings = list(found.warnings)
    if found.table in workspace.maps:
        warnings.insert(0, NOT_IN_STEP)
    shown = [element("div", _differences(found))]
    if found.problem:
        shown.insert(0, note(found.problem, "bad"))
    if remark:
        shown.insert(0, note(remark, "warn"))
    if warnings:
        title = element("b", "What it does not do")
        shown.append(element("div.note.warn.block", title, parts.listed(warnings)))
    hint = "The item is read again first; if it has changed, a new preview appears."
    inputs = [
        parts.hidden("statement", quote(text)),
        parts.hidden("seen", found.seen),
        parts.button("Run it", "bad", type="submit"),
        element("span.hint", hint),
    ]
    form = element("form.pager", inputs, method="post", action="/console")
    about = element("p", "nothing has been written")
    return _answered("Preview", element("div.body.stack", shown), form, about=about)


def done_panel(found: WritePreview, units: float) -> Markup:
    about = element("p", plural(units, "write unit"), id="summary")
    shown = element("div.body.stack", element("div", _differences(found)))
    return _answered("Done", shown, about=about)


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
        [
            element("code", name),
            element("del", content(old[name])) if name in old else faint("absent"),
            element("ins", content(new[name])) if name in new else faint("absent"),
        ]
        for name in names
    ]
    columns = ("Attribute", "Before", "After")
    table = parts.data_table("What changes", columns, rows, class_="diff")
    return [title, parts.scroll("What changes", table)]
