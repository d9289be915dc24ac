"""The access-pattern matrix: pattern, operation, index, key condition, units, cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tablewright.cost import CostReport, PatternCost
from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.model.pattern import AccessPattern
from tablewright.plan.shape import Shape
from tablewright.presentation.conditions import condition_lines
from tablewright.presentation.element import Markup, element, join
from tablewright.publish.costs import ESTIMATED, number
from tablewright.studio.markup import parts
from tablewright.studio.web.http import Fields, url
from tablewright.verify import Design
from tablewright.wire.operations import READS

HEADER = ("Pattern", "Entities", "Operation and index", "Key condition")
NUMBERS = ("Units per call", "Calls a second", "Cost a month")
BAR = 72


def calls_in(query: Fields, design: Design) -> dict[str, float] | None:
    """Return the calls a second that a form gives, by pattern; None if it gives none.

    Raises InvalidValue for a number that is none.
    """
    labels = {found.label for found in design.patterns}
    found = {name: value for name, value in query.pairs if name in labels}
    if not found:
        return None
    return {name: _rate(name, value) for name, value in found.items() if value.strip()}


def _rate(name: str, value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = math.nan
    if not 0 <= rate < math.inf:
        raise InvalidValue(
            f"{name.rpartition('.')[2]}: {value!r} is not a number of calls; write 0 or more"
        )
    return rate


def pattern_matrix(design: Design, report: CostReport | None) -> Markup:
    """Return the matrix, a form in which the number of calls can be changed.

    Without a report, the units are the estimates of `explain`.
    """
    costs = {} if report is None else {found.label: found for found in report.patterns}
    total = 0 if report is None else report.on_demand_month
    groups = []
    for title, is_read in (("Reads", True), ("Writes", False)):
        rows = [
            _row(found, costs.get(found.label), total)
            for found in design.patterns
            if found.shape.writes != is_read
        ]
        if rows:
            heading = element("th", title, colspan=7, scope="colgroup")
            groups.append(element("tbody", element("tr", heading, class_="grp"), rows))
    header = [
        *(element("th", name, scope="col") for name in HEADER),
        *(element("th", name, scope="col", class_="num") for name in NUMBERS),
    ]
    drawn = element(
        "table",
        element("caption", "Access patterns", class_="vh"),
        element("thead", element("tr", header)),
        groups,
        _total(design, report),
        class_="matrix",
    )
    apply = element("button", "Compute costs", class_="btn go sm end", type="submit")
    about = [element("h2", "Access patterns"), element("p", _about(report))]
    content = element(
        "section",
        element("header", about, apply),
        parts.scroll("Access patterns", drawn),
        class_="panel",
        aria_label="Access patterns",
    )
    return element("form", content, action="/design/patterns")


def _about(report: CostReport | None) -> str:
    if report is None:
        return (
            "R and W: estimated read and write units. They are not measured, because checks of the "
            "design fail: run tablewright verify."
        )
    prices = report.prices
    return (
        "R and W: read and write units of one call, on average over the checks of the design; "
        f"{ESTIMATED} is an estimate. Prices on demand: {prices.title}, {prices.on_demand.date}."
    )


def _row(found: AccessPattern, cost: PatternCost | None, total: float) -> Markup:
    shape, entities = found.shape, list(found.entities)
    name = join(found.name.split("_"), join(["_", element("wbr")]))
    cells = [
        element(
            "td",
            element("a", element("code", name), href=url("/patterns/{}", found.label)),
            element("span", found.doc.partition("\n")[0], class_="doc"),
        ),
        element("td", join([parts.chip(each) for each in _unique(entities)], " ")),
        element("td", join(_operation(shape)), class_="idx"),
        element("td", condition_lines(shape, entities), class_="cond key"),
        element("td", _units(shape, cost), class_="num", data_l="units"),
        element("td", _calls(found, cost), class_="num", data_l="calls a second"),
        element("td", _month(cost, total), class_="num", data_l="a month"),
    ]
    return element("tr", cells)


def _unique(entities: Sequence[EntityMap]) -> list[EntityMap]:
    return list(dict.fromkeys(entities))


def _operation(shape: Shape) -> list[Markup]:
    operations = list(dict.fromkeys(request.operation for request in shape.requests))
    badges = [
        element("span", name, class_="op" if name in READS else "op w") for name in operations
    ]
    return [join(badges, " "), element("br"), _where(shape)]


def _where(shape: Shape) -> Markup:
    if not shape.indexes or not shape.writes:
        return element("span", shape.index or "table")
    count = len(shape.indexes)
    indexes = "1 index" if count == 1 else f"{count} indexes"
    return element("span", f"table + {indexes}", title=shape.index)


def _units(shape: Shape, cost: PatternCost | None) -> Markup:
    if cost is None:
        reads, writes, title = shape.read_units, shape.write_units, shape.units
    else:
        reads, writes, title = cost.read_units, cost.writes, cost.show(shape)
    shown = [f"{number(units)} {kind}" for units, kind in ((reads, "R"), (writes, "W")) if units]
    mark = ESTIMATED if cost is None or cost.is_estimate else ""
    return element("span", mark + (" + ".join(shown) or "0"), title=title)


def _calls(found: AccessPattern, cost: PatternCost | None) -> Markup:
    rate = cost.rate if cost is not None else found.rate
    text = "" if rate is None else f"{rate:g}"
    return element(
        "input",
        name=found.label,
        value=text,
        inputmode="decimal",
        size=6,
        class_="mono num",
        aria_label=f"Calls a second of {found.name}",
    )


def _month(cost: PatternCost | None, total: float) -> Markup:
    if cost is None or cost.month is None:
        return element("span", "not known", class_="faint")
    share = cost.month / total if total else 0
    bar = element(
        "svg",
        element("rect", width=BAR, height=6, rx=3),
        element("rect", width=max(1.5, BAR * share), height=6, rx=3),
        class_="bar",
        viewBox=f"0 0 {BAR} 6",
        aria_hidden="true",
    )
    return join([f"${cost.month:,.2f}", element("br"), bar])


def _total(design: Design, report: CostReport | None) -> Markup:
    scans = sum(found.shape.operation == "Scan" for found in design.patterns)
    what = "no Scan" if not scans else f"{scans} with a declared Scan"
    month = 0 if report is None else report.on_demand_month
    cells = [
        element("td", f"All {len(design.patterns)} patterns: {what}", colspan=6),
        element("td", f"${month:,.2f}" if month else "", class_="num"),
    ]
    return element("tfoot", element("tr", cells))
