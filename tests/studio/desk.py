"""A design in three versions, and a file with items of the first, for tests of migrations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tablewright import Table, connect, create, migrations
from tablewright.designs.catalog import load
from tablewright.verify import Design

OLD = """
from tablewright import Attr, Entity, Table, attr, key

class Desk(Table, name="desk"):
    pass

class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    state: Attr[str] = attr()
    primary = key("TICKET" / ticket_id, "TICKET")
"""
NEW = """
from tablewright import GSI, Attr, Entity, Table, attr, index, key

class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    status: Attr[str] = attr(renamed_from="state")
    primary = key("TICKET" / ticket_id, "TICKET")
    by_status = index(Desk.gsi1, "STATUS" / status, ticket_id)
"""
RETYPED = OLD.replace("(Table, ", '(Table, type_attribute="kind", ')


class Interrupted(Exception):
    pass


class Desk:
    """A file with three tickets of the first version, and the designs of three versions."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "desk.db")
        self.old, self.new, self.retyped = (
            self._design(folder, name, text)
            for name, text in (("old_desk", OLD), ("new_desk", NEW), ("retyped_desk", RETYPED))
        )
        (table,) = self.old.tables
        ticket: Any = table.__table__.entities[0].type
        with connect(self.path, table) as db:
            for number in range(3):
                db.run(create(ticket(ticket_id=str(number), state="open")))

    def _design(self, folder: Path, name: str, text: str) -> Design:
        (folder / f"{name}.py").write_text(text)
        return load(str(folder / f"{name}.py"))

    def table(self, design: Design) -> type[Table]:
        (found,) = design.tables
        return found

    def interrupt(self, design: Design, step: str) -> None:
        """Apply a design, and stop at the first progress of a step."""

        def stop(progress: migrations.MigrationProgress) -> None:
            if progress.step.name == step and progress.items:
                raise Interrupted

        with pytest.raises(Interrupted):
            migrations.apply(self.path, self.table(design), progress=stop)
