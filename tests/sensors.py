"""A design whose keys are attributes by themselves: a text and a number."""

from __future__ import annotations

from tablewright import Attr, Entity, Table, attr, key


class Sensors(Table, name="sensors", pk="sensor", sk="at", type_attribute=None): ...


class Reading(Entity, table=Sensors):
    sensor: Attr[str] = attr()
    at: Attr[int] = attr()
    primary = key(sensor, at)
