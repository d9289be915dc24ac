"""Entry: the functions that make writes of one entity.

put(order)                                     write it, whether it exists or not
create(order)                                  AlreadyExists if it exists
update(order, Order.status.set(PAID))          change attributes of the version at hand
save(order)                                    what was assigned, as an update
upsert(Counter(page="x"), Counter.hits.increment(1))    the same, or create it with the changes
delete(order)                                  delete the version at hand

`Order.primary("C1", "O1").update(…)`, `.upsert(…)` and `.delete()` make the same writes from a key.
"""

from __future__ import annotations

from typing import TypeVar

from tablewright.plan.change import Change
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.move import update_instance
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.save import Save
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.upsert import Upsert
from tablewright.plan.writes.write import IsEntity, IsRewritable, entity_of, refuse_undeletable

Stored = TypeVar("Stored", bound=IsEntity)
Rewritable = TypeVar("Rewritable", bound=IsRewritable)


def put(instance: Rewritable) -> Put[Rewritable]:
    """Write an entity, whether it exists or not."""
    return Put(instance)


def create(instance: Stored) -> Create[Stored]:
    """Write an entity; AlreadyExists if it exists."""
    return Create(instance)


def update(instance: Rewritable, *changes: Change[Rewritable]) -> Update[Rewritable, Rewritable]:
    """Change attributes of an entity: of the version at hand, if it is versioned."""
    return update_instance(instance, changes)


def save(instance: Rewritable) -> Save[Rewritable]:
    """Write what has changed in an entity since it was read or written; nothing if nothing has."""
    return Save(instance)


def upsert(instance: Rewritable, *changes: Change[Rewritable]) -> Upsert[Rewritable]:
    """Change attributes of the stored item; if there is none, write the entity with the changes."""
    entity = entity_of(instance)
    values = vars(instance)
    known = {name: values[name] for name in entity.primary.depends_on}
    return Upsert(entity, entity.stored_key(instance), known, changes, instance)


def delete(instance: Stored) -> Delete[Stored]:
    """Delete an entity: the version at hand, if it is versioned."""
    entity = entity_of(instance)
    refuse_undeletable(entity, "delete")
    values = vars(instance)
    version = None if entity.version is None else values[entity.version.name]
    return Delete(entity, entity.stored_key(instance), version)
