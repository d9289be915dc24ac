"""Whatever JSON a client sends, it gets an answer or a fault, and never another exception."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError
from tablewright.wire.operations import OPERATIONS
from tests.examples import examples
from tests.wire.service_model import MODELS, SHAPES

ENGINE = Engine(":memory:")
ENGINE.call(
    "CreateTable",
    {
        "TableName": "table",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
    },
)

TEXTS = st.sampled_from(
    ["", "a", "#a", ":a", "a = :a", "SET a = :a", "table", "S", "N", "ALL", "1", "-1e5", "aGk="]
) | st.text(max_size=4)
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)


@cache
def bodies(shape: str) -> st.SearchStrategy[Any]:
    """JSON that is nearly what the model asks for: each part may be anything instead."""
    right = st.deferred(lambda: exact(SHAPES[shape]))
    return st.integers(0, 4).flatmap(lambda chance: right if chance else ANY_JSON)


def exact(model: Any) -> st.SearchStrategy[Any]:
    match model.type_name:
        case "structure":
            members = {name: bodies(shape.name) for name, shape in model.members.items()}
            if model.name == "AttributeValue":
                return st.one_of(
                    *(st.fixed_dictionaries({name: value}) for name, value in members.items())
                )
            required = {name: members.pop(name) for name in model.required_members}
            return st.fixed_dictionaries(required, optional=members)
        case "list":
            return st.lists(bodies(model.member.name), max_size=2)
        case "map":
            return st.dictionaries(TEXTS, bodies(model.value.name), max_size=2)
        case "string":
            return st.sampled_from(model.enum) if model.enum else TEXTS
        case "boolean":
            return st.booleans()
        case "blob":
            return TEXTS
        case _:
            return st.integers(-1, 10)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
@examples(40)
@given(data=st.data())
def test_any_body_gets_an_answer_or_a_fault(operation: str, data: st.DataObject) -> None:
    model = MODELS[operation]
    body = data.draw(exact(model))
    if "TableName" in model.members:
        body["TableName"] = "table"
    try:
        answer = ENGINE.call(operation, body)
    except DynamoDBError as fault:
        answer = fault.body()
    assert isinstance(answer, dict)
