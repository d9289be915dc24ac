"""Form values: the value of a field as texts of a form, and back.

    texts(field, PAID)                   ──▶ [("status", "PAID")]
    read_form(fields, submitted)         ──▶ Submitted({"status": PAID}, {})
    texts(moment, 10:15:30.123456)       ──▶ [("at", "2026-01-16T10:15:30.123"), ("at~us", "456")]

The names of further inputs of a field have a `~`: `cursor~none` is None, `at~us` has the
microseconds that a date picker has no place for, `name~json` is a text as JSON, for characters that
an input cannot hold. Moments are in UTC.

Invariant: what `read_form` reads of the texts of a value equals the value. Values are validated by
pydantic, from the annotations of the pattern; a problem is that of one field.

A field that has the name of an attribute is offered the values of that attribute in the sample
data. The form of a pattern begins with the values of one sample entity, so that they belong
together. This module must not know markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, get_args

import msgspec
import pydantic
from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.model.pattern import AccessPattern
from tablewright.plan.inspection import entity_of
from tablewright.plan.writes.put import Create
from tablewright.presentation.element import visible
from tablewright.studio.patterns.forms import Field, fields_of
from tablewright.studio.web.http import Fields
from tablewright.verify import Design

NONE = "~none"
MICROSECONDS = "~us"
AS_JSON = "~json"
ON = "on"
#: What a form has for a field that is left to its default.
_ABSENT = object()


class Submitted(Struct, frozen=True):
    """The values of a form, and the problems of its fields by name."""

    values: dict[str, Any]
    problems: dict[str, str]


# --- values to texts ----------------------------------------------------------------------------


def texts(field: Field, value: Any) -> list[tuple[str, str]]:
    """Return the inputs of a form that give a value."""
    name = field.name
    if value is None:
        return [(name + NONE, ON)]
    match field.widget:
        case "group":
            inner = [texts(each, member_of(value, each.label)) for each in field.fields]
            return [pair for pairs in inner for pair in pairs]
        case "check":
            return [(name, ON)] if value else []
        case "choice":
            return [(name, next(text for text, each in field.choices if each == value))]
        case "moment":
            moment = value if value.tzinfo is None else value.astimezone(UTC)
            text = moment.replace(tzinfo=None).isoformat(timespec="milliseconds")
            return [(name, text), (name + MICROSECONDS, str(moment.microsecond % 1000))]
        case "date" | "time":
            return [(name, value.isoformat())]
        case "lines":
            return [(name, _lines(field, value))]
        case "json":
            return [(name, _json(field, value))]
        case _:
            text = str(pydantic.TypeAdapter(field.hint).dump_python(value, mode="json"))
            if "\r" in text:  # a browser changes line ends
                return [(name + AS_JSON, msgspec.json.encode(text).decode())]
            return [(name, text)]


def member_of(value: Any, name: str) -> Any:
    """Return a member of an entity, a model, a dataclass or a dict."""
    return value[name] if isinstance(value, dict) else getattr(value, name)


def _json(field: Field, value: Any) -> str:
    adapter = pydantic.TypeAdapter(field.hint)
    return escape_invisible(msgspec.json.format(adapter.dump_json(value), indent=2).decode())


def escape_invisible(json: str) -> str:
    """Return JSON with escapes for the characters that pages show by their names.

    >>> escape_invisible('"a\u202eb"')
    '"a\\\\u202eb"'
    """
    return "".join(each if visible(each) == each else f"\\u{ord(each):04x}" for each in json)


def _lines(field: Field, value: Any) -> str:
    """Return a list as one line for each member, or as JSON if a member is not a plain line."""
    members = pydantic.TypeAdapter(field.hint).dump_python(value, mode="json")
    shown = [str(each) for each in members]
    is_plain = all(
        isinstance(each, (str, int, float)) and line == line.strip() and line
        and "\n" not in line and visible(line) == line
        for each, line in zip(members, shown, strict=True)
    )  # fmt: skip
    if is_plain and not (shown and shown[0].startswith("[")):
        return "\n".join(shown)
    return escape_invisible(msgspec.json.encode(members).decode())


# --- texts to values ----------------------------------------------------------------------------


def read_form(fields: Iterable[Field], submitted: Fields) -> Submitted:
    """Read the values of fields; those that are left to their defaults are not in the result."""
    reader = _Reader(submitted)
    values = {field.label: reader.read(field) for field in fields}
    found = {name: value for name, value in values.items() if value is not _ABSENT}
    return Submitted(found, reader.problems)


class _Reader:
    def __init__(self, submitted: Fields) -> None:
        self.submitted = submitted
        self.problems: dict[str, str] = {}

    def read(self, field: Field) -> Any:
        if field.is_optional and field.name + NONE in self.submitted:
            return None
        if field.widget == "group":
            return self._read_group(field)
        if field.widget == "check":
            return field.name in self.submitted
        text = self.submitted.get(field.name).replace("\r\n", "\n")
        escaped = self.submitted.get(field.name + AS_JSON)
        if not text and not escaped and self._is_absent(field):
            return self._default(field)
        try:
            return self._convert(field, msgspec.json.decode(escaped, type=str) if escaped else text)
        except pydantic.ValidationError as error:
            self.problems[field.name] = "; ".join(each["msg"] for each in error.errors())
        except (ValueError, OverflowError, RecursionError, TablewrightError) as error:
            self.problems[field.name] = str(error)
        return _ABSENT

    def _is_absent(self, field: Field) -> bool:
        """Whether an empty input gives no value; it is the empty text where that is a value."""
        is_text = field.widget == "lines" or field.hint is str
        return not is_text or field.name not in self.submitted or field.is_stamp

    def _default(self, field: Field) -> Any:
        if field.default is not None:
            return _ABSENT
        if field.is_optional:
            return None
        self.problems[field.name] = "a value is missing"
        return _ABSENT

    def _read_group(self, field: Field) -> Any:
        before = len(self.problems)
        values = {each.label: self.read(each) for each in field.fields}
        if len(self.problems) > before:
            return _ABSENT
        given = {name: value for name, value in values.items() if value is not _ABSENT}
        try:
            return _build(field, given)
        except pydantic.ValidationError as error:
            for each in error.errors():
                place = ".".join([field.name, *map(str, each["loc"][:1])])
                self.problems[place] = each["msg"]
        except (ValueError, TablewrightError) as error:
            self.problems[field.name] = str(error)
        return _ABSENT

    def _convert(self, field: Field, text: str) -> Any:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(field.hint)
        match field.widget:
            case "choice":
                return _choice(field, text)
            case "moment":
                return adapter.validate_python(self._moment(field.name, text))
            case "json":
                return adapter.validate_json(text)
            case "lines":
                if text.startswith("["):
                    return adapter.validate_json(text)
                return adapter.validate_python(text.removesuffix("\n").split("\n") if text else [])
            case _:
                return adapter.validate_python(text)

    def _moment(self, name: str, text: str) -> datetime:
        """Read a moment; one without a zone is in UTC."""
        moment = datetime.fromisoformat(text)
        micros = self.submitted.get(name + MICROSECONDS, "0") or "0"
        if not (micros.isascii() and micros.isdecimal() and len(micros) <= 3):
            raise ValueError(f"{micros!r} is not a number of microseconds from 0 to 999")
        moment += timedelta(microseconds=int(micros))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _build(field: Field, given: dict[str, Any]) -> Any:
    """Make an entity, a model or a dataclass of its members.

    What the library sets of an entity is no input of pydantic; a form may give the version.
    """
    stamps = {each.label for each in field.fields if each.is_stamp}
    plain = {name: value for name, value in given.items() if name not in stamps}
    made = pydantic.TypeAdapter(field.hint).validate_python(plain)
    if stamps:
        vars(made).update({name: value for name, value in given.items() if name in stamps})
    return made


def _choice(field: Field, text: str) -> Any:
    for shown, value in field.choices:
        if shown == text:
            return value
    raise ValueError(f"{text!r} is not one of {', '.join(shown for shown, _ in field.choices)}")


# -- offers: values of the sample data -------------------------------------------------------------

#: How many values of an attribute are offered.
OFFERED = 20
#: The number of results that a pattern is asked for, where it takes one.
RESULTS = 10
_COUNTS = frozenset({"limit", "count", "size", "page_size", "number"})


def _sample(design: Design) -> tuple[Any, ...]:
    return () if design.sample is None else _made(design.sample)


@cache
def _made(sample: Callable[[], list[Any]]) -> tuple[Any, ...]:
    return tuple(sample())


def offers(design: Design, pattern: AccessPattern) -> dict[str, list[str]]:
    """Return the values that each field of a pattern may have, by the field's name."""
    found: dict[str, list[str]] = {}
    for field in _leaves(fields_of(pattern)):
        values = dict.fromkeys(
            text
            for entity in _sample(design)
            for value in [vars(entity).get(field.label)]
            if isinstance(value, (str, int)) and not isinstance(value, bool)
            for text in [str(value)]
        )
        if values:
            found[field.name] = list(values)[:OFFERED]
    return found


def first_values(design: Design, pattern: AccessPattern) -> list[tuple[str, str]]:
    """Return the texts that the form of a pattern begins with."""
    chosen = _chosen(design, pattern)
    pairs = [pair for field in fields_of(pattern) for pair in _first(field, design, chosen)]
    if not isinstance(pattern.plan, Create):
        return pairs
    # The ids of sample entities are taken: a create of one of them would be refused.
    own = entity_of(pattern.plan).primary.parameters[-1].attribute
    taken = {str(getattr(each, own, None)) for each in _sample(design)}
    return [(name, text) for name, text in pairs if name.split(".")[-1] != own or text not in taken]


def _chosen(design: Design, pattern: AccessPattern) -> Any:
    """Return one sample entity that the pattern is about; None if there is none."""
    kinds = [entity.type for entity in pattern.entities]
    found = (each for kind in kinds for each in _sample(design) if type(each) is kind)
    return next(found, None)


def _first(field: Field, design: Design, chosen: Any) -> list[tuple[str, str]]:
    if field.widget == "group":
        return _of_group(field, design)
    if field.default is not None:
        return texts(field, field.default())
    if field.is_optional:
        return texts(field, None)
    if field.widget == "check":
        return []
    value = getattr(chosen, field.label, None)
    if value is None:
        value = _any_value(field.label, design)
    if value is None and field.label == "expected_version":
        value = 1  # that of an item that was written once
    if value is None and field.widget == "integer" and field.label in _COUNTS:
        value = RESULTS
    if value is None and field.widget == "json":
        value = _members(field, design, chosen)
    if value is None and field.widget == "choice":
        value = field.choices[0][1]
    return [] if value is None else _fitting(field, value)


def _of_group(field: Field, design: Design) -> list[tuple[str, str]]:
    """Return the values of a sample entity, with a new id if ids are made by default."""
    sample = next((each for each in _sample(design) if type(each) is field.hint), None)
    pairs: list[tuple[str, str]] = []
    for member in field.fields:
        if member.is_stamp:
            continue
        made = None if member.default is None else member.default()
        is_new = member.default is not None and member.default() != made
        if sample is not None and not is_new:
            pairs += _fitting(member, vars(sample)[member.label])
        elif member.default is not None:
            pairs += _fitting(member, made)
    return pairs


def _members(field: Field, design: Design, chosen: Any) -> list[Any] | None:
    """Return the sample entities of a list that belong to the chosen one; or the first one."""
    kinds = get_args(field.hint)
    found = [each for each in _sample(design) if kinds and type(each) is kinds[0]]
    if not found:
        return None
    parents = [part.attribute for part in type(found[0]).__entity__.primary.parameters][:-1]
    wanted = {name: _of_parent(chosen, name) for name in parents}
    return [
        each
        for each in found
        if all(value in (None, getattr(each, name)) for name, value in wanted.items())
    ] or found[:1]


def _of_parent(chosen: Any, name: str) -> Any:
    """Return what a child has as this attribute: the same of its parent, or the parent's id."""
    if name == type(chosen).__name__.lower():
        parts = type(chosen).__entity__.primary.parameters
        return getattr(chosen, parts[-1].attribute, None) if parts else None
    return getattr(chosen, name, None)


def _fitting(field: Field, value: Any) -> list[tuple[str, str]]:
    """Return the texts of a value; none if it is not of the type of the field."""
    try:
        return texts(field, value)
    except Exception:  # a value of another entity's attribute with the same name
        return []


def _any_value(name: str, design: Design) -> Any:
    values = (vars(entity).get(name) for entity in _sample(design))
    return next((value for value in values if value is not None), None)


def _leaves(fields: tuple[Field, ...]) -> Iterator[Field]:
    for field in fields:
        if field.widget == "group":
            yield from _leaves(field.fields)
        else:
            yield field
