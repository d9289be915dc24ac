"""Runs of patterns as markup: the result as a tree, the requests, conditions, numbers, code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.expression import tree
from tablewright.expression.parse import parse_condition
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.template import Template
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.keys import KeyPiece, label
from tablewright.presentation.results import ResultNode, json_text, result_node
from tablewright.presentation.style import attribute_hue, chip
from tablewright.presentation.values import content, shortened
from tablewright.studio.markup import parts
from tablewright.studio.markup.clauses import render, split
from tablewright.studio.markup.item_parts import key_line, key_url
from tablewright.studio.markup.parts import NOTHING, faint, note, tag
from tablewright.studio.patterns.running import Ran
from tablewright.values import Value
from tablewright.verify.trace import TracedRequest

#: How many characters of a value, and how many members of a list, are shown.
SHORT = 120
SHOWN = 200
#: How many requests are shown.
SHOWN_REQUESTS = 10
#: The words that are coloured in code, by its language.
_KEYWORDS = {
    "Python": "from import as for in if is None True False",
    "boto3": "import None True False",
    "AWS CLI": "aws dynamodb",
    "PartiQL": "SELECT FROM WHERE AND OR NOT BETWEEN IN IS MISSING ORDER BY DESC INSERT INTO VALUE "
    "UPDATE SET REMOVE DELETE RETURNING ALL NEW OLD MODIFIED EXISTS true false null",
}
_TEXT = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""


def result_tree(value: Any) -> Markup:
    """Return a result as a tree."""
    return element("ul.tree", element("li", *_node(result_node(value))))


def _node(node: ResultNode) -> list[Markup]:
    match node.kind:
        case "aggregate":
            members = [element("li", faint(name), " ", *_node(each)) for name, each in node.members]
            return [element("b", node.title), element("ul", members)]
        case "list":
            return _list(node)
        case "record":
            return (
                [element("b", node.title), _values(node.values)]
                if node.entity is None
                else (_entity(node, node.entity))
            )
    value = node.values["value"]
    if value is None:
        return [element("span.mono.faint", "None"), element("span", " nothing found")]
    return [element("span.mono", short_text(value))]


def _list(node: ResultNode) -> list[Markup]:
    members = [element("li", *_node(each)) for _, each in node.members[:SHOWN]]
    more = len(node.members) - len(members)
    rest = note(f"{more} more are not shown") if more > 0 else NOTHING
    problems = [note(each, "warn") for each in node.problems]
    shown = element("ul", members) if members else NOTHING
    return [faint(node.title), tag(str(len(node.members))), shown, rest, *problems]


def _entity(node: ResultNode, entity: EntityMap) -> list[Markup]:
    """Return an entity: its name and identity as links, then its other attributes."""
    href = None if node.key is None else key_url(entity.table.name, node.key)
    values, names = dict(node.values), node.key_names
    own = names[-1] if names else ""
    title = short_text(values.pop(own)) if own in values else ""
    linked = element("span.mono", title)
    if href is not None:
        class_ = f"mono v {attribute_hue(entity, own)}".strip()
        linked = element("a", title, class_=class_, href=href)
    return [chip(entity, href=href), linked, _values(values)]


def _values(values: Mapping[str, Any]) -> Markup:
    shown = [element("span", element("i", name), short_text(each)) for name, each in values.items()]
    return element("span.kv.mono", shown)


def short_text(value: Any) -> str:
    """Return a JSON value as a short text."""
    return "None" if value is None else shortened(json_text(value), SHORT)


def measured(ran: Ran) -> Markup:
    """Return the numbers of a run: items returned and read, units, requests, time."""
    numbers = parts.facts(
        [
            ("items read", str(ran.read)),
            ("items returned", str(ran.returned)),
            ("read units", f"{ran.units:g}"),
            ("requests", str(len(ran.exchanges))),
            ("ms", f"{ran.seconds * 1000:.1f}"),
        ]
    )
    return element("div.body", numbers, aria_live="polite")


def requests_made(requests: Sequence[tuple[str, dict[str, Any]]]) -> Markup:
    """Return the requests as they were sent; the first one is open."""
    shown = []
    for number, (operation, body) in enumerate(requests[:SHOWN_REQUESTS], 1):
        badge = element("span.op", operation)
        code = parts.json_code(body, f"Request {number}")
        if number == 1:
            title = element("h3.sh", f"Request 1 of {len(requests)} ", badge)
            shown.append(join([title, code]))
        else:
            shown.append(parts.details([f"Request {number} of {len(requests)} ", badge], code))
    if len(requests) > SHOWN_REQUESTS:
        shown.append(element("p.body.muted", f"and {len(requests) - SHOWN_REQUESTS} more"))
    return element("section.left-line.fillpre", shown, aria_label="Requests")


def key_conditions(exchanges: Sequence[TracedRequest], entities: Sequence[EntityMap]) -> Markup:
    """Return the key condition, or the keys, of each request, its values coloured."""
    lines = dict.fromkeys(_condition(each, entities) for each in exchanges[:SHOWN_REQUESTS])
    return element("div.cond-line", [line for line in lines if line])


def _condition(exchange: TracedRequest, entities: Sequence[EntityMap]) -> Markup:
    body = exchange.body
    index = body.get("IndexName", "")
    if "Key" in body:
        terms = [
            join([f"{name} = ", coloured(value, name, index, entities)])
            for name, value in body["Key"].items()
        ]
    elif "KeyConditionExpression" in body:
        condition = parse_condition("KeyConditionExpression", body["KeyConditionExpression"])
        terms = [_term(part, body, index, entities) for part in split(condition)]
    else:
        return NOTHING
    where = element("span.idx.faint", index) if index else NOTHING
    return element("div", element("span.key", join(terms, " and ")), " ", where)


def _term(
    part: tree.Condition, body: dict[str, Any], index: str, entities: Sequence[EntityMap]
) -> Markup:
    names: dict[str, str] = body.get("ExpressionAttributeNames", {})
    values: dict[str, Value] = body.get("ExpressionAttributeValues", {})

    def path(operand: tree.Operand) -> str:
        assert isinstance(operand, tree.Path)
        first = str(operand.parts[0])
        return names.get(first, first)

    def value(operand: tree.Operand, name: str) -> Markup:
        assert isinstance(operand, tree.Value)
        return coloured(values[operand.name], name, index, entities)

    match part:
        case tree.Comparison(comparator, left, right):
            name = path(left)
            return join([f"{name} {comparator} ", value(right, name)])
        case tree.Between(operand, low, high):
            name = path(operand)
            return join([f"{name} between ", value(low, name), " and ", value(high, name)])
        case tree.Call("begins_with", (left, right)):
            name = path(left)
            return join([f"{name} begins with ", value(right, name)])
        case _:
            return element("span", render(part, names, values))


def coloured(value: Value, attribute: str, index: str, entities: Sequence[EntityMap]) -> Markup:
    """Return a value of a key, or the beginning of one, with the hues of its parts."""
    text = content(value)
    for entity in entities:
        for key in ItemKind(entity).keys_in(index):
            if attribute in key.templates:
                pieces = beginning(text, key.templates[attribute], entity)
                if pieces is not None:
                    return key_line(pieces, entity)
    return element("span.key", text)


def beginning(text: str, template: Template, entity: EntityMap) -> list[KeyPiece] | None:
    """Take the beginning of a key apart; None if no key of the template begins like this."""
    if not template.is_text:
        part = template.parts[0] if template.parts else None
        return None if part is None else [KeyPiece(text, part.attribute, part.label)]
    found: list[KeyPiece] = []
    rest, pieces = text, list(template.pieces)
    for number, piece in enumerate(pieces):
        if not rest:
            break
        if isinstance(piece, str):
            if not rest.startswith(piece) and not piece.startswith(rest):
                return None
            taken = min(len(piece), len(rest))
            found.append(KeyPiece(rest[:taken]))
        else:
            following = pieces[number + 1] if number + 1 < len(pieces) else ""
            stop = rest.find(following) if isinstance(following, str) and following else -1
            taken = len(rest) if stop < 0 else stop
            shown = label(entity, piece.attribute, piece.label)
            found.append(KeyPiece(rest[:taken], piece.attribute, shown))
        rest = rest[taken:]
    return found


# --- the same as code ---------------------------------------------------------------------------


def code_tabs(codes: Mapping[str, str]) -> Markup:
    """Return tabs with code; the first one is shown."""
    copy = parts.button("Copy", "sm", type="button", data_copy="#code > pre")
    shown = {
        name: element("pre", highlighted(code, name), tabindex="0", aria_label=f"{name} code")
        for name, code in codes.items()
    }
    drawn = parts.tabs("code", shown, copy, id_="code")
    return element("div.top-line", drawn, role="group", aria_label="The same as code")


def highlighted(code: str, language: str) -> Markup:
    """Return code with its comments, texts and keywords coloured."""
    words = "|".join(_KEYWORDS[language].split())
    comment = "--" if language == "PartiQL" else "#"
    option = r"|(?P<o>(?<=\s)--[a-z-]+)" if language == "AWS CLI" else ""
    pattern = re.compile(rf"(?P<s>{_TEXT})|(?P<c>{comment}[^\n]*)|(?P<k>\b(?:{words})\b){option}")
    pieces: list[str] = []
    end = 0
    for found in pattern.finditer(code):
        kind = "k" if found.lastgroup == "o" else found.lastgroup
        pieces += [code[end : found.start()], element("span", found[0], class_=kind)]
        end = found.end()
    return join([*pieces, code[end:]])
