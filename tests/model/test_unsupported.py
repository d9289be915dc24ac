"""An endpoint that lacks something is told by what needs it."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Database, Engine, connect
from tablewright.designs import shop
from tablewright.errors import UnsupportedOperation, ValidationException
from tablewright.model.provision import Provision
from tablewright.transport import Local


class WithoutLocalIndexes(Local):
    """An endpoint that takes no local secondary indexes."""

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        if operation == "CreateTable" and "LocalSecondaryIndexes" in request:
            raise ValidationException("Local Secondary Indexes are not supported")
        return super().send(operation, request)


def test_a_kind_of_index_that_is_not_there_is_told_by_the_patterns_that_need_it() -> None:
    context = connect(":memory:", shop.Shop)._context
    lacking = Database(WithoutLocalIndexes(Engine(":memory:")), context, (shop.Shop,))
    with pytest.raises(
        UnsupportedOperation,
        match="does not have local secondary indexes, which user_by_email, categories",
    ):
        lacking.run(Provision(shop.Shop.__table__, create=True))
