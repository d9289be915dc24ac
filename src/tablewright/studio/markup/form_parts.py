"""Forms of patterns as markup: labels, inputs, what was typed, and problems beside the fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tablewright.publish.html.element import Child, Markup, element, join, visible
from tablewright.studio.markup.parts import NOTHING
from tablewright.studio.patterns.form_values import (
    AS_JSON,
    MICROSECONDS,
    NONE,
    ON,
    escape_invisible,
)
from tablewright.studio.patterns.forms import Field
from tablewright.studio.web.http import Fields

#: The type, and further attributes, of the input of a widget.
_INPUTS: dict[str, dict[str, str]] = {
    "text": {"type": "text", "class_": "mono"},
    "integer": {"type": "number", "step": "1"},
    "decimal": {"type": "text", "inputmode": "decimal"},
    "date": {"type": "date"},
    "time": {"type": "text", "placeholder": "10:15:30"},
    "moment": {"type": "datetime-local", "step": "0.001"},
}
#: The longest text that an input of one line shows well.
LINE = 120


class FormState(msgspec.Struct, frozen=True):
    """What is typed into a form, what is wrong with it, and what is known of its fields."""

    typed: Fields
    problems: Mapping[str, str] = {}
    #: Values that a field may have, and remarks on it.
    offers: Mapping[str, Sequence[str]] = {}
    remarks: Mapping[str, Markup] = {}


def form_fields(fields: Iterable[Field], state: FormState) -> Markup:
    """Return the inputs of a form; those that are no groups stand side by side."""
    rows: list[Markup] = []
    line: list[Markup] = []
    for field in fields:
        if field.widget == "group":
            rows += [_side_by_side(line), _group(field, state)]
            line = []
        else:
            line.append(_labelled(field, state))
    return join([*rows, _side_by_side(line)])


def _side_by_side(inputs: list[Markup]) -> Markup:
    return element("div", inputs, class_="inputs") if inputs else NOTHING


def _group(field: Field, state: FormState) -> Markup:
    own = [each for each in field.fields if not each.is_stamp]
    stamps = [each for each in field.fields if each.is_stamp]
    typed = any(state.typed.get(each.name) for each in stamps)
    library = element(
        "details",
        element("summary", "set by the library"),
        form_fields(stamps, state),
        open="" if typed or any(each.name in state.problems for each in stamps) else None,
    )
    problem = state.problems.get(field.name)
    return element(
        "fieldset",
        element("legend", field.label, " ", element("small", field.type_name)),
        element("p", problem, class_="hint", id=f"{_id(field)}-h") if problem else NOTHING,
        _none_box(field, state) if field.is_optional else NOTHING,
        form_fields(own, state),
        library if stamps else NOTHING,
        class_="field group err" if problem else "field group",
    )


def _labelled(field: Field, state: FormState) -> Markup:
    problem = state.problems.get(field.name)
    hint_id = f"{_id(field)}-h"
    if field.widget == "check":
        return element(
            "div",
            element(
                "label",
                element("input", type="checkbox", name=field.name, value=ON, id=_id(field),
                        checked="" if field.name in state.typed else None),
                " ", field.label, " ", element("small", field.type_name),
            ),
            _none_box(field, state) if field.is_optional else NOTHING,
            class_="field",
        )  # fmt: skip
    hints: list[Child] = [*_hints(field), *([problem] if problem else [])]
    if field.name in state.remarks:
        hints.append(state.remarks[field.name])
    return element(
        "div",
        element("label", field.label, " ", element("small", field.type_name), for_=_id(field)),
        _input(field, state, hint_id if hints else None),
        element("span", [element("span", each) for each in hints], class_="hint", id=hint_id)
        if hints
        else NOTHING,
        _none_box(field, state) if field.is_optional else NOTHING,
        class_="field err" if problem else "field",
    )


def _hints(field: Field) -> list[str]:
    match field.widget:
        case "moment":
            return ["UTC; µs after the picker's milliseconds"]
        case "lines":
            return ["one on each line, or JSON"]
        case "json":
            return ["JSON"]
        case _:
            return ["empty: set by the library"] if field.is_stamp else []


def _input(field: Field, state: FormState, hint: str | None) -> Markup:
    is_wrong = field.name in state.problems
    shared: dict[str, str | None] = {
        "id": _id(field),
        "aria_describedby": hint,
        "aria_invalid": "true" if is_wrong else None,
    }
    text = state.typed.get(field.name)
    if field.widget == "choice":
        options = [
            element("option", shown, value=shown, selected="" if shown == text else None)
            for shown, _ in field.choices
        ]
        is_open = field.default is not None or text not in dict(field.choices)
        none = element("option", "", value="") if is_open else NOTHING
        return element("select", none, options, name=field.name, **shared)
    if field.widget in ("lines", "json"):
        return _area(field, escape_invisible(text) if text.startswith(("[", "{")) else text, shared)
    if visible(text) == text and ("\n" in text or len(text) > LINE):
        return _area(field, text, shared)
    return _line(field, text, state, shared)


def _area(field: Field, text: str, shared: dict[str, str | None]) -> Markup:
    """Return an input of several lines; HTML drops a line feed at its beginning."""
    rows = min(12, max(2, text.count("\n") + 1))
    shown = f"\n{text}" if text.startswith("\n") else text
    return element("textarea", shown, name=field.name, rows=rows, spellcheck="false", **shared)


def _line(field: Field, text: str, state: FormState, shared: dict[str, str | None]) -> Markup:
    """Return an input of one line; a text with invisible characters is shown as JSON."""
    attributes = dict(_INPUTS[field.widget])
    name, value = field.name, text
    if field.name + AS_JSON in state.typed:
        name, value = field.name + AS_JSON, state.typed.get(field.name + AS_JSON)
    elif visible(text) != text:
        name = field.name + AS_JSON
        value = escape_invisible(msgspec.json.encode(text).decode())
    if field.widget == "moment" and not _is_picked(value):
        attributes = {"type": "text"}  # a picker would show nothing of it
    offers = state.offers.get(field.name, ())
    offered = f"{_id(field)}-o" if offers and field.widget in ("text", "decimal") else None
    options = element("datalist", [element("option", value=each) for each in offers], id=offered)
    made = element(
        "input", name=name, value=value, list=offered, autocomplete="off", **attributes, **shared
    )
    parts = [made, options if offered else NOTHING]
    if field.widget == "moment":
        micros = state.typed.get(field.name + MICROSECONDS, "0")
        parts.append(
            element("input", type="number", min="0", max="999", name=field.name + MICROSECONDS,
                    value=micros, aria_label=f"{field.label}: microseconds", class_="us")
        )  # fmt: skip
        return element("div", parts, class_="moment")
    return join(parts)


def _is_picked(text: str) -> bool:
    """Whether a date picker can show a text: it has no zone."""
    return not text or (len(text) >= 16 and text[-1].isdigit() and "+" not in text)


def _none_box(field: Field, state: FormState) -> Markup:
    name = field.name + NONE
    box = element(
        "input", type="checkbox", name=name, value=ON, id=f"{_id(field)}-n",
        checked="" if name in state.typed else None, data_none=_id(field),
    )  # fmt: skip
    return element("label", box, " none", class_="none")


def _id(field: Field) -> str:
    return f"f-{field.name}"
