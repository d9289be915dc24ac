"""The smallest design, for tests that need any table and any entity."""

from __future__ import annotations

from tablewright import Attr, Entity, Table, attr, key


class NamedEntity(Entity):
    """Abstract: an entity that is found by its name."""

    name: Attr[str] = attr()
    primary = key("THING" / name, "THING")


class Things(Table, name="things"): ...


class Thing(NamedEntity, table=Things): ...
