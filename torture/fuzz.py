"""Promise: every request gets DynamoDB's answer or DynamoDB's fault: never another exception in
process, never a 500 or a lost connection over HTTP, and the file stays valid.

Method: random requests of every operation, valid and mutated (members replaced, removed, added,
repeated, renamed), go through `Engine.prepare` and `Engine.run`; the same requests and their JSON
with changed bytes go to a server over HTTP. In between, puts, gets and deletes on a second table
are compared with a plain dict. At the end `check()` is clean. The seeds of rounds that failed are
kept in torture/seeds and are replayed first.

Limits: the responses to accepted mutations are not compared, except on the second table.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError
from tablewright.server import serving
from tests.durability.opener import table
from tests.durability.orders import TABLE
from tests.server.http import Client, message
from torture.requests import item, mangled, request
from torture.run import Part, Round
from torture.work import problems

MODEL = "model"


def play(attack: Round) -> None:
    """Fuzz a new engine, then the same engine over HTTP."""
    with Engine(attack.folder / "fuzz.db", durability="normal") as engine:
        engine.call("CreateTable", TABLE)
        engine.call("CreateTable", table(MODEL))
        model = Model(attack, engine.call)
        for _ in range(attack.size(400, 150)):
            call(attack, engine, *request(attack.chance))
            model.step(attack.chance)
        with serving(engine) as url, Client(url) as client:
            fuzz_http(attack, client, url)
        model.compare()
        found = problems(engine)
        attack.expect(not found, f"check() finds {found}")


def call(attack: Round, engine: Engine, operation: str, body: Any) -> None:
    try:
        engine.run(engine.prepare(operation, body))
        attack.count("accepted")
    except DynamoDBError as fault:
        attack.count("refused")
        attack.expect(fault.status < 500, f"{operation}: {fault.code}: {fault.message[:100]}")
    except UnicodeEncodeError:
        attack.count("refused")  # `call` translates it; JSON cannot contain such a text
    except Exception as error:
        kind = f"{type(error).__module__}.{type(error).__name__}"
        what = f"{operation} raises {kind}: {str(error)[:100]}"
        attack.expect(False, what, json.dumps(body)[:300])


def fuzz_http(attack: Round, client: Client, url: str) -> None:
    chance = attack.chance
    for _ in range(attack.size(150, 60)):
        operation, body = request(chance)
        sent = message(operation, raw=mangled(chance, body))
        client.send(sent)
        try:
            answer = client.answer()
        except (EOFError, OSError) as error:
            attack.expect(False, f"{operation} over HTTP is not answered: {error!r}")
            return
        attack.count("over HTTP")
        attack.expect(
            answer.status in (200, 400),
            f"{operation} over HTTP is answered with {answer.status}: {answer.body[:100]!r}",
        )
        if answer.headers.get("connection") == "close":
            attack.expect(False, f"{operation} over HTTP: the connection was closed")
            return


class Model:
    """The second table as a dict."""

    def __init__(self, attack: Round, send: Callable[[str, dict[str, Any]], Any]) -> None:
        self._attack = attack
        self._send = send
        self._items: dict[str, dict[str, Any]] = {}

    def step(self, chance: random.Random) -> None:
        """Put, get or delete an item."""
        name = str(chance.randrange(8))
        key = {"pk": {"S": name}}
        kind = chance.choice(("PutItem", "GetItem", "DeleteItem"))
        if kind == "PutItem":
            new = {"pk": {"S": name}, "status": item(chance).get("status", {"BOOL": True})}
            self._send(kind, {"TableName": MODEL, "Item": new})
            self._items[name] = new
        elif kind == "DeleteItem":
            self._send(kind, {"TableName": MODEL, "Key": key})
            self._items.pop(name, None)
        else:
            found = self._send(kind, {"TableName": MODEL, "Key": key}).get("Item")
            self._attack.expect(found == self._items.get(name), "a get differs from the model")
        self._attack.count("compared")

    def compare(self) -> None:
        found = self._send("Scan", {"TableName": MODEL})["Items"]
        stored = {each["pk"]["S"]: each for each in found}
        self._attack.expect(stored == self._items, "the table differs from the model")


PART = Part(
    "fuzz",
    "Every request gets DynamoDB's answer or fault, never a 500",
    "mutated requests in process and over HTTP, a dict as model",
    45,
    play,
)
