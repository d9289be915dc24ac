from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import (
    Engine,
    batch_get,
    condition_check,
    connect,
    create,
    delete,
    put,
    transact,
    update,
)
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    Contention,
    DeclarationError,
    InvalidValue,
    NotFound,
    UniqueViolation,
    VersionConflict,
    WriteRejected,
)
from tests.plan.writes.bank import Account, Bank, Branch, Card
from tests.transports import InterferingTransport, RecordingTransport


def items(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "bank"})["Items"]
    return found


# -- all -----------------------------------------------------------------------------------------


def test_every_kind_of_write_is_done_in_one_request(db: Database, engine: Engine) -> None:
    db.run(create(Account(account_id="1", balance=10)))
    db.run(create(Account(account_id="2")))
    db.run(create(Account(account_id="3")))
    db._transport = sent = RecordingTransport(db._transport)

    db.run(
        transact(
            create(Account(account_id="4", balance=4)),
            put(Account(account_id="3", balance=3)),
            Account.primary("1").update(Account.balance.increment(-7)),
            Account.primary("2").delete(),
        )
    )

    assert sent.operations == ["TransactWriteItems"]
    balances = {item["account_id"]["S"]: item["balance"]["N"] for item in items(engine)}
    assert balances == {"1": "3", "3": "3", "4": "4"}


def test_an_update_by_key_alone_is_part_of_a_transaction(db: Database) -> None:
    """It has nothing to read, and touches no key."""
    db.run(create(Account(account_id="1")))
    db.run(create(Account(account_id="2")))

    db.run(
        transact(
            Account.primary("1").update(Account.balance.increment(-5)),
            Account.primary("2").update(Account.balance.increment(5)),
        )
    )

    found = db.run(batch_get([Account.primary("1"), Account.primary("2")]))
    assert [account and account.balance for account in found] == [-5, 5]


def test_an_update_of_an_instance_is_part_of_a_transaction(db: Database) -> None:
    """The instance is as stored then, though DynamoDB returns nothing from a transaction."""
    account = db.run(create(Account(account_id="1")))
    db.run(transact(update(account, Account.balance.increment(5)), create(Account(account_id="2"))))

    assert account.balance == 5
    assert db.run(Account.primary("1")) == account


def test_an_update_in_a_transaction_moves_index_keys(db: Database) -> None:
    db.run(create(Account(account_id="1")))
    db.run(
        transact(
            Account.primary("1").update(Account.owner.set("bob")), create(Account(account_id="2"))
        )
    )

    assert [found.account_id for found in db.run(Account.of_owner("bob"))] == ["1"]
    assert [found.account_id for found in db.run(Account.of_owner("ann"))] == ["2"]


def test_a_transaction_returns_what_it_has_written(db: Database) -> None:
    db.run(create(Branch(branch_id="b")))
    account, card = Account(account_id="1"), Card(card_id="1", number="n1")
    created, counted, checked = db.run(
        transact(create(account), put(card), condition_check(Branch.primary("b")))
    )

    assert (created, counted, checked) == (account, card, None)
    assert db.run(Card.primary("1")) == counted
    assert counted.version == 1


def test_a_transaction_returns_the_entities_that_it_changes_as_far_as_they_are_known(
    db: Database,
) -> None:
    account = db.run(create(Account(account_id="1")))
    db.run(create(Account(account_id="2")))
    db.run(create(Card(card_id="1", number="n1")))
    results = db.run(
        transact(
            update(account, Account.balance.increment(5)),
            Account.primary("2").update(Account.balance.increment(5)),
            Card.primary("1").update(Card.number.set("n2")),
        )
    )

    given, by_key, read_for_its_sentinel = results
    assert given is account
    assert by_key is None
    assert read_for_its_sentinel == db.run(Card.primary("1"))


def test_a_transaction_sets_what_the_library_counts_on_the_instances(db: Database) -> None:
    one, two = Card(card_id="1", number="n1"), Card(card_id="2")
    before = two.changed
    db.run(transact(create(one), put(two)))

    assert (one.version, two.version) == (1, 1)
    assert two.changed > before
    assert db.run(Card.primary("1")) == one
    assert db.run(Card.primary("2")) == two


def test_a_transaction_reaches_over_tables(db: Database, engine: Engine) -> None:
    db.run(transact(create(Account(account_id="1")), create(Branch(branch_id="b"))))

    assert db.run(Account.primary("1")) is not None
    assert db.run(Branch.primary("b")) is not None


def test_a_single_write_may_be_a_transaction(db: Database) -> None:
    db.run(transact(create(Account(account_id="1"))))

    assert db.run(Account.primary("1")) is not None


def test_writes_are_collected_in_a_block(db: Database, engine: Engine) -> None:
    with db.transaction() as tx:
        tx.add(create(Account(account_id="1")))
        tx.add(create(Account(account_id="2")), create(Account(account_id="3")))
        assert items(engine) == []

    assert len(items(engine)) == 3


def test_a_block_that_fails_writes_nothing(db: Database, engine: Engine) -> None:
    def fail() -> None:
        with db.transaction() as tx:
            tx.add(create(Account(account_id="1")))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert items(engine) == []


def test_a_block_without_writes_does_nothing(db: Database) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    with db.transaction():
        pass

    assert sent.operations == []


# -- or nothing ----------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Any, type[WriteRejected], str]] = {
    "create": (lambda: create(Account(account_id="1")), AlreadyExists, "create Account: "),
    "put": (
        lambda: put(Account(account_id="1")).condition(Account.balance == 9),
        ConditionFailed,
        r"put Account: .*the condition balance = 9 is false",
    ),
    "update": (
        lambda: Account.primary("1").update(Account.log.append("x")).condition(Account.balance > 9),
        ConditionFailed,
        r"update Account: .*the condition balance > 9 is false",
    ),
    "update of what is not there": (
        lambda: Account.primary("8").update(Account.balance.set(1)),
        NotFound,
        "update Account: .*ACCOUNT#8.* does not exist",
    ),
    "update that reads what is not there": (
        lambda: Account.primary("8").update(Account.owner.set("bob")),
        NotFound,
        "update Account: .*ACCOUNT#8.* does not exist",
    ),
    "move of what is not there": (
        lambda: Account.primary("8").update(Account.account_id.set("9")),
        NotFound,
        "update Account: .*ACCOUNT#8.* does not exist",
    ),
    "move to what is there": (
        lambda: Account.primary("2").update(Account.account_id.set("1")),
        AlreadyExists,
        "update Account: .*ACCOUNT#1.* already exists",
    ),
    "delete": (
        lambda: Account.primary("1").delete().condition(Account.owner == "bob"),
        ConditionFailed,
        "delete Account: .*owner = 'bob' is false",
    ),
    "condition_check": (
        lambda: condition_check(Account.primary("8")),
        NotFound,
        "condition_check Account: .*does not exist",
    ),
    "condition_check with a condition": (
        lambda: condition_check(Account.primary("1"), Account.balance >= 5),
        ConditionFailed,
        "condition_check Account: .*balance >= 5 is false",
    ),
    "unique": (
        lambda: create(Card(card_id="2", number="n1")),
        UniqueViolation,
        "create Card: .*another Card has the number 'n1'",
    ),
    "version": (
        lambda: Card.primary("1").update(Card.number.set("n7")).condition(Card.version == 7),
        VersionConflict,
        "update Card: .*version 7 was expected",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("position", [1, 3])
def test_if_one_write_fails_none_is_done_and_the_error_says_which_and_why(
    db: Database, engine: Engine, name: str, position: int
) -> None:
    db.run(create(Account(account_id="1")))
    db.run(create(Account(account_id="2")))
    db.run(create(Card(card_id="1", number="n1")))
    before = items(engine)
    make, error, told = REFUSED[name]
    writes = [create(Account(account_id="6")), create(Account(account_id="7"))]
    writes.insert(position - 1, make())

    with pytest.raises(error, match=f"^write {position} of 3, {told}"):
        db.run(transact(*writes))

    assert items(engine) == before


def test_the_error_carries_the_item_that_is_stored(db: Database) -> None:
    account = db.run(create(Account(account_id="1", balance=4)))

    with pytest.raises(ConditionFailed) as refused:
        db.run(
            transact(
                create(Account(account_id="2")),
                Account.primary("1")
                .update(Account.balance.increment(1))
                .condition(Account.balance == 5),
            )
        )

    assert refused.value.entity == "Account"
    assert refused.value.key == {"PK": {"S": "ACCOUNT#1"}, "SK": {"S": "ACCOUNT"}}
    assert refused.value.current == account


def test_if_one_write_fails_all_instances_are_as_they_were(db: Database) -> None:
    db.run(create(Account(account_id="1")))
    card, account = Card(card_id="1", number="n1"), Account(account_id="1")
    before = dict(vars(card))

    with pytest.raises(AlreadyExists):
        db.run(transact(create(card), create(account)))

    assert vars(card) == before
    assert card.version == 0


def test_a_part_that_changes_after_it_was_read_is_read_again(db: Database, engine: Engine) -> None:
    db.run(create(Account(account_id="1")))
    other = connect(engine, Bank)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Account.primary("1").update(Account.branch.set("c"))),
    )

    db.run(
        transact(
            Account.primary("1").update(Account.owner.set("bob")), create(Account(account_id="2"))
        )
    )

    (found,) = db.run(Account.of_owner("bob"))
    assert found.branch == "c"
    assert [account.account_id for account in db.run(Account.of_owner("bob").eq("c"))] == ["1"]


def test_a_transaction_that_never_wins_gives_up_and_writes_nothing(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.write.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    db.run(create(Account(account_id="1")))
    other = connect(engine, Bank)
    db._transport = InterferingTransport(
        db._transport,
        lambda n: other.run(Account.primary("1").update(Account.branch.set(f"b{n}"))),
        times=1000,
    )

    with pytest.raises(Contention, match=r"transact\(update Account, create Account\)"):
        db.run(
            transact(
                Account.primary("1").update(Account.owner.set("bob")),
                create(Account(account_id="2")),
            )
        )

    (account,) = items(engine)
    assert account["owner"] == {"S": "ann"}


# -- limits --------------------------------------------------------------------------------------


def test_a_hundred_actions_are_done(db: Database, engine: Engine) -> None:
    db.run(transact(*(create(Account(account_id=str(number))) for number in range(100))))

    assert len(items(engine)) == 100


def test_more_than_a_hundred_actions_are_refused_before_sending(
    db: Database, engine: Engine
) -> None:
    db._transport = sent = RecordingTransport(db._transport)

    with pytest.raises(InvalidValue, match=r"101 actions.*at most 100 in one transaction"):
        db.run(transact(*(create(Account(account_id=str(number))) for number in range(101))))

    assert sent.operations == []


def test_sentinels_count_among_the_actions(db: Database, engine: Engine) -> None:
    cards = [Card(card_id=str(number), number=f"n{number}") for number in range(51)]
    db._transport = sent = RecordingTransport(db._transport)

    with pytest.raises(InvalidValue, match="102 actions, with sentinels, history"):
        db.run(transact(*(create(card) for card in cards)))

    assert sent.operations == []
    assert [card.version for card in cards] == [0] * 51


def test_more_than_four_megabytes_are_refused_before_sending(db: Database) -> None:
    large = ["x" * 300_000]
    db._transport = sent = RecordingTransport(db._transport)

    with pytest.raises(InvalidValue, match="bytes; DynamoDB allows at most 4,194,304"):
        db.run(transact(*(create(Account(account_id=str(n), log=large)) for n in range(15))))

    assert sent.operations == []


@pytest.mark.parametrize(
    "other",
    [
        lambda: create(Account(account_id="1")),
        lambda: Account.primary("1").update(Account.balance.increment(1)),
        lambda: Account.primary("1").delete(),
        lambda: condition_check(Account.primary("1")),
        lambda: Account.primary("2").update(Account.account_id.set("1")),
    ],
    ids=["create", "update", "delete", "condition_check", "move"],
)
def test_two_writes_to_one_item_are_refused(
    db: Database, engine: Engine, other: Callable[[], Any]
) -> None:
    db.run(create(Account(account_id="2")))
    before = items(engine)

    with pytest.raises(InvalidValue, match=r"writes 1 and 3 of .* the same item"):
        db.run(transact(put(Account(account_id="1")), put(Account(account_id="3")), other()))

    assert items(engine) == before


def test_two_entities_that_take_one_unique_value_are_refused(db: Database, engine: Engine) -> None:
    with pytest.raises((InvalidValue, UniqueViolation)):
        db.run(transact(*(create(Card(card_id=str(n), number="n1")) for n in range(2))))

    assert items(engine) == []


def test_a_transaction_needs_a_write() -> None:
    with pytest.raises(InvalidValue, match=r"^transact\(\) needs at least one write$"):
        transact()


@pytest.mark.parametrize(
    "read",
    [
        Account.primary("1"),
        Account.of_owner("ann"),
        batch_get([Account.primary("1")]),
        transact(create(Account(account_id="1"))),
        Account(account_id="1"),
    ],
    ids=["get", "query", "batch get", "transaction", "instance"],
)
def test_what_is_no_write_is_refused(read: Any) -> None:
    with pytest.raises(DeclarationError, match=r"transact\(\) takes writes \(create, put, update"):
        transact(create(Account(account_id="2")), read)


# -- require -------------------------------------------------------------------------------------


def test_a_transaction_may_require_an_item(db: Database, engine: Engine) -> None:
    account = db.run(create(Account(account_id="1", balance=5)))
    db.run(
        transact(
            create(Account(account_id="2")),
            condition_check(Account.primary("1"), Account.balance >= 5),
        )
    )

    assert db.run(Account.primary("1")) == account
    assert db.run(Account.primary("2")) is not None


def test_a_requirement_holds_at_the_moment_of_the_write(db: Database, engine: Engine) -> None:
    db.run(create(Account(account_id="1")))
    other = connect(engine, Bank)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Account.primary("1").delete())
    )

    with pytest.raises(NotFound, match="write 2 of 2, condition_check Account"):
        db.run(transact(create(Account(account_id="2")), condition_check(Account.primary("1"))))

    assert items(engine) == []


def test_a_requirement_alone_only_checks(db: Database, engine: Engine) -> None:
    with pytest.raises(NotFound):
        db.run(condition_check(Account.primary("1")))

    db.run(create(Account(account_id="1")))
    before = items(engine)
    db.run(condition_check(Account.primary("1")))
    db.run(transact(condition_check(Account.primary("1"), Account.balance == 0)))
    assert items(engine) == before


# -- append if absent ----------------------------------------------------------------------------


def test_appending_in_vain_refuses_the_whole_transaction(db: Database, engine: Engine) -> None:
    """Alone it would leave all as it is; here nothing else may be done either."""
    db.run(create(Account(account_id="1", log=["x"])))
    before = items(engine)

    with pytest.raises(ConditionFailed, match="write 1 of 2, update Account"):
        db.run(
            transact(
                Account.primary("1").update(Account.log.append_if_absent("x")),
                create(Account(account_id="2")),
            )
        )

    assert items(engine) == before


def test_a_delete_of_an_instance_is_part_of_a_transaction(db: Database, engine: Engine) -> None:
    card = db.run(create(Card(card_id="1", number="n1")))
    db.run(transact(delete(card), create(Account(account_id="1"))))

    assert [item["PK"]["S"] for item in items(engine)] == ["ACCOUNT#1"]


def test_a_requirement_of_another_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Card\.number is not an attribute of Account"):
        condition_check(Account.primary("1"), Card.number == "1")  # type: ignore[misc]


@pytest.mark.parametrize("condition", [None, True, "balance > 1", Account.balance])
def test_a_requirement_that_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Account\."):
        condition_check(Account.primary("1"), condition)


@pytest.mark.parametrize("item", [None, Account, Account(account_id="1"), Account.of_owner("ann")])
def test_a_requirement_is_of_a_key(item: Any) -> None:
    with pytest.raises(DeclarationError, match=r"condition_check\(\) takes a key, such as"):
        condition_check(item)
