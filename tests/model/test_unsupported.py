"""An endpoint that lacks something is told by what needs it."""

from __future__ import annotations

import pytest

from tablewright import GSI, Engine, Table, connect
from tablewright.database import Database
from tablewright.designs import shop
from tablewright.errors import UnsupportedOperation, ValidationException
from tablewright.model.databases.provision import Provision
from tests.things import NamedEntity
from tests.transports import LocalWithoutLocalIndexes


def test_a_kind_of_index_that_is_not_there_is_told_by_the_patterns_that_need_it() -> None:
    context = connect(":memory:", shop.Shop)._context
    lacking = Database(LocalWithoutLocalIndexes(Engine(":memory:")), context, (shop.Shop,))
    with pytest.raises(
        UnsupportedOperation,
        match="does not support local secondary indexes, which user_by_email, categories",
    ):
        lacking.run(Provision(shop.Shop.__table__, create=True))


def test_another_fault_of_an_index_is_shown_as_it_is() -> None:
    class TooMany(Table, name="many"):
        for number in range(21):
            locals()[f"gsi{number}"] = GSI(f"P{number}", f"S{number}")
        del number

    class Row(NamedEntity, table=TooMany): ...

    with pytest.raises(ValidationException, match="GlobalSecondaryIndex count exceeds"):
        connect(":memory:", TooMany)
