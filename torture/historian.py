"""A client that runs random operations and records them.

    python -m torture.historian FILE NAME SEED SECONDS

Prints its records as one line of JSON. A client's target is an engine or a connection to a server;
the clock is the machine's monotonic one, the same for all processes.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tablewright.engine import Engine
from tablewright.errors import ConditionalCheckFailedException, TransactionCanceledException
from torture.checking import NEVER, Access, WriteTransaction

NAME = "history"
REGISTERS = ("r0", "r1")
LISTS = ("a", "b", "c")

#: Sends an operation and returns its answer. Raises ConditionalCheckFailedException and
#: TransactionCanceledException if nothing was written, `Unknown` if the outcome is not known.
Call = Callable[[str, dict[str, Any]], dict[str, Any]]


class Unknown(Exception):
    """The outcome of an operation is not known."""


class Records(msgspec.Struct):
    """The operations of a client: on registers by key, and transactions on lists."""

    registers: dict[str, list[Access]]
    transactions: list[WriteTransaction]


def key(name: str) -> dict[str, Any]:
    return {"pk": {"S": name}}


def appending(name: str, value: int) -> dict[str, Any]:
    return {
        "TableName": NAME,
        "Key": key(name),
        "UpdateExpression": "SET l = list_append(if_not_exists(l, :none), :new)",
        "ExpressionAttributeValues": {":none": {"L": []}, ":new": {"L": [{"N": str(value)}]}},
    }


def numbers(item: dict[str, Any] | None) -> list[int]:
    return [int(value["N"]) for value in item["l"]["L"]] if item else []


def number(item: dict[str, Any] | None) -> int:
    return int(item["v"]["N"]) if item else 0


class Historian:
    """Runs operations with unique values: those of client `n` are `n`, `n + 1000`, and so on."""

    def __init__(self, call: Call, client: int, seed: int) -> None:
        self._call = call
        self._chance = random.Random(f"{seed}/{client}")
        self._value = client
        self.records = Records({name: [] for name in REGISTERS}, [])
        self._last = dict.fromkeys(REGISTERS, 0)

    def run(self, until: float) -> None:
        """Run operations until the monotonic clock shows `until`, or an outcome is unknown."""
        while time.monotonic() < until:
            try:
                if self._chance.random() < 0.5:
                    self._access()
                else:
                    self._transact()
            except Unknown:
                return

    def _new(self) -> int:
        self._value += 1000
        return self._value

    def _access(self) -> None:
        """Read, write or swap a register."""
        name = self._chance.choice(REGISTERS)
        done = self.records.registers[name]
        kind = self._chance.choice(("read", "read", "write", "swap", "swap", "delete"))
        value = self._new()
        old = self._last[name]
        start = time.monotonic()
        request: dict[str, Any] = {"TableName": NAME}
        try:
            if kind == "read":
                request |= {"Key": key(name), "ConsistentRead": True}
                found = number(self._call("GetItem", request).get("Item"))
                done.append(Access(start, time.monotonic(), "read", found))
                self._last[name] = found
                return
            if kind == "delete":
                value = 0
                self._call("DeleteItem", request | {"Key": key(name)})
            elif kind == "write":
                self._call("PutItem", request | {"Item": {**key(name), "v": {"N": str(value)}}})
            else:
                condition = "v = :old" if old else "attribute_not_exists(pk)"
                values = {":new": {"N": str(value)}} | ({":old": {"N": str(old)}} if old else {})
                request |= {
                    "Key": key(name),
                    "UpdateExpression": "SET v = :new",
                    "ConditionExpression": condition,
                    "ExpressionAttributeValues": values,
                }
                self._call("UpdateItem", request)
        except ConditionalCheckFailedException:
            done.append(Access(start, time.monotonic(), "refused", old=old))
            self._last[name] = 0
            return
        except Unknown:
            if kind != "read":
                effect = "swap" if kind == "swap" else "write"
                done.append(Access(start, NEVER, effect, value, old))  # type: ignore[arg-type]
            raise
        effect = "swap" if kind == "swap" else "write"
        done.append(Access(start, time.monotonic(), effect, value, old))  # type: ignore[arg-type]
        self._last[name] = value

    def _transact(self) -> None:
        """Read several lists, append to several, or append to one and read it."""
        names = self._chance.sample(LISTS, self._chance.randint(1, len(LISTS)))
        kind = self._chance.choice(("reads", "appends", "both"))
        value = self._new()
        reads: dict[str, list[int]] = {}
        appends: dict[str, int] = {}
        start = time.monotonic()
        try:
            if kind == "reads":
                gets = [{"Get": {"TableName": NAME, "Key": key(name)}} for name in names]
                found = self._call("TransactGetItems", {"TransactItems": gets})["Responses"]
                reads = {
                    name: numbers(each.get("Item")) for name, each in zip(names, found, strict=True)
                }
            elif kind == "both":
                appends = {names[0]: value}
                request = appending(names[0], value) | {"ReturnValues": "ALL_NEW"}
                new = numbers(self._call("UpdateItem", request)["Attributes"])
                reads = {names[0]: new[:-1]}
            else:
                appends = dict.fromkeys(names, value)
                updates = [{"Update": appending(name, value)} for name in names]
                self._call("TransactWriteItems", {"TransactItems": updates})
        except TransactionCanceledException:
            return
        except Unknown:
            done = WriteTransaction(start, NEVER, {}, appends, known=False)
            self.records.transactions.append(done)
            raise
        self.records.transactions.append(WriteTransaction(start, time.monotonic(), reads, appends))


def main(arguments: Sequence[str]) -> None:
    file, client, seed, until = arguments
    with Engine(file) as engine:
        historian = Historian(engine.call, int(client), int(seed))
        historian.run(float(until))
    sys.stdout.buffer.write(msgspec.json.encode(historian.records) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
