"""A table of the engine and a plain dict go through the same requests, and never disagree."""

from __future__ import annotations

import base64
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tablewright.engine import Engine
from tablewright.errors import (
    ConditionalCheckFailedException,
    TransactionCanceledException,
    ValidationException,
)
from tests.examples import examples
from tests.properties.model import (
    THE_TABLE,
    Condition,
    IndexModel,
    Item,
    TableModel,
    normal,
    number,
    order,
    place,
)

NAME = "table"
S, N, B = "S", "N", "B"

INDEXES: dict[str, IndexModel] = {
    "local": IndexModel((("pk", S),), (("b", B),), frozenset()),
    "all": IndexModel((("g", S),), (("n", N),), None),
    "keys": IndexModel((("b", B),), (), frozenset()),
    "include": IndexModel((("n", N),), (("g", S),), frozenset({"x"})),
    "several": IndexModel((("g", S), ("n", N)), (("b", B), ("sk", N)), None),
    "swapped": IndexModel((("sk", N),), (("pk", S),), frozenset()),
}
#: Comes and goes. Items whose `w` is no string do not fit it.
LATE = IndexModel((("w", S),), (("b", B),), frozenset({"x", "n"}))


def definition(name: str, index: IndexModel) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": "ALL"}
    if index.held is not None:
        projection = {"ProjectionType": "KEYS_ONLY"}
    if index.held:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": sorted(index.held)}
    return {"IndexName": name, "KeySchema": key_schema(index), "Projection": projection}


def key_schema(index: IndexModel) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": "HASH"} for name, _ in index.partition] + [
        {"AttributeName": name, "KeyType": "RANGE"} for name, _ in index.sort
    ]


def definitions(*indexes: IndexModel) -> list[dict[str, str]]:
    types = {name: tag for index in indexes for name, tag in index.keys}
    return [{"AttributeName": name, "AttributeType": tag} for name, tag in types.items()]


CREATE = {
    "TableName": NAME,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": key_schema(THE_TABLE),
    "AttributeDefinitions": definitions(THE_TABLE, *INDEXES.values()),
    "LocalSecondaryIndexes": [definition("local", INDEXES["local"])],
    "GlobalSecondaryIndexes": [
        definition(name, index) for name, index in INDEXES.items() if name != "local"
    ],
}


# Few values, so that keys meet again and again; and those that an encoding can get wrong.
def texts(*values: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{S: value} for value in values])


def numbers(*values: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{N: value} for value in values])


BINARIES = st.sampled_from(
    [{B: base64.b64encode(raw).decode()} for raw in (b"\x00", b"\x00\x01", b"a", b"ab", b"\xff")]
)
VALUES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "pk": texts("a", "a\x00", "é"),
    "sk": numbers("-10", "-2", "0", "0.5", "7", "10", "1e2"),
    "g": texts("r", "r\x00", "s", "\uffff", "😀"),
    "n": numbers("-1e2", "-2", "0", "3", "3.50", "20"),
    "b": BINARIES,
    "x": texts("", "x", "y") | st.just({"L": [{N: "1"}, {"M": {"k": {S: "v"}}}]}),
    "w": texts("u", "v") | numbers("1"),
    "t": numbers("0", "1000", "2000", "200000000") | texts("1000"),
}
KEYS: st.SearchStrategy[Item] = st.fixed_dictionaries({name: VALUES[name] for name in ("pk", "sk")})
OTHERS = {name: VALUES[name] for name in ("g", "n", "b", "x", "w", "t")}
ITEMS: st.SearchStrategy[Item] = st.fixed_dictionaries(
    {name: VALUES[name] for name in ("pk", "sk")}, optional=OTHERS
)


@st.composite
def write_conditions(draw: st.DrawFn) -> Condition:
    name = draw(st.sampled_from(["pk", "g", "n", "b"]))
    operator = draw(
        st.sampled_from(["attribute_exists", "attribute_not_exists", "=", "<>", "<", ">="])
    )
    if operator.startswith("attribute"):
        return Condition(name, operator, ())
    return Condition(name, operator, (draw(VALUES[name]),))


@st.composite
def updates(draw: st.DrawFn) -> tuple[Item, list[str], dict[str, str] | None]:
    """What to SET, what to REMOVE, and what to ADD to `n`."""
    names = draw(st.lists(st.sampled_from(sorted(OTHERS)), unique=True, max_size=4))
    adding = draw(st.none() | VALUES["n"]) if "n" not in names else None
    cut = draw(st.integers(0, len(names)))
    return {name: draw(VALUES[name]) for name in names[:cut]}, names[cut:], adding


class TableMachine(RuleBasedStateMachine):
    """One engine, one model."""

    creation: ClassVar[dict[str, Any]] = CREATE

    def __init__(self) -> None:
        super().__init__()
        self.engine = self.new_engine()
        self.model = TableModel(dict(INDEXES))

    def new_engine(self) -> Engine:
        return Engine(":memory:")

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.engine.call(operation, {"TableName": NAME, **request})

    @initialize(items=st.lists(ITEMS, max_size=12))
    def create(self, items: list[Item]) -> None:
        self.engine.call("CreateTable", self.creation)
        specification = {"Enabled": True, "AttributeName": "t"}
        self.call("UpdateTimeToLive", TimeToLiveSpecification=specification)
        for item in items:
            self.call("PutItem", Item=item)
            self.model.put(normal(item))

    def teardown(self) -> None:
        with self.engine:
            if self.engine.call("ListTables")["TableNames"]:
                self.scan_gives_every_item(3)
            report = self.engine.check()
            assert report, report.problems[:5]

    # -- writes ---------------------------------------------------------------------------------

    @rule(item=ITEMS, condition=st.none() | write_conditions())
    def put(self, item: Item, condition: Condition | None) -> None:
        request = {"Item": item, "ReturnValues": "ALL_OLD", **conditional(condition)}
        old = self.model.items.get(place(item))
        if condition and not condition.holds(old or {}):
            with pytest.raises((ConditionalCheckFailedException, ValidationException)):
                self.call("PutItem", **request)
        elif not self.model.accepts(item):
            with pytest.raises(ValidationException, match="Type mismatch for Index Key w"):
                self.call("PutItem", **request)
        else:
            answer = self.call("PutItem", **request)
            assert answer.get("Attributes") == self.model.put(normal(item))

    @rule(key=KEYS, change=updates(), condition=st.none() | write_conditions())
    def update(
        self,
        key: Item,
        change: tuple[Item, list[str], dict[str, str] | None],
        condition: Condition | None,
    ) -> None:
        request = {"Key": key, "ReturnValues": "ALL_NEW", **updating(change, condition)}
        old = self.model.items.get(place(key))
        new = updated(old, key, change)
        if condition and not condition.holds(old or {}):
            with pytest.raises(ConditionalCheckFailedException):
                self.call("UpdateItem", **request)
        elif not self.model.accepts(change[0]):
            with pytest.raises(ValidationException, match="Type mismatch for Index Key w"):
                self.call("UpdateItem", **request)
        else:
            assert self.call("UpdateItem", **request).get("Attributes") == new
            if new is not None:
                self.model.put(new)

    @rule(key=KEYS, condition=st.none() | write_conditions())
    def delete(self, key: Item, condition: Condition | None) -> None:
        request = {"Key": key, "ReturnValues": "ALL_OLD", **conditional(condition)}
        old = self.model.items.get(place(key))
        if condition and not condition.holds(old or {}):
            with pytest.raises(ConditionalCheckFailedException):
                self.call("DeleteItem", **request)
        else:
            assert self.call("DeleteItem", **request).get("Attributes") == old
            self.model.delete(key)

    @rule(key=KEYS, name=st.sampled_from(["g", "n", "b"]))
    def an_index_key_of_another_type_is_refused(self, key: Item, name: str) -> None:
        change: tuple[Item, list[str], None] = {name: {"BOOL": True}}, [], None
        with pytest.raises(ValidationException, match=f"Type mismatch for Index Key {name}"):
            self.call("UpdateItem", Key=key, **updating(change, None))

    @rule(writes=st.lists(ITEMS | KEYS, min_size=1, max_size=6, unique_by=place))
    def batch(self, writes: list[Item]) -> None:
        """An item of keys only is a delete."""
        puts = [item for item in writes if len(item) > 2]
        deletes = [item for item in writes if len(item) == 2]
        entries: list[dict[str, Any]] = [{"PutRequest": {"Item": item}} for item in puts]
        entries += [{"DeleteRequest": {"Key": key}} for key in deletes]
        if not all(map(self.model.accepts, puts)):
            with pytest.raises(ValidationException, match="Type mismatch for Index Key w"):
                self.engine.call("BatchWriteItem", {"RequestItems": {NAME: entries}})
            return
        answer = self.engine.call("BatchWriteItem", {"RequestItems": {NAME: entries}})
        assert answer == {"UnprocessedItems": {}}
        for item in puts:
            self.model.put(normal(item))
        for key in deletes:
            self.model.delete(key)

    @rule(data=st.data(), keys=st.lists(KEYS, min_size=1, max_size=4, unique_by=place))
    def transaction(self, data: st.DataObject, keys: list[Item]) -> None:
        actions: list[dict[str, Any]] = []
        results: list[Item | None] = []
        codes: list[str] = []
        for key in keys:
            condition = data.draw(st.none() | write_conditions())
            old = self.model.items.get(place(key))
            request: dict[str, Any] = {"TableName": NAME, "Key": key, **conditional(condition)}
            new: Item | None = old
            written: Item = {}
            kind = data.draw(st.sampled_from(["Put", "Update", "Delete", "ConditionCheck"]))
            if kind == "Put":
                item = {**data.draw(ITEMS), **key}
                del request["Key"]
                request["Item"], written, new = item, item, normal(item)
            elif kind == "Update":
                change = data.draw(updates())
                if change == ({}, [], None):
                    change = {}, ["x"], None
                request |= updating(change, condition)
                written, new = change[0], updated(old, key, change)
            elif kind == "Delete":
                new = None
            elif condition is None:
                condition = Condition("pk", "attribute_exists", ())
                request |= conditional(condition)
            actions.append({kind: request})
            results.append(new)
            fits = self.model.accepts(written)
            holds = condition is None or condition.holds(old or {})
            codes.append("None" if fits and holds else "ConditionalCheckFailed")
            if not fits:
                codes[-1] = "ValidationError" if holds else "either"
        if set(codes) != {"None"}:
            with pytest.raises(TransactionCanceledException) as cancelled:
                self.engine.call("TransactWriteItems", {"TransactItems": actions})
            # A key of a wrong type cancels before any condition is looked at.
            if set(codes) <= {"None", "ConditionalCheckFailed"}:
                assert [reason["Code"] for reason in cancelled.value.reasons] == codes
            return
        self.engine.call("TransactWriteItems", {"TransactItems": actions})
        for key, result in zip(keys, results, strict=True):
            if result is None:
                self.model.delete(key)
            else:
                self.model.put(result)

    @rule(now=st.sampled_from([999, 1000, 2500, 157681000, 200000001]))
    def expire(self, now: int) -> None:
        assert self.engine.expire(now) == self.model.expire("t", now)

    # -- indexes --------------------------------------------------------------------------------

    @precondition(lambda self: "late" not in self.model.indexes)
    @rule()
    def add_an_index(self) -> None:
        self.call(
            "UpdateTable",
            AttributeDefinitions=definitions(LATE),
            GlobalSecondaryIndexUpdates=[{"Create": definition("late", LATE)}],
        )
        self.model.indexes["late"] = LATE

    @precondition(lambda self: "late" in self.model.indexes)
    @rule()
    def remove_an_index(self) -> None:
        update = {"Delete": {"IndexName": "late"}}
        self.call("UpdateTable", GlobalSecondaryIndexUpdates=[update])
        del self.model.indexes["late"]

    # -- reads ----------------------------------------------------------------------------------

    @rule(key=KEYS)
    def get(self, key: Item) -> None:
        assert self.call("GetItem", Key=key).get("Item") == self.model.items.get(place(key))

    @rule(data=st.data(), backwards=st.booleans(), limit=st.integers(1, 4))
    def query(self, data: st.DataObject, backwards: bool, limit: int) -> None:
        index, hashes, conditions = self.any_query(data)
        request = querying(index, hashes, conditions)
        expected = self.model.selected(index, hashes, *conditions)
        sort = self.model.source(index).sort

        found = self.call("Query", **request, ScanIndexForward=not backwards)["Items"]
        assert [order(item, sort) for item in found] == [
            order(item, sort) for item in (expected[::-1] if backwards else expected)
        ]
        assert same_items(found, expected)
        assert self.call("Query", **request, Select="COUNT")["Count"] == len(expected)

        request["ScanIndexForward"] = not backwards
        paged: list[Item] = []
        while True:
            page = self.call("Query", **request, Limit=limit)
            paged += page["Items"]
            assert page["ScannedCount"] <= limit
            if "LastEvaluatedKey" not in page:
                break
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        assert paged == found

    @rule(data=st.data(), backwards=st.booleans(), new=st.lists(KEYS, max_size=3))
    def pages_with_writes_between_them(
        self, data: st.DataObject, backwards: bool, new: list[Item]
    ) -> None:
        """What was there all the time is met once, though items with equal index keys come."""
        index, hashes, _ = self.any_query(data)
        request = querying(index, hashes, [])
        before = {place(item) for item in self.model.selected(index, hashes)}
        met: list[Any] = []
        while True:
            page = self.call("Query", **request, ScanIndexForward=not backwards, Limit=1)
            met += map(place, page["Items"])
            if "LastEvaluatedKey" not in page:
                break
            request["ExclusiveStartKey"] = last = page["LastEvaluatedKey"]
            if new:
                item = {**last, **new.pop(), **hashes}
                if place(item) not in self.model.items and self.model.accepts(item):
                    self.call("PutItem", Item=item)
                    self.model.put(normal(item))
        assert len(set(met)) == len(met)
        assert before <= set(met)

    @rule(total=st.integers(1, 7))
    def scan_gives_every_item(self, total: int) -> None:
        found = [
            item
            for number in range(total)
            for item in self.call("Scan", Segment=number, TotalSegments=total)["Items"]
        ]
        assert same_items(found, list(self.model.items.values()))

    @rule(data=st.data(), limit=st.integers(1, 5))
    def scan_an_index_page_by_page(self, data: st.DataObject, limit: int) -> None:
        name = data.draw(st.sampled_from(self.readable_indexes()))
        index = self.model.indexes[name]
        request: dict[str, Any] = {"IndexName": name, "Limit": limit}
        found: list[Item] = []
        while True:
            page = self.call("Scan", **request)
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                break
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        held = [index.shown(item) for item in self.model.items.values() if index.holds(item)]
        assert same_items(found, held)

    def readable_indexes(self) -> list[str]:
        return sorted(self.model.indexes)

    def any_query(self, data: st.DataObject) -> tuple[str | None, Item, list[Condition]]:
        index = data.draw(st.sampled_from([None, *self.readable_indexes()]))
        source = self.model.source(index)
        hashes = {name: data.draw(key_value(name, tag)) for name, tag in source.partition}
        depth = data.draw(st.integers(0, len(source.sort)))
        conditions = [
            Condition(name, "=", (data.draw(key_value(name, tag)),))
            for name, tag in source.sort[: max(depth - 1, 0)]
        ]
        if depth:
            conditions.append(data.draw(sort_conditions(*source.sort[depth - 1])))
        return index, normal(hashes), conditions


def key_value(name: str, tag: str) -> st.SearchStrategy[dict[str, Any]]:
    return VALUES[name].filter(lambda value: tag in value)


@st.composite
def sort_conditions(draw: st.DrawFn, name: str, tag: str) -> Condition:
    operators = ["=", "<", "<=", ">", ">=", "BETWEEN"] + (["begins_with"] if tag != N else [])
    operator = draw(st.sampled_from(operators))
    count = 2 if operator == "BETWEEN" else 1
    operands = [draw(key_value(name, tag)) for _ in range(count)]
    operands.sort(key=lambda value: order({name: value}, ((name, tag),)))
    return Condition(name, operator, tuple(operands))


def querying(index: str | None, hashes: Item, conditions: list[Condition]) -> dict[str, Any]:
    every = [Condition(name, "=", (value,)) for name, value in hashes.items()] + conditions
    texts: list[str] = []
    names: dict[str, str] = {}
    values: Item = {}
    for position, condition in enumerate(every):
        text, some_names, some_values = condition.expression(f"k{position}")
        texts.append(text)
        names |= some_names
        values |= some_values
    request: dict[str, Any] = {
        "KeyConditionExpression": " AND ".join(texts),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
    return request if index is None else {**request, "IndexName": index}


def conditional(condition: Condition | None) -> dict[str, Any]:
    if condition is None:
        return {}
    text, names, values = condition.expression("c")
    request: dict[str, Any] = {"ConditionExpression": text, "ExpressionAttributeNames": names}
    return {**request, "ExpressionAttributeValues": values} if values else request


def updating(
    change: tuple[Item, list[str], dict[str, str] | None], condition: Condition | None
) -> dict[str, Any]:
    sets, removes, adding = change
    request = conditional(condition)
    names: dict[str, str] = request.pop("ExpressionAttributeNames", {})
    values: Item = request.pop("ExpressionAttributeValues", {})
    clauses = []
    if sets:
        clauses.append("SET " + ", ".join(f"#u{name} = :u{name}" for name in sets))
        values |= {f":u{name}": value for name, value in sets.items()}
    if removes:
        clauses.append("REMOVE " + ", ".join(f"#u{name}" for name in removes))
    if adding:
        clauses.append("ADD #un :add")
        values[":add"] = adding
    names |= {f"#u{name}": name for name in (*sets, *removes, *(["n"] if adding else []))}
    if clauses:
        request["UpdateExpression"] = " ".join(clauses)
    if names:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = values
    return request


def updated(
    found: Item | None, key: Item, change: tuple[Item, list[str], dict[str, str] | None]
) -> Item | None:
    """The item after an update. One that only removes does not make an item."""
    sets, removes, adding = change
    if found is None and removes and not sets and not adding:
        return None
    old = found or normal(key)
    new = {name: value for name, value in old.items() if name not in removes} | normal(sets)
    if adding:
        new["n"] = number(Decimal(old.get("n", {N: "0"})[N]) + Decimal(adding[N]))
    return new


def same_items(left: list[Item], right: list[Item]) -> bool:
    """Whether they are the same, in any order."""
    if len(left) != len(right):
        return False
    found = {place(item): item for item in left}
    return all(found.get(place(item)) == item for item in right)


class FileMachine(TableMachine):
    """The same on a file, which is closed and opened again in between."""

    def new_engine(self) -> Engine:
        self.directory = tempfile.TemporaryDirectory()
        return Engine(Path(self.directory.name) / "table.db", durability="normal")

    @rule()
    def open_again(self) -> None:
        self.engine.close()
        self.engine = Engine(Path(self.directory.name) / "table.db", durability="normal")

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.directory.cleanup()


def test_a_table_in_memory_behaves_as_the_model() -> None:
    run_state_machine_as_test(TableMachine, settings=examples(400, steps=30))


def test_a_table_in_a_file_behaves_as_the_model() -> None:
    run_state_machine_as_test(FileMachine, settings=examples(25, steps=25))
