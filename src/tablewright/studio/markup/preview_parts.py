"""Previews as markup: conditions, items before and after, and all that a write touches.

    verdict(found)        whether it would be refused, and the conditions with what is stored
    differences(found)    each item, attribute by attribute
    touched(found)        items and index rows that are added, changed, moved and removed; units

Pages that write show them: what a pattern would do, and the edit of an item.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.errors import TablewrightError, WriteRejected
from tablewright.mapping.item_kind import ItemKind
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio.items.key_parts import key_pieces
from tablewright.studio.items.kinds import side_of
from tablewright.studio.markup.clauses import Clause
from tablewright.studio.markup.item_parts import item_url, key_line, kind_chip
from tablewright.studio.markup.parts import NOTHING, content, note, scroll
from tablewright.studio.markup.result_parts import result_tree
from tablewright.studio.writes.preview import CheckedItem, ItemChange, Kind, Preview, RowChange
from tablewright.table_description import IndexDescription
from tablewright.values import Item, Value

SIGNS: dict[Kind, tuple[str, str]] = {
    "added": ("+", "add"),
    "changed": ("~", "mod"),
    "moved": ("→", "mov"),
    "removed": ("\u2212", "del"),  # a minus sign
    "same": ("=", "mod"),
}
#: How many attributes that stay are named, and how many items are shown in full.
NAMED = 6
OPENED = 3
#: Characters of a value before and after.
SHORT = 300


def verdict(found: Preview) -> Markup:
    """Return whether a write would be refused, and its conditions with what is stored."""
    if found.error is not None:
        tag = element("span", "this would be refused", class_="tag bad")
    elif found.is_empty:
        tag = element("span", "this would write nothing", class_="tag")
    else:
        tag = element("span", "nothing is written yet", class_="tag good")
    heading = element("div", element("h3", "Preview"), tag, class_="pvh")
    return join([heading, _refusal(found), _checks(found.checks)])


def _refusal(found: Preview) -> Markup:
    if found.error is None:
        return NOTHING
    name = element("b", type(found.error).__name__)
    shown = note([name, element("span", str(found.error))], "bad")
    partly = note("What is listed below would be written before that.", "warn")
    units = sum(write.units for write in found.refused)
    charged = note(f"Write units that DynamoDB charges for the refusal: {number(units)}.")
    notes = [partly if found.writes else NOTHING, charged if units else NOTHING]
    alert = element("div", shown, notes, class_="body", role="alert")
    current = found.error.current if isinstance(found.error, WriteRejected) else None
    if current is None:
        return alert
    stored = element("section", element("h3", "Stored now", class_="sh"), result_tree(current))
    return join([alert, stored])


def _checks(checks: Sequence[CheckedItem]) -> Markup:
    """Return the conditions: those of the first items, and the number of the others."""
    several = len(checks) > 1
    listed = [(check, clause) for check in checks for clause in _distinct(check.clauses)]
    shown = [_check(*each, several=several) for each in listed]
    failed = [_check(*each, several=several) for each in listed if not each[1].holds]
    if not shown:
        return NOTHING
    if len(shown) <= 2 * NAMED:
        return element("ul", shown, class_="checks", aria_label="Conditions")
    return join(
        [
            element("ul", failed, class_="checks", aria_label="Conditions") if failed else NOTHING,
            element(
                "details",
                element("summary", f"{len(shown)} conditions are checked"),
                element("ul", shown, class_="checks", aria_label="All conditions"),
                class_="body",
            ),
        ]
    )


def _distinct(clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses, each text once."""
    return list({clause.text: clause for clause in clauses}.values())


def _check(check: CheckedItem, clause: Clause, *, several: bool) -> Markup:
    sign = ("✓", "add", "holds") if clause.holds else ("✗", "del", "does not hold")
    stored = [
        f"{name} {_stored(value)}" for name, value in clause.stored.items() if name not in check.key
    ]
    return element(
        "li",
        element("span", sign[0], class_=f"sg {sign[1]}", aria_hidden="true"),
        " ",
        element("span", f"{sign[2]}: ", class_="vh"),
        [kind_chip(check.what), " "] if several else NOTHING,
        element("code", clause.text),
        f" stored: {', '.join(stored)}" if stored else NOTHING,
    )


def _stored(value: Value | None) -> str:
    return "nothing" if value is None else _short(content(value))


# --- items before and after ---------------------------------------------------------------------


def differences(found: Preview) -> Markup:
    """Return the items of a preview, attribute by attribute."""
    changed = [item for item in found.items if item.kind == "changed"][:OPENED]
    return join(
        _difference(item, is_open=item in changed, alone=len(found.items) == 1)
        for item in found.items
    )


def _difference(item: ItemChange, *, is_open: bool, alone: bool) -> Markup:
    table = scroll(f"{_title(item)} before and after", _table(item), "flat")
    if alone:
        return table
    title = [_sign(item.kind), " ", kind_chip(item.what), " ", _key_text(item)]
    return element(
        "details", element("summary", title), table, class_="dif", open="" if is_open else None
    )


def _key_text(item: ItemChange) -> Markup:
    return element("span", " / ".join(content(value) for value in item.key.values()), class_="mono")


def _title(item: ItemChange) -> str:
    name = "Item" if item.what.entity is None else item.what.entity.name
    return f"{name} {' / '.join(content(value) for value in item.key.values())}"


def _table(item: ItemChange) -> Markup:
    before, after = item.before or {}, item.after or {}
    rows = [_row(name, before.get(name), after.get(name)) for name in item.changed]
    same = [name for name in after if name not in item.changed]
    if same:
        named = ", ".join(same[:NAMED]) + (", …" if len(same) > NAMED else "")
        stay = "attribute stays as it is" if len(same) == 1 else "attributes stay as they are"
        text = f"{len(same)} {stay}: {named}"
        rows.append(element("tr", element("td", text, class_="faint", colspan=3)))
    return element(
        "table",
        element("caption", f"{_title(item)} before and after", class_="vh"),
        element(
            "thead",
            element("tr", [element("th", name, scope="col")
                           for name in ("Attribute", "Stored", "After")]),
        ),
        element("tbody", rows),
        class_="diff",
    )  # fmt: skip


def _row(name: str, before: Value | None, after: Value | None) -> Markup:
    was = element("del", _short(content(before))) if before is not None else NOTHING
    now = element("ins", _short(content(after))) if after is not None else NOTHING
    return element(
        "tr",
        element("th", element("code", name), scope="row"),
        element("td", was or element("span", "nothing", class_="faint"), class_="mono"),
        element("td", now or element("span", "removed", class_="faint"), class_="mono"),
    )


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


# --- what is touched ----------------------------------------------------------------------------


def touched(found: Preview) -> Markup:
    """Return all items and index rows that a write touches, with their units."""
    several = len(found.layouts) > 1
    rows: list[Markup] = []
    for item in found.items:
        rows.append(_item_row(item, several=several))
        rows += [_index_row(item, row) for row in item.rows]
    rows += [_check_row(check, several=several) for check in found.checks if check.is_alone]
    if not rows:
        return NOTHING
    columns = ["Where", "Key", "What"]
    header = [
        element("th", element("span", "Change", class_="vh"), scope="col"),
        *(element("th", name, scope="col") for name in columns),
        element("th", "Units", scope="col", class_="num"),
    ]
    table = element(
        "table",
        element("caption", "What this write adds, changes and removes", class_="vh"),
        element("thead", element("tr", header)),
        element("tbody", rows),
        element(
            "tfoot",
            element(
                "tr",
                element("td", totals(found), colspan=4),
                element("td", units_text(found), class_="num"),
            ),
        ),
        class_="touch",
    )
    return scroll("What this write touches", table, "flat top-line")


def _item_row(item: ItemChange, *, several: bool) -> Markup:
    count = len(item.changed)
    side = side_of(item.what)
    does = {
        "added": "new item",
        "removed": "deleted",
        "same": "written as it is",
        "changed": f"{count} attribute{'s' * (count != 1)}",
        "moved": "",
    }[item.kind]
    href = item_url(item.layout, item.key)
    what = [kind_chip(item.what, href=href), " ", side or does]
    keys = _keys(item.layout.base, item.what, item.key, None)
    return _touch(item.kind, item.layout.name if several else "table", keys, what, item.units)


def _index_row(item: ItemChange, row: RowChange) -> Markup:
    does = {
        "added": "1 row in",
        "removed": "1 row out",
        "moved": "1 row out, 1 row in",
        "changed": "same place, new values",
        "same": "",
    }[row.kind]
    now = row.after or row.before or {}
    keys = _keys(row.index, item.what, now, row.before if row.kind == "moved" else None)
    return _touch(row.kind, row.index.name, keys, does, row.units)


def _check_row(check: CheckedItem, *, several: bool) -> Markup:
    keys = _keys(check.layout.base, check.what, check.key, None)
    what = [kind_chip(check.what), " checked, not written"]
    cells = [
        element("td", element("span", "?", class_="sg", aria_hidden="true"),
                element("span", "checked", class_="vh")),
        element("td", check.layout.name if several else "table", class_="idx"),
        element("td", keys), element("td", what),
        element("td", number(check.units), class_="num"),
    ]  # fmt: skip
    return element("tr", cells)


def _touch(kind: Kind, where: Child, keys: Child, what: Child, units: float) -> Markup:
    return element(
        "tr",
        element("td", _sign(kind)),
        element("td", where, class_="idx"),
        element("td", keys),
        element("td", what),
        element("td", number(units), class_="num"),
    )


def _sign(kind: Kind) -> Markup:
    sign, class_ = SIGNS[kind]
    return join(
        [
            element("span", sign, class_=f"sg {class_}", title=kind, aria_hidden="true"),
            element("span", kind, class_="vh"),
        ]
    )


def _keys(
    collection: IndexDescription, what: ItemKind, item: Item, was: Item | None
) -> list[Markup]:
    """Return the key attributes of an item, or of a row in an index; `was` is the old row."""
    lines = []
    for name in collection.keys.names:
        line = key_line(key_pieces(collection, what, item, name), what.entity)
        if was is not None and was[name] != item[name]:
            old = key_line(key_pieces(collection, what, was, name), what.entity)
            arrow = [element("span", "to", class_="vh"),
                     element("span", "→", class_="arrow", aria_hidden="true"), " "]  # fmt: skip
            line = element("span", element("span", old, class_="was"), element("br"), arrow, line)
        lines.append(element("div", element("i", name), line, class_="kt"))
    return lines


def totals(found: Preview) -> str:
    """Return how much a preview writes, in words."""
    items, rows = len(found.items), sum(len(item.rows) for item in found.items)
    parts = [f"{items} item{'s' * (items != 1)}"]
    if rows:
        parts.append(f"{rows} index entr{'ies' if rows != 1 else 'y'}")
    written = " and ".join(parts)
    if len(found.writes) == 1:
        write = found.writes[0]
        how = {
            "TransactWriteItems": "in one transaction",
            "BatchWriteItem": "one by one, not atomic",
        }.get(write.operation, "in one request")
    else:
        how = f"in {len(found.writes)} requests, not atomic"
    reads = len(found.reads)
    after = f", after {reads} read{'s' * (reads != 1)}" if reads else ""
    return f"{written}, {how}{after}"


def units_text(found: Preview) -> str:
    """Return the units of a preview: `14 W + 1 R`."""
    read = f" + {number(found.read_units)} R" if found.reads else ""
    return f"{number(found.write_units)} W{read}"


def number(units: float) -> str:
    """Return units without needless zeros."""
    return f"{units:g}"


def not_atomic(found: Preview) -> Markup:
    """Return what cannot be guaranteed, for a write that is not one request."""
    if found.is_atomic:
        return NOTHING
    return note(
        [
            element("b", "Not one transaction"),
            element(
                "span",
                f"This plan sends {len(found.writes)} write requests, or a batch. Each item is "
                "written only if it is as shown here. If another client changes one meanwhile, "
                "what was written before it stays, and a new preview shows the rest.",
            ),
        ],
        "warn",
    )


def read_only(is_writable: bool) -> Markup:
    """Return why a preview of a read-only target has no button that writes."""
    if is_writable:
        return NOTHING
    text = "The target is read-only: this can be previewed, not written."
    return element("div", note(text, "warn"), class_="body")


def not_written(text: str) -> Markup:
    """Return why a preview was not applied; a new one is below it."""
    shown = element("span", f"{text} Nothing was written; this is a new preview.")
    return element("div", note([element("b", "Not written"), shown], "warn"), role="alert")


def failed(error: TablewrightError) -> Markup:
    """Return that a write failed; a lost response may be that of a write that was applied."""
    text = f"{type(error).__name__}: {error}. Below is what the plan would do now."
    shown = note([element("b", "The write failed"), element("span", text)], "bad")
    return element("div", shown, role="alert")
