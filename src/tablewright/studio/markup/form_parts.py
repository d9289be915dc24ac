"""Forms of patterns as markup: labels, inputs, what was typed, and problems beside the fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tablewright.presentation.element import Markup, element, join, visible
from tablewright.studio.markup.parts import NOTHING, choice, details
from tablewright.studio.patterns.form_values import (
    AS_JSON,
    MICROSECONDS,
    NONE,
    ON,
    escape_invisible,
)
from tablewright.studio.patterns.forms import Field
from tablewright.studio.web.http import Fields
from tablewright.studio.workspace import Workspace

#: The type, and further attributes, of the input of a widget.
_INPUTS: dict[str, dict[str, str]] = {
    "text": {"type": "text", "class_": "mono"},
    "integer": {"type": "number", "step": "1"},
    "decimal": {"type": "text", "inputmode": "decimal"},
    "date": {"type": "date"},
    "time": {"type": "text", "placeholder": "10:15:30"},
    "moment": {"type": "datetime-local", "step": "0.001"},
}
#: The hint below the input of a widget.
_HINTS = {
    "moment": "UTC; the second input is for microseconds",
    "lines": "one on each line, or JSON",
    "json": "JSON",
}
#: The longest text that an input of one line shows well.
LINE = 120


class FormState(msgspec.Struct, frozen=True):
    """What is typed into a form, what is wrong with it, and what is known of its fields."""

    typed: Fields
    problems: Mapping[str, str] = {}
    #: By field: suggested values, and remarks.
    offers: Mapping[str, Sequence[str]] = {}
    remarks: Mapping[str, Markup] = {}


#: The input with the name of a production target.
TARGET = "~target"


def confirm_target(workspace: Workspace) -> Markup:
    """Return the input for the name of a production target, until it has been typed once."""
    if not workspace.is_locked:
        return NOTHING
    name = workspace.named.name
    label = ["Type ", element("code", name), " to write in production"]
    control = element("input.mono", id="f-target", name=TARGET, autocomplete="off")
    return element("div.field.confirm", element("label", label, for_="f-target"), control)


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
    return element("div.inputs", inputs) if inputs else NOTHING


def _group(field: Field, state: FormState) -> Markup:
    own = [each for each in field.fields if not each.is_stamp]
    stamps = [each for each in field.fields if each.is_stamp]
    is_given = any(state.typed.get(each.name) or each.name in state.problems for each in stamps)
    library = details("set by the library", form_fields(stamps, state), is_open=is_given)
    problem = state.problems.get(field.name)
    return element(
        "fieldset",
        element("legend", _title(field)),
        element("p.hint", problem, id=f"{_id(field)}-h") if problem else NOTHING,
        _none_box(field, state),
        form_fields(own, state),
        library if stamps else NOTHING,
        class_="field group err" if problem else "field group",
    )


def _labelled(field: Field, state: FormState) -> Markup:
    if field.widget == "check":
        box = _checkbox(field.name, state, id=_id(field))
        label = element("label", box, " ", _title(field))
        return element("div.field", label, _none_box(field, state))
    problem, hint_id = state.problems.get(field.name), f"{_id(field)}-h"
    stamp = "empty: set by the library" if field.is_stamp else ""
    remark = state.remarks.get(field.name)
    texts = [_HINTS.get(field.widget, stamp), problem, remark]
    hints = [element("span", each) for each in texts if each]
    return element(
        "div",
        element("label", _title(field), for_=_id(field)),
        _input(field, state, hint_id if hints else None),
        element("span.hint", hints, id=hint_id) if hints else NOTHING,
        _none_box(field, state),
        class_="field err" if problem else "field",
    )


def _title(field: Field) -> list[str]:
    return [field.label, " ", element("small", field.type_name)]


def _input(field: Field, state: FormState, hint: str | None) -> Markup:
    is_wrong = field.name in state.problems
    shared: dict[str, str | None] = {
        "id": _id(field),
        "aria_describedby": hint,
        "aria_invalid": "true" if is_wrong else None,
    }
    text = state.typed.get(field.name)
    if field.widget == "choice":
        choices = [(shown, shown) for shown, _ in field.choices]
        if field.default is not None or text not in dict(field.choices):
            choices.insert(0, ("", ""))
        return choice(choices, text, name=field.name, **shared)
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
        attributes = {"type": "text"}  # a date picker cannot show it
    offers = state.offers.get(field.name, ())
    offered = f"{_id(field)}-o" if offers and field.widget in ("text", "decimal") else None
    options = element("datalist", [element("option", value=each) for each in offers], id=offered)
    shown = {"autocomplete": "off", **attributes, **shared}
    made = element("input", name=name, value=value, list=offered, **shown)
    if field.widget != "moment":
        return join([made, options if offered else NOTHING])
    micros = element(
        "input.us", type="number", min="0", max="999", name=field.name + MICROSECONDS,
        value=state.typed.get(field.name + MICROSECONDS, "0"),
        aria_label=f"{field.label}: microseconds",
    )  # fmt: skip
    return element("div.moment", made, micros)


def _is_picked(text: str) -> bool:
    """Return whether a date picker can show a text: it has no time zone."""
    return not text or (len(text) >= 16 and text[-1].isdigit() and "+" not in text)


def _none_box(field: Field, state: FormState) -> Markup:
    """Return the checkbox for None, if the field is optional."""
    if not field.is_optional:
        return NOTHING
    box = _checkbox(field.name + NONE, state, id=f"{_id(field)}-n", data_none=_id(field))
    return element("label.none", box, " none")


def _checkbox(name: str, state: FormState, **attributes: str) -> Markup:
    checked = "" if name in state.typed else None
    return element("input", type="checkbox", name=name, value=ON, checked=checked, **attributes)


def _id(field: Field) -> str:
    return f"f-{field.name}"
