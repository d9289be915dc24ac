"""Promise: no read returns what belongs elsewhere: neither the item of another table from an
exchanged page, nor an earlier state from an old log beside a newer file.

Method: a file has three tables of the same structure with an index each, filled in several
sessions. After random writes, the file and its log are copied, as a killed process would leave
them. Then pages of different trees are exchanged in the closed file: each table and index is read
and checked. At last, each copy must open with the content of its time, and the last file must
refuse each log of an earlier copy, unless the log changes nothing.

Limits: only whole leaf pages are exchanged. A key that is not found is not an error: the search for
it may end in the wrong page.
"""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from tablewright.engine import Engine
from tablewright.errors import DamagedFile, StoreFailed
from torture.run import Part, Round

TABLES = ("one", "two", "three")
ITEMS = 150
SESSIONS = 3
COPIES = 4
SWAPS = 10

#: The items of all tables: their texts by table and key.
Content = dict[str, dict[str, str]]


def play(attack: Round) -> None:
    path = attack.folder / "tables.db"
    with Engine(path, durability="normal") as engine:
        for name in TABLES:
            engine.call("CreateTable", _definition(name))
    content: Content = {name: {} for name in TABLES}
    copies: list[tuple[Path, Content]] = []
    for session in range(SESSIONS):
        with Engine(path, durability="normal") as engine:
            for number in range(COPIES):
                _write(engine, attack.chance, content)
                copy = _copy(path, f"{session}-{number}")
                copies.append((copy, {name: dict(items) for name, items in content.items()}))
            if attack.chance.random() < 0.3:
                engine._store.truncate_log()
    for _ in range(attack.size(SWAPS, 2)):
        _exchange_pages(attack, path)
    for copy, then in copies:
        _apply_old_log(attack, path, copy, content)
        with Engine(copy) as engine:
            attack.require(_read(engine) == then, "a killed process lost writes", copy.name)
        attack.count("logs applied")


def _definition(name: str) -> dict[str, Any]:
    return {
        "TableName": name,
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": "S"} for each in ("id", "group")
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_group",
                "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def _write(engine: Engine, chance: random.Random, content: Content) -> None:
    for _ in range(chance.randrange(1, ITEMS)):
        name, key = chance.choice(TABLES), str(chance.randrange(ITEMS))
        text = f"{name}: {chance.random()} {'x' * chance.randrange(300)}"
        item = {"id": {"S": key}, "group": {"S": "all"}, "text": {"S": text}}
        engine.call("PutItem", {"TableName": name, "Item": item})
        content[name][key] = text


def _read(engine: Engine) -> Content:
    return {name: _texts(engine.call("Scan", {"TableName": name})) for name in TABLES}


def _texts(answer: dict[str, Any]) -> dict[str, str]:
    return {item["id"]["S"]: item["text"]["S"] for item in answer["Items"]}


def _copy(path: Path, name: str) -> Path:
    copy = path.with_name(f"{name}.db")
    shutil.copyfile(path, copy)
    shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    return copy


def _exchange_pages(attack: Round, path: Path) -> None:
    damaged = path.with_name("damaged.db")
    content = bytearray(path.read_bytes())
    one, two, size = _choose_pages(attack.chance, path)
    first, second = (slice((page - 1) * size, page * size) for page in (one, two))
    content[first], content[second] = content[second], content[first]
    damaged.write_bytes(content)
    with Engine(damaged) as engine:
        for name in TABLES:
            keys = [{"id": {"S": str(number)}} for number in range(ITEMS)]
            requests: list[dict[str, Any]] = [{"Key": key} for key in keys]
            for request in (*requests, {}, {"IndexName": "by_group"}):
                _require_own_items(attack, engine, name, request)
        attack.require(not engine.check(), "exchanged pages were not reported", f"{one}, {two}")
    damaged.unlink()
    attack.count("exchanged pages")


def _choose_pages(chance: random.Random, path: Path) -> tuple[int, int, int]:
    """Return two leaf pages of different trees, and the size of a page."""
    with closing(apsw.Connection(str(path))) as connection:
        found: list[tuple[Any, ...]] = connection.execute(
            "SELECT name, pageno, pgsize FROM dbstat WHERE pagetype = 'leaf' AND ncell > 0 "
            "AND name GLOB 'tree$*' AND name NOT IN ('tree$0', 'tree$1')"
        ).fetchall()
    pages: dict[str, list[int]] = {}
    for name, page, _ in found:
        pages.setdefault(str(name), []).append(int(page))
    one, two = chance.sample(sorted(pages), 2)
    return chance.choice(pages[one]), chance.choice(pages[two]), int(found[0][2])


def _require_own_items(attack: Round, engine: Engine, name: str, request: dict[str, Any]) -> None:
    operation = "GetItem" if "Key" in request else "Scan"
    try:
        answer = engine.call(operation, {"TableName": name, **request})
    except StoreFailed:
        attack.count("refused reads")
        return
    items = answer["Items"] if operation == "Scan" else [answer[key] for key in answer]
    for item in items:
        text = item["text"]["S"]
        attack.require(text.startswith(f"{name}: "), "a table returned the item of another", text)


def _apply_old_log(attack: Round, path: Path, old: Path, content: Content) -> None:
    """Put the log of an earlier copy beside the last file."""
    newest = path.with_name("newest.db")
    shutil.copyfile(path, newest)
    shutil.copyfile(f"{old}-wal", f"{newest}-wal")
    try:
        with Engine(newest) as engine:
            attack.require(_read(engine) == content, "an old log has undone writes", old.name)
    except DamagedFile:
        attack.count("old logs refused")
    for end in ("", "-wal", "-shm"):
        Path(f"{newest}{end}").unlink(missing_ok=True)


PART = Part(
    "misplaced",
    "No read returns another table's item, or a state that an old log restores",
    "exchanged pages, and logs of earlier copies beside the file",
    30,
    play,
)
