"""Similar patterns: the access patterns of the design that read with the key of a statement.

    SELECT * FROM shop WHERE PK = 'USER' AND SK = 'USER#1'     user_by_id

A pattern is similar if it is the same operation on the same index, and if the key values of the
statement fit the templates of its entity. It may read less, or more, than the statement.
"""

from __future__ import annotations

from functools import cache

from tablewright.engine.statements.prepared import prepare_statement
from tablewright.engine.tables.table import table_from_description
from tablewright.errors import TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Parser, Template
from tablewright.model.pattern import AccessPattern
from tablewright.studio.markup.parts import content
from tablewright.studio.workspace import Workspace


def similar_patterns(workspace: Workspace, text: str) -> list[AccessPattern]:
    """Return the patterns that read with the key of a SELECT; none for another statement."""
    prepared = prepare_statement(text)
    known = workspace.maps.get(prepared.table_name)
    description = None if known is None else workspace.describe(prepared.table_name)
    if known is None or description is None or workspace.design is None or not prepared.is_read:
        return []
    plan = prepared.plan_select(table_from_description(description))
    try:
        values = prepared.bind(None)
    except TablewrightError:  # it has parameters
        return []
    tests = [
        (test.name, test.operator, content(values[test.operands[0]]))
        for test in plan.branches[0].key
    ]
    index = None if plan.source.index is None else plan.source.index.name
    entities = [entity for entity in known.entities if _fits(entity, index, tests)]
    return [
        pattern
        for pattern in workspace.design.patterns
        if pattern.shape.operation == plan.operation
        and pattern.shape.table == prepared.table_name
        and pattern.shape.index == index
        and any(entity in pattern.shape.targets for entity in entities)
    ]


def _fits(entity: EntityMap, index: str | None, tests: list[tuple[str, str, str]]) -> bool:
    """Return whether items of an entity can have a key with these values."""
    return any(
        all(
            name in key.templates and _can_be(key.templates[name], operator, text)
            for name, operator, text in tests
        )
        for key in (entity.primary, *entity.indexes)
        if tests and _index_name(key) == index
    )


def _index_name(key: KeyMap) -> str | None:
    return None if key.index is None else key.index.name


def _can_be(template: Template, operator: str, text: str) -> bool:
    if not template.is_text:
        return True
    if operator == "=":
        return _parser(template).texts(text) is not None
    literal = template.pieces[0] if isinstance(template.pieces[0], str) else ""
    return literal.startswith(text) or text.startswith(literal)


@cache
def _parser(template: Template) -> Parser:
    return Parser(template, any_spelling=True)
