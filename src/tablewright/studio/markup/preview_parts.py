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
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.keys import key_pieces
from tablewright.presentation.kinds import side_of
from tablewright.presentation.values import content, middle, plural, shortened
from tablewright.studio.markup import parts
from tablewright.studio.markup.clauses import Clause
from tablewright.studio.markup.item_parts import item_url, key_line, kind_chip
from tablewright.studio.markup.parts import NOTHING, note, scroll
from tablewright.studio.markup.result_parts import result_tree
from tablewright.studio.writes.preview import CheckedItem, ItemChange, Kind, Preview, RowChange
from tablewright.table_description import IndexDescription
from tablewright.values import Item, Value

#: The maximum number of unchanged attributes that are named, and of items shown in full.
NAMED = 6
#: The maximum number of changed attributes that are shown of an item.
MOST_CHANGED = 60
OPENED = 3
#: What a write finds that deletes a missing item.
NO_ITEM = "there is no such item"
#: Characters of a value before and after.
SHORT = 300


def column(found: Preview, aside: Markup, *, is_writable: bool) -> Markup:
    """Return the column beside the form of a write: the verdict, and the items."""
    text = "The target is read-only: this can be previewed, not written."
    refused = NOTHING if is_writable else element("div.body", note(text, "warn"))
    shown = [verdict(found), aside, refused, differences(found)]
    return element("div.pv", shown, aria_live="polite")


def verdict(found: Preview) -> Markup:
    """Return whether a write would be refused, and its conditions with what is stored."""
    if found.error is not None:
        result = parts.tag("this would be refused", "bad")
    elif found.is_empty:
        result = parts.tag("this would write nothing")
    elif all(item.kind == "same" for item in found.items):
        result = parts.tag("nothing would change")
    else:
        result = parts.tag("nothing is written yet", "good")
    heading = element("div.pvh", element("h3", "Preview"), result)
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
    alert = element("div.body", shown, notes, role="alert")
    current = found.error.current if isinstance(found.error, WriteRejected) else None
    if current is None:
        return alert
    stored = element("section", element("h3.sh", "Stored now"), result_tree(current))
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
        return element("ul.checks", shown, aria_label="Conditions")
    first = element("ul.checks", failed, aria_label="Conditions") if failed else NOTHING
    every = element("ul.checks", shown, aria_label="All conditions")
    return join(
        [first, parts.details(f"{len(shown)} conditions are checked", every, class_="body")]
    )


def _distinct(clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses without duplicate texts."""
    return list({clause.text: clause for clause in clauses}.values())


def _check(check: CheckedItem, clause: Clause, *, several: bool) -> Markup:
    symbol = parts.sign("✓", "add") if clause.holds else parts.sign("✗", "del")
    stored = [
        f"{name} {_stored(value)}" for name, value in clause.stored.items() if name not in check.key
    ]
    return element(
        "li",
        symbol,
        " ",
        parts.spoken("holds: " if clause.holds else "does not hold: "),
        [kind_chip(check.what), " "] if several else NOTHING,
        element("code", clause.text),
        f" stored: {', '.join(stored)}" if stored else NOTHING,
    )


def _stored(value: Value | None) -> str:
    return "nothing" if value is None else shortened(content(value), SHORT)


# --- items before and after ---------------------------------------------------------------------


def differences(found: Preview) -> Markup:
    """Return the items of a preview, attribute by attribute."""
    changed = [item for item in found.items if item.kind == "changed"][:OPENED]
    return join(
        _difference(item, is_open=item in changed, alone=len(found.items) == 1)
        for item in found.items
    )


def _difference(item: ItemChange, *, is_open: bool, alone: bool) -> Markup:
    caption = f"{_title(item)} before and after"
    table = parts.data_table(caption, ("Attribute", "Stored", "After"), _rows(item), class_="diff")
    if alone:
        return scroll(caption, table, "flat")
    title = [_sign(item.kind), " ", kind_chip(item.what), " "]
    key = element("span.mono", _key_text(item))
    return parts.details(
        [*title, key], scroll(caption, table, "flat"), is_open=is_open, class_="dif"
    )


def _key_text(item: ItemChange) -> str:
    return " / ".join(middle(content(value), SHORT) for value in item.key.values())


def _title(item: ItemChange) -> str:
    name = "Item" if item.what.entity is None else item.what.entity.name
    return f"{name} {_key_text(item)}"


def _rows(item: ItemChange) -> list[Markup]:
    if item.before is None and item.after is None:
        return [element("tr", element("td.faint", NO_ITEM, colspan=3))]
    before, after = item.before or {}, item.after or {}
    rows = [
        element(
            "tr",
            element("th", element("code", middle(name, SHORT)), scope="row"),
            element("td.mono", _value("del", before.get(name), "nothing")),
            element("td.mono", _value("ins", after.get(name), "removed")),
        )
        for name in item.changed[:MOST_CHANGED]
    ]
    if len(item.changed) > MOST_CHANGED:
        text = f"and {len(item.changed) - MOST_CHANGED:,} more attributes"
        rows.append(element("tr", element("td.faint", text, colspan=3)))
    same = [name for name in after if name not in item.changed]
    if same:
        named = ", ".join(middle(name, SHORT) for name in same[:NAMED]) + (
            ", …" if len(same) > NAMED else ""
        )
        stay = "attribute stays as it is" if len(same) == 1 else "attributes stay as they are"
        text = f"{len(same)} {stay}: {named}"
        rows.append(element("tr", element("td.faint", text, colspan=3)))
    return rows


def _value(name: str, value: Value | None, missing: str) -> Markup:
    if value is None:
        return parts.faint(missing)
    return element(name, shortened(content(value), SHORT))


# --- what is touched ----------------------------------------------------------------------------


def touched(found: Preview) -> Markup:
    """Return all items and index rows that a write touches, with their units."""
    several = len(found.descriptions) > 1
    rows: list[list[Child]] = []
    for item in found.items:
        rows.append(_item_row(item, several=several))
        rows += [_index_row(item, row) for row in item.rows]
    rows += [_check_row(check, several=several) for check in found.checks if check.is_alone]
    if not rows:
        return NOTHING
    foot = [element("td", totals(found), colspan=4), element("td.num", units_text(found))]
    caption = "What this write adds, changes and removes"
    columns = (parts.spoken("Change"), "Where", "Key", "What", "Units")
    kinds = {"Where": "idx", "Units": "num"}
    table = parts.data_table(caption, columns, rows, kinds=kinds, foot=foot, class_="touch")
    return scroll("What this write touches", table, "flat top-line")


def _item_row(item: ItemChange, *, several: bool) -> list[Child]:
    does = {
        "added": "new item",
        "removed": "deleted",
        "same": NO_ITEM if item.before is None else "written as it is",
        "changed": plural(len(item.changed), "attribute"),
        "moved": "",
    }[item.kind]
    href = item_url(item.description, item.key)
    what = [kind_chip(item.what, href=href), " ", side_of(item.what) or does]
    keys = _keys(item.description.base, item.what, item.key, None)
    where = item.description.name if several else "table"
    return [_sign(item.kind), where, keys, what, number(item.units)]


def _index_row(item: ItemChange, row: RowChange) -> list[Child]:
    does = {
        "added": "row added",
        "removed": "row removed",
        "moved": "row moved: 1 removed, 1 added",
        "changed": "row changed, same key",
        "same": "",
    }[row.kind]
    now = row.after or row.before or {}
    keys = _keys(row.index, item.what, now, row.before if row.kind == "moved" else None)
    return [_sign(row.kind), row.index.name, keys, does, number(row.units)]


def _check_row(check: CheckedItem, *, several: bool) -> list[Child]:
    keys = _keys(check.description.base, check.what, check.key, None)
    what = [kind_chip(check.what), " checked, not written"]
    where = check.description.name if several else "table"
    return [[parts.sign("?"), parts.spoken("checked")], where, keys, what, number(check.units)]


def _sign(kind: Kind) -> Markup:
    return join([parts.sign(*parts.CHANGES[kind], title=kind), parts.spoken(kind)])


def _keys(
    collection: IndexDescription, what: ItemKind, item: Item, was: Item | None
) -> list[Markup]:
    """Return the key attributes of an item, or of a row in an index; `was` is the old row."""
    lines = []
    for name in collection.keys.names:
        line = key_line(key_pieces(collection, what, item, name), what.entity)
        if was is not None and was[name] != item[name]:
            old = key_line(key_pieces(collection, what, was, name), what.entity)
            was_line = [element("span.was", old), element("br"), parts.arrow(), " "]
            line = element("span", was_line, line)
        lines.append(element("div.kt", element("i", name), line))
    return lines


def totals(found: Preview) -> str:
    """Return how much a preview writes, in words."""
    items, rows = len(found.items), sum(len(item.rows) for item in found.items)
    counts = [plural(items, "item")]
    if rows:
        counts.append(f"{rows} index entr{'ies' if rows != 1 else 'y'}")
    written = " and ".join(counts)
    if len(found.writes) == 1:
        write = found.writes[0]
        how = {
            "TransactWriteItems": "in one transaction",
            "BatchWriteItem": "one by one, not atomic",
        }.get(write.operation, "in one request")
    else:
        how = f"in {len(found.writes)} requests, not atomic"
    reads = len(found.reads)
    after = f", after {plural(reads, 'read')}" if reads else ""
    return f"{written}, {how}{after}"


def units_text(found: Preview) -> str:
    """Return the units of a preview: `14 W + 1 R`."""
    read = f" + {number(found.read_units)} R" if found.reads else ""
    return f"{number(found.write_units)} W{read}"


def number(units: float) -> str:
    """Return units without needless zeros."""
    return f"{units:g}"


def not_atomic(found: Preview) -> Markup:
    """Return a warning for a plan that does not write all or nothing."""
    if found.is_atomic:
        return NOTHING
    text = (
        f"This plan sends {len(found.writes)} write requests, or a batch. Each item is written "
        "only if it is as shown here. If another client changes one meanwhile, the writes before "
        "it stay, and a new preview shows the rest."
    )
    shown = note([element("b", "Not one transaction"), element("span", text)], "warn")
    return element("div.body", shown)


def not_written(text: str) -> Markup:
    """Return why a preview was not applied; a new one is below it."""
    shown = element("span", f"{text} Nothing was written; this is a new preview.")
    return element("div", note([element("b", "Not written"), shown], "warn"), role="alert")


def failed(error: TablewrightError) -> Markup:
    """Return the notice of a failed write; it may be applied if its response was lost."""
    text = f"{type(error).__name__}: {error}. Below is what the plan would do now."
    shown = note([element("b", "The write failed"), element("span", text)], "bad")
    return element("div", shown, role="alert")
