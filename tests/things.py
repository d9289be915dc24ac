"""The smallest design, for tests that need any table and any entity."""

from __future__ import annotations

from tablewright import Attr, Entity, Table, attr, key


class Things(Table, name="things"): ...


class Thing(Entity, table=Things):
    name: Attr[str] = attr()
    primary = key("THING" / name, "THING")
