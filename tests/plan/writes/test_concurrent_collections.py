"""Collections that are deleted or moved while other threads add rows to them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tablewright import (
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    children,
    condition_check,
    connect,
    create,
    delete_all,
    key,
    root,
    transact,
    unique,
)
from tablewright.errors import NotFound

THREADS, CARDS = 3, 50


class Boards(Table, name="boards"):
    pass


class Board(Entity, table=Boards):
    board: Attr[str] = attr()
    primary = key("BOARDS", "BOARD" / board)


class Card(Entity, table=Boards):
    board: Attr[str] = attr()
    card: Attr[str] = attr()
    code: Attr[str] = attr()
    primary = key("BOARDS", "BOARD" / board / "CARD" / card)
    by_code = unique("CODE" / code)


class BoardWithCards(Aggregate):
    board: Board = root()
    cards: list[Card] = children()


@pytest.mark.parametrize("verb", ["delete", "move"])
@pytest.mark.parametrize("rows", [1, 60])
def test_no_row_is_left_without_its_parent(tmp_path: Path, verb: str, rows: int) -> None:
    """Every client that adds a row checks that the board exists, in one transaction."""
    old = Board.primary("old")
    ready = Barrier(THREADS + 1, timeout=60)
    with Engine(tmp_path / "boards.db") as engine:
        db = connect(engine, Boards)
        db.run(create(Board(board="old")))
        for number in range(rows):
            db.run(create(Card(board="old", card=f"c{number}", code=f"c{number}")))

        def add_cards(thread: int) -> int:
            """Add cards until the board is gone; return how many."""
            ready.wait()
            for number in range(CARDS):
                name = f"{thread}-{number}"
                card = Card(board="old", card=name, code=name)
                try:
                    db.run(transact(create(card), condition_check(old)))
                except NotFound:
                    return number
            return CARDS

        with ThreadPoolExecutor(THREADS) as threads:
            adding = [threads.submit(add_cards, thread) for thread in range(THREADS)]
            ready.wait()
            if verb == "delete":
                db.run(delete_all(BoardWithCards.of(old)))
            else:
                db.run(old.update(Board.board.set("new")))
            added = sum(thread.result() for thread in adding)

        items = engine.call("Scan", {"TableName": "boards"})["Items"]
        keys = [item["SK"]["S"] for item in items]
        assert not [sort for sort in keys if sort.startswith("BOARD#old")]
        assert len(keys) == (0 if verb == "delete" else 1 + 2 * (rows + added))
        assert engine.check()
